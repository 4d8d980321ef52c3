"""Profiles: every number given, numbers that fit together at every budget, readable refusals."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from contextmgr.errors import ProfileError
from contextmgr.profiles import MIN_BUDGET, Profile, load_profile, profile_names

NAMES = ("coding-agent", "data-analysis", "long-research", "support-chat")
BUDGETS = st.integers(MIN_BUDGET, 1_000_000)


def with_values(**values: Any) -> Profile:
    return Profile(**(load_profile("coding-agent").model_dump() | values))


def flat(profile: Profile) -> dict[str, Any]:
    tiers = profile.model_dump()
    rows = {k: v for k, v in tiers.items() if not isinstance(v, dict)}
    return rows | {f"{t}.{k}": v for t, d in tiers.items() if isinstance(d, dict) for k, v in d.items()}


def test_the_shipped_profiles_load_under_their_names() -> None:
    assert profile_names() == NAMES
    assert tuple(load_profile(name).name for name in NAMES) == NAMES


def test_what_the_design_fixes() -> None:
    coding, analysis, research, support = map(load_profile, NAMES)
    assert (coding.recent.min_turns, analysis.recent.min_turns, support.recent.min_turns) == (8, 6, 10)
    assert coding.pin_first_user_turn
    assert analysis.pin_first_user_turn
    assert (support.retrieved.k, support.policy, research.policy) == (3, "rolling", "epochs")


def test_no_number_has_a_default() -> None:
    parts = [Profile, *(type(v) for v in dict(load_profile(None)).values() if isinstance(v, BaseModel))]
    assert not [(p.__name__, n) for p in parts for n, f in p.model_fields.items() if not f.is_required()]


def test_every_way_to_name_a_profile() -> None:
    coding = load_profile("coding-agent")
    assert load_profile(None) is coding
    assert load_profile(coding) is coding
    assert load_profile(60_000) == coding.with_budget(60_000)


@given(st.sampled_from(NAMES), BUDGETS)
def test_a_profile_fits_together_at_every_budget(name: str, budget: int) -> None:
    profile = load_profile(name).with_budget(budget)  # the constructor checks
    caps = [getattr(profile, tier).cap for tier in ("pinned", "task", "state", "summary", "retrieved")]
    assert profile.budget == budget
    assert 0 < profile.recent.floor <= budget - sum(caps)
    assert min(*caps, profile.state.floor, profile.recent.result_cap) > 0


@given(st.sampled_from(NAMES), BUDGETS, BUDGETS)
def test_a_larger_budget_makes_no_tier_smaller(name: str, one: int, other: int) -> None:
    small, large = (flat(load_profile(name).with_budget(b)) for b in sorted((one, other)))
    assert all(large[key] >= small[key] for key in small if isinstance(small[key], int))


@given(st.sampled_from(NAMES), BUDGETS)
def test_only_token_numbers_scale(name: str, budget: int) -> None:
    before, after = flat(load_profile(name)), flat(load_profile(name).with_budget(budget))
    changed = {key for key in before if before[key] != after[key]}
    assert changed <= {"budget", "recent.result_cap"} | {k for k in before if k.endswith((".cap", ".floor"))}


def test_rounding_switches_no_tier_off_and_none_on() -> None:
    small = with_values(state={"cap": 9, "floor": 3}, task={"cap": 0}).with_budget(MIN_BUDGET)
    assert (small.state.cap, small.state.floor, small.task.cap) == (1, 1, 0)


def test_the_same_budget_is_the_same_profile() -> None:
    profile = load_profile("support-chat")
    assert profile.with_budget(profile.budget) is profile


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"fill": 2.0}, r"fill: .*0\.9 \(got 2\.0\)"),
        ({"fill": 0.85}, "fill must be within summary.prepare_at"),
        ({"budget": 500}, r"budget: .*1000 \(got 500\)"),
        ({"budget": True}, r"budget: .*\(got True\)"),
        ({"budget": 80_000}, "recent.floor plus all caps must be within budget: 84000 is above 80000"),
        ({"policy": "sliding"}, r"policy: .*\(got 'sliding'\)"),
        ({"colour": 1}, r"colour: .*\(got 1\)"),
        ({"state": {"cap": 1, "floor": 2}}, "state.floor must be within state.cap: 2 is above 1"),
        ({"pinned": {"cap": 1}}, "pinned.warn_share: Field required"),
        ({"recent": {"min_turns": 0, "floor": 9, "result_cap": 9}}, r"recent.min_turns: .*\(got 0\)"),
        ({"recent": {"min_turns": 1, "floor": 9, "result_cap": 10}}, "result_cap must be within recent.floor"),
        ({"recent": {"min_turns": 1, "floor": 75_000, "result_cap": 9}}, "within fill of the budget"),
    ],
)
def test_numbers_that_cannot_be_are_refused(values: dict[str, Any], says: str) -> None:
    with pytest.raises(ProfileError, match=says) as caught:
        with_values(**values)
    assert "'coding-agent'" in str(caught.value)


@pytest.mark.parametrize("value", ["coding", "60000", "", 3.5, b"coding-agent"])
def test_an_unknown_profile_is_refused_with_the_known_ones(value: Any) -> None:
    with pytest.raises(ProfileError, match="data-analysis") as caught:
        load_profile(value)
    assert repr(value) in str(caught.value)


@pytest.mark.parametrize("value", [0, -1, MIN_BUDGET - 1, True])
def test_a_budget_nobody_can_work_with_is_refused(value: int) -> None:
    with pytest.raises(ProfileError, match=f"{value!r} tokens.*{MIN_BUDGET}"):
        load_profile(value)


def test_a_profile_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="frozen"):
        load_profile(None).recent.floor = 1


def test_a_file_starts_from_a_shipped_profile_at_its_budget(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('base = "support-chat"\nname = "mine"\nbudget = 12_000\n[retrieved]\nk = 5\n')
    mine, half = load_profile(str(path)), load_profile("support-chat").with_budget(12_000)
    assert load_profile(path) == mine
    assert {k for k, v in flat(mine).items() if v != flat(half)[k]} == {"name", "retrieved.k"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('base = "nope"', "base = 'nope'"),
        ('base = "coding-agent"\nbudget = "big"', "'big' tokens"),
        ('base = "coding-agent"\nrecent = 5', r"recent: .*\(got 5\)"),
        ('name = "x"', "budget: Field required"),
        ("[", "cannot be read"),
        ("name = '\udcff'", "cannot be read"),
    ],
)
def test_a_bad_file_is_refused_by_name(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(text, encoding="utf-8", errors="surrogateescape")
    with pytest.raises(ProfileError, match=says) as caught:
        load_profile(path)
    assert "bad.toml" in str(caught.value)


def test_a_missing_file_is_refused() -> None:
    with pytest.raises(ProfileError, match=r"no/such\.toml"):
        load_profile("no/such.toml")


def test_the_documented_numbers_are_the_shipped_ones() -> None:
    text = (Path(__file__).parents[1] / "docs/profiles.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `([a-z0-9_.]+)` \| (.+) \|$", text, re.MULTILINE))
    shipped = {key: [str(flat(load_profile(name))[key]) for name in NAMES] for key in flat(load_profile(None))}
    del shipped["name"]
    assert {key: cells.replace(",", "").split(" | ") for key, cells in rows.items()} == shipped
