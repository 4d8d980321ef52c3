"""D16: what is legal on output is not always legal on input: blank blocks are stored, and never sent.

The search index, which must hold no filler either, comes with retrieval.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextmgr import Manager
from contextmgr.assembly import AssembledRequest
from contextmgr.conversation import Conversation
from contextmgr.errors import TurnError
from contextmgr.labels import FILLER, NO_OUTPUT
from tests.field_reports.talk import (
    ask,
    call,
    exchange,
    opened,
    prose,
    reply,
    result,
    results_in,
    text,
    texts_in,
    thinking,
)
from tests.request_check import blocks_of, without_marks

BLANKS = ["", " ", " \n", "\t\r\n", "\u00a0", "\u2003\u3000", "\x1f"]


def assistant_blocks(request: AssembledRequest) -> list[dict[str, Any]]:
    return [without_marks(b) for role, b in blocks_of(request.params) if role == "assistant"]


def answered_with(chat: Conversation, *blocks: dict[str, Any], stop: str | None = None) -> AssembledRequest:
    """A question, that answer, another question; gives the second request."""
    exchange(chat, "Hello.")
    chat.add_user("Question.")
    ask(chat)
    chat.add_reply(reply(*blocks, stop=stop))
    chat.add_user("Another question.")
    return ask(chat)


@pytest.mark.parametrize("blank", BLANKS)
def test_d16_a_tool_only_message_holds_only_the_call(tmp_path: Path, blank: str) -> None:
    with opened(tmp_path / "a.db") as chat:
        chat.add_user("Question.")
        chat.add_reply(reply(text(blank), call("tu_1"), text(blank)))
        chat.add_tool_results([result("tu_1")])
        assert assistant_blocks(ask(chat)) == [call("tu_1")]
        assert chat.history.turn(2).blocks == (text(blank), call("tu_1"), text(blank))


NOTHING: dict[str, list[dict[str, Any]]] = {
    "blank": [text(" \n")],
    "two blanks": [text(""), text("  ")],
    "cancelled": [],
    "unsigned thinking": [{"type": "thinking", "thinking": "half a th"}],
    "blank and unsigned": [{"type": "thinking", "thinking": "", "signature": ""}, text("")],
}


@pytest.mark.parametrize("kind", NOTHING)
def test_d16_a_turn_with_nothing_to_say_is_skipped_and_roles_still_alternate(tmp_path: Path, kind: str) -> None:
    with opened(tmp_path / "a.db") as chat:
        request = answered_with(chat, *NOTHING[kind])
        assert texts_in(request) == ["Hello.", "Done.", "Question.", "Another question."]
        assert [m["role"] for m in request.params["messages"]] == ["user", "assistant", "user"]
        assert list(chat.history.turn(4).blocks) == NOTHING[kind]
        exchange(chat, "And so on.")


@pytest.mark.parametrize("content", ["", " \n", [], None, [text("")], [text(" "), text("\n")]])
def test_d16_a_blank_result_is_sent_in_a_legal_and_explicit_form(tmp_path: Path, content: Any) -> None:
    with opened(tmp_path / "a.db") as chat:
        chat.add_user("Question.")
        chat.add_reply(reply(call("tu_1")))
        block = result("tu_1", content) if content is not None else {"type": "tool_result", "tool_use_id": "tu_1"}
        chat.add_tool_results([block])
        assert results_in(ask(chat))["tu_1"]["content"] == NO_OUTPUT
        assert chat.history.turn(2).results[0].body == block


def test_d16_blank_parts_of_a_result_are_left_out(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db") as chat:
        chat.add_user("Question.")
        chat.add_reply(reply(call("tu_1")))
        chat.add_tool_results([result("tu_1", [text(""), text("rows: 4"), text(" ")])])
        assert results_in(ask(chat))["tu_1"]["content"] == [text("rows: 4")]


@pytest.mark.parametrize("said", ["Done. \n", "Done.", "  Done.\t"])
def test_d16_white_space_at_the_end_of_an_answer_is_no_trouble(tmp_path: Path, said: str) -> None:
    with opened(tmp_path / "a.db") as chat:
        request = answered_with(chat, text(said))
        assert texts_in(request, "assistant") == ["Done.", said]


@pytest.mark.parametrize("tools", [True, False])
def test_d16_a_paused_answer_ends_without_white_space_in_every_request(tmp_path: Path, tools: bool) -> None:
    search = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    more: dict[str, Any] = {} if tools else {"tools": ()}
    with opened(tmp_path / "a.db") as chat:
        chat.add_user("Question.")
        ask(chat, **more)
        chat.add_reply(reply(text("Searching. \n"), search, stop="pause_turn"))
        request = ask(chat, **more)
        assert request.params["messages"][-1]["role"] == "assistant"
        assert not json.dumps(request.params["messages"]).endswith(r'Searching. \n"}]}]')
        chat.add_user("Never mind.")
        ask(chat, **more)


@pytest.mark.parametrize("blank", BLANKS)
def test_d16_a_blank_user_message_is_refused(tmp_path: Path, blank: str) -> None:
    with opened(tmp_path / "a.db") as chat:
        exchange(chat, "Hello.")
        for content in (blank, [text(blank)], [text(blank), text(blank)], []):
            with pytest.raises(TurnError, match="say something"):
                chat.add_user(content)
        assert chat.history.count() == 2


def test_d16_blank_blocks_beside_words_of_the_user_are_left_out(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db") as chat:
        chat.add_user([text(""), text("Question."), text("\n")], pin=True)
        request = ask(chat)
        assert texts_in(request) == ["Question."]
        assert [p.place.where for p in request.proof.pins] == ["turn"]


def holder(inside: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Blocks that hold others."""
    source = {"type": "content", "content": inside}
    return [
        {"type": "search_result", "source": "s", "title": "t", "content": inside},
        {"type": "document", "source": source},
    ]


