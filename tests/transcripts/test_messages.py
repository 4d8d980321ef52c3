"""Messages of the Anthropic and OpenAI APIs: every way they are kept in files, and how they become turns."""

from __future__ import annotations

from typing import Any

import pytest

from contextmgr.transcripts import Said
from tests.transcripts.lines import call, read, read_document, read_one, result, shape, text

ANTHROPIC: list[dict[str, Any]] = [
    {"role": "user", "content": "go"},
    {"role": "assistant", "content": [text("ok"), call("c1")]},
    {"role": "user", "content": [result("c1"), text("and?")]},
    {"role": "assistant", "content": "done"},
]
OPENAI: list[dict[str, Any]] = [
    {"role": "system", "content": "Be strict."},
    {"role": "user", "content": "go"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "get.user", "arguments": '{"id": 1}'}}],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "found"},
    {"role": "assistant", "content": "done"},
]
PNG = "data:image/png;base64,AAAA"


def openai(*messages: dict[str, Any]) -> Any:
    """The only session of these messages after a system message."""
    (session,) = read_document([{"role": "system", "content": "s"}, *messages])
    assert session.format == "openai-messages"
    return session


def assistant(*calls: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": "", "tool_calls": list(calls)}


def function(call_id: str, arguments: Any = "{}", name: str = "look") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


@pytest.mark.parametrize("document", [ANTHROPIC, {"messages": ANTHROPIC}, [{"messages": ANTHROPIC}], [ANTHROPIC]])
def test_anthropic_documents(document: Any) -> None:
    (session,) = read_document(document)
    assert (session.format, shape(session)) == ("anthropic-messages", "uAruA")


def test_anthropic_messages_one_per_line() -> None:
    session = read_one(ANTHROPIC)
    said = session.events[0]
    assert (session.format, shape(session)) == ("anthropic-messages", "uAruA")
    assert isinstance(said, Said)
    assert said.source == "line:0"


def test_many_conversations_keep_their_order() -> None:
    sessions = read([{"messages": ANTHROPIC[:2]}, {"messages": ANTHROPIC}, ANTHROPIC])
    assert [(s.index, shape(s)) for s in sessions] == [(0, "uA"), (1, "uAruA"), (2, "uAruA")]


def test_a_log_of_requests_is_one_conversation() -> None:
    marked = [{"role": "user", "content": [{**text("go"), "cache_control": {"type": "ephemeral"}}]}, *ANTHROPIC[1:]]
    lines = [{"model": "m", "max_tokens": 9, "messages": m} for m in (ANTHROPIC[:1], marked[:3], ANTHROPIC)]
    assert shape(read_one(lines)) == "uAruA"


def test_system_and_tools_of_a_request() -> None:
    tool = {"name": "Read", "input_schema": {"type": "object"}}
    (session,) = read_document({"system": [text("a"), text("b")], "tools": [tool], "messages": ANTHROPIC})
    assert (session.system, session.tools, session.tool_names) == ("a\n\nb", (tool,), ("Read",))


def test_a_system_message_in_mid_conversation_is_no_persons() -> None:
    (session,) = read_document([*ANTHROPIC, {"role": "system", "content": "Be brief now."}])
    assert shape(session) == "uAruAc"


def test_replies_that_follow_each_other_are_one() -> None:
    (session,) = read_document([*ANTHROPIC, {"role": "assistant", "content": "really"}])
    assert shape(session) == "uAruA"
    assert session.replies[-1].blocks == (text("done"), text("really"))


def test_a_paused_reply_is_not_joined() -> None:
    paused = {"role": "assistant", "content": "searching", "stop_reason": "pause_turn"}
    (session,) = read_document([{"role": "user", "content": [text("go")]}, paused, ANTHROPIC[3]])
    assert shape(session) == "uAA"


def test_replies_before_the_first_user_message_are_counted() -> None:
    (session,) = read_document([{"role": "assistant", "content": "Hello!"}, *ANTHROPIC])
    assert (shape(session), session.skipped) == ("uAruA", 1)


@pytest.mark.parametrize("document", [OPENAI, {"messages": OPENAI}, [{"traj": OPENAI}]])
def test_openai_documents(document: Any) -> None:
    (session,) = read_document(document)
    assert (session.format, shape(session), session.system) == ("openai-messages", "uArA", "Be strict.")
    (made,) = session.replies[0].calls
    assert made == {"type": "tool_use", "id": "c1", "name": "get_user", "input": {"id": 1}}


def test_benchmark_conversations_are_named() -> None:
    sessions = read_document([{"task_id": 4, "trial": t, "traj": OPENAI} for t in (0, 1)])
    assert [s.title for s in sessions] == ["task 4, trial 0", "task 4, trial 1"]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [('{"a": 1}', {"a": 1}), ("", {}), ("{cut", {"_raw": "{cut"}), ("[1]", {"_raw": [1]}), ({"a": 1}, {"a": 1})],
)
def test_arguments(arguments: Any, expected: dict[str, Any]) -> None:
    session = openai({"role": "user", "content": "go"}, assistant(function("c1", arguments)))
    assert session.replies[0].calls[0]["input"] == expected


def test_repeated_call_ids_are_kept_and_paired_in_order() -> None:
    tool = {"role": "tool", "tool_call_id": "c"}
    session = openai(
        {"role": "user", "content": "go"},
        assistant(function("c"), function("c")),
        {**tool, "content": "one"},
        {**tool, "content": "two"},
        assistant(function("c")),
        {**tool, "content": "three"},
    )
    assert shape(session) == "uArrAr"
    assert [b["content"] for e in session.events for b in e.blocks if b["type"] == "tool_result"] == [
        "one",
        "two",
        "three",
    ]


def test_ids_the_api_refuses_are_cleaned_alike() -> None:
    session = openai(
        {"role": "user", "content": "go"},
        assistant(function("call|1")),
        {"role": "tool", "tool_call_id": "call|1", "content": "x"},
    )
    assert session.replies[0].calls[0]["id"] == session.events[-1].blocks[0]["tool_use_id"] == "call_1"


def test_calls_of_old_recordings_have_no_id() -> None:
    old = {"role": "assistant", "content": None, "function_call": {"name": "look", "arguments": "{}"}}
    session = openai({"role": "user", "content": "go"}, old, {"role": "function", "name": "look", "content": "x"})
    assert shape(session) == "uAr"


def test_images() -> None:
    parts = [{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": PNG}}]
    session = openai({"role": "user", "content": [*parts, {"type": "image_url", "image_url": {"url": "data:x"}}]})
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
    assert session.events[0].blocks == (text("see"), image)
    assert session.skipped == 1


def test_tool_schemas_become_anthropics() -> None:
    tool = {"type": "function", "function": {"name": "a.b", "description": "d", "parameters": {"type": "object"}}}
    (session,) = read_document({"messages": OPENAI, "tools": [tool]})
    assert session.tools == ({"name": "a_b", "description": "d", "input_schema": {"type": "object"}},)


def test_reasoning_is_dropped_and_counted() -> None:
    reply = {"role": "assistant", "content": "x", "reasoning_content": "hm"}
    assert openai({"role": "user", "content": "go"}, reply).skipped == 1


def test_plain_chats_are_told_apart_by_their_first_role() -> None:
    chat = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    assert read_document(chat)[0].format == "anthropic-messages"
    assert read_document([{"role": "system", "content": "s"}, *chat])[0].format == "openai-messages"
