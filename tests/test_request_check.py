"""The checks of the suite that look at more than one request find what they are there for."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.request_check import Answered, check_request, check_size, check_thinking, texts_of
from tests.valid_requests import assistant, call, result, rich_request, text, thinking, user

FIRST: dict[str, Any] = {"system": "Be brief.", "messages": [user(text("Go."))]}
REPLY = [thinking(1), {"type": "redacted_thinking", "data": "eA=="}, text("Looking."), call(1)]
PAST: list[Answered] = [(FIRST, REPLY)]


def second(*reply: dict[str, Any]) -> dict[str, Any]:
    """The request after the tool ran, with the reply as given."""
    return {**FIRST, "messages": [user(text("Go.")), assistant(*reply), user(result(1))]}


def test_thinking_sent_back_whole_or_not_at_all_is_right() -> None:
    assert check_thinking(second(*REPLY), PAST) == []
    assert check_thinking(second(*REPLY[2:]), PAST) == []


@pytest.mark.parametrize("reply", [REPLY[1:], REPLY[:1] + REPLY[2:], REPLY[1::-1] + REPLY[2:]])
def test_thinking_in_part_or_out_of_order_is_wrong(reply: list[dict[str, Any]]) -> None:
    assert check_thinking(second(*reply), PAST)


def test_thinking_with_one_changed_byte_is_wrong() -> None:
    changed = copy.deepcopy(REPLY)
    changed[0]["thinking"] = changed[0]["thinking"].strip()
    assert check_thinking(second(*changed), PAST)


def test_thinking_behind_another_prefix_is_wrong_where_it_is_bound() -> None:
    request = second(*REPLY)
    request["messages"][0] = user(text("Go on."))
    assert check_thinking(request, PAST)
    assert check_thinking(request, PAST, bound=False) == []


def test_cache_marks_are_no_part_of_the_prefix() -> None:
    request = second(*REPLY)
    request["messages"][0]["content"][0]["cache_control"] = {"type": "ephemeral"}
    assert check_thinking(request, PAST) == []


def test_size_is_held_against_budget_and_window() -> None:
    request = {"max_tokens": 100, "messages": []}
    assert check_size(request, lambda _: 900, budget=900, window=1_000) == []
    assert len(check_size(request, lambda _: 901, budget=900, window=1_000)) == 2


def test_texts_are_found_at_every_depth() -> None:
    assert texts_of(rich_request())[:5] == ["Be brief.", "Look.", "I will.", "seen", "done"]


def test_faults_name_the_check() -> None:
    request = rich_request()
    request["messages"][8]["content"][0]["text"] = " "
    assert check_request(request) == ["RV3 message 8: a blank text in a text block"]
