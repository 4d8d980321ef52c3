"""Messages of the Anthropic Messages API: a request, a bare list of messages, lists or JSON Lines of either."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contextmgr.transcripts.conversations import Conversation, conversations
from contextmgr.transcripts.fields import anthropic_usage, items, mapping, text, when
from contextmgr.transcripts.parts import plain
from contextmgr.transcripts.recorded_file import RecordedFile
from contextmgr.transcripts.recorder import Recorder
from contextmgr.transcripts.session import Session

NAME = "anthropic-messages"


def read(recorded: RecordedFile) -> list[Session]:
    """Every conversation of the file, in order."""
    sessions: list[Session] = []
    for one in conversations(recorded):
        found = _recorded(one).session(file=recorded.file, format=NAME, index=len(sessions))
        sessions += [found] if found else []
    return sessions


def _recorded(one: Conversation) -> Recorder:
    recorder = Recorder(
        system=plain(one.holder.get("system")) or None,
        tools=tuple(dict(t) for t in items(one.holder.get("tools")) if text(mapping(t).get("name"))),
        title=one.title,
        skipped=one.dropped,
    )
    model = text(one.holder.get("model"))
    for source, message in one.messages:
        _take(recorder, source, message, model)
    return recorder


def _take(recorder: Recorder, source: str, message: Mapping[str, Any], model: str | None) -> None:
    role, content = message["role"], message.get("content")
    at = when(message.get("timestamp"))
    if role == "assistant":
        recorder.replied(
            content,
            message_id=text(message.get("id")),
            stop_reason=text(message.get("stop_reason")),
            model=text(message.get("model")) or model,
            usage=anthropic_usage(message.get("usage")),
            at=at,
        )
    elif role == "user":
        recorder.user_message(content, at=at, source=source)
    elif role == "system" and recorder.is_empty and recorder.system is None:
        recorder.system = plain(content) or None
    elif role == "system":
        recorder.said(content, at=at, source=source, human=False)
    else:
        recorder.skipped += 1
