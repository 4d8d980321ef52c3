"""D11: nothing volatile stands in the cacheable prefix: no clock, age, id, counter or order of a dict.

Facts, and evidence that differs from call to call, come with state and retrieval.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from contextmgr.assembly import AssembledRequest
from contextmgr.conversation import Conversation
from tests.field_reports.talk import (
    SYSTEM,
    TOOLS,
    ask,
    exchange,
    log,
    opened,
    profile,
    prose,
    reply,
    run,
    step,
    text,
    texts_in,
)
from tests.request_check import blocks_of, without_marks

T = datetime(2026, 8, 17, 9, 30, tzinfo=UTC)
RULE = "Never touch the table `ledger`."
ELSEWHERE = """
import json, pathlib, sys
from tests import rv
from tests.field_reports.test_d11 import shuffled
from tests.field_reports.talk import ask, opened
with rv.watching(), opened(pathlib.Path(sys.argv[1]), int(sys.argv[2])) as chat:
    print(json.dumps(ask(chat, tools=shuffled()).params))
"""


def at(moment: datetime) -> Any:
    """A clock that stands still."""
    return {"clock": lambda: moment}


def begin(chat: Conversation) -> None:
    """Twelve exchanges with tool output and a pin, so that the next request needs a preface."""
    chat.add_user(RULE, pin=True)
    ask(chat)
    chat.add_reply(reply(text("Understood.")))
    for i in range(11):
        chat.add_user(f"Question {i}: {prose(60)}")
        step(chat, f"tu_{i}", log(12))
        chat.add_reply(reply(text(prose(60, f"Answer {i}:"))))
    chat.add_user("And now?")


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The conversation, not asked for its last request yet."""
    folder = tmp_path_factory.mktemp("d11")
    with opened(folder / "a.db", 7_000, **at(T)) as chat:
        begin(chat)
    return folder


@pytest.fixture
def store(begun: Path, tmp_path: Path) -> Path:
    return shutil.copytree(begun, tmp_path / "own") / "a.db"


def unmarked(params: Mapping[str, Any]) -> dict[str, Any]:
    """Head and flat blocks without cache marks."""
    flat = [[role, without_marks(b)] for role, b in blocks_of(params)]
    head = {k: [without_marks(v) for v in params[k]] for k in ("system", "tools")}
    return {"model": params["model"], **head, "blocks": flat}


def shuffled() -> list[dict[str, Any]]:
    """The same tools: other order of keys at every depth, other order of tools, other cache marks."""

    def turned(value: Any) -> Any:
        if isinstance(value, dict):
            return {k: turned(value[k]) for k in reversed(value)}
        return value

    return [{**turned(t), "cache_control": {"type": "ephemeral"}} for t in reversed(TOOLS)]


def preface_of(request: AssembledRequest) -> list[str]:
    """The manager's own blocks before the first turn in view."""
    texts = texts_in(request, "user")
    return texts[: texts.index(RULE) + 3]


def test_d11_the_clock_leaves_no_trace_in_a_new_epoch(store: Path, tmp_path: Path) -> None:
    copies = [store, shutil.copytree(store.parent, tmp_path / "copy") / "a.db"]
    bodies = []
    for path, moment in zip(copies, (T, T + timedelta(seconds=61)), strict=True):
        with opened(path, 7_000, **at(moment)) as chat:
            request = ask(chat)
            assert request.report.why == "full"
            bodies.append(json.dumps(request.params))
    assert bodies[0] == bodies[1]


def test_d11_assembled_again_later_it_is_the_same(store: Path) -> None:
    bodies = []
    for wait in (0, 61, 3_600, 86_400 * 30, -60):
        with opened(store, 7_000, **at(T + timedelta(seconds=wait))) as chat:
            bodies.append(json.dumps(ask(chat).params))
    assert len(set(bodies)) == 1


@pytest.mark.parametrize("seed", ["0", "4711"])
def test_d11_another_process_with_another_hash_seed_gives_the_same_bytes(
    store: Path, tmp_path: Path, seed: str
) -> None:
    copy = shutil.copytree(store.parent, tmp_path / "copy") / "a.db"
    elsewhere = run(ELSEWHERE, copy, 7_000, env={**os.environ, "PYTHONHASHSEED": seed})
    assert elsewhere.returncode == 0, elsewhere.stderr
    with opened(store, 7_000) as chat:
        here = ask(chat, tools=shuffled()).params
    assert elsewhere.stdout == json.dumps(here) + "\n"


