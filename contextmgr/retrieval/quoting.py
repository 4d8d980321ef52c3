"""From hits to evidence: what of a turn is quoted, and the evidence that an earlier request attached."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from contextmgr.evidence import Evidence, Quote, turns_of
from contextmgr.labels import contains_any, quoted
from contextmgr.profiles import Retrieved
from contextmgr.ranking import Hit, Query, candidate_terms, excerpt, query_terms
from contextmgr.sources import Limits, source_lines
from contextmgr.tokens import Count
from contextmgr.turns import Turn
from contextmgr.views import RowKind, ViewRow

LEAST = 60  # tokens of a quote: shorter ones say nothing


def found_before(rows: Sequence[ViewRow], report: Mapping[str, Any], asked: int) -> tuple[Evidence, ...]:
    """The evidence that an earlier request attached for user turn ``asked``, as it was rendered, strongest first."""
    blocks = {turns_of(r): r.block for r in rows if r.kind is RowKind.EVIDENCE and r.turn >= asked and r.block}
    told = {tuple(e["turns"]): e for e in report.get("evidence", ())}
    kept = [
        Evidence(
            turn=turns[0],
            also=turns,
            block=block,
            score=told.get(turns, {}).get("score", 0.0),
            reason=told.get(turns, {}).get("reason", "found for this question before"),
        )
        for turns, block in blocks.items()
    ]
    return tuple(sorted(kept, key=lambda e: -e.score))


@dataclass(frozen=True, slots=True)
class Quoting:
    """Turns hits into quotes within the tier's cap; ``read`` gives a visible turn by its number."""

    query: Query
    read: Callable[[int], Turn | None]
    pinned: Sequence[str]
    count: Count
    tier: Retrieved

    def pieces(self, hits: Sequence[Hit], near: Collection[int]) -> Iterator[Evidence]:
        """Evidence of hits, best first, until there is enough of turns that are not ``near``, and so out of view."""
        certain: set[int] = set()
        taken: set[int] = set()
        for hit in hits:
            if len(certain) == self.tier.k:
                return
            piece = self._piece(hit)
            if piece is not None:
                certain |= {hit.number} - taken - set(near)
                taken.update(piece.turns)
                yield piece

    def _piece(self, hit: Hit) -> Evidence | None:
        """A hit with its neighbours; None where all of it is pinned anyway."""
        turn = self.read(hit.number)
        room = max(LEAST, self.tier.cap // max(1, self.tier.k))
        quotes = list(self._quotes(turn, room)) if turn is not None else []
        if turn is None or not quotes:
            return None
        left = room - sum(self.count(q.line) for q in quotes)
        partner = self._partner(turn)
        if partner is not None and left >= LEAST:
            quotes += self._quotes(partner, left)
        return Evidence(
            turn=hit.number,
            quotes=tuple(sorted(quotes, key=lambda q: q.turn)),
            score=round(hit.score, 3),
            reason=f"holds {hit.share:.0%} of what the question weighs",
        )

    def _partner(self, turn: Turn) -> Turn | None:
        """The other half of a turn's exchange: the answer to a question, the question of an answer."""
        return self.read(turn.number + (1 if turn.role == "user" else -1))

    def _quotes(self, turn: Turn, room: int) -> Iterator[Quote]:
        """What was said in a turn, first the words, then results that the question is about."""
        for line in source_lines(turn, limits=Limits(result=4_000)):
            if room < LEAST or (line.role == "tool" and not self._is_about(line.text)):
                continue
            shown = excerpt(line.text, self.query, tokens=room, count=self._size)
            before, after = "…" if shown.start else "", "…" if shown.end < shown.of else ""
            quote = Quote(turn.number, line.role, f"{before}{shown.text}{after}", turn.said_at)
            if not self._repeats_pin(quote):
                room -= self.count(quote.line)
                yield quote

    def _size(self, text: str) -> int:
        return self.count(quoted(text)) + 8  # with who said it, and marks of what is left out

    def _is_about(self, text: str) -> bool:
        held = set(query_terms(text[:20_000]).terms)
        return not held.isdisjoint(candidate_terms(self.query))

    def _repeats_pin(self, quote: Quote) -> bool:
        return contains_any(quote.text, self.pinned) or contains_any(quote.line, self.pinned)
