"""Three constraints of exchange 1 hold at 15: turn 1 whole, the last exchanges whole, the middle shortened."""

from __future__ import annotations

from pathlib import Path

import pytest

from contextmgr.scenario import ScenarioOutcome, load_scenario, play, run_scenario
from contextmgr.scenario.checking import is_whole, proved_once, verbatim_share
from contextmgr.scenario.outcome import OURS
from contextmgr.scenario.playing import Player


@pytest.fixture(scope="module")
def outcome() -> ScenarioOutcome:
    return run_scenario("quarterly-report")


def test_it_passes(outcome: ScenarioOutcome) -> None:
    assert outcome.passed
    assert [check.what for check in outcome.checks if not check.passed] == []


def test_the_constraints_are_proved_in_every_request(outcome: ScenarioOutcome) -> None:
    assert {made.proved for made in outcome.policies[OURS]} == {True}


def test_it_holds_across_processes(outcome: ScenarioOutcome, tmp_path: Path) -> None:
    reopened = play(load_scenario("quarterly-report"), store=tmp_path / "agent.db", reopen=True)
    assert reopened.to_json() == outcome.to_json()


def test_the_last_request() -> None:
    """Read from the request itself: turn 1 whole, exchanges 13 and 14 whole, the tables of 2 to 12 mostly left out."""
    for step in Player(load_scenario("quarterly-report")).steps():
        if step.exchange == 15:
            params, turns = step.request.params, step.chat.history.turns()
            first, middle = turns[0], turns[step.starts[2] - 1 : step.starts[13] - 1]
            assert proved_once(params, step.request.proof, first.text)
            assert all(is_whole(params, turn) for turn in [first, *turns[step.starts[13] - 1 :]])
            assert 0 < verbatim_share(params, middle) < 0.5
            break
    else:
        pytest.fail("exchange 15 was never reached")
