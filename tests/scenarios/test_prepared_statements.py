"""The rule said at exchange 5 stands in every later request, byte for byte and proved, whatever happens in between."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console

from contextmgr.scenario import Scenario, ScenarioOutcome, load_scenario, play, run_scenario
from contextmgr.scenario.checking import Kept
from contextmgr.scenario.outcome import OURS

RULE = "All database calls must use prepared statements. This is non-negotiable."


@pytest.fixture(scope="module")
def outcome() -> ScenarioOutcome:
    return run_scenario("prepared-statements")


def with_upheavals(scenario: Scenario) -> Scenario:
    """The same conversation with another system prompt at some exchanges and a night's pause at others."""
    changes = {7: {"system": "Plan only."}, 12: {"after": 600.0}, 14: {"system": "Write code."}, 21: {"after": 90.0}}
    exchanges = [e.model_copy(update=changes.get(n, {})) for n, e in enumerate(scenario.exchanges, 1)]
    return scenario.model_copy(update={"exchanges": exchanges})


def test_it_passes(outcome: ScenarioOutcome) -> None:
    assert outcome.passed
    assert [check.what for check in outcome.checks if not check.passed] == []


def test_the_rule_is_proved_once_in_every_request_from_exchange_5_on(outcome: ScenarioOutcome) -> None:
    later = [made for made in outcome.policies[OURS] if made.exchange >= 5]
    assert {(made.kept, made.proved) for made in later} == {(Kept.EXACT, True)}
    assert {made.exchange for made in later} == set(range(5, 26))


def test_the_output_overflows_the_budget_many_times(outcome: ScenarioOutcome) -> None:
    reasons = [made.why for made in outcome.policies[OURS]]
    assert reasons.count("full") >= 4


def test_every_request_of_every_policy_is_valid_and_in_budget(outcome: ScenarioOutcome) -> None:
    wrong = [(p, m) for p, requests in outcome.policies.items() for m in requests if not (m.valid and m.within)]
    assert wrong == []


def test_the_baselines_have_lost_the_rule(outcome: ScenarioOutcome) -> None:
    others = set(outcome.policies) - {OURS}
    assert {(p, outcome.kept(p, n)) for p in others for n in (18, 25)} == {
        (p, Kept.GONE) for p in ("truncate", "summarize-all", "retrieve-only")
    }


def test_the_store_is_closed_and_opened_before_every_exchange(outcome: ScenarioOutcome, tmp_path: Path) -> None:
    reopened = play(load_scenario("prepared-statements"), store=tmp_path / "agent.db", reopen=True)
    assert reopened.policies[OURS] == outcome.policies[OURS]


@pytest.mark.parametrize("budget", [9_000, 12_000, 16_000, 40_000])
def test_rollovers_for_other_reasons(budget: int, tmp_path: Path) -> None:
    scenario = with_upheavals(load_scenario("prepared-statements")).model_copy(update={"budget": budget, "expect": []})
    made = play(scenario, store=tmp_path / "agent.db", reopen=True).policies[OURS]
    assert {m.proved for m in made if m.exchange >= 5} == {True}
    assert all(m.valid and m.within for m in made)
    assert "head" in {m.why for m in made}


def test_the_same_run_twice_gives_the_same_requests(outcome: ScenarioOutcome) -> None:
    assert run_scenario("prepared-statements").to_json() == outcome.to_json()


def test_the_table_fits_a_narrow_terminal(outcome: ScenarioOutcome) -> None:
    with (console := Console(width=80, force_terminal=False)).capture() as capture:
        console.print(outcome.table())
    printed = capture.get()
    assert printed.count("exact, proved") == 2
    assert "…" not in printed
