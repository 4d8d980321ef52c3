"""Scripted conversations that show what a budget does to a rule said early: ours beside three known policies."""

from __future__ import annotations

from pathlib import Path

from contextmgr.scenario.files import Scenario, load_scenario, scenario_names
from contextmgr.scenario.outcome import ScenarioOutcome
from contextmgr.scenario.playing import Player
from contextmgr.scenario.running import Run

__all__ = ["Scenario", "ScenarioOutcome", "load_scenario", "play", "run_scenario", "scenario_names"]


def run_scenario(name_or_path: str | Path) -> ScenarioOutcome:
    """Play a scenario, a shipped name or a file of yours, through contextmgr and the baselines.

    Raises `InputError` for a file that is no scenario, and whatever the calls of the scenario raise.
    """
    return play(load_scenario(name_or_path))


def play(scenario: Scenario, *, store: str | Path = "sqlite://", reopen: bool = False) -> ScenarioOutcome:
    """Play a scenario that is loaded; ``reopen`` closes and opens the ``store`` before every exchange."""
    run = Run(scenario)
    for step in Player(scenario, store=store, reopen=reopen).steps():
        run.ours(step)
        run.theirs(step)
    return run.outcome()
