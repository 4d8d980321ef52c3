"""Facts and notes: what should be typed rather than searched for, each with who said it and where.

Laws: a newer value supersedes an older one and erases nothing; nothing is confirmed by being mentioned; a fact has no
authority over what was said: a pin has.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal, get_args

from contextmgr import jsontext
from contextmgr.errors import FactError

FactAuthor = Literal["user", "operator", "model"]
MAX_KEY = 120  # characters
MAX_VALUE = 8_000  # characters of a value as JSON
MAX_SECTION = 60  # characters
MAX_NOTE = 8_000  # characters
MAX_SECTIONS = 24


class FactScope(StrEnum):
    """How far a fact reaches: its conversation, all of the scope's (tenant, user and project), or all of its user's."""

    CONVERSATION = "conversation"
    PROJECT = "project"
    USER = "user"


class FactKind(StrEnum):
    """What a fact is about.  A correction is a decision or fact that took back an earlier one."""

    FACT = "fact"
    PREFERENCE = "preference"
    DECISION = "decision"
    CORRECTION = "correction"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One value of one key.

    ``value`` is a JSON value, ``conversation`` and ``turn`` say where it was said, ``quote`` is the part of that turn
    that says it; ``author`` is who says so: a model may name a turn that does not.  ``valid_from`` is when it became
    true.  ``via`` is the assistant turn whose tool call set it.  ``change`` numbers the changes of the conversation's
    state.  ``superseded_by`` is the id of the newer value; ``erased`` facts keep only their key and their place.
    """

    id: str
    key: str
    value: Any
    author: FactAuthor
    conversation: str
    kind: FactKind = FactKind.FACT
    scope: FactScope = FactScope.CONVERSATION
    turn: int | None = None
    quote: str | None = None
    via: int | None = None
    change: int = 0
    valid_from: datetime
    superseded_by: str | None = None
    erased: bool = False

    @property
    def is_current(self) -> bool:
        """Whether this is the value in force."""
        return self.superseded_by is None and not self.erased


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """One section of the scratchpad, "" where it was taken away.  ``turns`` are the assistant turns whose calls wrote
    it, the last one last; 0 stands for the caller.
    """

    section: str
    text: str
    change: int = 0
    turns: tuple[int, ...] = ()
    at: datetime


def check_key(key: object) -> str:
    """The key, if it can name a fact.  Raises `FactError`."""
    return _plain("a fact's key", key, MAX_KEY)


def check_section(section: object) -> str:
    """The section, if it can name a note.  Raises `FactError`."""
    return _plain("a note's section", section, MAX_SECTION)


def check_value(key: str, value: object) -> str:
    """The value as JSON text.  Raises `FactError` for one that is no JSON, cannot be sent, or is too long."""
    try:
        text = jsontext.dumps(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise FactError(f"the value of fact {key!r} must be JSON: {error}") from error
    if not jsontext.is_sendable_value(text):
        raise FactError(f"the value of fact {key!r} holds a NUL or a lone surrogate; use plain text")
    if len(text) > MAX_VALUE:
        raise FactError(f"the value of fact {key!r} has {len(text)} characters; the limit is {MAX_VALUE}; shorten it")
    return text


def check_author(author: object) -> None:
    """Raise `FactError` for an author nobody knows."""
    if author not in get_args(FactAuthor):
        raise FactError(f"author={author!r} is unknown; use one of {', '.join(map(repr, get_args(FactAuthor)))}")


def check_note(section: str, text: object) -> str:
    """The text, if it can stand as a note.  Raises `FactError`."""
    if not isinstance(text, str) or not jsontext.is_sendable(text):
        raise FactError(f"note {section!r} must be plain text, not {text!r:.80}")
    if len(text) > MAX_NOTE:
        raise FactError(
            f"note {section!r} has {len(text)} characters; the limit is {MAX_NOTE}; keep what still matters"
        )
    return text


def _plain(what: str, text: object, most: int) -> str:
    if not isinstance(text, str) or not text.strip() or not text.isprintable():
        raise FactError(f"{what} must be one line of plain text, not {text!r:.80}")
    if len(text) > most:
        raise FactError(f"{what} has {len(text)} characters; the limit is {most}; use a shorter one")
    return text
