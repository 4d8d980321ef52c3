"""What a new conversation begins with: nothing, what its first words are about, or the newest, within the cap."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from contextmgr.facts import Fact, FactKind, FactScope
from contextmgr.remembering import chosen
from tests.memory.talk import TUESDAY


def fact(key: str, value: Any, age: int = 0, **more: Any) -> Fact:
    given = {"scope": FactScope.PROJECT, "conversation": "old", "author": "user", "turn": 3, **more}
    return Fact(id=key, key=key, value=value, valid_from=TUESDAY - timedelta(days=age), **given)


FACTS = [
    fact("shipping_address", "12 Oak Lane, Springfield", 5),
    fact("deploy_target", {"host": "fly.io", "region": "ams"}, 4),
    fact("orders_database", "PostgreSQL 16", 3, quote="We use PostgreSQL 16 for the orders service."),
    fact("answer_language", "German", 2, kind=FactKind.PREFERENCE, scope=FactScope.USER),
    fact("manager", "Dana White", 1),
]


def keys(text: str, policy: Any = "relevant", cap: int = 2_000, facts: list[Fact] = FACTS, **more: Any) -> list[str]:
    return [f.key for f in chosen(facts, text, policy, cap, lambda t: len(t) // 4 + 1, **more)]


def test_blank_takes_nothing() -> None:
    assert keys("What is my shipping address?", "blank") == []


def test_all_takes_the_newest_first() -> None:
    assert keys("Hello", "all") == [f.key for f in reversed(FACTS)]


@pytest.mark.parametrize(
    ("words", "key"),
    [
        ("Where do you send my parcel, to which address?", "shipping_address"),
        ("Write a migration for the orders service.", "orders_database"),
        ("In which region do we deploy?", "deploy_target"),
        ("Who is Dana?", "manager"),
    ],
)
def test_relevant_takes_what_the_first_words_are_about_and_preferences(words: str, key: str) -> None:
    assert keys(words) == [key, "answer_language"]


@pytest.mark.parametrize("words", ["Hi!", "ok, go on", "Explain photosynthesis to me.", ""])
def test_nothing_is_taken_along_to_fill_the_room(words: str) -> None:
    assert keys(words) == ["answer_language"]


def test_preferences_take_a_part_of_the_cap_only() -> None:
    many = [fact(f"rule_{n}", f"Always do number {n} of it first.", n, kind=FactKind.PREFERENCE) for n in range(50)]
    taken = keys("Hello", facts=many, cap=400)
    assert taken == [f"rule_{n}" for n in range(len(taken))]
    assert 1 <= len(taken) <= 5


@pytest.mark.parametrize("cap", [0, 10, 60, 90, 200])
def test_the_cap_is_kept_and_what_is_too_large_makes_room(cap: int) -> None:
    large = fact("essay", "word " * 400)
    taken = keys("Hello", "all", cap, [large, *FACTS])
    assert "essay" not in taken
    assert len(taken) <= cap // 15


@pytest.mark.parametrize(
    "change",
    [{"superseded_by": "x"}, {"erased": True}, {"scope": FactScope.CONVERSATION}, {"conversation": "here"}],
)
@pytest.mark.parametrize("policy", ["relevant", "all"])
def test_what_is_not_in_force_or_does_not_reach_here_is_left_out(policy: str, change: dict[str, Any]) -> None:
    changed = [replace(FACTS[0], **change), FACTS[4]]
    assert "shipping_address" not in keys("my shipping address", policy, facts=changed, conversation="here")


def test_the_same_facts_in_another_order_give_the_same_choice() -> None:
    assert keys("my address and my manager") == keys("my address and my manager", facts=FACTS[::-1])
