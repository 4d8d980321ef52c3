"""Whatever was stored, every request is valid, inside its budget, proved, append-only and the same again."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contextmgr import AssembledRequest, Manager, load_profile
from contextmgr.turns import is_thinking
from tests.invariants.histories import Clock, Player, histories
from tests.request_check import check_request
from tests.request_reading import without_marks

budgets = st.sampled_from([2_000, 3_000, 5_000, 9_000, 20_000, 60_000])
profiles = st.sampled_from(["coding-agent", "support-chat", "data-analysis"])


BEGIN = [("user", "Begin with the orders module.", False), ("assemble", 0, 64)]
END = [("user", "And now?", False), ("assemble", 0, 64)]


def flat(params: Any) -> list[str]:
    """The request as one list: head first, then each block with its role; cache marks removed."""
    heads = [[without_marks(b) for b in params.get(key, ())] for key in ("system", "tools")]
    head = json.dumps([*heads, params.get("thinking"), params["model"]])
    return [head, *(m["role"] + json.dumps(without_marks(b)) for m in params["messages"] for b in m["content"])]


def check_laws(player: Player, request: AssembledRequest, before: AssembledRequest | None) -> None:
    params = request.params
    tail = params["messages"][-1]["role"] == "assistant"
    owed = any(b.get("type") == "server_tool_use" for b in params["messages"][-1]["content"]) or _owes(params)
    assert check_request(params, paused_tail=tail or owed) == []
    assert request.report.tokens <= request.report.budget
    assert sum(request.report.tiers.values()) == request.report.tokens
    if request.report.why != "extended":
        assert shown_values(player, json.dumps(params)) <= in_force(player)
    active = player.chat.pins.list()
    assert {p.pin for p in request.proof.pins} == {p.id for p in active}
    request.proof.check(params)
    if before is not None and before.report.epoch == request.report.epoch:
        earlier, later = flat(before.params), flat(params)
        assert later[: len(earlier)] == earlier
    again = player.chat.assemble(
        model=params["model"],
        max_tokens=params["max_tokens"],
        system=params.get("system"),
        tools=params.get("tools", ()),
        thinking=params.get("thinking"),
    )
    assert (again.number, str(again.report)) == (request.number, str(request.report))
    assert json.dumps(again.params) == json.dumps(params)


def shown_values(player: Player, sent: str) -> set[str]:
    """Facts whose values stand in a request."""
    return {identity for identity, value in player.values.items() if f'{value}\\"' in sent}


def in_force(player: Player) -> set[str]:
    """Facts in force, of any scope."""
    scopes = ("conversation", "project", "user")
    return {fact.id for scope in scopes for fact in player.chat.facts.list(scope=scope)}


def _owes(params: Any) -> bool:
    last = [b for m in params["messages"][-2:] if m["role"] == "assistant" for b in m["content"]]
    return any(b.get("type") == "server_tool_use" for b in last)


@settings(max_examples=200)
@given(history=histories, budget=budgets, profile=profiles)
def test_any_history_gives_lawful_requests(history: list[tuple[Any, ...]], budget: int, profile: str) -> None:
    check_play(history, budget, profile)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
@settings(max_examples=5_000, derandomize=False, suppress_health_check=list(HealthCheck))
@given(history=histories, budget=budgets, profile=profiles)
def test_many_histories_give_lawful_requests(
    part: int, history: list[tuple[Any, ...]], budget: int, profile: str
) -> None:
    check_play(history, budget, profile)


def check_play(history: list[tuple[Any, ...]], budget: int, profile: str) -> None:
    """Play a history on a new conversation, checking each request as it comes and everything at the end."""
    clock = Clock()
    sized = load_profile(profile).with_budget(budget)
    with Manager("sqlite://", profile=sized, clock=clock, summarizer="extractive", background=False) as manager:
        player = Player(manager, clock)
        before: AssembledRequest | None = None
        for step in [*BEGIN, *history, *END]:
            request = player.play(step)
            if request is not None:
                check_laws(player, request, before)
                before = request
        check_history(player)


def check_history(player: Player) -> None:
    """Nothing was lost: every turn is as it was said, every request can be had again."""
    for number, blocks in player.said.items():
        if number not in player.erased:
            assert json.dumps(list(player.chat.history.turn(number).blocks)) == json.dumps(blocks)
    for number, sent in player.issued.items():
        again = player.rebuilt(number)
        assert again == sent or (again is None and player.erased)
    for segment in player.chat.compactions():
        assert all(segment.covers(n) for item in segment.items for n in item.turns)
        assert not any(segment.covers(n) for n in player.erased) or not segment.items


@pytest.mark.parametrize("budget", [2_000, 20_000])
def test_thinking_is_whole_or_absent(budget: int) -> None:
    clock = Clock()
    with Manager("sqlite://", profile=budget, clock=clock) as manager:
        player = Player(manager, clock)
        player.play(("user", "Begin.", True))
        for i in range(30):
            request = player.play(("assemble", 0, 64))
            assert request is not None
            for message in request.params["messages"]:
                thoughts = [b for b in message["content"] if is_thinking(b)]
                assert len(thoughts) in (0, 2)
            player.play(("reply", f"step {i}", 2, "thinking"))
            player.play(("results", [f"out {i}\n" * 40], "all"))


def test_a_summary_gives_way_to_what_is_pinned_later() -> None:
    """It may have said the very words; then the epoch ends, and the next summary leaves them out."""
    said = "Zażółć gęślą jaźń 🐍"
    history = [
        *(("user", "the 0", False), ("user", said, False), ("assemble", 0, 64), ("user", "the 0", False)),
        *(("assemble", 0, 64), ("replace", said, 0), ("restore", 0), ("user", "the 0", False), ("erase", 106)),
        *(("assemble", 0, 64), ("rounds", 20, 0), ("user", "the 0", False), ("user", "the 0", False), ("pin", 0)),
    ]
    check_play(history, 9_000, "coding-agent")


def test_a_turn_kept_since_a_summary_was_undone_proves_its_pin() -> None:
    said = "Zażółć gęślą jaźń 🐍"
    history = [("user", said, False), ("revoke", 0), ("rounds", 5, 0), ("user", said, False), ("undo", 299), ("pin", 0)]
    check_play(history, 2_000, "coding-agent")


def test_a_turn_pinned_again_has_a_place_of_its_own() -> None:
    """Its earlier pin, no longer in force, still stands in the preface; that is not the new one's place."""
    history = [
        *(("withdraw", 0), ("user", "Zażółć gęślą jaźń 🐍", False), ("assemble", 0, 512)),
        *(("replace", "Zażółć gęślą jaźń 🐍", 0), ("pin", 0)),
    ]
    check_play(history, 3_000, "coding-agent")
