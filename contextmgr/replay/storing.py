"""Stores a recorded session as a conversation, without making any request of it."""

from __future__ import annotations

from datetime import datetime

from contextmgr.conversation import Conversation
from contextmgr.replay.timing import moments
from contextmgr.transcripts import Event, Replied, Returned, Session
from contextmgr.turns import Turn


def store_session(session: Session, chat: Conversation) -> None:
    """Add every event of a session to an empty conversation, at its recorded time.

    Turn n is the n-th `Said` or `Replied`; results are part of the turn that called.  Raises what adding raises.
    """
    for event, at in zip(session.events, moments(session.events), strict=True):
        add_event(event, chat, at)


def add_event(event: Event, chat: Conversation, at: datetime) -> Turn:
    """Add one event.  Recorded usage is left out: it belongs to requests that this conversation never made."""
    if isinstance(event, Returned):
        return chat.add_tool_results(event.blocks, said_at=at)
    if isinstance(event, Replied):
        answer = {"content": event.blocks, "stop_reason": event.stop_reason, "model": event.model or "unknown"}
        return chat.add_reply(answer, said_at=at)
    chat.interrupt()
    return chat.add_user(event.blocks, said_at=at)
