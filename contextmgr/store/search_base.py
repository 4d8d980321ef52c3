"""What a store offers for searching one conversation, or all chats of a scope: an index row per turn, and counts of
terms.

Law: every number that ranking uses is counted within the conversation, or within the scope, so that no other scope can
change a rank; the conversation, or the scope, is part of every match.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from contextmgr.ranking import Unit


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchState:
    """How far a conversation is indexed: ``upto`` is the last turn looked at, ``units`` are turns with terms, ``terms``
    their number together, ``episodes`` how many episodes they make.
    """

    upto: int = 0
    units: int = 0
    terms: int = 0
    episodes: int = 0


class Unindexed(NamedTuple):
    """A turn that waits to be indexed: what says whether it has changed since it was last looked at."""

    number: int
    sha256: str
    results: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """A turn that is not, or no longer rightly, in the index: ``error`` says why it could not be read, None that it
    changed; ``attempts`` counts the tries.
    """

    number: int
    episode: int
    error: str | None = None
    attempts: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorRow:
    """One turn's vector, little-endian float32, or the error that kept it from being made."""

    number: int
    body: bytes = b""
    error: str | None = None
    attempts: int = 0


class Match(NamedTuple):
    """A turn that holds terms of a query: its number, and what `Unit` calls ``indexed`` and ``length``."""

    number: int
    indexed: str
    length: int


class ChatName(NamedTuple):
    """A conversation's id and title."""

    id: str
    title: str | None


class ChatTables(Protocol):
    """The index of all chats of one scope that may be found from another chat, within a transaction.

    A turn goes by its row id here: the number of its conversation and its own in one, so that neighbours of one
    conversation are neighbours, and turns of different ones never are.  Withdrawn turns are not there.
    """

    def state(self) -> SearchState:
        """The sums of all these chats; ``upto`` says nothing."""
        ...

    def holding(self, terms: Sequence[str], most: int) -> dict[str, int]:
        """In how many turns each term occurs; above ``most`` reckoned from the turns in which the first occur."""
        ...

    def matches(
        self, needed: Sequence[Sequence[str]], most: int, without: Collection[str], *, newest: bool = False
    ) -> list[Match]:
        """At most ``most`` turns, of no conversation in ``without``, that hold all of a group in ``needed``: the first,
        or with ``newest`` the last.
        """
        ...

    def units(self, numbers: Collection[int]) -> list[Unit]:
        """The index rows of these turns."""
        ...

    def episode_terms(self, episodes: Collection[int]) -> dict[int, int]:
        """How many terms these episodes have."""
        ...

    def named(self, numbers: Collection[int]) -> dict[int, ChatName]:
        """Which conversations these numbers stand for; those that may not be found are missing."""
        ...


class SearchTables(Protocol):
    """The index of one scope's conversations, within a transaction."""

    @property
    def chats(self) -> ChatTables:
        """All of them at once."""
        ...

    def number(self, conversation: str) -> int | None:
        """The number that stands for a conversation in row ids; None while nothing of it is indexed."""
        ...

    def share(self, conversation: str, shared: bool) -> None:
        """Let an indexed conversation be found across chats, or no longer, after its visibility has changed.

        What is not indexed yet follows the visibility.  Every index row of it is written anew.
        """
        ...

    def state(self, conversation: str) -> SearchState:
        """How far a conversation is indexed."""
        ...

    def unindexed(self, conversation: str, first: int, last: int) -> list[Unindexed]:
        """The turns ``first`` to ``last`` without what they say, but for those withdrawn or erased."""
        ...

    def put(self, conversation: str, units: Sequence[Unit], unread: Sequence[Unread], upto: int) -> None:
        """Index turns, or index them again, and move the watermark to ``upto`` if that is further on."""
        ...

    def unread(self, conversation: str, attempts: int, most: int) -> list[Unread]:
        """Turns that failed fewer than ``attempts`` times, or changed since they were indexed."""
        ...

    def outdate(self, conversation: str, number: int) -> None:
        """Note that an indexed turn has changed."""
        ...

    def holding(self, conversation: str, terms: Sequence[str], most: int) -> dict[str, int]:
        """In how many turns each term occurs; above ``most`` reckoned from the turns in which the first occur."""
        ...

    def episode_terms(self, conversation: str, episodes: Collection[int]) -> dict[int, int]:
        """How many terms these episodes have."""
        ...

    def matches(
        self, conversation: str, needed: Sequence[Sequence[str]], most: int, *, newest: bool = False
    ) -> list[Match]:
        """At most ``most`` turns that hold all of a group in ``needed``: the first, or with ``newest`` the last."""
        ...

    def units(self, conversation: str, numbers: Collection[int]) -> list[Unit]:
        """The index rows of these turns, by number."""
        ...

    def hidden(self, conversation: str) -> frozenset[int]:
        """Turns that are withdrawn."""
        ...

    def erased(self, conversation: str, first: int, last: int) -> frozenset[int]:
        """Turns between ``first`` and ``last`` that were erased."""
        ...

    def vectors(self, conversation: str, model: str) -> list[VectorRow]:
        """The vectors a model made of a conversation, by turn."""
        ...

    def without_vector(self, conversation: str, model: str, attempts: int, most: int) -> list[int]:
        """The newest indexed turns that have no vector by this model and failed fewer than ``attempts`` times."""
        ...

    def put_vectors(self, conversation: str, model: str, dim: int, rows: Sequence[VectorRow]) -> None:
        """Keep vectors; a turn has one, so another model's is replaced."""
        ...
