"""What is on record is not stored again; a new value takes the place of the old one; the operator's word stands."""

from __future__ import annotations

from typing import Any

import pytest

from contextmgr.extraction.novelty import news
from contextmgr.extraction.proposals import Proposal
from contextmgr.facts import Fact, FactKind
from tests.memory.talk import TUESDAY


def fact(key: str, value: Any, quote: str = "", author: Any = "user") -> Fact:
    return Fact(id=key, key=key, value=value, author=author, conversation="c", quote=quote, valid_from=TUESDAY)


def stored(known: Fact, key: str, value: str, quote: str = "", **more: Any) -> str | None:
    proposal = Proposal(key=key, value=value, kind=more.pop("kind", FactKind.FACT), turn=1, quote=quote, **more)
    found = news(proposal, [known, fact("other", "something else entirely")], "user")
    return None if found is None else f"{found.key}={found.value}"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (("db", "PostgreSQL 16"), ("db", "PostgreSQL 16")),
        (("db", "PostgreSQL 16"), ("database", "postgresql 16.")),
        (("rule", "Never push to main without a review"), ("policy", "never pushing to main without reviews")),
        (("home", "Lisbon, Portugal"), ("home", "Lisbon")),
        (("home", "Lisbon, Portugal, near the river"), ("city", "near the river in Lisbon, Portugal")),
    ],
)
def test_what_is_known_is_not_stored_again(old: tuple[str, str], new: tuple[str, str]) -> None:
    assert stored(fact(*old), *new) is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (("home", "12 Oak Lane"), ("home", "14 Oak Lane")),
        (("rule", "Push to main without a review"), ("rule", "Never push to main without a review")),
        (("prefers", "tea over coffee"), ("prefers", "coffee over tea")),
        (("home", "Lisbon"), ("home", "Lisbon, Portugal")),
        (("delivery", "by express courier on weekdays"), ("delivery", "by standard courier on weekdays")),
    ],
)
def test_a_new_value_takes_the_key_of_the_old_one(old: tuple[str, str], new: tuple[str, str]) -> None:
    assert stored(fact(*old), *new) == "=".join(new)


def test_one_word_may_be_the_value_of_two_matters() -> None:
    manager = fact("manager", "Anna", "My manager is Anna.")
    assert stored(manager, "reviewer", "Anna", "Send pull requests to Anna.") == "reviewer=Anna"
    assert stored(manager, "boss", "Anna", "As I said, my manager is Anna.") is None


def test_what_is_said_to_come_on_top_stands_beside() -> None:
    known = fact("phone_number", "111 222")
    assert stored(known, "phone_number", "333 444", "My phone number is also 333 444.") == "phone_number_2=333 444"


def test_a_correction_finds_what_it_corrects() -> None:
    known = fact("deadline", "12 May")
    assert stored(known, "correction", "14 May", corrects="12 May") == "deadline=14 May"


@pytest.mark.parametrize("old", ["13 May", "12", ""])
def test_a_correction_of_nothing_on_record_is_nothing(old: str) -> None:
    known = fact("deadline", "the twelfth of May, 12 May, for the whole of the second release")
    assert stored(known, "correction", "14 May", corrects=old) is None


def test_what_the_operator_set_stands() -> None:
    known = fact("plan", "basic", author="operator")
    assert stored(known, "plan", "premium") is None
    proposal = Proposal(key="plan", value="premium", kind=FactKind.FACT, turn=1, quote="")
    assert news(proposal, [known], "operator") == proposal
