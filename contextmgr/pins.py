"""Pins: turns, or exact quotes of them, that have authority and stand verbatim in every request.

Law: only user and operator text can be pinned, and only text that can be sent byte for byte.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal

from contextmgr import jsontext
from contextmgr.errors import PinError, UnsendablePinError
from contextmgr.turns import Turn, is_blank

PinAuthor = Literal["user", "operator"]


class PinKind(StrEnum):
    """What a pin is: a rule, a choice made, a permission given, or a question settled."""

    CONSTRAINT = "constraint"
    DECISION = "decision"
    APPROVAL = "approval"
    RESOLUTION = "resolution"


class PinStatus(StrEnum):
    """Only ``ACTIVE`` pins are sent; the others stay on record with their reason."""

    ACTIVE = "active"
    REPLACED = "replaced"
    REVOKED = "revoked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """One pinned text.

    ``turn``, ``block``, ``start`` and ``end`` say where it was said: block index in the turn and character
    positions in that block's text; all None for an operator's project pin.  ``context`` is the number of the
    assistant turn that an approval or resolution answers.  ``order`` sorts pins as they were made.
    """

    id: str
    text: str
    sha256: str
    kind: PinKind
    author: PinAuthor
    order: int = 0
    turn: int | None = None
    block: int | None = None
    start: int | None = None
    end: int | None = None
    context: int | None = None
    project: bool = False
    status: PinStatus = PinStatus.ACTIVE
    replaced_by: str | None = None
    reason: str | None = None
    tokens: int = 0
    said_at: datetime | None = None

    @property
    def is_active(self) -> bool:
        """Whether the pin must be in every request."""
        return self.status is PinStatus.ACTIVE


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """Where a pinned text stands in its turn: block index, character start and end, and the text itself."""

    block: int
    start: int
    end: int
    text: str


def pin_kind(value: object) -> PinKind:
    """The kind named by ``pin=``: True is a constraint.  Raises `PinError` for anything unknown."""
    if value is True:
        return PinKind.CONSTRAINT
    try:
        return PinKind(str(value))
    except ValueError:
        kinds = ", ".join(repr(str(k)) for k in PinKind)
        raise PinError(f"pin={value!r} is not a kind of pin; give True or one of {kinds}") from None


def check_pinnable(text: str) -> str:
    """Return the text if it can be sent byte for byte, else raise `UnsendablePinError`."""
    if not text.strip():
        raise UnsendablePinError(f"a pin must say something; {text[:40]!r} is blank; pin a turn that has text")
    if not jsontext.is_sendable(text):
        raise UnsendablePinError(
            f"{text[:40]!r} holds a NUL or a lone surrogate and cannot be sent byte for byte; "
            "pin a quote without it, or say it again in plain text"
        )
    return text


def quotes_of(turn: Turn, quote: str | None) -> tuple[Quote, ...]:
    """Where in a turn the pinned texts stand: every text block, or the one place of ``quote``.

    Raises `PinError` where the turn is not a user's or operator's, holds no text, or does not hold the quote
    exactly once.
    """
    if turn.author not in ("user", "operator"):
        raise PinError(
            f"turn {turn.number} was said by the {turn.author}; only what a user or operator said can be pinned"
        )
    texts = [(i, str(b["text"])) for i, b in enumerate(turn.blocks) if b.get("type") == "text" and not is_blank(b)]
    if quote is None:
        if not texts:
            raise PinError(f"turn {turn.number} holds no text to pin; images and documents cannot be pinned")
        return tuple(Quote(block=i, start=0, end=len(t), text=check_pinnable(t)) for i, t in texts)
    check_pinnable(quote)
    found = [(i, t.find(quote)) for i, t in texts if quote in t]
    if not found:
        raise PinError(f"turn {turn.number} does not say {quote[:60]!r}; a quote must match character for character")
    if sum(t.count(quote) for _, t in texts) > 1:
        raise PinError(f"turn {turn.number} says {quote[:60]!r} more than once; give a longer quote")
    block, start = found[0]
    return (Quote(block=block, start=start, end=start + len(quote), text=quote),)
