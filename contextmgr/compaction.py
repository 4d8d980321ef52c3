"""Log-structured summaries: which turns are to be summarised, what the summary tier shows, and how it keeps its cap.

Laws: a turn is summarised once, at level 0, and its items move up a level when `FANOUT` segments of a level merge, so
levels stay below log(n); merging drops and never rewords, so it cannot invent; the tier as rendered holds its cap
after any number of compactions; every segment says exactly what it covers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from contextmgr import jsontext, labels
from contextmgr.features import ZERO, Features
from contextmgr.summaries import Item, ItemKind, Segment, SegmentStatus, joined
from contextmgr.tokens import Count, blocks_features, text_features
from contextmgr.turns import Block

GIVEN_UP_FIRST = (ItemKind.RESULT, ItemKind.ARTIFACT)
FANOUT = 4  # segments of one level before the oldest of them become one of the next
KEPT = 0.6  # share of its tokens that a merge keeps at least, where the tier is over its cap
SOURCE_SHARE = 10  # a level-0 segment reads about this many times what it may say


@dataclass(frozen=True, slots=True)
class Compacted:
    """The summary tier: the segments shown, in order, and those that were made by merging on the way there."""

    shown: tuple[Segment, ...]
    made: tuple[Segment, ...] = ()

    @property
    def tokens(self) -> int:
        """Size of the items in unweighted tokens."""
        return sum(s.tokens for s in self.shown)


@dataclass(slots=True)
class SummaryTier:
    """The summary tier for any start of the window; each distinct set of segments is compacted once.

    ``cap`` is in tokens as ``size`` reckons them (unweighted, where it is left out) and holds for the tier as rendered,
    label included; ``pinned`` are texts that no item may repeat.
    """

    segments: Sequence[Segment]
    cap: int
    count: Count
    pinned: Sequence[str] = ()
    size: Callable[[Features], int] = sum
    _known: dict[tuple[str, ...], tuple[Compacted, list[Block]]] = field(default_factory=dict)

    def at(self, first: int) -> Compacted:
        """What a window that begins at turn ``first`` shows."""
        return self._at(first)[0]

    def blocks(self, first: int) -> list[Block]:
        """The tier as rendered."""
        return self._at(first)[1]

    def torn(self, turns: Iterable[int]) -> frozenset[int]:
        """The turns at which a window may not begin, because that would tear a segment that is ready in two."""
        ranges = [(s.first, s.last) for s in self.segments if s.status is SegmentStatus.READY]
        return frozenset(n for n in turns if any(a < n <= b for a, b in ranges))

    def _at(self, first: int) -> tuple[Compacted, list[Block]]:
        chosen = usable(self.segments, first)
        key = tuple(s.id for s in chosen)
        if key not in self._known:
            self._known[key] = self._fitted(chosen)
        return self._known[key]

    def _fitted(self, chosen: Sequence[Segment]) -> tuple[Compacted, list[Block]]:
        """Compacted so far that what is rendered fits; the label counts too, and is known only then."""
        budget = self.cap
        while True:
            compacted = compact(chosen, cap=budget, count=self.count)
            blocks = render(compacted.shown, self.pinned)
            size = self.size(blocks_features(blocks, self.count))
            if size <= self.cap:
                return compacted, blocks
            budget = max(0, min(compacted.tokens - 1, compacted.tokens * self.cap // size))


def weighed(segment: Segment, count: Count) -> Segment:
    """A segment with the weight of its items as rendered."""
    features = ZERO
    for item in segment.items:
        features = features.plus(text_features(line(item), count))
    return replace(segment, features=features)


def compact(segments: Sequence[Segment], *, cap: int, count: Count) -> Compacted:
    """What the tier shows of ``segments`` with items of at most ``cap`` unweighted tokens, merging the oldest first.

    `FANOUT` segments of one level become one of the next; where the cap asks for more, the oldest two merge, or the
    only one shrinks, without going up.
    """
    shown = sorted(segments, key=lambda s: s.first)
    made: dict[str, Segment] = {}
    while True:
        crowded = _crowded(shown)
        over = sum(s.tokens for s in shown) - cap
        if crowded:
            size = sum(s.tokens for s in crowded)
            shown = _merged(shown, crowded, max(size - max(0, over), int(KEPT * size)), count, made, up=1)
        elif over > 0:
            oldest = shown[:2]
            shown = _merged(shown, oldest, max(0, sum(s.tokens for s in oldest) - over), count, made, up=0)
        else:
            break
    return Compacted(tuple(shown), tuple(s for s in shown if s.id in made))


def _crowded(shown: Sequence[Segment]) -> list[Segment]:
    """The oldest segments of the lowest level that holds too many, or none."""
    for level in sorted({s.level for s in shown}):
        same = [s for s in shown if s.level == level]
        if len(same) > FANOUT:
            return same[:FANOUT]
    return []


def _merged(
    shown: Sequence[Segment], group: Sequence[Segment], budget: int, count: Count, made: dict[str, Segment], *, up: int
) -> list[Segment]:
    """``shown`` with ``group`` merged into one of at most ``budget`` tokens, ``up`` so many levels from its highest."""
    items = [i for s in group for i in s.items]
    kept, dropped = merge(items, budget=budget, count=count)
    parts = tuple(p for s in group for p in (made[s.id].parts if s.id in made else (s.id,)))
    segment = Segment(
        id="sum_" + jsontext.sha256("|".join([*parts, str(budget)]))[:16],
        level=max(1, max(s.level for s in group) + up),
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
    made[segment.id] = weighed(segment, count)
    return sorted([made[segment.id], *(s for s in shown if s not in group)], key=lambda s: s.first)


def merge(items: Sequence[Item], *, budget: int, count: Count) -> tuple[list[Item], int]:
    """The items that fit ``budget`` unweighted tokens, in turn order, and how many were dropped.

    Dropped are first what another item says as well, then results, then artifacts, then the rest; oldest first.
    Nothing is reworded.
    """
    kept = _distinct(sorted(items, key=_age))
    sizes = [sum(text_features(line(i), count)) for i in kept]
    size = sum(sizes)
    order = {kind: n for n, kind in enumerate(GIVEN_UP_FIRST)}
    gone: set[int] = set()
    for at in sorted(range(len(kept)), key=lambda n: (order.get(kept[n].kind, len(order)), n)):
        if size <= budget:
            break
        gone.add(at)
        size -= sizes[at]
    left = [item for at, item in enumerate(kept) if at not in gone]
    return left, len(items) - len(left)


def _age(item: Item) -> tuple[tuple[int, ...], str, ItemKind]:
    return item.turns, item.text, item.kind


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
    items = sorted((i for s in segments for i in s.items), key=_age)
    items = [i for i in items if not _repeats(i, pinned)]
    if not items:
        return []
    ranges = joined(r for s in segments if s.items for r in s.ranges)
    later = superseded(items)
    lines = [line(i) + (labels.superseded(later[n]) if n in later else "") for n, i in enumerate(items)]
    return [labels.text_block("\n".join([labels.summary_label(ranges), *lines]))]


def _repeats(item: Item, pinned: Sequence[str]) -> bool:
    """Whether an item would repeat a pin, or says only a part of it."""
    if labels.repeats(item.text, pinned) or labels.repeats(line(item), pinned):
        return True
    return any(labels.repeats(p, [item.text]) for p in pinned)


def superseded(items: Sequence[Item]) -> dict[int, int]:
    """For decisions and constraints that a later one on the same subject follows: its index and the later turn."""
    ruling = [(n, i.turns[-1], _words(i.text)) for n, i in enumerate(items) if i.kind in _RULING]
    found: dict[int, int] = {}
    for at, (n, turn, words) in enumerate(ruling):
        for _, later, others in ruling[at + 1 :]:
            if later > turn and _alike(words, others):
                found[n] = later
    return found


_RULING = (ItemKind.DECISION, ItemKind.CONSTRAINT)


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
