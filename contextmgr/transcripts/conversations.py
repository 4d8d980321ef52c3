"""Conversations in files of chat messages: one list, one object, many of either, or a log of requests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from contextmgr.transcripts.fields import items, mapping, text
from contextmgr.transcripts.recorded_file import RecordedFile


@dataclass(slots=True, kw_only=True)
class Conversation:
    """Messages of one conversation with their places in the file, and the object that held them."""

    messages: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)
    holder: Mapping[str, Any] = field(default_factory=dict)
    dropped: int = 0

    @property
    def title(self) -> str | None:
        """A title the holder gives, or the task and trial of a benchmark."""
        task, trial = self.holder.get("task_id"), self.holder.get("trial")
        named = text(self.holder.get("title")) or text(self.holder.get("name"))
        return named or (f"task {task}, trial {trial}" if task is not None and trial is not None else None)


def is_message(value: object) -> bool:
    """Whether a value is a chat message: an object with a role."""
    return isinstance(mapping(value).get("role"), str)


def holds_messages(value: object) -> bool:
    """Whether a value is a message, or holds a list that begins with one under ``messages`` or ``traj``."""
    return is_message(value) or any(is_message(m) for m in _list_in(value)[:1])


def conversations(recorded: RecordedFile) -> list[Conversation]:
    """All conversations of a file, in order.  Loose messages are one conversation.

    In a log of requests each one repeats the messages before it: only the last of a growing conversation is kept.
    """
    found: list[Conversation] = []
    loose = Conversation(dropped=recorded.broken)
    for source, value in _values(recorded):
        if is_message(value):
            loose.messages.append((source, value))
        elif messages := _list_in(value):
            one = _conversation(messages, mapping(value), recorded)
            if found and _grows_from(one, found[-1]):
                found.pop()
            found.append(one)
        else:
            loose.dropped += 1
    if loose.messages or not found:
        return [loose, *found]
    found[0].dropped += loose.dropped
    return found


def _values(recorded: RecordedFile) -> list[tuple[str, Any]]:
    if not recorded.is_document:
        return [(f"line:{r.line}", r.value) for r in recorded.records]
    value = recorded.records[0].value
    return [(f"message:{i}", v) for i, v in enumerate(value if isinstance(value, list) else [value])]


def _list_in(value: object) -> list[Any]:
    if isinstance(value, Mapping):
        return items(value.get("messages")) or items(value.get("traj"))
    return items(value)


def _conversation(messages: list[Any], holder: Mapping[str, Any], recorded: RecordedFile) -> Conversation:
    kept = [(f"message:{i}", m) for i, m in enumerate(messages) if is_message(m)]
    return Conversation(messages=kept, holder=holder, dropped=len(messages) - len(kept))


def _grows_from(later: Conversation, earlier: Conversation) -> bool:
    """Whether both are requests to a model and the later one repeats the earlier one and goes on."""
    if not all("max_tokens" in c.holder and "model" in c.holder for c in (later, earlier)):
        return False
    size = len(earlier.messages)
    if len(later.messages) <= size:
        return False
    return all(_bare(a) == _bare(b) for (_, a), (_, b) in zip(earlier.messages, later.messages[:size], strict=True))


def _bare(message: Mapping[str, Any]) -> tuple[object, list[Any]]:
    """A message without its cache marks, which move from request to request."""
    content = message.get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else items(content)
    return message.get("role"), [
        {k: v for k, v in b.items() if k != "cache_control"} if isinstance(b, Mapping) else b for b in blocks
    ]
