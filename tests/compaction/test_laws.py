"""The laws of the pure part: the cap holds, coverage stays, nothing is reworded, levels stay low, all is repeatable."""

from __future__ import annotations

import math
import re
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from contextmgr.compaction import FANOUT, SummaryTier, compact, merge, render, superseded, uncovered, usable
from contextmgr.summaries import Item, ItemKind, Segment, SegmentStatus, outdated
from contextmgr.tokens import blocks_features
from tests.compaction.segments import WORDS, count, covered, histories, item_lists, seeds, segment, some_history

caps = st.integers(0, 400)


@given(given=histories, cap=caps)
def test_the_cap_holds_and_what_is_covered_stays_covered(given: list[Segment], cap: int) -> None:
    found = compact(given, cap=cap, count=count)
    assert found.tokens <= cap
    assert covered(found.shown) == covered(given)
    assert sum(len({n for a, b in s.ranges for n in range(a, b + 1)}) for s in found.shown) == len(covered(given))


@given(given=histories, cap=caps)
def test_items_are_dropped_and_counted_never_reworded(given: list[Segment], cap: int) -> None:
    before = [i for s in given for i in s.items]
    found = compact(given, cap=cap, count=count)
    left = [i for s in found.shown for i in s.items]
    assert all(i in before for i in left)
    assert len(left) == len(before) - sum(s.dropped for s in found.shown)


@given(given=histories, cap=caps)
def test_every_item_cites_turns_that_its_segment_covers(given: list[Segment], cap: int) -> None:
    for one in compact(given, cap=cap, count=count).shown:
        assert all(one.covers(n) for i in one.items for n in i.turns)


@given(given=histories, cap=caps)
def test_segments_stand_in_turn_order_and_merged_ones_name_their_parts(given: list[Segment], cap: int) -> None:
    found = compact(given, cap=cap, count=count)
    assert [s.first for s in found.shown] == sorted(s.first for s in found.shown)
    kept = {s.id for s in found.shown} - {s.id for s in found.made}
    parts = [p for s in found.made for p in s.parts]
    assert sorted([*kept, *parts]) == sorted(s.id for s in given)
    assert all(s.status is SegmentStatus.ACTIVE and s.level >= 1 for s in found.made)


@given(given=histories, cap=caps)
def test_compacting_again_changes_nothing(given: list[Segment], cap: int) -> None:
    found = compact(given, cap=cap, count=count)
    again = compact(found.shown, cap=cap, count=count)
    assert (again.shown, again.made) == (found.shown, ())
    assert compact(given[::-1], cap=cap, count=count) == found


@given(given=st.builds(some_history, seeds, st.integers(0, 60)), cap=st.integers(20, 300))
def test_levels_grow_with_the_logarithm_of_the_segments(given: list[Segment], cap: int) -> None:
    """One rollover after the other, as it goes in a long conversation."""
    shown: tuple[Segment, ...] = ()
    for one in given:
        shown = compact([*shown, one], cap=cap, count=count).shown
        assert len(shown) <= FANOUT * (2 + max(s.level for s in shown))
    assert max((s.level for s in shown), default=0) <= 1 + math.log(max(1, len(given)), FANOUT)
    assert covered(shown) == covered(given)


@given(given=histories)
def test_while_there_is_room_only_repetitions_are_dropped(given: list[Segment]) -> None:
    found = compact(given, cap=10**6, count=count)
    said = {(i.kind, i.text) for s in given for i in s.items}
    assert {(i.kind, i.text) for s in found.shown for i in s.items} == said
    assert max([1, *Counter(s.level for s in found.shown).values()]) <= FANOUT


@given(given=item_lists, budget=caps)
def test_merge_fits_and_keeps_order(given: list[Item], budget: int) -> None:
    kept, dropped = merge(given, budget=budget, count=count)
    assert len(kept) + dropped == len(given)
    assert [i.turns for i in kept] == sorted(i.turns for i in kept)
    assert segment(1, 1, 60, *kept).tokens <= budget
    assert merge(given[::-1], budget=budget, count=count) == (kept, dropped)


@given(given=item_lists, budget=caps)
def test_merge_gives_up_results_and_artifacts_before_anything_else(given: list[Item], budget: int) -> None:
    kept, _ = merge(given, budget=budget, count=count)
    everything, _ = merge(given, budget=10**6, count=count)
    lost = [i.kind for i in everything if i not in kept]
    left = {i.kind for i in kept}
    if any(k not in (ItemKind.RESULT, ItemKind.ARTIFACT) for k in lost):
        assert not left & {ItemKind.RESULT, ItemKind.ARTIFACT}
    if ItemKind.ARTIFACT in lost:
        assert ItemKind.RESULT not in left


@given(given=item_lists)
def test_merge_with_room_drops_only_what_another_item_says(given: list[Item]) -> None:
    kept, _ = merge(given, budget=10**6, count=count)
    assert {(i.kind, i.text) for i in kept} == {(i.kind, i.text) for i in given}
    assert len({(i.kind, i.text) for i in kept}) == len(kept)


