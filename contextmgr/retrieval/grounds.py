"""What is searched: one conversation, or all chats of a scope that may be found from another chat."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from contextmgr.ranking import Unit
from contextmgr.store.search_base import ChatTables, Match, SearchState, SearchTables


class Reading(NamedTuple):
    """How much is read: the ``ranked`` best of the matches are scored with all there is to know, unless more are asked
    for, and of the ``near`` best the neighbours are read as well.
    """

    ranked: int
    near: int


IN_ONE = Reading(ranked=80, near=48)
IN_ALL = Reading(ranked=64, near=24)  # rows lie far apart, each on a page of its own


class Ground(Protocol):
    """The index rows and counts of what is searched; a number names one turn of it, and its neighbours."""

    @property
    def reading(self) -> Reading:
        """How much is read of it."""
        ...

    def state(self) -> SearchState:
        """How many turns, terms and episodes there are."""
        ...

    def holding(self, terms: Sequence[str], most: int) -> dict[str, int]:
        """In how many turns each term occurs; above ``most`` it may be reckoned."""
        ...

    def matches(self, needed: Sequence[Sequence[str]], most: int, *, newest: bool) -> list[Match]:
        """At most ``most`` turns that hold all of a group."""
        ...

    def units(self, numbers: Collection[int]) -> list[Unit]:
        """The index rows of these turns."""
        ...

    def episode_terms(self, episodes: Collection[int]) -> dict[int, int]:
        """How many terms these episodes have."""
        ...


@dataclass(frozen=True, slots=True)
class OneChat:
    """One conversation; its turns go by their numbers."""

    tables: SearchTables
    conversation: str
    reading: Reading = IN_ONE

    def state(self) -> SearchState:
        """How far it is indexed."""
        return self.tables.state(self.conversation)

    def holding(self, terms: Sequence[str], most: int) -> dict[str, int]:
        """Counted in this conversation."""
        return self.tables.holding(self.conversation, terms, most)

    def matches(self, needed: Sequence[Sequence[str]], most: int, *, newest: bool) -> list[Match]:
        """The first, or with ``newest`` the last."""
        return self.tables.matches(self.conversation, needed, most, newest=newest)

    def units(self, numbers: Collection[int]) -> list[Unit]:
        """By number."""
        return self.tables.units(self.conversation, numbers)

    def episode_terms(self, episodes: Collection[int]) -> dict[int, int]:
        """By the first turn."""
        return self.tables.episode_terms(self.conversation, episodes)


@dataclass(frozen=True, slots=True)
class AllChats:
    """All chats of the scope but those ``without``; a number is that of a conversation and of its turn in one."""

    tables: ChatTables
    without: Collection[str]
    reading: Reading = IN_ALL

    def state(self) -> SearchState:
        """The sums of all, those ``without`` included: what a word weighs does not hang on who asks."""
        return self.tables.state()

    def holding(self, terms: Sequence[str], most: int) -> dict[str, int]:
        """Counted in the scope."""
        return self.tables.holding(terms, most)

    def matches(self, needed: Sequence[Sequence[str]], most: int, *, newest: bool) -> list[Match]:
        """The first, or with ``newest`` the last, of the chats in the order in which they were first indexed."""
        return self.tables.matches(needed, most, self.without, newest=newest)

    def units(self, numbers: Collection[int]) -> list[Unit]:
        """By number."""
        return self.tables.units(numbers)

    def episode_terms(self, episodes: Collection[int]) -> dict[int, int]:
        """By the first turn's number."""
        return self.tables.episode_terms(episodes)