def test_d11_tools_equal_in_value_are_sent_in_the_epochs_bytes(store: Path) -> None:
    with opened(store, 7_000) as chat:
        first = ask(chat)
        assert ask(chat, tools=shuffled()).number == first.number
        chat.add_reply(reply(text("Fine.")))
        chat.add_user("Go on.")
        second = ask(chat, tools=shuffled(), system=[text(SYSTEM)])
        assert second.report.why == "extended"
        assert json.dumps(unmarked(second.params)["tools"]) == json.dumps(unmarked(first.params)["tools"])


def test_d11_each_later_request_begins_with_the_whole_earlier_one(store: Path) -> None:
    with opened(store, 7_000) as chat:
        earlier = ask(chat)
        for i in range(6):
            chat.add_reply(reply(text(f"Answer {i}.")))
            chat.add_user(f"More {i}.")
            later = ask(chat)
            assert later.report.why == "extended"
            before, after = unmarked(earlier.params), unmarked(later.params)
            assert after["blocks"][: len(before.pop("blocks"))] == unmarked(earlier.params)["blocks"]
            assert {k: after[k] for k in before} == before
            earlier = later


def test_d11_a_new_pin_moves_nothing_that_was_sent(store: Path) -> None:
    with opened(store, 7_000) as chat:
        before = unmarked(ask(chat).params)["blocks"]
        chat.pins.add(2 + 1, quote="Question 0:")
        shown = [unmarked(ask(chat).params)["blocks"] for _ in range(3)]
        assert shown[0][: len(before)] == before
        assert shown[0] == shown[1] == shown[2]
        assert sum(b == ["user", text("Question 0:")] for b in shown[0]) == 1


def test_d11_there_are_at_most_four_marks_and_the_callers_own_are_replaced(store: Path) -> None:
    with opened(store, 7_000) as chat:
        request = ask(chat, system=[{**text(SYSTEM), "cache_control": {"type": "ephemeral", "ttl": "1h"}}])
        marks = re.findall(r'"cache_control": (\{[^}]*\})', json.dumps(request.params))
        assert 2 <= len(marks) <= 4
        assert set(marks) == {'{"type": "ephemeral"}'}
        last = request.params["messages"][-1]["content"][-1]
        assert "cache_control" in last


VOLATILE = {
    "time of day": r"\d{1,2}:\d{2}",
    "timestamp": r"20\d\d-\d\d-\d\dT|\b1[67]\d{8}",
    "age": r"\b\d+ ?(s|m|h|min|sec|seconds|minutes|hours|days)\b|\bago\b|today|yesterday|just now",
    "id": r"[0-9a-f]{12,}|pin_|req_|msg_",
    "tokens": r"\btokens?\b",
}


@pytest.mark.parametrize("kind", VOLATILE)
def test_d11_the_managers_own_words_hold_nothing_volatile(store: Path, kind: str) -> None:
    with opened(store, 7_000) as chat:
        own = preface_of(ask(chat))
        assert own[0].startswith("[Kept by the context manager")
        assert [t for t in own if re.search(VOLATILE[kind], t)] == []


def test_d11_dates_in_labels_are_those_of_the_turns(store: Path) -> None:
    with opened(store, 7_000, **at(T + timedelta(days=9))) as chat:
        request = ask(chat)
        assert any("17 August 2026" in t for t in preface_of(request))
        assert "26 August" not in json.dumps(request.params)


def test_d11_a_cold_cache_is_the_only_thing_the_clock_decides(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db", profile(20_000, min_turns=2), **at(T)) as chat:
        chat.add_user("Go.")
        for i in range(5):
            ask(chat)
            step(chat, f"tu_{i}", log(40))
    outcomes = {}
    for wait in (60, 299, 301, 3_600):
        path = shutil.copy(tmp_path / "a.db", tmp_path / f"{wait}.db")
        with opened(Path(path), profile(20_000, min_turns=2), **at(T + timedelta(seconds=wait))) as chat:
            outcomes[wait] = ask(chat).report.why
    assert outcomes == {60: "extended", 299: "extended", 301: "cold", 3_600: "cold"}


def test_d11_the_account_says_what_the_cache_should_give_back(store: Path) -> None:
    with opened(store, 7_000, **at(T)) as chat:
        first = ask(chat)
        chat.add_reply(reply(text("Fine.")))
        second = exchange(chat, "Go on.")
        assert second.report.cached == first.report.tokens
