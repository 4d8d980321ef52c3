"""D23: a plain question finds what it asks for, and words without weight find nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from contextmgr import Manager
from contextmgr.conversation import Conversation
from tests.field_reports.talk import ask, profile, reply, text, texts_in

TOLD = "Nightly export failed because the quota on volume ark-2 was reached"
DICHO = "La exportación nocturna falló porque se alcanzó la cuota del volumen ark-2"
NOISE = "Why can that be, and can the other one not do that as well? Ok, why not, that is what the one can do"
RUIDO = "¿Por qué puede ser eso, y el otro no puede hacer eso también? Sí, eso es lo que puede"


@pytest.fixture(params=[(TOLD, NOISE), (DICHO, RUIDO)], ids=["English", "Spanish"], scope="module")
def chat(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Conversation]:
    told, noise = request.param
    file = tmp_path_factory.mktemp("d23") / "a.db"
    chosen = profile(6_000)
    with Manager(file, profile=chosen) as manager:
        chat = manager.conversation("talk", tenant="t-1")
        for i in range(1, 315):
            chat.add_user(told if i == 14 else f"{noise}, {i}.")
        manager.flush()
        yield chat


QUERIES = {
    TOLD: [
        *("why did the nightly export fail?", "can you remind me what that quota thing was"),
        *("ark-2", "export nightly"),
    ],
    DICHO: ["¿por qué falló la exportación nocturna?", "¿me recuerdas qué era eso de la cuota?", "ark-2"],
}


def test_d23_a_plain_question_finds_it(chat: Conversation) -> None:
    for query in QUERIES[chat.history.turn(14).text]:
        assert 14 in [h.turn for h in chat.search(query, k=3)], query


@pytest.mark.parametrize("query", ["ok", "ok can that", "yes, do that", "why", "sí, haz eso", "vale", "that one"])
def test_d23_words_without_weight_find_nothing(chat: Conversation, query: str) -> None:
    before = chat.history.count()
    chat.add_user(query)
    request = ask(chat)
    assert request.report.evidence == ()
    assert not [t for t in texts_in(request) if t.startswith("[Earlier")]
    for number in range(before + 1, chat.history.count() + 1):
        chat.withdraw(number, "a trial")


def test_d23_a_question_brings_it_along(chat: Conversation) -> None:
    told = chat.history.turn(14).text
    chat.add_reply(reply(text("Yes.")))
    chat.add_user(QUERIES[told][0])
    request = ask(chat)
    assert [e.turns[0] for e in request.report.evidence] == [14]
    assert any(told in t for t in texts_in(request) if t.startswith("[Earlier in this conversation, turn"))


def test_d23_an_old_exact_match_outranks_a_fresh_weak_one(tmp_path: Path) -> None:
    with Manager(tmp_path / "a.db") as manager:
        chat = manager.conversation("talk", tenant="t-1")
        chat.add_user("The export to volume ark-2 failed on its quota.")
        for i in range(40):
            chat.add_user(f"The export number {i} went well.")
        assert chat.search("export ark-2 quota", k=1)[0].turn == 1