@pytest.mark.parametrize("inside", [[], [text("")], [text(" "), text("words")]])
@pytest.mark.parametrize("which", [0, 1])
def test_d16_blank_texts_inside_other_blocks(tmp_path: Path, inside: list[dict[str, Any]], which: int) -> None:
    block = holder(inside)[which]
    with opened(tmp_path / "a.db") as chat:
        chat.add_user([block, text("What is in it?")])
        ask(chat)
        chat.add_reply(reply(call("tu_1")))
        chat.add_tool_results([result("tu_1", [block])])
        sent = [b for _, b in blocks_of(ask(chat).params)]
        assert ("words" in json.dumps(sent[0])) == (len(inside) == 2)
        assert ("words" in json.dumps(sent[-1])) == (len(inside) == 2)
        assert chat.history.turn(1).blocks[0] == block


UNREADABLE: dict[str, dict[str, Any]] = {
    "no data": {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": ""}},
    "no source": {"type": "image"},
    "other format": {
        "type": "document",
        "source": {"type": "base64", "media_type": "application/msword", "data": "AA"},
    },
    "no type": {"type": "document", "source": {"data": "AA"}},
    "blank document": {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": " \n"}},
}


@pytest.mark.parametrize("kind", UNREADABLE)
def test_d16_a_part_the_api_cannot_read_is_named_in_its_place(tmp_path: Path, kind: str) -> None:
    block = UNREADABLE[kind]
    with opened(tmp_path / "a.db", 60_000) as chat:
        chat.add_user([block, text("What is in it?")])
        ask(chat)
        chat.add_reply(reply(text("Let me look."), block, call("tu_1")))
        chat.add_tool_results([result("tu_1", [block])])
        request = ask(chat)
        assert json.dumps(request.params["messages"]).count("The API cannot read it.") == 3
        assert chat.history.turn(2).blocks[1] == block


def test_d16_no_filler_is_stored(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db", 6_000) as chat:
        for i in range(12):
            chat.add_user(f"Question {i}.")
            ask(chat)
            chat.add_reply(reply(text(""), call(f"a_{i}"), call(f"b_{i}")))
            chat.add_tool_results([result(f"a_{i}", "")])
            chat.add_user(prose(60))
            ask(chat)
            chat.add_reply(reply())
        stored = repr(chat.history.turns())
        assert NO_OUTPUT not in stored
        assert FILLER not in stored
        assert "left out" not in stored
    files = b"".join(f.read_bytes() for f in tmp_path.iterdir())
    assert b'"(no output)"' not in files


@pytest.mark.parametrize("blank", ["", "\n"])
def test_d16_a_blank_system_prompt_is_no_system_prompt(tmp_path: Path, blank: str) -> None:
    with opened(tmp_path / "a.db") as chat:
        chat.add_user("Question.")
        assert "system" not in ask(chat, system=blank).params
        assert "system" not in ask(chat, system=[text(blank)]).params


def signed(block: dict[str, Any], by: str) -> dict[str, Any]:
    """A block with a signature of its own, where it has one."""
    return {**block, "signature": by} if block["type"] == "thinking" else block


PIECES = st.sampled_from([text(""), text(" \n"), text("words "), thinking("hm", "c2ln"), call("tu_1"), call("tu_2")])
OUTPUTS = st.sampled_from(["", [], "ok", [text("")], [text(" "), text("ok")]])


@settings(max_examples=40)
@given(answers=st.lists(st.lists(PIECES, max_size=4), max_size=5), outputs=st.lists(OUTPUTS, min_size=8, max_size=8))
def test_d16_any_mix_of_blanks_is_followed_by_a_valid_request(
    answers: list[list[dict[str, Any]]], outputs: list[Any]
) -> None:
    with Manager("sqlite://", profile=6_000) as manager:
        chat = manager.conversation("talk", tenant="t-1")
        for i, blocks in enumerate(answers):
            chat.add_user(f"Question {i}.")
            ask(chat)
            chat.add_reply(reply(*(signed(b, f"{i}-{k}") for k, b in enumerate(blocks))))
            calls = [b["id"] for b in blocks if b["type"] == "tool_use"]
            given_back = [result(c, o) for c, o in zip(calls, outputs[i:], strict=False)]
            if given_back:
                chat.add_tool_results(given_back)
                ask(chat)
                chat.add_reply(reply(text(" ")))
        chat.add_user("The end.")
        assert texts_in(ask(chat))[-1] == "The end."
