"""240 turns, nothing pinned: the address of turn 31 and the preference of 118 are found when turn 240 needs them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from contextmgr.errors import InputError
from contextmgr.report import Disposition
from contextmgr.scenario import ScenarioOutcome, load_scenario, play, run_scenario
from contextmgr.scenario.checking import Kept, is_quoted, is_whole, verbatim_share
from contextmgr.scenario.outcome import OURS
from contextmgr.scenario.playing import Player, Step

NAME = "address-change"
FILE = Path(__file__).parents[2] / "examples" / "scenarios" / f"{NAME}.toml"
OLD, NEW, SISTERS, PREFERENCE, QUESTION = 12, 31, 76, 118, 240


@pytest.fixture(scope="module")
def outcome() -> ScenarioOutcome:
    return run_scenario(NAME)


@pytest.fixture(scope="module")
def last() -> tuple[Step, dict[int, Any]]:
    """The last request, and the turns before it."""
    for step in Player(load_scenario(NAME)).steps():
        if step.exchange == 119:
            return step, {t.number: t for t in step.chat.history.turns()}
    pytest.fail("exchange 119 was never reached")


def test_it_passes(outcome: ScenarioOutcome) -> None:
    assert [check.what for check in outcome.checks if not check.passed] == []
    assert outcome.passed
    assert outcome.turns == QUESTION + 1


def test_only_a_search_still_has_both(outcome: ScenarioOutcome) -> None:
    assert outcome.kept(OURS, 119) is Kept.EXACT
    assert outcome.kept("truncate", 119) is Kept.GONE
    assert outcome.kept("summarize-all", 119) is not Kept.EXACT


def test_every_policy_is_played_well(outcome: ScenarioOutcome) -> None:
    assert [p for p, made in outcome.policies.items() if not all(m.valid and m.within for m in made)] == []


def test_nothing_is_pinned(outcome: ScenarioOutcome) -> None:
    assert {made.pins for made in outcome.policies[OURS]} == {0}


def test_what_was_said_stands_where_the_story_says(last: tuple[Step, dict[int, Any]]) -> None:
    step, turns = last
    said = {
        12: "4 Mill Road",
        31: "12 Harbour Lane",
        76: "9 Cliff Road",
        118: "I prefer an e-mail",
        240: "Which address of mine",
    }
    assert [n for n, words in said.items() if words not in turns[n].text] == []
    assert step.starts[119] == QUESTION


def test_the_new_address_and_the_preference_are_quoted(last: tuple[Step, dict[int, Any]]) -> None:
    step, turns = last
    params = step.request.params
    assert [is_quoted(params, turns[n]) for n in (NEW, PREFERENCE)] == [True, True]
    assert [is_whole(params, turns[n]) for n in (NEW, PREFERENCE)] == [False, False]
    assert verbatim_share(params, [turns[n] for n in range(OLD, PREFERENCE)]) < 0.1  # the rest is out of view
    assert step.request.report.disposition(NEW) is Disposition.RETRIEVED


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("Can you confirm my delivery address and how I prefer to be contacted?", [NEW, PREFERENCE]),
        ("Please ship the replacement to my current address. Which one do you have?", [NEW]),
        ("What is my delivery address?", [NEW]),
        ("Send it to my address please, and notify me the way I asked.", [NEW]),
    ],
)
def test_other_wordings_find_the_new_address_too(tmp_path: Path, question: str, found: list[int]) -> None:
    text = FILE.read_text(encoding="utf-8")
    head, _, rest = text.rpartition('user = """')
    asked = f'{head}user = """{question}"""{rest.partition(chr(34) * 3)[2]}'
    (tmp_path / "a.toml").write_text(asked.replace(f"[{NEW}, {PREFERENCE}]", str(found)), encoding="utf-8")
    assert run_scenario(str(tmp_path / "a.toml")).passed


def test_it_holds_across_processes(outcome: ScenarioOutcome, tmp_path: Path) -> None:
    reopened = play(load_scenario(NAME), store=tmp_path / "agent.db", reopen=True)
    assert reopened.to_json() == outcome.to_json()


def small(**exchange: Any) -> dict[str, Any]:
    """A scenario of one exchange that is played for each of a list."""
    return {
        "name": "small",
        "title": "Each",
        "budget": 2_000,
        "begins": "2026-03-02T09:00:00Z",
        "compare": {"texts": ["jug"], "at": [1]},
        "exchanges": [{"user": "A {each}?", "turns": [{"text": "The {each}."}]} | exchange],
    }


def saved(tmp_path: Path, value: dict[str, Any]) -> Path:
    path = tmp_path / "small.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def test_an_exchange_is_played_for_each(tmp_path: Path) -> None:
    scenario = load_scenario(saved(tmp_path, small(each=["jug", "kettle"])))
    assert [e.user for e in scenario.exchanges] == ["A jug?", "A kettle?"]
    assert [e.turns[0].text for e in scenario.exchanges] == ["The jug.", "The kettle."]


@pytest.mark.parametrize("each", [[], "jug", ["jug", 3], [" "], None])
def test_each_is_a_list_of_texts(tmp_path: Path, each: Any) -> None:
    with pytest.raises(InputError, match="each must be a list of texts"):
        load_scenario(saved(tmp_path, small(each=each)))


def test_a_turn_in_view_is_not_taken_for_found(tmp_path: Path) -> None:
    value = small() | {"expect": [{"first": 1, "quoted_turns": [1]}]}
    assert [check.passed for check in run_scenario(saved(tmp_path, value)).checks] == [False]
