"""What a store offers for the state of conversations: facts, notes, what was recalled, and who asked for what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from contextmgr.facts import Fact, FactScope, Note


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRecord:
    """One search or recall.  ``conversation`` and ``turn`` say where it was asked, ``action`` what was done, ``query``
    what for; ``found`` is JSON that names what came back (conversations, turn numbers, scores), never its text;
    ``error`` says why nothing could.  ``number`` is given by the store.
    """

    action: str
    conversation: str | None = None
    turn: int | None = None
    query: str | None = None
    found: Sequence[Mapping[str, Any]] = field(default_factory=tuple)
    error: str | None = None
    user: str | None = None
    project: str | None = None
    number: int = 0
    at: datetime


class StateTables(Protocol):
    """Facts and notes of one scope's conversations, within a transaction."""

    def next_change(self, conversation: str) -> int:
        """The number of the next change of a conversation's state, from 1 on."""
        ...

    def size(self, conversation: str) -> tuple[int, bool]:
        """The number of the last change, 0 for none, and whether the conversation began with recalled facts."""
        ...

    def add_fact(self, fact: Fact) -> None:
        """Store a fact of the conversation it names."""
        ...

    def supersede(self, fact_id: str, by: str) -> None:
        """Note which fact took another's place."""
        ...

    def fact(self, fact_id: str) -> Fact | None:
        """One fact that this scope may see, or None."""
        ...

    def current(self, conversation: str, scope: FactScope, key: str) -> Fact | None:
        """The value in force of a key, or None.  For wider scopes than a conversation, its name does not matter."""
        ...

    def facts(self, conversation: str, scope: FactScope, most: int) -> list[Fact]:
        """Values in force for a conversation, or for the wider scope it stands in, at most ``most``, newest first."""
        ...

    def said(self, conversation: str, most: int) -> list[Fact]:
        """Values in force that were said in a conversation, however far they reach, newest first."""
        ...

    def history(self, conversation: str, scope: FactScope, key: str) -> list[Fact]:
        """Every value of a key, oldest first."""
        ...

    def notes(self, conversation: str) -> list[Note]:
        """The scratchpad, by section."""
        ...

    def put_note(self, conversation: str, note: Note) -> None:
        """Set a section, in place of what it held."""
        ...

    def drop_note(self, conversation: str, section: str) -> bool:
        """Take a section away; False where there was none."""
        ...

    def recall(self, conversation: str, fact_ids: Sequence[str]) -> None:
        """Note which facts of other conversations one begins with."""
        ...

    def recalled(self, conversation: str) -> list[Fact]:
        """Those facts, or what took their place since, without what was erased; by key."""
        ...

    def audit(self, record: AuditRecord) -> None:
        """Put down a search or recall in this scope."""
        ...

    def audits(self, most: int, conversation: str | None = None) -> list[AuditRecord]:
        """What was put down in this scope, or for one conversation of it, newest first."""
        ...
