"""Codex CLI rollouts: JSON Lines of response items and client events.

A reply is everything the model sent up to the ``token_count`` that ends its call, or up to the first output where a
recording has none.  Reasoning is opaque and bound to its maker: dropped and counted.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from contextmgr.transcripts.fields import count, mapping, text, usage, when
from contextmgr.transcripts.parts import arguments, blocks_of, plain, result_content
from contextmgr.transcripts.recorded_file import RecordedFile
from contextmgr.transcripts.recorder import Recorder
from contextmgr.transcripts.session import Session
from contextmgr.turns import Usage

NAME = "codex"
_LINE_TYPES = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})
_ITEM_TYPES = frozenset(
    {"message", "reasoning", "function_call", "function_call_output", "custom_tool_call", "local_shell_call"}
)
_OUTPUTS = frozenset({"function_call_output", "custom_tool_call_output", "tool_search_output"})
_CLIENT_TEXT = ("<", "# AGENTS.md")


def recognises(value: Mapping[str, Any]) -> bool:
    """Whether a line is one of this format, wrapped or, in older files, the bare item."""
    kind = value.get("type")
    if not isinstance(kind, str):
        return False
    if isinstance(value.get("payload"), Mapping):
        return kind in _LINE_TYPES
    return kind in _ITEM_TYPES and any(key in value for key in ("content", "call_id", "summary"))


def read(recorded: RecordedFile) -> list[Session]:
    """The rollout's conversation."""
    reader = _Reader()
    reader.recorder.skipped = recorded.broken
    for number, value in recorded.records:
        reader.line(number, mapping(value))
    found = reader.recorder.session(file=recorded.file, format=NAME, index=0)
    return [found] if found else []


class _Reader:
    """Hands the items to the recorder, a message id per model call."""

    def __init__(self) -> None:
        self.recorder = Recorder()
        self._calls = 0
        self._is_answered = False
        self._model: str | None = None

    def line(self, number: int, line: Mapping[str, Any]) -> None:
        """Take one line."""
        payload = mapping(line.get("payload"))
        at = when(line.get("timestamp"))
        kind = line.get("type")
        if kind == "response_item":
            self._item(number, payload, at)
        elif kind == "event_msg":
            self._event(payload)
        elif kind == "compacted":
            self.recorder.compactions += 1
            self._end_reply()
        elif kind == "session_meta":
            self.recorder.system = self.recorder.system or _instructions(payload)
        elif kind == "turn_context":
            self._model = text(payload.get("model")) or self._model
        elif recognises(line):
            self._item(number, line, at)
        else:
            self.recorder.skipped += 1

    def _item(self, number: int, item: Mapping[str, Any], at: datetime | None) -> None:
        kind = item.get("type")
        if kind == "message" and item.get("role") == "assistant":
            self._reply(blocks_of(item.get("content")), at)
        elif kind == "message" and item.get("role") in ("user", "developer", "system"):
            self._said(f"line:{number}", item, at)
        elif isinstance(kind, str) and kind in _OUTPUTS:
            self.recorder.returned([_result(item)], at=at)
            self._is_answered = True
        elif isinstance(item.get("call_id"), str) and isinstance(kind, str) and kind.endswith("_call"):
            self._reply([_call(kind, item)], at)
        else:
            self.recorder.skipped += 1

    def _said(self, source: str, item: Mapping[str, Any], at: datetime | None) -> None:
        human = item["role"] == "user" and not plain(item.get("content")).lstrip().startswith(_CLIENT_TEXT)
        self.recorder.said(blocks_of(item.get("content")), at=at, source=source, human=human)
        self._end_reply()

    def _reply(self, blocks: list[object], at: datetime | None) -> None:
        if self._is_answered:
            self._end_reply()
        self.recorder.replied(blocks, message_id=f"reply_{self._calls}", model=self._model, at=at)

    def _event(self, payload: Mapping[str, Any]) -> None:
        if payload.get("type") == "token_count":
            self.recorder.note_usage(_usage(mapping(mapping(payload.get("info")).get("last_token_usage"))))
            self._end_reply()

    def _end_reply(self) -> None:
        self._calls += 1
        self._is_answered = False


def _instructions(meta: Mapping[str, Any]) -> str | None:
    base = meta.get("base_instructions")
    return text(mapping(base).get("text")) or text(base) or text(meta.get("instructions"))


def _call(kind: str, item: Mapping[str, Any]) -> dict[str, object]:
    given = item["arguments"] if "arguments" in item else item.get("action")
    free_text = item.get("input")
    return {
        "type": "tool_use",
        "id": item["call_id"],
        "name": text(item.get("name")) or kind.removesuffix("_call"),
        "input": {"input": free_text} if isinstance(free_text, str) else arguments(given),
    }


def _result(item: Mapping[str, Any]) -> dict[str, object]:
    output = item.get("output")
    if isinstance(output, Mapping):
        output = output.get("content")
    content = json.dumps(item["tools"]) if "tools" in item else result_content(output)
    return {"type": "tool_result", "tool_use_id": item.get("call_id"), "content": content}


def _usage(last: Mapping[str, Any]) -> Usage | None:
    """Usage of the last call; the recorded input includes what was read from the cache."""
    cached = count(last.get("cached_input_tokens"))
    return usage(
        uncached=count(last.get("input_tokens")) - cached,
        cache_read=cached,
        cache_write=0,
        output=last.get("output_tokens"),
    )
