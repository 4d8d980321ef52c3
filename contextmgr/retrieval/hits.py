"""What a search gives back."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from contextmgr.turns import Role


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHit:
    """A turn that answers a query.  ``excerpt`` shows it in its own characters; ``score`` only orders the hits of one
    query; ``share`` is the part of the query's weight that the turn holds itself, 0 to 1; ``also`` are turns that say
    the same.
    """

    turn: int
    role: Role
    said_at: datetime | None
    excerpt: str
    score: float
    share: float
    reason: str
    also: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ChatHit:
    """A turn of one of a scope's chats: ``hit.score`` and ``hit.share`` compare across all hits of one query, and
    ``hit.also`` are turns of the same chat.
    """

    conversation: str
    title: str | None
    hit: SearchHit
