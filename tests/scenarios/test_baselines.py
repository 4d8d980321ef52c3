"""The baselines are played well: valid, inside the room, with the newest exchange, and each true to its idea."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextmgr.baselines import Baseline, PlainHistory, RetrieveOnly, SummarizeAll, Truncate, baselines, plain, ranked
from contextmgr.validity import validate

TOOL = {"name": "look", "description": "Look.", "input_schema": {"type": "object"}}


def tokens(messages: Sequence[dict[str, Any]]) -> int:
    return sum(len(plain(m)) for m in messages) // 4


def exchange(history: PlainHistory, said: str, outputs: Sequence[str]) -> None:
    history.user(said)
    for i, output in enumerate(outputs):
        call = f"toolu_{len(history.messages)}_{i}"
        history.assistant([{"type": "tool_use", "id": call, "name": "look", "input": {}}])
        history.results([{"type": "tool_result", "tool_use_id": call, "content": output}])


def told(*exchanges: tuple[str, Sequence[str]]) -> PlainHistory:
    """A history whose last exchange is not answered yet."""
    history = PlainHistory()
    for i, (said, outputs) in enumerate(exchanges):
        exchange(history, said, outputs)
        if i < len(exchanges) - 1:
            history.assistant([{"type": "text", "text": f"That was {said}"}])
    return history


def said_in(messages: Sequence[dict[str, Any]]) -> str:
    return "\n".join(map(plain, messages))


@pytest.mark.parametrize("baseline", baselines(), ids=lambda b: b.name)
@given(sizes=st.lists(st.lists(st.integers(1, 2_000), max_size=3), min_size=1, max_size=12))
def test_valid_and_within(baseline: Baseline, sizes: list[list[int]]) -> None:
    fresh = type(baseline)()
    history = PlainHistory()
    for i, outputs in enumerate(sizes):
        exchange(history, f"Question {i}?", ["word " * n for n in outputs])
        messages = fresh.messages(history, 1_500, tokens)
        params = {"model": "m", "max_tokens": 9, "messages": messages, "tools": [TOOL]}
        assert validate(params) == ()
        newest = history.messages[-2:] if outputs else history.messages[-1:]
        assert tokens(messages) <= max(1_500, tokens(newest) + 300)  # a result is never cut, a summary stays beside it
        history.assistant([{"type": "text", "text": "Yes."}])


def test_truncate_keeps_the_newest() -> None:
    history = told(("first " * 50, []), ("second " * 50, []), ("third?", []))
    messages = Truncate().messages(history, 120, tokens)
    assert "second" in said_in(messages)
    assert "first" not in said_in(messages)


def test_summarize_all_keeps_what_many_sentences_share() -> None:
    history = told(
        ("The parser must read dates in the format of the parser tests.", ["x " * 400]),
        ("Does the parser read dates?", ["y " * 400]),
        ("Go on.", ["z " * 20]),
    )
    messages = SummarizeAll().messages(history, 300, tokens)
    assert plain(messages[0]).startswith("[Summary of the conversation so far]")
    assert "The parser must read dates" in said_in(messages)


def test_a_summary_is_kept_until_it_is_made_again() -> None:
    history = told(("One two three. " * 10, ["a " * 400]), ("Next?", ["b " * 200]))
    policy = SummarizeAll()
    first = policy.messages(history, 300, tokens)
    assert policy.messages(history, 300, tokens) == first
    assert policy.covered > 0


def test_retrieve_only_finds_by_words() -> None:
    history = told(
        ("The invoice number starts with RE.", []),
        *[(f"Talk about topic{i}.", []) for i in range(20)],
        ("Which invoice number comes next?", []),
    )
    messages = RetrieveOnly().messages(history, 400, tokens)
    assert "[Earlier, message 1]" in said_in(messages)


def test_nothing_in_common_finds_nothing() -> None:
    assert ranked("zebra", ["apples and pears", "plums"]) == []


def test_the_rarer_word_counts_more() -> None:
    assert ranked("common rare", ["common words", "common rare", "common"])[0] == 1
