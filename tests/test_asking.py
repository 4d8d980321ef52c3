"""What is searched for when a question points back: by rule, or by a model that may only say what was said."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from contextmgr.asking import LONGEST, Standalone, asking, query_of
from contextmgr.ranking import standalone
from contextmgr.templates import Templates

BEFORE = ("The export to volume ark-2 failed on 3 May.", "I raised the quota to 40 GB.")
QUESTION = "And who allowed that?"


def answered(query: Any) -> Standalone:
    return asking(lambda prompt, schema: {"query": query, "turns": []}, Templates())


def test_the_answer_is_added_to_the_users_words() -> None:
    found = query_of(QUESTION, BEFORE, answered("who allowed raising the quota of ark-2 to 40 GB"))
    assert found == f"{QUESTION}\nwho allowed raising the quota of ark-2 to 40 GB"


def test_without_a_writer_the_rule_says() -> None:
    assert query_of(QUESTION, BEFORE) == standalone(QUESTION, BEFORE)
    assert query_of("yes, do that", BEFORE) is None


@pytest.mark.parametrize("query", ["", "it", "volume ark-9", "41 GB", "the export of 4 May", "quota " * 90, 7, None])
def test_what_was_not_said_or_says_nothing_is_not_used(query: Any) -> None:
    assert query_of(QUESTION, BEFORE, answered(query)) == standalone(QUESTION, BEFORE)


def test_consent_may_be_resolved() -> None:
    assert query_of("yes, do that", BEFORE, answered("raise the quota")) == "yes, do that\nraise the quota"


def test_a_failure_is_as_if_nobody_was_asked() -> None:
    def broken(prompt: str, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        raise ConnectionError("no network")

    assert query_of(QUESTION, BEFORE, asking(broken, Templates())) == standalone(QUESTION, BEFORE)


def test_one_that_is_slow_is_not_waited_for() -> None:
    def slow(prompt: str, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        time.sleep(0.3)
        return {"query": "quota", "turns": [2]}

    assert query_of(QUESTION, BEFORE, asking(slow, Templates(), timeout=0.05)) == standalone(QUESTION, BEFORE)


def test_nobody_is_asked_without_need() -> None:
    def never(question: str, previous: Sequence[str]) -> str | None:
        pytest.fail("asked")

    assert query_of(QUESTION, (), never) == standalone(QUESTION)
    assert query_of("quota " * LONGEST, BEFORE, never) is not None


def test_the_prompt_holds_what_was_said_as_data() -> None:
    asked: list[str] = []

    def writer(prompt: str, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        asked.append(prompt)
        return {"query": "", "turns": []}

    query_of('And "that"?', BEFORE, asking(writer, Templates()))
    assert '"And \\"that\\"?"' in asked[0]
    assert all(f'"{text}"' in asked[0] for text in BEFORE)
