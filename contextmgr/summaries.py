"""Summaries as values: items that cite their turns, and segments that say exactly which turns they cover.

Law: derived text has no authority.  An item without a turn to cite cannot exist, and coverage is what was read:
turn numbers with the hashes of their content.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from contextmgr import jsontext
from contextmgr.errors import InputError
from contextmgr.features import ZERO, Features
from contextmgr.turns import Turn

MAX_ITEM_CHARACTERS = 600


class ItemKind(StrEnum):
    """What an item tells, in the order in which kinds are given up last."""

    DECISION = "decision"
    CONSTRAINT = "constraint"
    RESOLVED = "resolved"
    RULED_OUT = "ruled_out"
    OPEN = "open"
    ARTIFACT = "artifact"
    RESULT = "result"


class SegmentStatus(StrEnum):
    """``READY`` waits for a rollover, ``ACTIVE`` is shown, ``MERGED`` went into another one, ``UNDONE`` was taken
    back by the caller, ``STALE`` covers a turn that changed or was erased.
    """

    READY = "ready"
    ACTIVE = "active"
    MERGED = "merged"
    UNDONE = "undone"
    STALE = "stale"


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One statement about earlier turns.  ``turns`` are the turns it was taken from, ascending, at least one;
    ``verbatim`` says that the text is a sentence of such a turn, character for character.
    """

    text: str
    kind: ItemKind
    turns: tuple[int, ...]
    verbatim: bool = False

    def __post_init__(self) -> None:
        if not self.text.strip():
            raise InputError("a summary item must say something; it is blank")
        if not self.turns or list(self.turns) != sorted(set(self.turns)) or self.turns[0] < 1:
            raise InputError(f"a summary item must cite turns in rising order, not {self.turns!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """Items about the turns of ``ranges``.  ``level`` 0 was written from turns, higher ones by merging ``parts``.

    ``coverage`` holds (turn number, `fingerprint`) for every turn that was read; a merged segment's coverage is that of
    its parts, which stay on record.  ``template`` is the version of the prompt, ``writer`` what wrote it;
    ``replaced`` and ``dropped`` count items that a check exchanged for a verbatim sentence, or that were refused or
    given up for room.  ``features`` weighs the items as rendered.
    """

    id: str
    level: int
    ranges: tuple[tuple[int, int], ...]
    items: tuple[Item, ...]
    coverage: tuple[tuple[int, str], ...] = ()
    parts: tuple[str, ...] = ()
    template: str = ""
    writer: str = ""
    status: SegmentStatus = SegmentStatus.READY
    into: str | None = None
    features: Features = ZERO
    replaced: int = 0
    dropped: int = 0
    at: datetime | None = field(default=None, compare=False)

    @property
    def first(self) -> int:
        """The first turn covered."""
        return self.ranges[0][0]

    @property
    def last(self) -> int:
        """The last turn covered."""
        return self.ranges[-1][1]

    @property
    def tokens(self) -> int:
        """Size of the items as rendered, in unweighted tokens."""
        return sum(self.features)

    def covers(self, turn: int) -> bool:
        """Whether a turn is among those covered."""
        return any(a <= turn <= b for a, b in self.ranges)


def joined(ranges: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Ranges in rising order, adjacent ones joined."""
    out: list[tuple[int, int]] = []
    for a, b in sorted(ranges):
        if out and a <= out[-1][1] + 1:
            out[-1] = (out[-1][0], max(b, out[-1][1]))
        else:
            out.append((a, b))
    return tuple(out)


def outdated(segments: Sequence[Segment], turn: int) -> tuple[list[Segment], list[Segment]]:
    """Segments that cover a turn which changed, whatever became of them, and the parts that stand again in their place.

    Parts of what the caller had undone do not come back.
    """
    by_id = {s.id: s for s in segments}
    gone = {s.id: s for s in segments if s.covers(turn)}
    again = [
        s
        for s in segments
        if s.status is SegmentStatus.MERGED and s.into in gone and s.id not in gone and _is_in_force(s, by_id)
    ]
    return list(gone.values()), again


def _is_in_force(segment: Segment, by_id: Mapping[str, Segment]) -> bool:
    """Whether what a segment was merged into, or that into which it was, is shown."""
    while segment.status is SegmentStatus.MERGED and segment.into is not None and segment.into in by_id:
        segment = by_id[segment.into]
    return segment.status is SegmentStatus.ACTIVE


def fingerprint(turn: Turn) -> str:
    """A digest of what a turn says, its results included: it changes when the turn does."""
    return jsontext.sha256("|".join([turn.sha256, *(r.sha256 for r in turn.results)]))
