"""D01: a tool call that never got its result must not poison the conversation, nor be told untruly.

Compaction here is the rollover to a new epoch; summaries come with compaction.
"""

from __future__ import annotations

import shutil
import signal
from pathlib import Path

import pytest

from contextmgr.conversation import Conversation
from contextmgr.errors import OpenTurnError, ResultConflictError
from contextmgr.turns import Completeness, Status
from tests.field_reports.talk import (
    ask,
    call,
    calls_in,
    exchange,
    log,
    opened,
    prose,
    reply,
    result,
    results_in,
    run,
    step,
    text,
    texts_in,
    words_of,
)

UNTRUE = ("reject", "not run", "denied", "refused", "succe", "completed", "done")
KILLED = """
import os, pathlib, signal, sys
from tests import rv
from tests.field_reports.test_d01 import begin
from tests.field_reports.talk import opened
with rv.watching(), opened(pathlib.Path(sys.argv[1])) as chat:
    begin(chat)
    print("stored", flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def begin(chat: Conversation) -> None:
    """Twelve turns of small talk, then two calls of which one is answered."""
    for i in range(6):
        exchange(chat, f"Look at part {i} of the import.", prose(40))
    chat.add_user("Run the nightly import for site K2")
    ask(chat)
    chat.add_reply(reply(text("Starting it."), call("tu_a", "run_job"), call("tu_b", "read_log")))
    chat.add_tool_results([result("tu_b", "log of K2: 14 rows")])


def says_unknown(block: dict[str, object]) -> bool:
    words = words_of(block["content"]).lower()
    return "interrupted" in words and "unknown" in words and not any(w in words for w in UNTRUE)


@pytest.fixture(scope="module")
def left_behind(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a process that was killed while ``tu_a`` ran."""
    folder = tmp_path_factory.mktemp("killed")
    ended = run(KILLED, folder / "k.db")
    assert (ended.returncode, ended.stdout) == (-signal.SIGKILL, "stored\n"), ended.stderr
    return folder


@pytest.fixture
def killed(left_behind: Path, tmp_path: Path) -> Path:
    """A store of one's own, as it was left."""
    return shutil.copytree(left_behind, tmp_path / "own") / "k.db"


def test_d01_after_the_kill_the_next_request_says_that_the_outcome_is_unknown(killed: Path) -> None:
    with opened(killed) as chat:
        chat.add_user("What happened?")
        answers = results_in(ask(chat))
        assert answers["tu_a"]["is_error"] is True
        assert says_unknown(answers["tu_a"])
        assert answers["tu_b"] == result("tu_b", "log of K2: 14 rows")


def test_d01_the_record_still_shows_that_no_result_came(killed: Path) -> None:
    with opened(killed) as chat:
        assert chat.history.turn(14).status is Status.OPEN
        chat.add_user("What happened?")
        turn = chat.history.turn(14)
        assert (turn.completeness, turn.missing_ids) == (Completeness.INTERRUPTED, ("tu_a",))
        assert [r.body["tool_use_id"] for r in turn.results] == ["tu_b"]


def test_d01_it_stays_answered_through_more_turns_and_a_compaction(killed: Path) -> None:
    with opened(killed, 9_000) as chat:
        chat.add_user("What happened?")
        epochs = {ask(chat).report.epoch}
        chat.add_reply(reply(text("It was interrupted.")))
        for i in range(20):
            chat.add_user(f"Go on with part {i}.")
            request = ask(chat)
            step(chat, f"later_{i}", log(30))
            after = ask(chat)
            epochs |= {request.report.epoch, after.report.epoch}
            chat.add_reply(reply(text("Read.")))
            shown = results_in(after)
            assert ("tu_a" in shown) == ("tu_b" in shown)
            assert "tu_a" not in shown or says_unknown(shown["tu_a"])
        assert len(epochs) > 2


def test_d01_an_open_turn_is_named_with_the_ways_out(killed: Path) -> None:
    with opened(killed) as chat:
        with pytest.raises(OpenTurnError, match=r"tu_a.*add_tool_results.*interrupt") as caught:
            ask(chat)
        assert caught.value.missing_ids == ("tu_a",)
        with pytest.raises(OpenTurnError):
            chat.add_reply(reply(text("And on I go.")))
        assert chat.history.count() == 14


