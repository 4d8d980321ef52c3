"""A support conversation of 200 turns in which facts change: the last value of each is in force, with its turn."""

from __future__ import annotations

import pytest

from tests.field_reports.talk import ask
from tests.memory.talk import Scribe, Talk, claim, talking
from tests.request_check import blocks_of

CHANGES: dict[int, tuple[str, str, str]] = {
    1: ("order_number", "ORD-4471", "My order number is ORD-4471."),
    9: ("shipping_address", "12 Oak Lane, Springfield", "My shipping address is 12 Oak Lane, Springfield."),
    21: ("phone_number", "555 0101", "My phone number is 555 0101."),
    49: ("shipping_address", "14 Oak Lane, Springfield", "Sorry, my shipping address is 14 Oak Lane, Springfield."),
    77: ("delivery_date", "12 May 2026", "The delivery date is 12 May 2026."),
    101: ("order_number", "ORD-9002", "My new order number is ORD-9002."),
    133: ("delivery_date", "19 May 2026", "The delivery date has been moved to 19 May 2026."),
    151: (
        "shipping_address",
        "3 Mill Road, Shelbyville",
        "My shipping address has changed to 3 Mill Road, Shelbyville.",
    ),
    181: ("phone_number", "555 0199", "Actually, my phone number is 555 0199."),
}
LAST = {key: (value, turn) for turn, (key, value, _) in CHANGES.items()}


def hold(talk: Talk) -> None:
    for n in range(1, 201, 2):
        _, _, words = CHANGES.get(n, ("", "", f"Where is parcel {n} now, and who checks on it?"))
        mention = " Was ORD-4471 ever sent to 12 Oak Lane?" if n == 191 else ""
        talk.said(words + mention, f"I am looking into matter {n}. Earlier you mentioned 12 Oak Lane.")
        if n % 40 == 1:
            talk.extract()
    talk.extract()


def by_model() -> Scribe:
    def answer(lines: object) -> dict[str, list[dict[str, object]]]:
        return {"facts": [claim(k, v, turn, words) for turn, (k, v, words) in CHANGES.items()]}

    return Scribe(answer)


@pytest.mark.parametrize("writer", [None, by_model()], ids=["by rule", "by a writer"])
def test_the_last_value_of_each_fact_is_in_force_and_in_the_final_request(writer: Scribe | None) -> None:
    with talking(writer) as talk:
        hold(talk)
        assert {f.key: (f.value, f.turn) for f in talk.facts} == LAST
        talk.chat.add_user("So where does it go, and when?")
        shown = "\n".join(b["text"] for _, b in blocks_of(ask(talk.chat).params) if b["type"] == "text")
        for key, (value, turn) in LAST.items():
            assert f'- {key}: "{value}" (user, turn {turn})' in shown
        assert '"12 Oak Lane' not in shown


def test_the_values_before_are_kept_with_their_turns() -> None:
    with talking() as talk:
        hold(talk)
        history = talk.chat.facts.history("shipping_address", scope="project")
        assert [f.turn for f in history] == [9, 49, 151]
