"""Evidence: verbatim excerpts of turns that are out of view, quoted for the newest user turn.

Laws: what is in view is not quoted; a quote stands escaped behind the name of who said it, never under the assistant's
role; it repeats no active pin; rendered in the order in which things were said, dropped weakest first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from typing import Literal

from contextmgr import labels
from contextmgr.turns import Block
from contextmgr.views import EVIDENCE_REF, RowKind, ViewRow

Shown = Callable[[int], bool]
"""Whether a turn is in view."""


@dataclass(frozen=True, slots=True)
class Quote:
    """What one voice said in one turn, or the part of it that a question is about."""

    turn: int
    voice: Literal["user", "assistant", "tool"]
    text: str
    at: datetime | None = None

    @property
    def line(self) -> str:
        """The quote on one line, escaped."""
        return f"{self.voice}, turn {self.turn}: {labels.quoted(self.text)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A turn that was found, with its neighbours where they fit.  ``block`` is what an earlier request of the same turn
    rendered, if it did; ``score`` only orders the evidence of one request; ``reason`` holds no content.
    """

    turn: int
    quotes: tuple[Quote, ...] = ()
    score: float = 0.0
    reason: str = ""
    also: tuple[int, ...] = ()
    block: Block | None = None

    @property
    def turns(self) -> tuple[int, ...]:
        """The turns that are quoted, in order."""
        return tuple(sorted({q.turn for q in self.quotes} | {*self.also}))

    @property
    def ref(self) -> str:
        """What its row is found by when a turn is erased: the turn that was found first, then its neighbours."""
        rest = [n for n in self.turns if n != self.turn]
        return EVIDENCE_REF + ",".join(map(str, [self.turn, *rest]))

    def render(self, zone: tzinfo) -> Block:
        """One text block: a label with turns and date, then each quote on its own line."""
        if self.block is not None:
            return self.block
        found = next((q for q in self.quotes if q.turn == self.turn), self.quotes[0])
        label = labels.evidence_label(self.turns, found.at, zone)
        return labels.text_block("\n".join([label, *(q.line for q in self.quotes)]))


def out_of_view(evidence: Iterable[Evidence], shown: Shown, k: int) -> tuple[Evidence, ...]:
    """The ``k`` strongest pieces that tell something new, without quotes of turns that are in view."""
    kept: list[Evidence] = []
    taken: set[int] = set()
    for piece in evidence:
        if shown(piece.turn) or piece.turn in taken or len(kept) == k:
            continue
        quotes = tuple(q for q in piece.quotes if not shown(q.turn) and q.turn not in taken)
        kept.append(replace(piece, quotes=quotes))
        taken.update(kept[-1].turns)
    return tuple(kept)


def in_order(evidence: Sequence[Evidence]) -> list[Evidence]:
    """As they were said."""
    return sorted(evidence, key=lambda piece: piece.turns[:1])


def quoted_turns(rows: Iterable[ViewRow]) -> frozenset[int]:
    """The turns that evidence among these rows quotes."""
    return frozenset(n for row in rows if row.kind is RowKind.EVIDENCE for n in turns_of(row))


def turns_of(row: ViewRow) -> tuple[int, ...]:
    """The turns that a row of evidence quotes, the one that was found first."""
    return tuple(map(int, (row.ref or "").removeprefix(EVIDENCE_REF).split(","))) if row.ref else ()
