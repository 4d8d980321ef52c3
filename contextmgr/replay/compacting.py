"""What compaction did over one replay: summaries made, their items, results masked and cut."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from contextmgr.store import Transaction
from contextmgr.summaries import Segment
from contextmgr.views import Form, RowKind, ViewRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Compactions:
    """``summaries`` are the segments written from turns.  Of the items in them ``items_kept`` passed every check as
    written, ``items_replaced`` gave way to a verbatim sentence, ``items_dropped`` were refused; ``items_given_up`` left
    later, when segments merged.  ``masked`` and ``cut`` are tool results that ever stood in that form, each counted
    once per form; ``summary_tokens_max`` is the largest summary tier of any request, in tokens.
    """

    summaries: int = 0
    items_kept: int = 0
    items_replaced: int = 0
    items_dropped: int = 0
    items_given_up: int = 0
    masked: int = 0
    cut: int = 0
    summary_tokens_max: int = 0


def compactions(tx: Transaction, conversation: str, *, summary_tokens_max: int) -> Compactions:
    """What a conversation's records say of it, from its first epoch to its last."""
    segments = tx.segments(conversation, every=True)
    written = [s for s in segments if s.level == 0]
    formed = {(r.form, r.turn, r.call) for r in _rows(tx, conversation) if r.kind is RowKind.FORM}
    replaced = sum(s.replaced for s in written)
    return Compactions(
        summaries=len(written),
        items_kept=sum(len(s.items) for s in written) - replaced,
        items_replaced=replaced,
        items_dropped=sum(s.dropped for s in written),
        items_given_up=_given_up(segments),
        masked=sum(form is Form.MASKED for form, _, _ in formed),
        cut=sum(form is Form.CUT for form, _, _ in formed),
        summary_tokens_max=summary_tokens_max,
    )


def _rows(tx: Transaction, conversation: str) -> Iterator[ViewRow]:
    last = tx.last_epoch(conversation)
    for number in range(1, last.number + 1 if last else 1):
        yield from tx.rows(conversation, number)


def _given_up(segments: Sequence[Segment]) -> int:
    """Items that merging dropped: a merged segment counts what its parts dropped as well."""
    dropped = {s.id: s.dropped for s in segments}
    return sum(s.dropped - sum(dropped.get(p, 0) for p in s.parts) for s in segments if s.parts)
