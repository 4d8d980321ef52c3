"""Sessions of the pi coding agent: JSON Lines of messages and changes of setting.

Its thinking blocks come from several makers and are not signed for us: dropped and counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contextmgr.transcripts.fields import items, mapping, text, usage, when
from contextmgr.transcripts.parts import arguments, blocks_of, result_content
from contextmgr.transcripts.recorded_file import RecordedFile
from contextmgr.transcripts.recorder import Recorder
from contextmgr.transcripts.session import Session

NAME = "pi"
_SETTINGS = frozenset({"session", "session_info", "model_change", "thinking_level_change", "label"})
_STOP_REASONS = {"stop": "end_turn", "toolUse": "tool_use", "length": "max_tokens"}


def recognises(value: Mapping[str, Any]) -> bool:
    """Whether a line is one of this format."""
    if value.get("type") == "message":
        return isinstance(mapping(value.get("message")).get("role"), str)
    return value.get("type") in ("model_change", "thinking_level_change") or (
        value.get("type") == "session" and "cwd" in value
    )


def read(recorded: RecordedFile) -> list[Session]:
    """The session's conversation."""
    recorder = Recorder(skipped=recorded.broken)
    for number, value in recorded.records:
        _take(recorder, number, mapping(value))
    found = recorder.session(file=recorded.file, format=NAME, index=0)
    return [found] if found else []


def _take(recorder: Recorder, number: int, line: Mapping[str, Any]) -> None:
    kind = line.get("type")
    message = mapping(line.get("message"))
    role = message.get("role")
    at = when(message.get("timestamp")) or when(line.get("timestamp"))
    if kind == "compaction":
        recorder.compactions += 1
    elif kind == "message" and role == "user":
        recorder.said(blocks_of(message.get("content")), at=at, source=f"line:{number}")
    elif kind == "message" and role == "assistant":
        _replied(recorder, message, line)
    elif kind == "message" and role == "toolResult":
        recorder.returned([_result(message)], at=at)
    elif not isinstance(kind, str) or kind not in _SETTINGS:
        recorder.skipped += 1


def _replied(recorder: Recorder, message: Mapping[str, Any], line: Mapping[str, Any]) -> None:
    content = [b for b in items(message.get("content")) if mapping(b).get("type") != "thinking"]
    recorder.skipped += len(items(message.get("content"))) - len(content)
    recorded = mapping(message.get("usage"))
    recorder.replied(
        [block for part in content for block in _blocks(part)],
        stop_reason=_STOP_REASONS.get(str(message.get("stopReason"))),
        model=text(message.get("model")),
        usage=usage(
            uncached=recorded.get("input"),
            cache_read=recorded.get("cacheRead"),
            cache_write=recorded.get("cacheWrite"),
            output=recorded.get("output"),
        ),
        at=when(message.get("timestamp")) or when(line.get("timestamp")),
    )


def _blocks(part: object) -> list[object]:
    call = mapping(part)
    if call.get("type") != "toolCall":
        return blocks_of([part])
    return [
        {
            "type": "tool_use",
            "id": call.get("id"),
            "name": call.get("name"),
            "input": arguments(call.get("arguments")),
        }
    ]


def _result(message: Mapping[str, Any]) -> dict[str, object]:
    block: dict[str, object] = {
        "type": "tool_result",
        "tool_use_id": message.get("toolCallId"),
        "content": result_content(message.get("content")),
    }
    return {**block, "is_error": True} if message.get("isError") is True else block