@given(given=histories, pin=st.lists(st.sampled_from(WORDS), min_size=1, max_size=4))
def test_rendered_lines_are_the_items_in_turn_order_without_pins(given: list[Segment], pin: list[str]) -> None:
    words = " ".join(pin)
    blocks = render(given, [words])
    text = "\n".join(b["text"] for b in blocks)
    shown = [i for s in given for i in s.items if len(words) <= 12 or words not in i.text]
    lines = text.splitlines()[1:]
    assert len(words) <= 12 or words not in text
    assert len(lines) <= len(shown)
    assert [first_turn(line) for line in lines] == sorted(first_turn(line) for line in lines)
    assert all(any(f'"{i.text}"' in line for i in shown) for line in lines)


def first_turn(line: str) -> int:
    found = re.match(r"- turn (\d+)", line)
    assert found is not None
    return int(found[1])


@given(given=histories, cap=caps, first=st.integers(1, 200))
def test_the_tier_as_rendered_fits_its_cap_at_any_start_and_shows_only_what_is_wholly_before(
    given: list[Segment], cap: int, first: int
) -> None:
    tier = SummaryTier(given, cap, count)
    assert sum(blocks_features(tier.blocks(first), count)) <= cap
    assert all(s.last < first for s in tier.at(first).shown)
    assert covered(tier.at(first).shown) == covered([s for s in given if s.last < first])
    assert tier.blocks(first) == SummaryTier(given, cap, count).blocks(first)


@given(given=histories, first=st.integers(1, 40), length=st.integers(0, 120), skip=st.sets(st.integers(1, 160)))
def test_uncovered_is_the_rest(given: list[Segment], first: int, length: int, skip: set[int]) -> None:
    last = first + length
    spans = uncovered(first, last, given, skip)
    numbers = [n for a, b in spans for n in range(a, b + 1)]
    assert numbers == sorted(set(range(first, last + 1)) - covered(given) - skip)


@given(given=histories, cap=caps, turn=st.integers(1, 120))
def test_a_changed_turn_takes_every_segment_that_read_it_and_gives_back_the_other_parts(
    given: list[Segment], cap: int, turn: int
) -> None:
    stored = recorded(given, cap)
    gone, again = outdated(stored, turn)
    assert [s.id for s in gone] == [s.id for s in stored if s.covers(turn)]
    left = [s for s in stored if s not in gone and (s.status is SegmentStatus.ACTIVE or s in again)]
    read = {n for s in given if s.covers(turn) for n in covered([s])}
    assert covered(left) == covered(given) - read
    assert sum(len(covered([s])) for s in left) == len(covered(left))


def recorded(given: list[Segment], cap: int) -> list[Segment]:
    """What the store holds after one rollover per segment."""
    from dataclasses import replace

    stored: dict[str, Segment] = {}
    shown: tuple[Segment, ...] = ()
    for one in given:
        found = compact([*shown, one], cap=cap, count=count)
        shown = tuple(replace(s, status=SegmentStatus.ACTIVE) for s in found.shown)
        stored |= {s.id: s for s in [replace(one, status=SegmentStatus.ACTIVE), *shown]}
        for made in found.made:
            stored |= {p: replace(stored[p], status=SegmentStatus.MERGED, into=made.id) for p in made.parts}
    return list(stored.values())


def test_parts_of_what_was_undone_do_not_come_back() -> None:
    parts = [segment(n, n, n, status=SegmentStatus.MERGED, into="s9") for n in (1, 2)]
    whole = segment(9, 1, 2, level=1, status=SegmentStatus.UNDONE)
    assert outdated([*parts, whole], 1) == ([parts[0], whole], [])


def test_only_segments_in_force_are_shown() -> None:
    given = [segment(n, n, n, status=status) for n, status in enumerate(SegmentStatus, 1)]
    assert {s.status for s in usable(given, 99)} == {SegmentStatus.READY, SegmentStatus.ACTIVE}


def test_a_window_does_not_begin_inside_a_segment_that_is_ready() -> None:
    tier = SummaryTier([segment(1, 3, 6), segment(2, 8, 9, status=SegmentStatus.ACTIVE)], 100, count)
    assert tier.torn(range(1, 11)) == {4, 5, 6}


def test_a_later_rule_on_the_same_subject_is_named() -> None:
    given = [
        Item(text="The orders export writes to region eu-west.", kind=ItemKind.DECISION, turns=(3,)),
        Item(text="The ledger cache is cleared nightly.", kind=ItemKind.DECISION, turns=(5,)),
        Item(text="The orders export writes to region us-east.", kind=ItemKind.DECISION, turns=(9,)),
        Item(text="The orders export writes to region ap-south.", kind=ItemKind.RESULT, turns=(11,)),
    ]
    assert superseded(given) == {0: 9}
