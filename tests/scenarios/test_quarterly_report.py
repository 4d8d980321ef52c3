"""Three constraints of exchange 1 hold at 15: turn 1 whole, the last exchanges whole, the middle shortened."""

from __future__ import annotations

from pathlib import Path

import pytest

from contextmgr.scenario import ScenarioOutcome, load_scenario, play, run_scenario
from contextmgr.scenario.checking import is_whole, proved_once, verbatim_share
from contextmgr.scenario.outcome import OURS
from contextmgr.scenario.playing import Player, Step


@pytest.fixture(scope="module")
def outcome() -> ScenarioOutcome:
    return run_scenario("quarterly-report")


@pytest.fixture(scope="module")
def last() -> Step:
    return list(Player(load_scenario("quarterly-report"), store="sqlite://").steps())[-1]


def test_it_passes(outcome: ScenarioOutcome) -> None:
    assert outcome.passed
    assert [check.what for check in outcome.checks if not check.passed] == []


def test_the_constraints_are_proved_in_every_request(outcome: ScenarioOutcome) -> None:
    assert {made.proved for made in outcome.policies[OURS]} == {True}


def test_it_holds_across_processes(outcome: ScenarioOutcome, tmp_path: Path) -> None:
    reopened = play(load_scenario("quarterly-report"), store=tmp_path / "agent.db", reopen=True)
    assert reopened.to_json() == outcome.to_json()


def test_the_middle_has_no_table_left(outcome: ScenarioOutcome) -> None:
    (check,) = [c for c in outcome.checks if c.what.startswith("of exchanges 2-12")]
    assert check.passed
