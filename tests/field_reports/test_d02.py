"""D02: whatever the budget, a set of parallel tool results stays with the message that asked for it.

Compaction here is the rollover to a new epoch: budgets shrink twice in every run.  The full sweep (every 250 tokens)
is in the long run; `make test` takes every 1,500.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from contextmgr.conversation import Conversation
from contextmgr.errors import BudgetError
from tests.field_reports.talk import (
    TOOLS,
    ask,
    call,
    calls_in,
    exchange,
    log,
    opened,
    profile,
    prose,
    reply,
    result,
    results_in,
    step,
    text,
    texts_in,
    words_of,
)

IDS = [f"tu_{i}" for i in range(10)]
WINDOWS = (1, 2, 3, 4, 5, 6)
SHORT, FULL = range(2_000, 20_001, 1_500), range(2_000, 20_001, 250)


def ten_calls(chat: Conversation) -> None:
    """One message that asks for ten tables, and ten results of about 300 tokens."""
    chat.add_user("Describe the ten tables.")
    chat.add_reply(reply(text("All at once."), *(call(i, "describe_table", what=i) for i in IDS)))
    chat.add_tool_results([result(i, log(15, f"table {i}")) for i in reversed(IDS)])


@pytest.fixture(scope="module")
def until_turn_10(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four exchanges, then the ten calls as turn 10."""
    folder = tmp_path_factory.mktemp("ten")
    with opened(folder / "t.db", 60_000) as chat:
        for i in range(4):
            chat.add_user(f"Question {i}: {prose(60)}")
            chat.add_reply(reply(text(prose(60, f"Answer {i}:"))))
        ten_calls(chat)
        assert chat.history.count() == 10
    return folder


def go_on(chat: Conversation) -> None:
    """The answer to the ten results and one more exchange with a tool call."""
    chat.add_reply(reply(text(prose(60, "Ten tables."))))
    chat.add_user("Now the log.")
    step(chat, "more", log(20))


def check_whole(chat: Conversation) -> None:
    """Assemble: the ten calls are all there, each with its result under its own name, or none is."""
    request = ask(chat)
    shown = [i for i in calls_in(request) if i in IDS]
    assert shown in ([], IDS)
    answers = results_in(request)
    for i in shown:
        words = words_of(answers[i]["content"])
        assert words == log(15, f"table {i}") or "left out" in words
    assert list(answers) == calls_in(request)


def steps_of(source: Path, folder: Path, budget: int, recent: int) -> Iterator[bool]:
    """Assemble after the ten calls, after more turns, and at half the budget: did it fit?"""
    path = shutil.copytree(source, folder / f"{budget}-{recent}") / "t.db"
    for size, act in ((budget, None), (budget, go_on), (max(1_000, budget // 2), None)):
        with opened(path, profile(size, min_turns=recent)) as chat:
            if act is not None:
                act(chat)
            yield fits(chat)


def fits(chat: Conversation) -> bool:
    try:
        check_whole(chat)
    except BudgetError as error:
        check_refusal(error)
        return False
    return True


def check_refusal(refused: BudgetError) -> None:
    assert sum(refused.tiers.values()) > refused.budget, refused
    assert {"system", "tail"} <= set(refused.tiers)


def check_sweep(source: Path, folder: Path, budgets: range, recent: int) -> None:
    """Every budget works or is refused, and whatever fits a budget fits every larger one."""
    outcomes = [list(steps_of(source, folder, budget, recent)) for budget in budgets]
    for column in zip(*outcomes, strict=True):
        assert list(column) == sorted(column)
        assert column[-1]


@pytest.mark.parametrize("recent", WINDOWS)
def test_d02_calls_and_results_stay_together_at_every_budget(until_turn_10: Path, tmp_path: Path, recent: int) -> None:
    check_sweep(until_turn_10, tmp_path, SHORT, recent)


@pytest.mark.slow
@pytest.mark.parametrize("recent", WINDOWS)
def test_d02_the_full_sweep(until_turn_10: Path, tmp_path: Path, recent: int) -> None:
    check_sweep(until_turn_10, tmp_path, FULL, recent)


def test_d02_two_compactions_in_a_row_leave_no_orphan(tmp_path: Path) -> None:
    with opened(tmp_path / "c.db", profile(10_000, min_turns=3)) as chat:
        ten_calls(chat)
        epochs = set()
        for i in range(12):
            epochs.add(ask(chat).report.epoch)
            check_whole(chat)
            chat.add_reply(reply(text(prose(50, f"Answer {i}:"))))
            chat.add_user(f"Next {i}.")
            step(chat, f"step_{i}", log(60))
        assert len(epochs) >= 3


def test_d02_masked_and_cut_results_keep_their_ids_and_say_so(until_turn_10: Path, tmp_path: Path) -> None:
    path = shutil.copytree(until_turn_10, tmp_path / "m") / "t.db"
    with opened(path, profile(5_600, min_turns=1)) as chat:
        request = ask(chat)
        shortened = [b for b in results_in(request).values() if "left out" in words_of(b["content"])]
        assert shortened
        assert all("read_turns" in words_of(b["content"]) for b in shortened)
        assert list(results_in(request)) == IDS


def test_d02_without_tools_the_set_is_labelled_text(until_turn_10: Path, tmp_path: Path) -> None:
    path = shutil.copytree(until_turn_10, tmp_path / "w") / "t.db"
    with opened(path, 30_000) as chat:
        request = ask(chat, tools=())
        assert results_in(request) == {}
        assert sum("called describe_table" in t for t in texts_in(request, "user")) == 10
        check_whole(chat)
        assert [t["name"] for t in ask(chat).params["tools"]] == [t["name"] for t in TOOLS]


def test_d02_ids_that_recur_stay_with_their_own_results(tmp_path: Path) -> None:
    with opened(tmp_path / "r.db", 30_000) as chat:
        for i in range(3):
            exchange(chat, f"Again, {i}.")
            chat.add_user("The log.")
            chat.add_reply(reply(call("same", what=f"{i}"), call("same", what=f"{i} too")))
            chat.add_tool_results([result("same", f"first {i}"), result("same", f"second {i}")])
        request = ask(chat)
        assert len(set(calls_in(request))) == 6
        assert [words_of(b["content"]) for b in results_in(request).values()] == [
            f"{which} {i}" for i in range(3) for which in ("first", "second")
        ]
