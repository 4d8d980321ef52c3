"""Messages of the OpenAI chat completions API: one conversation or many, bare or inside an object."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contextmgr.transcripts.conversations import Conversation, conversations
from contextmgr.transcripts.fields import items, mapping, text, when
from contextmgr.transcripts.parts import arguments, blocks_of, plain, result_content
from contextmgr.transcripts.recorded_file import RecordedFile
from contextmgr.transcripts.recorder import Recorder, clean_name
from contextmgr.transcripts.session import Session

NAME = "openai-messages"
_OPAQUE = ("reasoning", "reasoning_content", "audio")


def read(recorded: RecordedFile) -> list[Session]:
    """Every conversation of the file, in order."""
    sessions: list[Session] = []
    for one in conversations(recorded):
        found = _recorded(one).session(file=recorded.file, format=NAME, index=len(sessions))
        sessions += [found] if found else []
    return sessions


def _recorded(one: Conversation) -> Recorder:
    tools = [t for t in map(_tool, items(one.holder.get("tools"))) if t is not None]
    recorder = Recorder(tools=tuple(tools), title=one.title, skipped=one.dropped)
    model = text(one.holder.get("model"))
    for number, (source, message) in enumerate(one.messages):
        take(recorder, message, number=number, source=source, model=model)
    return recorder


def take(recorder: Recorder, message: Mapping[str, Any], *, number: int, source: str, model: str | None) -> None:
    """Hand one message to the recorder.  ``number`` makes ids for calls that have none."""
    role, content = message.get("role"), message.get("content")
    at = when(message.get("timestamp"))
    if role == "assistant":
        recorder.skipped += sum(1 for key in _OPAQUE if message.get(key))
        recorder.replied(blocks_of(content) + calls(message, number), model=model, at=at)
    elif role in ("tool", "function"):
        block = {"type": "tool_result", "tool_use_id": _answered(recorder, message), "content": result_content(content)}
        recorder.returned([block], at=at)
    elif role in ("system", "developer") and recorder.is_empty:
        recorder.system = "\n\n".join(filter(None, [recorder.system, plain(content)])) or None
    elif role in ("system", "developer", "user"):
        recorder.said(blocks_of(content), at=at, source=source, human=role == "user")
    else:
        recorder.skipped += 1


def calls(message: Mapping[str, Any], number: int) -> list[object]:
    """The message's calls as ``tool_use`` blocks, the single call of older recordings among them."""
    found = [mapping(c) for c in items(message.get("tool_calls"))]
    if isinstance(message.get("function_call"), Mapping):
        found.append({"function": message["function_call"]})
    return [_call(c, f"call_{number}_{i}") for i, c in enumerate(found)]


def _call(call: Mapping[str, Any], spare_id: str) -> dict[str, object]:
    body = mapping(call.get("function")) or mapping(call.get("custom"))
    given = body.get("arguments") if "arguments" in body else body.get("input")
    return {
        "type": "tool_use",
        "id": text(call.get("id")) or spare_id,
        "name": clean_name(body.get("name")),
        "input": arguments(given),
    }


def _answered(recorder: Recorder, message: Mapping[str, Any]) -> object:
    """The id a tool message answers; without one, that of the first call still open."""
    open_ids = recorder.open_ids()
    return message.get("tool_call_id") or (open_ids[0] if open_ids else None)


def _tool(value: object) -> dict[str, object] | None:
    """A tool's schema in Anthropic's form."""
    body = mapping(mapping(value).get("function"))
    if not text(body.get("name")):
        return None
    schema = body.get("parameters")
    return {
        "name": clean_name(body["name"]),
        "description": text(body.get("description")) or "",
        "input_schema": dict(schema) if isinstance(schema, Mapping) and schema else {"type": "object"},
    }
