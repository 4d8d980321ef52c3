"""The cost meter: the rules of docs/accounting.md one by one, then against a literal reading of them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextmgr.meter import LOOK_BACK, Charge, Meter, content_key, identity_key
from contextmgr.models import model_entry

SONNET = model_entry("claude-sonnet-5-5")
MARK = {"type": "ephemeral"}
HOUR_MARK = {"type": "ephemeral", "ttl": "1h"}


def text(name: str, size: int = 1_000, mark: Any = None) -> dict[str, Any]:
    return {"type": "text", "text": name, "size": size} | ({"cache_control": mark} if mark else {})


def call(name: str, kind: str = "tool_use") -> dict[str, Any]:
    return {"type": kind, "id": name, "size": 10}


def size(block: Any) -> int:
    return int(block["size"])


def request(*blocks: dict[str, Any], role: str = "user", **rest: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": role, "content": list(blocks)}], **rest}


@pytest.fixture
def meter() -> Meter:
    return Meter(SONNET, size)


def split(charge: Charge) -> tuple[int, int, int]:
    return charge.written, charge.read, charge.uncached


def test_without_marks_everything_is_uncached(meter: Meter) -> None:
    for _ in range(2):
        assert meter.charge(request(text("a")), 0.0) == Charge(0, 0, 1_000, pytest.approx(0.002))


def test_a_growing_request_reads_what_it_wrote(meter: Meter) -> None:
    assert split(meter.charge(request(text("a", mark=MARK), text("b", 50)), 0.0)) == (1_000, 0, 50)
    assert split(meter.charge(request(text("a"), text("b", 50), text("c", 7, MARK)), 1.0)) == (57, 1_000, 0)


def test_the_example_of_the_documentation(meter: Meter) -> None:
    system = [text("system", 10_000, MARK)]
    longer = (text("q"), text("q2", 1_000), text("answer", 1_000), text("q3", 1_000, MARK))
    rows = [
        (0.0, (text("q"), text("q2", 1_000, MARK)), (12_000, 0, 0), 0.0300),
        (60.0, longer, (2_000, 12_000, 0), 0.0062),
        (120.0, (text("other", 3_000, MARK),), (3_000, 10_000, 0), 0.0085),
        (400.0, longer, (4_000, 10_000, 0), 0.0110),
    ]
    for now, blocks, expected, cost in rows:
        charge = meter.charge(request(*blocks, system=system), now)
        assert split(charge) == expected
        assert charge.cost == pytest.approx(cost)


def test_an_entry_dies_its_lifetime_after_the_start_of_its_last_use(meter: Meter) -> None:
    same = request(text("a", mark=MARK))
    reads = [meter.charge(same, now).read for now in (0.0, 299.0, 598.0, 898.0)]
    assert reads == [0, 1_000, 1_000, 0]


def test_a_read_refreshes_an_entry_that_is_no_longer_marked(meter: Meter) -> None:
    meter.charge(request(text("a", mark=MARK)), 0.0)
    meter.charge(request(text("a"), text("b", mark=MARK)), 200.0)
    assert meter.charge(request(text("a", mark=MARK)), 400.0).read == 1_000


def test_an_entry_stands_at_every_mark(meter: Meter) -> None:
    meter.charge(request(text("a", mark=MARK), text("b", mark=MARK), text("c", mark=MARK)), 0.0)
    assert meter.charge(request(text("a"), text("b", mark=MARK), text("x")), 1.0).read == 2_000
    assert meter.charge(request(text("a", mark=MARK), text("y")), 1.0).read == 1_000


def test_no_entry_stands_between_marks(meter: Meter) -> None:
    meter.charge(request(text("a"), text("b", mark=MARK)), 0.0)
    assert meter.charge(request(text("a", mark=MARK)), 1.0).read == 0


@pytest.mark.parametrize(("added", "read"), [(LOOK_BACK - 1, 1_000), (LOOK_BACK, 0)])
def test_a_read_looks_back_twenty_positions(meter: Meter, added: int, read: int) -> None:
    meter.charge(request(text("a", mark=MARK)), 0.0)
    more = [text(f"t{i}", 1) for i in range(added)]
    more[-1]["cache_control"] = MARK
    assert meter.charge(request(text("a"), *more), 1.0).read == read


@pytest.mark.parametrize("kind", ["tool_use", "tool_result"])
def test_a_run_of_calls_or_of_results_is_one_position(meter: Meter, kind: str) -> None:
    meter.charge(request(text("a", mark=MARK)), 0.0)
    run = [call(f"c{i}", kind) for i in range(50)]
    run[-1]["cache_control"] = MARK
    assert meter.charge(request(text("a"), *run), 1.0).read == 1_000


def test_calls_and_results_in_turn_are_positions_of_their_own(meter: Meter) -> None:
    meter.charge(request(text("a", mark=MARK)), 0.0)
    steps = [call(f"c{i}", ("tool_use", "tool_result")[i % 2]) for i in range(20)]
    steps[-1]["cache_control"] = MARK
    assert meter.charge(request(text("a"), *steps), 1.0).read == 0


def test_the_longest_hit_of_any_mark_is_read(meter: Meter) -> None:
    far = [text(f"t{i}", 1) for i in range(40)]
    meter.charge(request(text("a", mark=MARK), text("b", mark=MARK)), 0.0)
    blocks = [text("a"), text("b", mark=MARK), *far, text("z", 5, MARK)]
    assert split(meter.charge(request(*blocks), 1.0)) == (45, 2_000, 0)


@pytest.mark.parametrize(("tokens", "written"), [(511, 0), (512, 512)])
def test_nothing_below_the_minimum_is_cached(meter: Meter, tokens: int, written: int) -> None:
    same = request(text("a", tokens, MARK))
    assert meter.charge(same, 0.0).written == written
    assert meter.charge(same, 1.0).read == written


def test_marks_and_key_order_are_no_part_of_a_prefix() -> None:
    block = {"type": "text", "text": "a", "citations": {"x": 1, "y": 2}}
    turned = {"citations": {"y": 2, "x": 1}, "cache_control": MARK, "text": "a", "type": "text"}
    assert content_key(block) == content_key(turned)
    assert content_key(block) != content_key(block | {"text": "A"})


@pytest.mark.parametrize(
    "change",
    [
        {"tools": [text("t")]},
        {"system": [text("s")]},
        {"model": "other"},
        {"tool_choice": {"type": "none"}},
        {"thinking": {"type": "adaptive"}},
        {"role": "assistant"},
    ],
    ids=lambda c: next(iter(c)),
)
def test_what_stands_before_or_around_a_prefix_belongs_to_it(meter: Meter, change: dict[str, Any]) -> None:
    meter.charge(request(text("a", mark=MARK)), 0.0)
    assert meter.charge(request(text("a", mark=MARK), **change), 1.0).read == 0


def test_settings_of_the_messages_keep_tools_and_system(meter: Meter) -> None:
    head = {"tools": [text("t")], "system": [text("s", mark=MARK)]}
    meter.charge(request(text("a", mark=MARK), **head), 0.0)
    charge = meter.charge(request(text("a", mark=MARK), thinking={"type": "adaptive"}, **head), 1.0)
    assert split(charge) == (1_000, 2_000, 0)


def test_neighbouring_messages_of_one_role_are_one_and_a_string_is_a_block() -> None:
    meter = Meter(SONNET, lambda block: 100 * len(block["text"]))
    apart = [{"role": "user", "content": "aaaaaa"}, {"role": "user", "content": "bbb"}]
    whole = [{"type": "text", "text": "aaaaaa"}, {"type": "text", "text": "bbb", "cache_control": MARK}]
    meter.charge({"system": "", "messages": apart, "cache_control": MARK}, 0.0)
    assert meter.charge({"messages": [{"role": "user", "content": whole}]}, 1.0).read == 900


def test_a_mark_on_the_request_stands_on_the_last_block_that_can_carry_one(meter: Meter) -> None:
    blocks = (text("a"), {"type": "thinking", "thinking": "x", "size": 5}, text(" ", 7))
    assert split(meter.charge(request(*blocks, role="assistant", cache_control=MARK), 0.0)) == (1_000, 0, 12)
    assert meter.charge({"messages": [], "cache_control": MARK}, 0.0).total == 0


def test_an_hour_costs_more_and_lasts_longer(meter: Meter) -> None:
    blocks = (text("a", mark=HOUR_MARK), text("b", mark=MARK))
    first, later = meter.charge(request(*blocks), 0.0), meter.charge(request(*blocks), 3_599.0)
    assert first.cost == pytest.approx((1_000 * 4.0 + 1_000 * 2.5) / 1e6)
    assert split(later) == (1_000, 1_000, 0)
    assert later.cost == pytest.approx((1_000 * 0.1 + 1_000 * 2.5) / 1e6)


def test_an_entry_written_anew_has_the_lifetime_of_its_new_mark(meter: Meter) -> None:
    marks = [(0.0, HOUR_MARK), (3_600.0, MARK), (3_900.0, MARK)]
    assert [meter.charge(request(text("a", mark=mark)), now).read for now, mark in marks] == [0, 0, 0]


def test_the_lifetime_of_ordinary_marks_can_be_set() -> None:
    meter = Meter(SONNET, size, ttl_seconds=10.0)
    assert [meter.charge(request(text("a", mark=MARK)), now).read for now in (0.0, 9.0, 19.0)] == [0, 1_000, 0]


def test_a_long_prompt_is_charged_by_its_own_list() -> None:
    meter = Meter(model_entry("claude-haiku-5-5"), size)
    assert meter.charge(request(text("a", 100_000)), 0.0).cost == pytest.approx(0.01)
    assert meter.charge(request(text("b", 100_001)), 0.0).cost == pytest.approx(0.0500005)
    assert meter.output_cost(1_000) == pytest.approx(0.0005)
    assert meter.output_cost(1_000, prompt_tokens=200_000) == pytest.approx(0.0025)


def test_a_block_is_sized_once_and_may_bring_its_own_key() -> None:
    asked: list[str] = []
    meter = Meter(SONNET, lambda b: asked.append(b["text"]) or 1_000, key=lambda b: str(b["text"]).encode())
    for now in (0.0, 1.0):
        charge = meter.charge(request(text("a", mark=MARK), text("b", mark=MARK)), now)
    assert asked == ["a", "b"]
    assert charge.read == 2_000


def test_the_identity_key_tells_values_apart_however_short_their_objects_live() -> None:
    key = identity_key()
    assert [key(text(str(n))) for n in range(100)] == [content_key(text(str(n))) for n in range(100)]
    shared = text("a")
    assert key(shared) is key(shared)


def test_dead_entries_are_forgotten(meter: Meter) -> None:
    for n in range(2_000):
        meter.charge(request(text(f"a{n}", mark=MARK)), float(n))
    assert len(meter._entries) < 600


# A literal reading of the rules: prefixes as tuples, no hashes, no early exits.

WORDS = st.sampled_from("ab")
KINDS = st.sampled_from(["text", "tool_use", "tool_result"])
MARKS = st.sampled_from([None, None, None, MARK, HOUR_MARK])
ROLES = st.sampled_from(["user", "assistant"])
BLOCKS = st.builds(
    lambda k, w, s, m: {"type": k, "text": w, "size": s, "cache_control": m}, KINDS, WORDS, st.just(300), MARKS
)
MESSAGES = st.builds(lambda r, b: {"role": r, "content": b}, ROLES, st.lists(BLOCKS, max_size=14))
REQUESTS = st.lists(st.tuples(st.lists(MESSAGES, max_size=4), st.integers(0, 2_000)), max_size=6)


class Literal:
    def __init__(self) -> None:
        self.entries: dict[tuple[Any, ...], tuple[float, float]] = {}

    def charge(self, messages: list[dict[str, Any]], now: float) -> tuple[int, int, int, int]:
        flat = [
            (m["role"], b["type"], b["text"], b["size"], b["cache_control"]) for m in messages for b in m["content"]
        ]
        prefixes = [tuple(b[:4] for b in flat[: i + 1]) for i in range(len(flat))]
        marks = {i: 3_600.0 if "ttl" in b[4] else 300.0 for i, b in enumerate(flat) if b[4] and (i + 1) * 300 >= 512}
        alive = {i for i, p in enumerate(prefixes) if p in self.entries and now < self.entries[p][1]}
        hit = max((i for i in alive for m in marks if i <= m and self.distance(flat[i : m + 1]) <= 20), default=-1)
        for i in {*marks, *({hit} - {-1})}:
            life = self.entries[prefixes[i]][0] if i in alive else marks[i]
            self.entries[prefixes[i]] = (life, now + life)
        read, end = 300 * (hit + 1), 300 * (max(marks, default=-1) + 1)
        hour = max(300 * (max((m for m in marks if marks[m] > 300), default=-1) + 1) - read, 0)
        return read, hour, end - read - hour, 300 * len(flat) - end

    @staticmethod
    def distance(blocks: list[tuple[Any, ...]]) -> int:
        same = (a[:2] == b[:2] and a[1] != "text" for a, b in pairwise(blocks))
        return len(blocks) - sum(same)


@given(REQUESTS)
def test_the_meter_is_the_literal_reading(requests: list[tuple[list[dict[str, Any]], int]]) -> None:
    meter, literal, now = Meter(SONNET, size), Literal(), 0.0
    for messages, pause in requests:
        now += pause
        charge = meter.charge({"messages": messages}, now)
        read, hour, five, uncached = literal.charge(messages, now)
        assert split(charge) == (hour + five, read, uncached)
        assert charge.cost == pytest.approx((read * 0.1 + hour * 4.0 + five * 2.5 + uncached * 2.0) / 1e6)
        assert charge.total == sum(300 for m in messages for _ in m["content"])
