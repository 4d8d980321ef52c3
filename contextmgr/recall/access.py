"""What one session may recall, and where a call comes from.

Laws: the scope is the session's; a model may only narrow it; a foreign id and an unknown one give the same answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from zoneinfo import ZoneInfo

from contextmgr.recall.arguments import ArgumentError, shown
from contextmgr.recall.caps import Caps
from contextmgr.recall.links import ChatUrl, link
from contextmgr.retrieval import Searcher
from contextmgr.scope import Scope, Visibility
from contextmgr.store import ConversationRecord, Store, Transaction
from contextmgr.tokens import Count


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """Where a call comes from: the conversation, or None from outside of any; ``turn`` is its open turn, else its last,
    ``via`` the open turn if it holds the call.
    """

    conversation: str | None = None
    zone: ZoneInfo
    turn: int | None = None
    via: int | None = None
    call: str | None = None
    private: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """What the calls of one session work with.  ``projects`` are those that may be read beside the scope's own."""

    store: Store
    scope: Scope
    count: Count
    searcher: Callable[[Scope], Searcher]
    projects: tuple[str, ...]
    chat_url: ChatUrl | None
    caps: Caps

    def scopes(self, project_id: str | None) -> list[Scope]:
        """The scopes that may be read, the session's own first; with a project only its, or none."""
        others = (replace(self.scope, project=p) for p in self.projects if p != self.scope.project)
        return [s for s in (self.scope, *others) if project_id is None or s.project == project_id]

    def url(self, chat_id: str, first: int) -> str | None:
        """The link to a chat at a turn."""
        return link(self.chat_url, chat_id, first)

    def elsewhere(self, scope: Scope) -> dict[str, str]:
        """The field that names a chat's project where it is not the session's own."""
        return {} if scope == self.scope or scope.project is None else {"project_id": scope.project}


def readable(tx: Transaction, chat_id: str, own: str | None) -> ConversationRecord | None:
    """A chat that may be read from conversation ``own``: itself, or one of normal visibility."""
    record = tx.conversation(chat_id)
    if record is None or (record.visibility is not Visibility.NORMAL and chat_id != own):
        return None
    return record


def no_chat(chat_id: str) -> ArgumentError:
    """The same for a foreign, a hidden and an unknown id."""
    return ArgumentError(f"there is no chat {shown(chat_id)} here; use a chat_id that a search or list gave")


def stamp(at: datetime | None, zone: ZoneInfo) -> str | None:
    """A time to the second, in a time zone."""
    return None if at is None else at.astimezone(zone).isoformat(timespec="seconds")


OUTSIDE = ZoneInfo("UTC")
"""The zone of calls from outside of any conversation."""
