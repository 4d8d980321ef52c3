"""The two policies to compare with: valid requests from any history, and nothing but what they promise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from contextmgr.heads import Head
from contextmgr.meter import content_key
from contextmgr.policies import LEFT_OUT, PlainHistory, SendEverything, SlideEveryCall
from contextmgr.turns import Block
from tests.request_check import blocks_of, check_request, without_marks

TOOL = {"name": "run", "input_schema": {"type": "object"}}
HEAD = Head("claude-sonnet-5-5", ({"type": "text", "text": "Be exact."},), (TOOL,))


def size(block: Mapping[str, Any]) -> int:
    return len(str({k: v for k, v in block.items() if k != "cache_control"}))


def say(text: str) -> list[Block]:
    return [{"type": "text", "text": text}]


def call(call_id: str) -> Block:
    return {"type": "tool_use", "id": call_id, "name": "run", "input": {}}


def result(call_id: str, content: str = "done") -> Block:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content}


def thought(text: str) -> Block:
    return {"type": "thinking", "thinking": text, "signature": "c2ln"}


def everything() -> SendEverything:
    return SendEverything(HEAD, max_tokens=100)


def sliding(room: int) -> SlideEveryCall:
    return SlideEveryCall(HEAD, max_tokens=100, room=room, tokens=size)


texts = st.sampled_from(["", " ", "yes", "look at the parser again", "x" * 300, "nul \x00 and half \ud83d"])
ids = st.sampled_from(["a", "b", "c"])
replies = st.tuples(texts, st.lists(ids, max_size=3), st.booleans(), st.booleans())
histories = st.lists(st.one_of(st.sampled_from(["go on", "no, the other one"]), replies), max_size=12)


def played(history: PlainHistory, steps: list[Any]) -> PlainHistory:
    """A history that ends with something to answer."""
    history.user(say("begin"))
    for step in steps:
        if isinstance(step, str):
            history.user(say(step))
            continue
        text, calls, thinks, is_answered = step
        history.reply([*([thought("hm")] if thinks else []), *say(text), *map(call, calls)])
        if is_answered:
            history.results([result(c, text) for c in reversed(calls)])
        if not calls:
            history.user(say("and then?"))
    history.settle()
    return history


@given(histories)
def test_sending_everything_is_valid(steps: list[Any]) -> None:
    assert check_request(everything().request(played(PlainHistory(size), steps))) == []


@given(histories, st.integers(0, 3000))
def test_sliding_is_valid(steps: list[Any], room: int) -> None:
    assert check_request(sliding(room).request(played(PlainHistory(size), steps))) == []


@given(histories, histories)
def test_sending_everything_only_grows(first: list[Any], then: list[Any]) -> None:
    policy, history = everything(), PlainHistory(size)
    before = blocks_of(policy.request(played(history, first)))
    after = blocks_of(policy.request(played(history, then)))
    assert [unmarked(b) for b in after[: len(before)]] == [unmarked(b) for b in before]


def unmarked(role_and_block: tuple[str, Block]) -> tuple[str, Block]:
    role, block = role_and_block
    return role, without_marks(block)


@given(histories, st.integers(0, 3000))
def test_a_window_fits_or_holds_one_turn(steps: list[Any], room: int) -> None:
    history = played(PlainHistory(size), steps)
    params = sliding(room).request(history)
    sent = sum(size(b) for _, b in blocks_of(params) if b.get("text") != LEFT_OUT)
    head = sum(map(size, (*HEAD.system, *HEAD.tools)))
    newest = history.turns[-1]
    assert head + sent <= room or sent == newest.bare_tokens


def test_a_window_starts_at_a_user_turn() -> None:
    history = played(PlainHistory(size), [("x" * 300, [], False, True), ("short", ["a"], False, True)])
    params = sliding(620).request(history)
    assert opening(params) == "and then?"


def test_a_window_of_answers_alone_says_that_turns_are_left_out() -> None:
    history = played(PlainHistory(size), [("x" * 300, ["a"], False, True), ("x" * 300, ["b"], False, True)])
    params = sliding(600).request(history)
    assert opening(params) == LEFT_OUT
    assert check_request(params) == []


def opening(params: Mapping[str, Any]) -> str:
    return str(blocks_of(params)[0][1]["text"])


def test_thinking_goes_back_until_the_window_moves() -> None:
    history = played(PlainHistory(size), [("first", ["a"], True, True)])
    policy = sliding(1000)
    assert "thinking" in kinds(policy.request(history))
    assert "thinking" not in kinds(policy.request(played(history, [("x" * 900, ["b"], True, True)])))


def kinds(params: Mapping[str, Any]) -> set[str]:
    return {block["type"] for _, block in blocks_of(params)}


def test_a_repeated_id_is_renamed_in_call_and_result() -> None:
    history = played(PlainHistory(size), [("", ["a"], False, True), ("", ["a"], False, True)])
    blocks = [b for _, b in blocks_of(everything().request(history))]
    assert [b["id"] for b in blocks if b["type"] == "tool_use"] == ["a", "a_2"]
    assert [b["tool_use_id"] for b in blocks if b["type"] == "tool_result"] == ["a", "a_2"]


def test_a_call_without_result_gets_an_error() -> None:
    history = PlainHistory(size)
    history.user(say("begin"))
    history.reply([call("a")])
    history.user(say("stop"))
    (filler,) = [b for _, b in blocks_of(everything().request(history)) if b["type"] == "tool_result"]
    assert filler["is_error"] is True


def test_marks_stand_at_system_at_the_end_before_and_at_the_end() -> None:
    policy, history = everything(), played(PlainHistory(size), [])
    policy.request(history)
    history.reply(say("an answer"))
    history.user(say("and then?"))
    params = policy.request(history)
    assert "cache_control" in params["system"][-1]
    assert [b["text"] for _, b in blocks_of(params) if "cache_control" in b] == ["begin", "and then?"]


def test_blocks_are_the_same_objects_in_every_request() -> None:
    policy, history = everything(), played(PlainHistory(size), [("one", [], False, True), ("two", [], False, True)])
    first, second = (blocks_of(policy.request(history)) for _ in range(2))
    assert [content_key(b) for _, b in first] == [content_key(b) for _, b in second]
    assert all(a is b for (_, a), (_, b) in zip(first, second, strict=True) if "cache_control" not in a)


def test_an_hour_is_asked_for_where_the_profile_does() -> None:
    params = SendEverything(HEAD, max_tokens=1, ttl="1h").request(played(PlainHistory(size), []))
    assert params["system"][-1]["cache_control"] == {"type": "ephemeral", "ttl": "1h"}
