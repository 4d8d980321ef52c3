"""When history is worth searching: the labelled messages as they are published, and the rules behind them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.history_trigger import PARTS, labelled, measured, part
from contextmgr.errors import InputError
from contextmgr.trigger import should_search_history

# What docs/recall.md publishes: precision and recall of each part may not fall below these.
PUBLISHED = {"tuned": (1.0, 1.0), "held_out": (1.0, 0.98), "second": (0.97, 0.82), "third": (1.0, 0.94)}


@pytest.mark.parametrize("name", PARTS)
def test_precision_and_recall_are_as_published(name: str) -> None:
    found = measured([row for row in labelled() if part(row) == name])
    assert (found["precision"] >= PUBLISHED[name][0], found["recall"] >= PUBLISHED[name][1]) == (True, True), found


def test_the_list_is_large_and_varied_enough_to_say_something() -> None:
    rows = labelled()
    assert len({row["text"] for row in rows}) == len(rows) >= 240
    assert min(Counter(row["search"] for row in rows).values()) >= 100
    assert len({row["language"] for row in rows if row["search"]}) == 10
    assert len({row["language"] for row in rows if not row["search"]}) == 10


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("What did we decide last Tuesday about the retry policy?", "topic"),
        ("Book it to my usual address.", "topic"),
        ("as we discussed, use the short form", "topic"),
        ("Continue where we left off.", "recent"),
        ("What were my last few chats?", "recent"),
        ("Wo waren wir stehen geblieben?", "recent"),
        ("Tu te souviens de ce que je t’ai dit ?", "topic"),
        ("Sigamos con lo que estábamos hablando la semana pasada.", "recent"),
        ("¿Te acuerdas del plan de entrenamiento que hicimos?", "topic"),
        ("O que discutimos na semana passada sobre o orçamento?", "topic"),
        ("Wie hieß noch mal die Bibliothek, die du mir letztes Mal genannt hast?", "topic"),
        ("ＷＨＡＴ ＤＩＤ ＷＥ ＤＥＣＩＤＥ？", "topic"),
    ],
)
def test_it_says_how_to_look_and_why(message: str, kind: str) -> None:
    found = should_search_history(message)
    assert (bool(found), found.search, found.kind) == (True, True, kind)
    assert found.reason


@pytest.mark.parametrize(
    "message",
    [
        "",
        " \n",
        "What happened in 1969?",
        "Remember to add a semicolon.",
        "How do I recall a function?",
        "Same as before.",
        'Translate: "What did we decide last Tuesday?"',
        "```\nwhat did we decide last Tuesday?\n```\nExplain this code.",
        "> as we discussed last week\nIs this mail polite?",
        "Write an email to Tom: as we discussed last week, the shipment is late.",
        "In the meeting we agreed on three things. What did we decide in the meeting, in one line?",
    ],
)
def test_ambiguous_quoted_and_general_is_no(message: str) -> None:
    assert not should_search_history(message)


def test_a_pasted_log_in_the_middle_does_not_decide() -> None:
    pasted = "\n".join(
        ["line of a log"] * 200 + ["where did we leave the file, as we discussed"] + ["line of a log"] * 200
    )
    assert not should_search_history(f"Why does this fail?\n{pasted}\nThanks.")
    assert should_search_history(f"{pasted}\nWhat did we decide about this?")


@given(st.text())
def test_any_text_has_an_answer_and_the_same_one_twice(message: str) -> None:
    assert should_search_history(message) == should_search_history(message)


@pytest.mark.parametrize("message", [None, 7, b"what did we decide", ["what did we decide"]])
def test_what_is_no_text_is_refused(message: Any) -> None:
    with pytest.raises(InputError, match="a message must be a string"):
        should_search_history(message)
