"""Pin suggestions: what reads like a standing instruction is proposed as an exact quote, all else is left alone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextmgr.manager import Manager
from contextmgr.pins import PinKind, quotes_of
from contextmgr.suggestions import Suggestion, suggest
from contextmgr.suggestions.sentences import units
from contextmgr.turns import Turn

RULE = "All database calls must use prepared statements. This is non-negotiable."


def said(*texts: str, author: Literal["user", "operator", "model"] = "user", number: int = 1) -> Turn:
    role: Any = "assistant" if author == "model" else "user"
    blocks = tuple({"type": "text", "text": text} for text in texts)
    return Turn(number=number, role=role, author=author, blocks=blocks)


def quotes(*texts: str) -> list[str]:
    return [s.quote for s in suggest([said(*texts)])]


STANDING = [
    "From now on, answer in French.",
    "Never commit to main directly.",
    "Always write dates as YYYY-MM-DD when you show them.",
    "Every public function needs a docstring.",
    "Don't modify the generated files.",
    "I'd prefer tabs over spaces.",
    "In this repo we use pnpm instead of npm everywhere.",
    "You may only read from the production database.",
    "Hard rule: no network calls in unit tests.",
    "We don't need backward compatibility.",
    "Can you always ask before you push?",
    "Migrations must be reversible.",
    "ab sofort bitte nur noch auf Deutsch antworten",
    "Alle Zugriffe auf die Datenbank müssen über den Layer laufen.",
    "Utilise toujours des requêtes préparées.",
    "Désormais, pas de dépendances nouvelles.",
    "Nunca borres datos de producción.",
    "A partir de ahora, todas las fechas en UTC.",
]
PASSING = [
    "Can you fix the failing test?",
    "It always lists the branches twice.",
    "The function is defined in env.go but never called anywhere.",
    "Why must the parser see the token twice?",
    "don't set it, let's see if it keeps happening",
    "I never saw this error before.",
    "Commit and push, then open a PR.",
    "Maybe we should always retry?",
    "This causes the cache to always return 0.",
    "what if every call failed?",
    "yes",
    "Run the tests again, please.",
    "I don't like this, any other ideas?",
    "there must have been a timeout",
]


@pytest.mark.parametrize("text", STANDING)
def test_standing(text: str) -> None:
    assert quotes(f"Hello. {text} Thanks!")


@pytest.mark.parametrize("text", PASSING)
def test_passing(text: str) -> None:
    assert quotes(f"Hello. {text}") == []


def test_a_sentence_that_insists_belongs_to_the_quote() -> None:
    assert quotes(f"We talked about it. {RULE} Now list the files.") == [RULE]


def test_a_list_is_quoted_with_the_sentence_that_opens_it() -> None:
    wish = "I'd prefer that\n- each agent names its constants\n- the registry holds a list"
    assert quotes(f"Hm.\n{wish}\n\nShall we?") == [wish]


@pytest.mark.parametrize(
    "pasted",
    [
        "```\nEvery call must be logged.\n```",
        "> Every call must be logged.",
        "+ Every call must be logged.",
        "2026-03-02 10:00:00 WARNING every call must be logged",
        "ValueError: every call must be logged",
        "    at every (must.js:1:2)",
    ],
)
def test_what_was_pasted_is_not_said(pasted: str) -> None:
    assert quotes(f"Look at this:\n{pasted}\nAny idea?") == []


def test_only_users_and_operators_can_say_it() -> None:
    assert suggest([said(RULE, author="model")]) == []
    assert [s.quote for s in suggest([said(RULE, author="operator")])] == [RULE]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (RULE, PinKind.CONSTRAINT),
        ("We decided to keep the old names.", PinKind.DECISION),
        ("You have my permission to delete the branch.", PinKind.APPROVAL),
    ],
)
def test_kinds(text: str, kind: PinKind) -> None:
    assert [s.kind for s in suggest([said(text)])] == [kind]


def test_strongest_first_and_the_newest_of_equal_ones() -> None:
    turns = [said(RULE, number=1), said("Please don't modify the theme.", number=3), said(RULE, number=7)]
    found = suggest(turns)
    assert [s.turn for s in found] == [7, 3]
    assert found[0].score > found[1].score


def test_a_higher_threshold_finds_less() -> None:
    turns = [said(RULE, number=1), said("Please don't modify the theme.", number=2)]
    assert [s.turn for s in suggest(turns, threshold=0.7)] == [1]


def test_the_same_words_twice_in_one_turn_cannot_be_quoted() -> None:
    assert quotes("Never commit to main. I mean it.\n\nWhy?\n\nNever commit to main. Ok?") == []


def test_a_withdrawn_turn_proposes_nothing() -> None:
    turn = Turn(number=1, role="user", author="user", blocks=({"type": "text", "text": RULE},), withdrawn="wrong")
    assert suggest([turn]) == []


@given(st.lists(st.sampled_from([*STANDING, *PASSING, "\n", "- ", "```", "> ", "a.b. "]) | st.text(), max_size=12))
def test_every_quote_can_be_pinned(pieces: list[str]) -> None:
    turn = said(" ".join(pieces), "".join(pieces))
    for found in suggest([turn]):
        assert quotes_of(turn, found.quote)[0].text == found.quote
        assert 0.5 <= found.score <= 1


@given(st.text(max_size=300))
def test_units_are_exact_stretches_in_order(text: str) -> None:
    found = list(units(text))
    assert all(0 <= u.start <= u.end <= len(text) for u in found)
    assert [u.start for u in found] == sorted(u.start for u in found)


def test_a_proposal_is_pinned_as_it_stands() -> None:
    with Manager("sqlite://") as manager:
        chat = manager.conversation("c", tenant="t")
        chat.add_user("Hello, we begin.")
        chat.add_reply({"role": "assistant", "content": [{"type": "text", "text": "Yes."}], "stop_reason": "end_turn"})
        chat.add_user(f"One thing first. {RULE} Then go on.")
        (found,) = chat.suggest_pins()
        chat.pins.add(found.turn, kind=str(found.kind), quote=found.quote)
        assert chat.suggest_pins() == []
        assert [p.text for p in chat.pins.list() if p.turn == found.turn] == [RULE]


def labelled(data_dir: Path, name: str) -> list[dict[str, Any]]:
    lines = (data_dir / "trajectories" / "derived-labels" / name).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def found_in(rows: Sequence[dict[str, Any]]) -> list[list[Suggestion]]:
    return [suggest([said(row["text"])]) for row in rows]


def test_labels_of_real_sessions(data_dir: Path) -> None:
    """Of 11 standing instructions at least 9, of 23 messages that only hold such words at most 3."""
    assert sum(map(bool, found_in(labelled(data_dir, "standing_instructions_gold.jsonl")))) >= 9
    others = [r for r in labelled(data_dir, "instruction_candidates.jsonl") if r["hand_label"] == "not standing"]
    assert sum(map(bool, found_in(others))) <= 3


@pytest.mark.parametrize("text", ["must " + "a" * 100_000, "- must do it\n" * 8_000, "never use aBcD " * 8_000])
def test_text_that_is_no_speech_is_not_searched(text: str) -> None:
    """Each of these took half a minute while every stretch was searched, however long."""
    assert len(quotes(text)) <= 1
