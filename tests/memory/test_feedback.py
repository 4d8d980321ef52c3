"""What is remembered cannot make itself true: shown evidence, recalled text and quotations are not stored again."""

from __future__ import annotations

import json
from typing import Any

from contextmgr.assembly import AssembledRequest
from tests.field_reports.talk import ask, call, profile, prose, reply, result, text
from tests.memory.talk import Talk, claim, talking, telling
from tests.request_check import blocks_of

GATE = "The gate code for dock 4 is K-7731."
EVIDENCE = "[Earlier in this conversation"


def texts(request: AssembledRequest, start: str) -> list[str]:
    return [b["text"] for _, b in blocks_of(request.params) if b["type"] == "text" and b["text"].startswith(start)]


def indexed(talk: Talk) -> int:
    talk.manager.flush()
    with talk.store.reading(talk.scope) as tx:
        return tx.search.state("talk").units


def units_with(talk: Talk, words: str) -> list[int]:
    return [h.turn for h in talk.chat.search(words, k=100)]


def retrieving() -> Any:
    base = profile(6_000)
    return base.model_copy(update={"retrieved": base.retrieved.model_copy(update={"enabled": True, "min_turns": 1})})


def test_thirty_cycles_leave_one_unit_per_turn_and_no_fact_from_evidence() -> None:
    with talking(budget=retrieving()) as talk:
        talk.said(f"{GATE} Keep it in mind.", "I will.")
        for n in range(30):
            talk.said(f"Tell me about crate {n}. {prose(90)}", f"Crate {n} is fine. {prose(90)}")
        talk.extract()
        before, facts = indexed(talk), talk.values
        shown = 0
        for _ in range(30):
            talk.chat.add_user("What is the gate code for dock 4 again?")
            request = ask(talk.chat)
            shown += sum(GATE[:20] in t for t in texts(request, EVIDENCE))
            talk.chat.add_reply(reply(text("It is in what you told me earlier.")))
            talk.extract()
        assert shown > 0
        assert indexed(talk) == before + 60
        assert talk.values == facts
        assert units_with(talk, "K-7731") == [1]


def test_evidence_pasted_back_by_hand_or_quoted_by_the_model_is_no_new_knowledge() -> None:
    with talking(
        telling(claim("gate", "K-7731", 65, GATE), claim("gate", "K-7731", 64, GATE)), budget=retrieving()
    ) as talk:
        talk.said(f"{GATE} Keep it in mind.", "I will.")
        for n in range(30):
            talk.said(f"Tell me about crate {n}. {prose(90)}", f"Crate {n} is fine. {prose(90)}")
        talk.chat.add_user("What is the gate code for dock 4 again?")
        (evidence,) = texts(ask(talk.chat), EVIDENCE)
        assert GATE in evidence
        talk.chat.add_reply(reply(text(f"You said: {evidence}")))
        assert talk.chat.add_user(f"Right, you showed me this:\n{evidence}").number == 65
        talk.extract()
        assert talk.facts == []


def test_what_recall_brought_back_is_no_new_knowledge() -> None:
    found = json.dumps({"results": [{"chat_id": "old", "turns": [3], "excerpt": GATE}]})
    with talking(telling(claim("gate", "K-7731", 3, GATE))) as talk:
        talk.chat.add_user("What was the gate code?")
        talk.chat.add_reply(reply(call("tu_1", "conversation_search", query="gate code")))
        talk.chat.add_tool_results([result("tu_1", found)])
        for said in (GATE, f"It says:\n> {GATE}", found):
            talk.chat.add_user(said)
        assert talk.extract() == 0


def test_a_fact_shown_in_a_later_chat_and_pasted_there_is_not_doubled() -> None:
    with talking() as talk:
        talk.extracted("My shipping address is 12 Oak Lane, Springfield.")
        later = talk.open("later")
        later.add_user("What is my shipping address?")
        state = list(texts(ask(later), "[State kept"))
        later.add_reply(reply(text("It is 12 Oak Lane, Springfield.")))
        later.add_user("\n".join([*state, "My shipping address is 12 Oak Lane, Springfield."]))
        assert talk.extract(later) == 0
        assert [(f.conversation, f.turn) for f in talk.facts] == [("talk", 1)]
