"""What a store keeps of descriptions of episodes: work to be done, what came of it, and the words it lends the index.

Laws: a row says which turns were read, and goes with any of them; the words it lent leave the index in the same
transaction.  Descriptions are derived: nothing of them is ever shown as what somebody said.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple, Protocol


class DescriptionStatus(StrEnum):
    """``WAITING`` to be written, ``READY`` and indexed, ``PLAIN``: without a model, or forgotten, and not indexed;
    ``FAILED`` for good.
    """

    WAITING = "waiting"
    READY = "ready"
    PLAIN = "plain"
    FAILED = "failed"


class Reference(NamedTuple):
    """An expression of a turn, what it refers to, and the turns that say so."""

    turn: int
    phrase: str
    meaning: str
    turns: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """One line about the turns ``first..last``, and what expressions in them refer to.

    ``coverage`` holds (turn number, fingerprint) of every turn that was read, those before the episode included.
    ``error`` says why it failed, or why a plain one stands in; ``attempts`` counts the tries, ``not_before`` and
    ``leased_until`` are microseconds since 1970.  ``template`` is the version of the prompt, ``writer`` who wrote it.
    """

    first: int
    last: int
    text: str = ""
    references: tuple[Reference, ...] = ()
    coverage: tuple[tuple[int, str], ...] = ()
    status: DescriptionStatus = DescriptionStatus.WAITING
    attempts: int = 0
    not_before: int = 0
    leased_until: int = 0
    error: str | None = None
    template: str = ""
    writer: str = ""
    at: datetime | None = None

    @property
    def words(self) -> dict[int, str]:
        """What each turn is indexed with besides its own words; nothing where it is not indexed."""
        if self.status is not DescriptionStatus.READY:
            return {}
        found: dict[int, list[str]] = defaultdict(list)
        found[self.first].append(self.text)
        for reference in self.references:
            found[reference.turn].append(reference.meaning)
        return {turn: "\n".join(lines) for turn, lines in found.items()}


class DescriptionTables(Protocol):
    """The descriptions of one scope's conversations, within a transaction."""

    def all(self, conversation: str) -> list[Description]:
        """Every description, those that wait or failed included, in order."""
        ...

    def get(self, conversation: str, first: int) -> Description | None:
        """The description that begins at a turn."""
        ...

    def upto(self, conversation: str) -> int:
        """The last turn that belongs to a description, 0 for none."""
        ...

    def left(self, conversation: str) -> int:
        """How many wait or failed for good."""
        ...

    def words(self, conversation: str, first: int, last: int) -> dict[int, str]:
        """What turns between ``first`` and ``last`` are indexed with besides their own words."""
        ...

    def lease(self, conversation: str, now: int, until: int) -> Description | None:
        """Take the first that is due, counting the attempt; None where there is none."""
        ...

    def put(self, conversation: str, description: Description) -> None:
        """Keep a description in place of what begins at the same turn; turns it lends words to are indexed again."""
        ...
