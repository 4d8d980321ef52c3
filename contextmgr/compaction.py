"""Log-structured summaries: which turns are to be summarised, what the summary tier shows, and how it keeps its cap.

Laws: a turn is summarised once, at level 0, and its items move up a level at each merge, so no item is touched more
than log(n) times on the way; merging drops and never rewords, so it cannot invent; the tier holds its cap after any
number of compactions; every segment says exactly what it covers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from contextmgr import jsontext, labels
from contextmgr.features import ZERO
from contextmgr.summaries import Item, ItemKind, Segment, SegmentStatus, joined
from contextmgr.tokens import Count, text_features
from contextmgr.turns import Block

GIVEN_UP_FIRST = (ItemKind.RESULT, ItemKind.ARTIFACT)
FANOUT = 4  # segments of one level before the oldest of them become one of the next
KEPT = 0.6  # share of its tokens that a merge keeps, where it can
SOURCE_SHARE = 10  # a level-0 segment reads about this many times what it may say


@dataclass(frozen=True, slots=True)
class Compacted:
    """The summary tier: the segments shown, in order, and those that were made by merging on the way there."""

    shown: tuple[Segment, ...]
    made: tuple[Segment, ...] = ()

    @property
    def tokens(self) -> int:
        """Size of the tier in unweighted tokens."""
        return sum(s.tokens for s in self.shown)


@dataclass(slots=True)
class SummaryTier:
    """The summary tier for any start of the window; each distinct set of segments is compacted once.

    ``cap`` is in unweighted tokens; ``pinned`` are texts that no item may repeat.
    """

    segments: Sequence[Segment]
    cap: int
    count: Count
    pinned: Sequence[str] = ()
    _known: dict[tuple[str, ...], Compacted] = field(default_factory=dict)

    def at(self, first: int) -> Compacted:
        """What a window that begins at turn ``first`` shows."""
        chosen = usable(self.segments, first)
        key = tuple(s.id for s in chosen)
        if key not in self._known:
            self._known[key] = compact(chosen, cap=self.cap, count=self.count)
        return self._known[key]

    def torn(self, turns: Iterable[int]) -> frozenset[int]:
        """The turns at which a window may not begin, because that would tear a segment that is ready in two."""
        ranges = [(s.first, s.last) for s in self.segments if s.status is SegmentStatus.READY]
        return frozenset(n for n in turns if any(a < n <= b for a, b in ranges))

    def blocks(self, first: int) -> list[Block]:
        """The tier as rendered."""
        return render(self.at(first).shown, self.pinned)


def weighed(segment: Segment, count: Count) -> Segment:
    """A segment with the weight of its items as rendered."""
    features = ZERO
    for item in segment.items:
        features = features.plus(text_features(line(item), count))
    return replace(segment, features=features)


def compact(segments: Sequence[Segment], *, cap: int, count: Count) -> Compacted:
    """What the tier shows of ``segments`` within ``cap`` unweighted tokens, merging the oldest first."""
    shown = sorted(segments, key=lambda s: s.first)
    made: dict[str, Segment] = {}
    level = 0
    while level <= max((s.level for s in shown), default=-1):
        same = [s for s in shown if s.level == level]
        if len(same) > FANOUT:
            shown = _merged(shown, same[:FANOUT], None, count, made)
        else:
            level += 1
    while sum(s.tokens for s in shown) > cap:
        over = sum(s.tokens for s in shown) - cap
        oldest = shown[:2]
        target = max(0, sum(s.tokens for s in oldest) - over)
        shown = _merged(shown, oldest, target, count, made)
    kept = {s.id for s in shown}
    return Compacted(tuple(shown), tuple(s for s in made.values() if s.id in kept))


def _merged(
    shown: Sequence[Segment], group: Sequence[Segment], target: int | None, count: Count, made: dict[str, Segment]
) -> list[Segment]:
    total = sum(s.tokens for s in group)
    items = [i for s in group for i in s.items]
    kept, dropped = merge(items, budget=int(total * KEPT) if target is None else target, count=count)
    parts = tuple(p for s in group for p in (made[s.id].parts if s.id in made else (s.id,)))
    segment = Segment(
        id="sum_" + jsontext.sha256("|".join([*parts, str(target)]))[:16],
        level=max(s.level for s in group) + 1,
        ranges=joined(r for s in group for r in s.ranges),
        items=tuple(kept),
        parts=parts,
        template=group[-1].template,
        writer=group[-1].writer,
        status=SegmentStatus.ACTIVE,
        replaced=sum(s.replaced for s in group),
        dropped=sum(s.dropped for s in group) + dropped,
    )
    for s in group:
        made.pop(s.id, None)
    segment = weighed(segment, count)
    made[segment.id] = segment
    return [segment, *(s for s in shown if s not in group)]


def merge(items: Sequence[Item], *, budget: int, count: Count) -> tuple[list[Item], int]:
    """The items that fit ``budget`` unweighted tokens, in turn order, and how many were dropped.

    Dropped are first what another item says as well, then results, then artifacts, then the rest; oldest first.
    Nothing is reworded.
    """
    ordered = sorted(items, key=lambda i: (i.turns, i.text))
    sizes = {id(i): sum(text_features(line(i), count)) for i in ordered}
    kept = _distinct(ordered)
    size = sum(sizes[id(i)] for i in kept)
    order = {kind: n for n, kind in enumerate(GIVEN_UP_FIRST)}
    for item in sorted(kept, key=lambda i: (order.get(i.kind, len(order)), i.turns)):
        if size <= budget:
            break
        kept.remove(item)
        size -= sizes[id(item)]
    return kept, len(items) - len(kept)


def _distinct(items: Sequence[Item]) -> list[Item]:
    """Items without those that a later one repeats."""
    seen: set[tuple[ItemKind, str]] = set()
    kept: list[Item] = []
    for item in reversed(items):
        key = (item.kind, " ".join(item.text.casefold().split()))
        if key not in seen:
            seen.add(key)
            kept.append(item)
    return kept[::-1]


def line(item: Item) -> str:
    """An item as rendered: escaped, with its turns and its kind."""
    return f"- turn {labels.ranges(item.turns)}, {item.kind.value.replace('_', ' ')}: {labels.quoted(item.text)}"


def render(segments: Sequence[Segment], pinned: Sequence[str]) -> list[Block]:
    """The summary tier as one labelled block, in turn order; items that would repeat a pin are left out."""
    items = sorted((i for s in segments for i in s.items), key=lambda i: (i.turns, i.text))
    items = [i for i in items if not any(p in i.text or i.text in p for p in pinned)]
    if not items:
        return []
    ranges = joined(r for s in segments for r in s.ranges)
    later = superseded(items)
    lines = [line(i) + (f" (turn {later[n]} decides later)" if n in later else "") for n, i in enumerate(items)]
    return [labels.text_block("\n".join([labels.summary_label(ranges), *lines]))]


def superseded(items: Sequence[Item]) -> dict[int, int]:
    """For decisions and constraints that a later one on the same subject follows: its index and the later turn."""
    ruling = [(n, i) for n, i in enumerate(items) if i.kind.value in ("decision", "constraint")]
    found: dict[int, int] = {}
    for at, (n, item) in enumerate(ruling):
        words = _words(item.text)
        for _, later in ruling[at + 1 :]:
            if later.turns[-1] > item.turns[-1] and _alike(words, _words(later.text)):
                found[n] = later.turns[-1]
    return found


def _words(text: str) -> set[str]:
    return {w for w in "".join(c if c.isalnum() else " " for c in text.casefold()).split() if len(w) > 3}


def _alike(a: set[str], b: set[str]) -> bool:
    return len(a & b) >= 3 and len(a & b) >= 0.5 * min(len(a), len(b))


def uncovered(first: int, last: int, segments: Iterable[Segment], without: Iterable[int] = ()) -> list[tuple[int, int]]:
    """Stretches of ``first..last`` that no segment covers; turns in ``without`` need no summary."""
    skip = set(without)
    covered = joined([r for s in segments for r in s.ranges] + [(n, n) for n in skip])
    out, at = [], first
    for a, b in covered:
        if b < at or a > last:
            continue
        if a > at:
            out.append((at, a - 1))
        at = max(at, b + 1)
    if at <= last:
        out.append((at, last))
    return out


def usable(segments: Iterable[Segment], first: int) -> list[Segment]:
    """The segments that a window beginning at ``first`` shows: active or ready, wholly before it."""
    live = (SegmentStatus.ACTIVE, SegmentStatus.READY)
    return [s for s in segments if s.status in live and s.last < first]
