"""Which turns are to be summarised now, so that the summary is ready when they leave.

Law: only what would leave at the next rollover is prepared, in pieces along exchange and episode borders, and each
turn once; the decision looks at the window alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from contextmgr.compaction import SOURCE_SHARE
from contextmgr.episodes import segments, source_tokens
from contextmgr.epochs import Decision, Snapshot, Terms, turn_weight
from contextmgr.features import Features, total
from contextmgr.pins import Pin
from contextmgr.turns import Turn
from contextmgr.views import Form, RowKind

SEGMENTS = 16  # level-0 segments that the summary tier holds before it merges
MIN_ITEMS = 120  # unweighted tokens: the least that one segment may say
LEAST = 4  # a piece of less than this part of a full one waits for more turns
REACH_BACK = 64  # turns before the window that may be read with its first piece
MASKED = Features(fixed=40)  # about what a masked result weighs


def item_budget(cap: int) -> int:
    """Unweighted tokens that one level-0 segment may say, for a summary tier of ``cap`` tokens."""
    return max(min(MIN_ITEMS, cap), cap // SEGMENTS)


def work(
    snapshot: Snapshot, decision: Decision, terms: Terms, planned: Iterable[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Turn ranges to summarise after this decision; ``planned`` are those in the outbox already."""
    window = [t for t in snapshot.turns if t.number not in snapshot.kept]
    leaving = _leaving(window, decision, terms)
    ends = [*(s.last for s in snapshot.segments), *(b for _, b in planned), *snapshot.kept]
    done = max(ends, default=window[0].number - 1)
    recent = window[-min(len(window), terms.profile.recent.min_turns)].number
    needed = readable(window, snapshot.pins)
    source = [t for t in needed if done < t.number < max(recent, leaving)]
    if not source or done + 1 >= leaving:
        return []
    size = SOURCE_SHARE * item_budget(terms.profile.summary.cap)
    pieces = segments(source, tokens=size)
    # turns that were too few for a summary when they left are read with those that follow them
    pieces[0] = (max(done + 1, source[0].number - REACH_BACK), pieces[0][1])
    last = [t for t in source if t.number >= pieces[-1][0]]
    if last[-1].number >= leaving or sum(map(source_tokens, last)) < size // LEAST:
        pieces.pop()  # it may still grow
    return [(a, b) for a, b in pieces if a < leaving]


def readable(turns: Sequence[Turn], pins: Iterable[Pin]) -> list[Turn]:
    """The turns that a summary may be made of: all but those whose every word a pin keeps in view anyway."""
    pinned: dict[int, int] = {}
    for pin in pins:
        if pin.turn is not None and pin.is_active:
            pinned[pin.turn] = pinned.get(pin.turn, 0) + len(pin.text.strip())
    return [t for t in turns if t.number not in pinned or pinned[t.number] < _characters(t)]


def _characters(turn: Turn) -> int:
    return sum(len(str(b["text"]).strip()) for b in turn.blocks if b.get("type") == "text")


def _leaving(window: Sequence[Turn], decision: Decision, terms: Terms) -> int:
    """The first turn that stays at the next rollover, as far as can be told; at a rollover, the one that stays now."""
    if decision.opens:
        return decision.epoch.first
    if decision.tokens <= terms.profile.summary.prepare_at * terms.room:
        return 0
    old = window[: -terms.profile.recent.min_turns]
    weights, gains = _weights(old, decision)
    tokens = terms.calibration.tokens
    excess = terms.room - int(terms.profile.fill * terms.room) - tokens(total(gains))
    for turn, weight, gain in zip(old, weights, gains, strict=True):
        if excess <= 0:
            return turn.number
        excess -= tokens(weight.minus(gain))
    return window[len(old)].number if old else 0


def _weights(turns: Sequence[Turn], decision: Decision) -> tuple[list[Features], list[Features]]:
    """What each turn weighs in the view, and what masking its results would free of that."""
    forms = {(r.turn, r.call): r for r in decision.rows if r.kind is RowKind.FORM}
    weights, gains = [], []
    for turn in turns:
        own = [r.features for (n, _), r in forms.items() if n == turn.number]
        weights.append(total([turn_weight(turn, decision.rows, thinks=False), *own]))
        loose = []
        for call, result in turn.in_place.items():
            row = forms.get((turn.number, call))
            shown = result.features if row is None else row.features
            if (row is None or row.form is Form.CUT) and sum(shown) > sum(MASKED):
                loose.append(shown.minus(MASKED))
        gains.append(total(loose))
    return weights, gains
