"""The tool loop with the real client, against the stand-in server on the loopback interface."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anthropic
import pytest
from anthropic.types import Message, ToolParam

from contextmgr import AssembledRequest, Conversation, Manager
from tests.loopback import ANSWER, model_server

MODEL = "claude-sonnet-5-5"
SYSTEM = "You write a data access layer."
TOOLS: list[ToolParam] = [
    {"name": "read_schema", "input_schema": {"type": "object", "properties": {"table": {}}, "required": ["table"]}}
]
RULE = "All database calls must use prepared statements. This is non-negotiable."


@pytest.fixture
def server() -> Iterator[tuple[anthropic.Anthropic, list[dict[str, Any]]]]:
    with model_server() as (address, bodies), anthropic.Anthropic(base_url=address, api_key="none") as client:
        yield client, bodies


@pytest.fixture
def client(server: tuple[anthropic.Anthropic, list[dict[str, Any]]]) -> anthropic.Anthropic:
    return server[0]


@pytest.fixture
def bodies(server: tuple[anthropic.Anthropic, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    return server[1]


@pytest.fixture
def chat(tmp_path: Path) -> Iterator[Conversation]:
    with Manager(tmp_path / "a.db") as manager:
        yield manager.conversation("dal", tenant="acme")


def ask(chat: Conversation) -> AssembledRequest:
    return chat.assemble(model=MODEL, max_tokens=500, system=SYSTEM, tools=TOOLS)


def create(client: anthropic.Anthropic, request: AssembledRequest) -> Message:
    return client.messages.create(**request.params)


def stream(client: anthropic.Anthropic, request: AssembledRequest) -> Message:
    with client.messages.stream(**request.params) as events:
        return events.get_final_message()


def run_tools(message: Message) -> list[dict[str, Any]]:
    calls = [b for b in message.content if b.type == "tool_use"]
    return [{"type": "tool_result", "tool_use_id": c.id, "content": f"columns of {c.input}"} for c in calls]


@pytest.mark.parametrize("call", [create, stream])
def test_a_tool_loop_from_question_to_answer(
    chat: Conversation, client: anthropic.Anthropic, bodies: list[dict[str, Any]], call: Any
) -> None:
    chat.add_user(RULE, pin=True)
    chat.add_user("Look at read_schema first.")
    requests = [ask(chat)]
    called = chat.add_reply(call(client, requests[0]))
    assert called.is_open
    chat.add_tool_results(run_tools(Message.model_validate(as_message(called.blocks))))
    requests.append(ask(chat))
    answer = chat.add_reply(call(client, requests[1]))
    assert (answer.text, answer.completeness, answer.request) == (ANSWER, "end_turn", 2)
    assert [sent["messages"] for sent in bodies] == [r.params["messages"] for r in requests]
    assert all(RULE in json.dumps(sent) for sent in bodies)


def as_message(blocks: Any) -> dict[str, Any]:
    usage = {"input_tokens": 1, "output_tokens": 1}
    return {"id": "m", "type": "message", "role": "assistant", "model": MODEL, "content": list(blocks), "usage": usage}


def test_what_is_sent_is_what_was_assembled(
    chat: Conversation, client: anthropic.Anthropic, bodies: list[dict[str, Any]]
) -> None:
    chat.add_user("Résumé: \u4e2d \U0001f426 \x00 \udc97.")
    request = ask(chat)
    create(client, request)
    assert bodies == [request.params]
    assert "\ufffd" in json.dumps(bodies, ensure_ascii=False)


def test_usage_anchors_the_size_of_the_next_request(chat: Conversation, client: anthropic.Anthropic) -> None:
    chat.add_user("Hello. " * 300)
    first = ask(chat)
    reply = create(client, first)
    chat.add_reply(reply)
    chat.add_user("Go on.")
    second = ask(chat)
    assert (first.report.anchored, second.report.anchored) == (False, True)
    assert reply.usage.input_tokens < second.report.tokens < reply.usage.input_tokens + 300


def test_count_tokens_takes_the_same_request(chat: Conversation, client: anthropic.Anthropic) -> None:
    chat.add_user("Hello.")
    request = ask(chat)
    assert client.messages.count_tokens(**request.count_params).input_tokens > 0
    assert {*request.params} - {*request.count_params} == {"max_tokens"}


def test_the_same_message_again_is_the_same_turn(chat: Conversation, client: anthropic.Anthropic) -> None:
    chat.add_user("Hello.")
    request = ask(chat)
    message = stream(client, request)
    turns = [chat.add_reply(m, request=request) for m in (message, message.to_dict(), message)]
    assert {t.number for t in turns} == {2}
    assert chat.history.count() == 2


def test_the_next_process_carries_on(tmp_path: Path, client: anthropic.Anthropic) -> None:
    for number in range(1, 6):
        with Manager(tmp_path / "a.db") as manager:
            chat = manager.conversation("dal", tenant="acme")
            chat.add_user(RULE, pin=True) if number == 1 else chat.add_user(f"Step {number}.")
            request = ask(chat)
        with Manager(tmp_path / "a.db") as manager:
            chat = manager.conversation("dal", tenant="acme")
            assert ask(chat) == request
            assert chat.add_reply(create(client, request)).number == 2 * number
    assert [p.place.where for p in request.proof.pins] == ["turn"]