def test_d01_after_interrupt_the_model_can_go_on_without_the_user(killed: Path) -> None:
    with opened(killed) as chat:
        turn = chat.interrupt()
        assert turn is not None
        assert turn.status is Status.INTERRUPTED
        request = ask(chat)
        assert says_unknown(results_in(request)["tu_a"])
        assert request.params["messages"][-1]["role"] == "user"
        assert chat.interrupt() is None


@pytest.mark.parametrize("given", [[], ["tu_a"], ["tu_b"], ["tu_a", "tu_b"]])
def test_d01_any_subset_of_results_may_be_missing(tmp_path: Path, given: list[str]) -> None:
    with opened(tmp_path / "s.db") as chat:
        chat.add_user("Run both.")
        chat.add_reply(reply(call("tu_a"), call("tu_b")))
        chat.add_user([*(result(i, f"output of {i}") for i in given), text("Go on.")])
        answers = results_in(ask(chat))
        assert {i for i, b in answers.items() if says_unknown(b)} == {"tu_a", "tu_b"} - set(given)
        assert {words_of(answers[i]["content"]) for i in given} == {f"output of {i}" for i in given}


def test_d01_a_late_result_is_shown_once_and_labelled(killed: Path) -> None:
    with opened(killed) as chat:
        chat.add_user("What happened?")
        before = ask(chat)
        chat.add_reply(reply(text("It was interrupted.")))
        chat.add_tool_results([result("tu_a", "import finished: 4711 rows")])
        chat.add_user("And now?")
        after = ask(chat)
        assert says_unknown(results_in(after)["tu_a"])
        assert [t for t in texts_in(before) if "4711" in t] == []
        shown = texts_in(after)
        place = shown.index("import finished: 4711 rows")
        assert "late result" in shown[place - 1].lower()
        assert "turn 14" in shown[place - 1]
        chat.add_reply(reply(text("It finished after all.")))
        chat.add_user("Good.")
        assert sum("4711" in t for t in texts_in(ask(chat))) == 1


def test_d01_another_result_for_the_same_call_is_a_conflict(killed: Path) -> None:
    with opened(killed) as chat:
        with pytest.raises(ResultConflictError, match="tu_b"):
            chat.add_tool_results([result("tu_b", "something else")])
        chat.add_tool_results([result("tu_b", "log of K2: 14 rows")])
        assert chat.history.turn(14).missing_ids == ("tu_a",)


def test_d01_many_interrupted_turns_in_a_row(tmp_path: Path) -> None:
    with opened(tmp_path / "m.db", 12_000) as chat:
        for i in range(30):
            chat.add_user(f"Try {i}.")
            request = ask(chat)
            assert all(says_unknown(b) for b in results_in(request).values())
            assert calls_in(request) == list(results_in(request))
            chat.add_reply(reply(call(f"x_{i}"), call(f"y_{i}")))


PAIRS: dict[str, list[dict[str, object]]] = {
    "server tool": [
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "K2"}},
        {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
    ],
    "remote tool": [
        {"type": "mcp_tool_use", "id": "mcptoolu_1", "name": "find", "server_name": "s", "input": {}},
        {"type": "mcp_tool_result", "tool_use_id": "mcptoolu_1", "is_error": False, "content": [text("K2")]},
    ],
}


@pytest.mark.parametrize("kind", PAIRS)
@pytest.mark.parametrize("kept", [(0, 1), (0,), (1,)])
@pytest.mark.parametrize("tools", [True, False])
def test_d01_a_call_that_the_api_ran_goes_back_with_its_result_or_not_at_all(
    tmp_path: Path, kind: str, kept: tuple[int, ...], tools: bool
) -> None:
    whole = [PAIRS[kind][i] for i in kept]
    with opened(tmp_path / "p.db") as chat:
        chat.add_user("Find K2.")
        ask(chat)
        chat.add_reply(reply(text("Looking."), *whole, text("There.")))
        chat.add_user("Go on.")
        request = ask(chat) if tools else ask(chat, tools=())
        sent = [b["type"] for m in request.params["messages"] if m["role"] == "assistant" for b in m["content"]]
        pair = [str(b["type"]) for b in whole] if tools and len(kept) == 2 else []
        assert sent == ["text", *pair, "text"]
        assert list(chat.history.turn(2).blocks[1:-1]) == whole
