"""D19: NUL bytes and broken Unicode from tools are stored as they came and sent in a form that can be sent.

Search, facts, summaries, export and the second database come with their own parts.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextmgr import Manager
from contextmgr.errors import InputError, ScopeError, TaskError, UnsendablePinError
from tests.field_reports.talk import (
    ask,
    call,
    exchange,
    opened,
    profile,
    prose,
    reply,
    result,
    results_in,
    step,
    text,
    texts_in,
    words_of,
)

ODD = {
    "NUL": ("size=3\x00end", "size=3\ufffdend"),
    "lone low": ("pi\udc97ce", "pi\ufffdce"),
    "lone high": ("chunk \ud83d", "chunk \ufffd"),
    "begins low": ("\ude00 chunk", "\ufffd chunk"),
    "only NUL": ("\x00\x00", "\ufffd\ufffd"),
    "reversed pair": ("\ude00\ud83d", "\ufffd\ufffd"),
}
HALVES = "smile \ud83d\ude00"  # what joining two chunks leaves: Python keeps the halves apart, JSON does not
SOUND = ["smile 😀", json.loads('"\\ud83d\\ude00"'), "𝒳 𠮷 👩‍👩‍👧", "e\u0301", "\ufeffbom", "\u202eltr", "\x01\x1b[31m"]


@pytest.mark.parametrize("kind", ODD)
def test_d19_a_tool_result_is_sent_repaired_and_kept_as_it_came(tmp_path: Path, kind: str) -> None:
    raw, sent = ODD[kind]
    with opened(tmp_path / "a.db") as chat:
        chat.add_user("Read it.")
        step(chat, "tu_1", raw)
        request = ask(chat)
        assert results_in(request)["tu_1"]["content"] == sent
        assert request.report.repaired == (2,)
        assert "U+FFFD" in str(request.report)
    with opened(tmp_path / "a.db") as chat:
        stored = chat.history.turn(2).results[0].body["content"]
        assert stored == raw
        assert digest(stored) == digest(raw)
        assert chat.history.turn(2).results[0].sendable is False


def digest(words: str) -> str:
    return hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest()


@pytest.mark.parametrize("words", SOUND)
def test_d19_what_is_sound_is_left_alone(tmp_path: Path, words: str) -> None:
    with opened(tmp_path / "a.db") as chat:
        chat.add_user(words)
        step(chat, "tu_1", words)
        request = ask(chat)
        assert results_in(request)["tu_1"]["content"] == words
        assert texts_in(request) == [words]
        assert request.report.repaired == ()


@pytest.mark.parametrize("kind", ODD)
def test_d19_the_same_in_every_other_place(tmp_path: Path, kind: str) -> None:
    raw, sent = ODD[kind]
    with opened(tmp_path / "a.db") as chat:
        chat.add_user(raw, metadata={"from": raw, raw: 1})
        ask(chat)
        chat.add_reply(reply(text(raw), call("tu_1", what=raw, **{raw: raw})))
        chat.add_tool_results([result("tu_1", [text(raw), text("and")], is_error=True)])
        request = ask(chat)
        assert texts_in(request) == [sent, sent]
        assert results_in(request)["tu_1"]["content"] == [text(sent), text("and")]
        assert request.params["messages"][1]["content"][1]["input"] == {"what": sent, sent: sent}  # type: ignore[index, typeddict-item]
        assert request.report.repaired == (1, 2)
        assert chat.history.turn(1).text == raw
        assert chat.history.turn(1).metadata == {"from": raw, raw: 1}
        assert chat.history.turn(2).calls[0]["input"] == {"what": raw, raw: raw}
        assert request.count_params["messages"] == request.params["messages"]


def test_d19_a_pair_split_over_two_chunks_is_two_broken_halves(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db") as chat:
        chat.add_user("Read it.")
        step(chat, "tu_1", [text("a \ud83d"), text("\ude00 b")])
        assert results_in(ask(chat))["tu_1"]["content"] == [text("a \ufffd"), text("\ufffd b")]
        assert chat.history.turn(2).results[0].body["content"] == [text("a \ud83d"), text("\ude00 b")]


def test_d19_two_halves_of_a_pair_in_one_text_are_the_character(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db") as chat:
        chat.add_user(HALVES)
        step(chat, "tu_1", HALVES, text(HALVES), what=HALVES)
        request = ask(chat, system=HALVES)
        assert request.params["system"][0]["text"] == "smile 😀"
        assert texts_in(request) == ["smile 😀", "smile 😀"]
        assert results_in(request)["tu_1"]["content"] == "smile 😀"
        assert request.report.repaired == ()


def test_d19_halves_before_a_quote_do_not_move_it(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db") as chat:
        stored = chat.add_user(f"{HALVES} Never delete it.", quote="Never delete it.")
        assert stored == chat.history.turn(1)
        assert [p.place.where for p in ask(chat).proof.pins] == ["turn"]


def test_d19_halves_in_an_id_still_pair_call_and_result(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db") as chat:
        chat.add_user("Read it.")
        chat.add_reply(reply(call(HALVES)))
        chat.add_tool_results([result(HALVES, "ok")])
        assert len(results_in(ask(chat))) == 1


@pytest.mark.parametrize("kind", ODD)
def test_d19_a_name_that_cannot_be_kept_is_refused_and_a_title_is_repaired(tmp_path: Path, kind: str) -> None:
    raw, sent = ODD[kind]
    with Manager(tmp_path / "a.db", profile=profile(20_000)) as manager:
        with pytest.raises(ScopeError):
            manager.conversation(raw, tenant="t-1")
        manager.conversation("talk", tenant="t-1", title=raw)
        assert [c.title for c in manager.conversations(tenant="t-1")] == [sent]


@pytest.mark.parametrize("kind", ODD)
def test_d19_what_must_be_sent_word_for_word_is_refused_when_given(tmp_path: Path, kind: str) -> None:
    raw, _ = ODD[kind]
    with opened(tmp_path / "a.db") as chat:
        exchange(chat, "Hello.")
        with pytest.raises(UnsendablePinError, match="plain text"):
            chat.add_user(raw, pin=True)
        with pytest.raises(TaskError):
            chat.set_task("brief", raw)
        with pytest.raises(InputError, match="system"):
            chat.add_user("Go on.") and ask(chat, system=raw)
        assert chat.history.count() == 3
        assert chat.pins.list() == ()
        ask(chat)


@pytest.mark.parametrize("kind", ODD)
def test_d19_a_sound_quote_of_a_broken_turn_can_be_pinned(tmp_path: Path, kind: str) -> None:
    raw, sent = ODD[kind]
    rule = "Never delete the bucket."
    with opened(tmp_path / "a.db", profile(6_000, min_turns=2)) as chat:
        chat.add_user(f"{raw} {rule}", quote=rule)
        for i in range(12):
            request = ask(chat)
            assert [p.place.where for p in request.proof.pins] != ["turn"]
            chat.add_reply(reply(text(prose(250))))
            chat.add_user(f"Part {i}: {prose(250)}")
        assert rule in texts_in(request)
        assert sent not in " ".join(texts_in(request))


@pytest.mark.parametrize("kind", ODD)
def test_d19_cut_masked_and_late_forms_are_repaired_too(tmp_path: Path, kind: str) -> None:
    raw, _ = ODD[kind]
    seen = set()
    with opened(tmp_path / "a.db", profile(6_000, min_turns=2)) as chat:
        for i in range(6):
            chat.add_user(f"Part {i}.")
            ask(chat)
            chat.add_reply(reply(call(f"tu_{i}", what=raw), call(f"late_{i}", what=raw)))
            chat.add_tool_results([result(f"tu_{i}", f"{raw} rows\n" * (3_000 if i == 2 else 150))])
            chat.add_user("Go on.")
            ask(chat)
            chat.add_reply(reply(text("Yes.")))
            chat.add_tool_results([result(f"late_{i}", raw)])
            chat.add_user("And?")
            request = ask(chat)
            seen |= {words_of(b["content"])[:10] for b in results_in(request).values()}
            chat.add_reply(reply(text("Yes.")))
        assert any(words.startswith("[Output of") for words in seen)


def test_d19_nothing_is_cut_at_the_nul(tmp_path: Path) -> None:
    raw = "\x00".join(["head", *("line" for _ in range(50)), "tail"])
    with opened(tmp_path / "a.db") as chat:
        chat.add_user("Read it.")
        step(chat, "tu_1", raw)
        assert results_in(ask(chat))["tu_1"]["content"] == raw.replace("\x00", "\ufffd")
    with opened(tmp_path / "a.db") as chat:
        assert chat.history.turn(2).results[0].body["content"] == raw


@pytest.mark.parametrize("kind", ODD)
def test_d19_a_client_that_sends_the_repaired_list_back_is_recognised(tmp_path: Path, kind: str) -> None:
    raw, _ = ODD[kind]
    with opened(tmp_path / "a.db") as chat:
        chat.add_user(raw)
        step(chat, "tu_1", raw, text(raw), what=raw)
        request = ask(chat)
        sent = [dict(m) for m in json.loads(json.dumps(request.params))["messages"]]
        assert chat.sync(sent) == []
        chat.sync([*sent, {"role": "assistant", "content": raw}])
        assert chat.history.turn(3).text == raw


@pytest.mark.parametrize("kind", ODD)
def test_d19_names_and_ids_of_calls_are_repaired_alike_in_call_and_result(tmp_path: Path, kind: str) -> None:
    raw, _ = ODD[kind]
    with opened(tmp_path / "a.db") as chat:
        chat.add_user("Read it.")
        chat.add_reply(reply({**call(f"tu {raw}"), "name": f"read {raw}"}))
        chat.add_tool_results([result(f"tu {raw}", "ok")])
        assert len(results_in(ask(chat))) == 1


@pytest.mark.parametrize("kind", ODD)
def test_d19_reasons_are_kept_in_a_form_that_every_store_takes(tmp_path: Path, kind: str) -> None:
    raw, sent = ODD[kind]
    with opened(tmp_path / "a.db") as chat:
        chat.add_user("Rule.", pin=True)
        chat.pins.revoke(chat.pins.list()[0].id, raw)
        assert chat.pins.list(every=True)[0].reason == sent
        chat.add_user("More.")
        assert chat.withdraw(2, raw).withdrawn == sent


ANY = st.text(alphabet=st.characters(codec=None, categories=None), min_size=1, max_size=12)  # surrogates included
BROKEN = st.one_of(ANY, st.lists(st.sampled_from(list("a\x00\ud83d\ude00\udc97😀")), min_size=1).map("".join))


@settings(max_examples=40)
@given(words=st.lists(BROKEN, min_size=1, max_size=6))
def test_d19_any_text_comes_back_as_it_was_and_is_sent_as_utf_8(words: list[str]) -> None:
    with Manager("sqlite://", profile=20_000) as manager:
        chat = manager.conversation("talk", tenant="t-1")
        chat.add_user("Read it.")
        for i, output in enumerate(words):
            step(chat, f"tu_{i}", output, text(output), what=output)
            ask(chat)
        turns: list[Any] = chat.history.turns()[1:]
        whole = [w.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass") for w in words]
        assert [t.results[0].body["content"] for t in turns] == whole
        assert [t.blocks[0]["text"] for t in turns] == whole
