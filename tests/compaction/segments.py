"""Random segments to try the laws of compaction on, made from a seed: that is quicker than drawing their parts."""

from __future__ import annotations

import random
from collections.abc import Sequence

from hypothesis import strategies as st

from contextmgr.compaction import weighed
from contextmgr.summaries import Item, ItemKind, Segment, SegmentStatus

WORDS = ["orders", "table", "export", "job", "amounts", "cents", "port", "cache", "region", "ledger", "retry", "schema"]
KINDS = list(ItemKind)


def count(text: str) -> int:
    """A stand-in for tokens: four characters each."""
    return -(-len(text) // 4)


def segment(number: int, first: int, last: int, *items: Item, level: int = 0, **more: object) -> Segment:
    """A weighed segment over one stretch of turns."""
    given = {"status": SegmentStatus.READY, "coverage": tuple((n, f"h{n}") for n in range(first, last + 1)), **more}
    made = Segment(id=f"s{number}", level=level, ranges=((first, last),), items=items, **given)  # type: ignore[arg-type]
    return weighed(made, count)


def some_item(chance: random.Random, first: int, last: int) -> Item:
    """An item about turns of a stretch; few words, so that repetitions occur."""
    turns = {chance.randint(first, last) for _ in range(chance.randint(1, 3))}
    words = chance.choices(WORDS, k=chance.choice([1, 1, 2, 4, 8, 12]))
    return Item(text=" ".join(words), kind=chance.choice(KINDS), turns=tuple(sorted(turns)))


def some_history(seed: int, segments: int) -> list[Segment]:
    """Segments as they follow one another, some with gaps between them, some without items."""
    chance = random.Random(seed)
    found: list[Segment] = []
    at = 1
    for number in range(segments):
        at += chance.choice([0, 0, 1, 3])
        last = at + chance.randint(0, 9)
        found.append(segment(number, at, last, *(some_item(chance, at, last) for _ in range(chance.randint(0, 6)))))
        at = last + 1
    return found


def some_items(seed: int, items: int) -> list[Item]:
    """Items about turns 1 to 60."""
    chance = random.Random(seed)
    return [some_item(chance, 1, 60) for _ in range(items)]


seeds = st.integers(0, 10**6)
histories = st.builds(some_history, seeds, st.integers(0, 24))
item_lists = st.builds(some_items, seeds, st.integers(0, 20))


def covered(segments: Sequence[Segment]) -> set[int]:
    """Every turn that is covered."""
    return {n for s in segments for a, b in s.ranges for n in range(a, b + 1)}
