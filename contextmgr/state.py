"""The state tier: current facts and the scratchpad, as a request shows them.

Laws: the same state gives the same bytes, in an order that does not depend on when things changed; what changed
longest ago leaves the view first, after what is too long for it by itself; a value stands escaped, with who said it and
where, and no name or value repeats a pin.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo

from contextmgr import labels
from contextmgr.facts import Fact, Note
from contextmgr.features import Features
from contextmgr.tokens import Count, block_features
from contextmgr.turns import Block

CALLER = 0
"""Stands for the caller among the turns that wrote a note."""
Change = Fact | Note
AS_PINNED = "(as pinned)"
"""Stands for a name that would repeat a pinned text."""
_PLAIN_NAME = re.compile(r"\w[\w .,/'&+#@-]*")


def shown_name(name: str) -> str:
    """A key or section as it is shown: what could pass for a label, a value or its source stands quoted."""
    return name if _PLAIN_NAME.fullmatch(name) else labels.quoted(name)


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What is known when a request is made.  ``facts`` are in force, said here or recalled from elsewhere; ``change``
    is the number of the conversation's last change.
    """

    facts: tuple[Fact, ...] = ()
    notes: tuple[Note, ...] = ()
    change: int = 0


NOTHING = State()


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """How a state is rendered: the conversation it is shown in, the zone of dates, and the pinned texts."""

    conversation: str
    zone: tzinfo
    pinned: Sequence[str] = ()

    def fact(self, fact: Fact) -> str:
        """One fact on one line; its name gives way where it repeats a pin, by itself or with the value."""
        named = replace(fact, key=shown_name(fact.key))
        line = labels.fact_line(named, self.conversation, self.zone, self.pinned)
        if not labels.repeats(line, self.pinned):
            return line
        return labels.fact_line(replace(named, key=AS_PINNED), self.conversation, self.zone, self.pinned)

    def note(self, note: Note) -> str:
        """One section of the scratchpad, its lines marked."""
        named = replace(note, section=shown_name(note.section))
        lines = labels.note_lines(named, self.pinned)
        if not labels.repeats(lines, self.pinned):
            return lines
        return labels.note_lines(replace(named, section=AS_PINNED), self.pinned)


@dataclass(frozen=True, slots=True)
class StateTier:
    """Renders a state within a cap of tokens; ``size`` weighs features."""

    state: State
    wording: Wording
    count: Count
    size: Callable[[Features], int]

    def blocks(self, cap: int) -> list[Block]:
        """At most one text block of at most ``cap`` tokens; [] where nothing is known, or nothing of it fits.

        What is too long by itself leaves the view, not everything else with it.
        """
        known = _newest_first([*self.state.facts, *(n for n in self.state.notes if n.text)])
        changes = known if self._fits(known, known, cap) else [c for c in known if self._fits([c], known, cap)]
        fitting, most = 0, len(changes)
        while fitting < most:  # the largest number of the newest that fits
            half = (fitting + most + 1) // 2
            if self._fits(changes[:half], known, cap):
                fitting = half
            else:
                most = half - 1
        return [self._block(changes[:fitting], known)] if fitting else []

    def _fits(self, shown: Sequence[Change], known: Sequence[Change], cap: int) -> bool:
        return self.size(block_features(self._block(shown, known), self.count)) <= cap

    def _block(self, shown: Sequence[Change], known: Sequence[Change]) -> Block:
        facts = sorted((c for c in shown if isinstance(c, Fact)), key=lambda f: (f.key, f.scope, f.id))
        notes = sorted((c for c in shown if isinstance(c, Note)), key=lambda n: n.section)
        lines = [labels.STATE, *map(self.wording.fact, facts)]
        if notes:
            lines += [labels.NOTES, *map(self.wording.note, notes)]
        if len(shown) < len(known):
            are_newest = known[: len(shown)] == list(shown)
            lines.append(labels.older_state(len(known) - len(shown), too_long=not are_newest))
        return labels.text_block("\n".join(lines))


def ref_of(change: Change) -> str:
    """What the row that announces a change is found by."""
    return f"fact:{change.id}" if isinstance(change, Fact) else f"note:{change.change}:{change.section}"


def due(state: State, conversation: str, since: int, told: Iterable[str | None], seen: Iterable[int]) -> list[Change]:
    """Changes after number ``since``, in order, that no row has ``told`` of and no call in a ``seen`` turn made."""
    known, turns = frozenset(told), frozenset(seen)
    own = [f for f in state.facts if f.conversation == conversation]
    every: list[Change] = [*own, *state.notes]
    changed = [c for c in every if c.change > since and ref_of(c) not in known and _by(c) not in turns]
    return sorted(changed, key=lambda c: c.change)


def change_block(change: Change, wording: Wording) -> Block:
    """What is attached at the tail for a change."""
    if isinstance(change, Fact):
        return labels.text_block(labels.fact_change(wording.fact(change)))
    return labels.text_block(labels.note_change(change, wording.note(change)))


def _by(change: Change) -> int | None:
    """The turn whose call made a change; None or `CALLER` for the caller."""
    if isinstance(change, Fact):
        return change.via
    return change.turns[-1] if change.turns else None


def _newest_first(changes: Sequence[Change]) -> list[Change]:
    """By when they changed; what was recalled from elsewhere counts as older than what changed here."""

    def when(change: Change) -> tuple[int, float, str]:
        at = change.valid_from if isinstance(change, Fact) else change.at
        return (change.change, at.timestamp(), ref_of(change))

    return sorted(changes, key=when, reverse=True)
