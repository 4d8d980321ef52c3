"""Lines of recorded sessions, as short as each format allows, for the tests of the readers."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from contextmgr.transcripts import Replied, Returned, Said, Session, read_recorded
from contextmgr.transcripts.recorded_file import parse

AT = "2026-03-01T10:00:00.000Z"


def read(values: Iterable[Any]) -> list[Session]:
    """Sessions of JSON Lines."""
    return read_recorded(parse("test.jsonl", "\n".join(v if isinstance(v, str) else json.dumps(v) for v in values)))


def read_one(values: Iterable[Any]) -> Session:
    """The only session of JSON Lines."""
    (session,) = read(values)
    return session


def read_document(value: Any) -> list[Session]:
    """Sessions of one JSON document."""
    return read_recorded(parse("test.json", json.dumps(value)))


def shape(session: Session) -> str:
    """The events as letters: u and c for what a person and a client said, A for a reply, r for each result."""
    return "".join(map(_letters, session.events))


def _letters(event: Said | Replied | Returned) -> str:
    if isinstance(event, Said):
        return "u" if event.human else "c"
    return "A" if isinstance(event, Replied) else "r" * len(event.blocks)


def text(words: str) -> dict[str, Any]:
    """A text block."""
    return {"type": "text", "text": words}


def call(call_id: str, name: str = "Read") -> dict[str, Any]:
    """A tool_use block."""
    return {"type": "tool_use", "id": call_id, "name": name, "input": {"path": "a"}}


def result(call_id: str, content: str = "ok") -> dict[str, Any]:
    """A tool_result block."""
    return {"type": "tool_result", "tool_use_id": call_id, "content": content}


class ClaudeLines:
    """Makes Claude Code lines with running uuids."""

    def __init__(self) -> None:
        self.count = 0

    def event(self, kind: str, message: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
        """Any line."""
        self.count += 1
        line = {"type": kind, "uuid": f"u{self.count}", "sessionId": "s", "timestamp": AT, **more}
        return line if message is None else {**line, "message": message}

    def user(self, content: Any, **more: Any) -> dict[str, Any]:
        """A user line."""
        return self.event("user", {"role": "user", "content": content}, **more)

    def reply(self, message_id: str, *blocks: dict[str, Any], **more: Any) -> dict[str, Any]:
        """An assistant line."""
        usage = {"input_tokens": 5, "cache_read_input_tokens": 7, "output_tokens": self.count}
        message = {"id": message_id, "role": "assistant", "model": "claude-x", "content": list(blocks), "usage": usage}
        return self.event("assistant", message, **more)
