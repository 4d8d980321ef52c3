"""Scenario files: the shipped ones load, a file of one's own runs, and what is wrong with a file is named."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest

from contextmgr.errors import InputError
from contextmgr.scenario import files, load_scenario, run_scenario, scenario_names
from contextmgr.scenario.generated import Generate, generate

RULE = "Answer in one sentence only."


def small() -> dict[str, Any]:
    """A scenario with everything that must be there, and a pin."""
    return {
        "name": "small",
        "title": "Two exchanges",
        "budget": 2_000,
        "begins": "2026-03-02T09:00:00Z",
        "compare": {"texts": [RULE], "at": [2]},
        "expect": [{"first": 1, "last": 2, "pinned": [RULE]}],
        "exchanges": [
            {"user": RULE, "pin": True, "turns": [{"text": "I will."}]},
            {"user": "What is a pool?", "turns": [{"text": "Connections that are kept open."}]},
        ],
    }


def saved(tmp_path: Path, value: dict[str, Any]) -> Path:
    path = tmp_path / "small.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def test_the_shipped_ones() -> None:
    assert scenario_names() == ("address-change", "prepared-statements", "quarterly-report")


@pytest.mark.parametrize("name", scenario_names())
def test_each_shipped_one_is_called_as_its_file(name: str) -> None:
    assert load_scenario(name).name == name


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    outcome = run_scenario(str(saved(tmp_path, small())))
    assert outcome.passed
    assert [m.pins for m in outcome.policies["contextmgr"]] == [1, 1]


def test_the_one_in_the_docs(tmp_path: Path, repository: Path) -> None:
    page = (repository / "docs" / "scenarios.md").read_text(encoding="utf-8")
    path = tmp_path / "own.toml"
    path.write_text(page.partition("```toml\n")[2].partition("```")[0], encoding="utf-8")
    assert run_scenario(path).passed


def test_every_key_is_in_the_docs(repository: Path) -> None:
    page = (repository / "docs" / "scenarios.md").read_text(encoding="utf-8")
    models = (files.Scenario, files.Exchange, files.Call, files.Expect, files.Shortened, files.Compare, Generate)
    keys = {key for model in models for key in model.model_fields}
    assert {key for key in keys if not re.search(rf"[`. \[]{key}\b", page)} == set()


def test_an_expectation_that_does_not_hold(tmp_path: Path) -> None:
    value = small() | {"expect": [{"first": 2, "pinned": ["Never said."]}]}
    outcome = run_scenario(saved(tmp_path, value))
    assert not outcome.passed
    assert outcome.checks[0].failures == ("exchange 2, request 2: not so",)


def test_an_unknown_key_is_named_with_its_file_and_place(tmp_path: Path) -> None:
    value = small()
    value["exchanges"][1]["turns"][0]["colour"] = "red"
    with pytest.raises(InputError, match=r"small\.json.*exchanges\.2\.turns\.1\.colour.*docs/scenarios\.md"):
        load_scenario(saved(tmp_path, value))


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"begins": "2026-03-02T09:00:00"}, "time zone"),
        ({"budget": 12}, r"budget.*greater than or equal to 1000 \(got 12\)"),
        ({"compare": {"texts": [RULE], "at": [9]}}, "there is no exchange 9; there are 2"),
        ({"exchanges": []}, "exchanges"),
    ],
)
def test_what_cannot_be_used_is_named(tmp_path: Path, change: dict[str, Any], named: str) -> None:
    with pytest.raises(InputError, match=named):
        load_scenario(saved(tmp_path, small() | change))


@pytest.mark.parametrize(
    ("turns", "named"),
    [
        ([{"text": "a"}, {"text": "b"}], "every assistant turn but the last has calls"),
        ([{"calls": [{"tool": "look", "output": "x"}]}, {"text": "b"}], r"calls \['look'\], tools are \[\]"),
        ([{"calls": [{"tool": "look"}]}, {"text": "b"}], "either an output or a generate table"),
        ([{"text": " "}], "says something or calls a tool"),
    ],
)
def test_exchanges_are_checked(tmp_path: Path, turns: list[dict[str, Any]], named: str) -> None:
    value = small()
    value["exchanges"][1]["turns"] = turns
    with pytest.raises(InputError, match=named):
        load_scenario(saved(tmp_path, value))


def test_a_quote_must_be_said(tmp_path: Path) -> None:
    value = small()
    value["exchanges"][0]["quote"] = "Answer in two"
    with pytest.raises(InputError, match="the quote 'Answer in two' is not in the user message"):
        load_scenario(saved(tmp_path, value))


def test_an_unknown_name_lists_the_shipped_ones() -> None:
    with pytest.raises(InputError, match="'prepared'; shipped: address-change, prepared-statements, quarterly-report"):
        run_scenario("prepared")


@pytest.mark.parametrize("content", ["name = ", "\x00"])
def test_a_file_that_is_no_toml(tmp_path: Path, content: str) -> None:
    path = tmp_path / "broken.toml"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=r"broken\.toml' cannot be read"):
        load_scenario(path)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        load_scenario(tmp_path / "none.toml")


@pytest.mark.parametrize("kind", ["log", "listing", "source", "tests", "grep", "table"])
def test_outputs_are_the_same_every_time(kind: Any) -> None:
    wanted = Generate(kind=kind, lines=30, subject="orders", seed=3)
    assert generate(wanted) == generate(wanted) != generate(wanted.model_copy(update={"seed": 4}))
    assert len(generate(wanted).splitlines()) >= 30


def test_a_generated_module_is_python() -> None:
    module = ast.parse(generate(Generate(kind="source", lines=61, subject="users")))
    assert sum(isinstance(node, ast.FunctionDef) for node in module.body) >= 7


def test_outputs_do_not_change_between_versions() -> None:
    hit = "shop/db/orders.py:176:    find(total_cents_of_orders, 60)"
    assert generate(Generate(kind="grep", lines=1, subject="find")) == hit
