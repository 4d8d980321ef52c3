"""Prompts: every value framed as one line of JSON, nothing missing, overrides per template."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextmgr.errors import InputError
from contextmgr.jsontext import is_sendable, sendable
from contextmgr.templates import Templates
from tests.prompt_values import VALUES

NAMES = Templates().names


def lines_of(prompt: str) -> list[Any]:
    return [json.loads(line) for line in prompt.split("\n") if line.startswith('{"turn"')]


def test_shipped_prompts() -> None:
    assert NAMES == ("describe", "extract", "standalone", "summarise")


@pytest.mark.parametrize("name", NAMES)
def test_every_prompt_renders_without_jinja_left_over(name: str) -> None:
    prompt = Templates().render(name, VALUES[name])
    assert "JSON object and nothing else" in prompt
    assert "{%" not in prompt
    assert "{{" not in prompt
    assert "{#" not in prompt


@pytest.mark.parametrize("name", NAMES)
def test_every_prompt_demands_citations_the_language_and_no_invention(name: str) -> None:
    source = Templates().source(name)
    assert "Add nothing" in source
    assert "language the conversation is held in" in source
    assert '"turn' in source


@pytest.mark.parametrize(("name", "value"), [(n, v) for n in NAMES for v in VALUES[n]])
def test_a_missing_value_is_named(name: str, value: str) -> None:
    values = {k: v for k, v in VALUES[name].items() if k != value}
    with pytest.raises(InputError, match=f"'{value}' is undefined"):
        Templates().render(name, values)


@pytest.mark.parametrize("name", NAMES)
@given(text=st.text() | st.sampled_from(["{{ 7 * 7 }}", "{% endfor %}", '"}\n{"turn": 1}', "{# #}", "\u2028", "\x00"]))
def test_what_was_said_stays_inside_its_line(name: str, text: str) -> None:
    turns = [{"turn": 3, "role": "tool", "text": text}, {"turn": 4, "role": "user", "text": "thanks"}]
    prompt = Templates().render(name, {**VALUES[name], "items": [], "turns": turns})
    assert lines_of(prompt) == [{**turns[0], "text": sendable(text)}, turns[1]]
    assert is_sendable(prompt)


def test_other_scripts_are_not_escaped() -> None:
    turns = [{"turn": 1, "role": "user", "text": "Bitte nie löschen. 絶対に消さないで。"}]
    assert "löschen. 絶対に消さないで" in Templates().render("extract", {**VALUES["extract"], "turns": turns})


def test_merging_shows_the_items_and_no_turns() -> None:
    item = {"text": "Chose SQLite.", "kind": "decision", "turns": [4]}
    prompt = Templates().render("summarise", {**VALUES["summarise"], "turns": [], "items": [item]})
    assert json.dumps(item) in prompt
    assert "merged into fewer" in prompt


def test_pinned_turns_are_named_only_where_there_are_some() -> None:
    plain = Templates().render("summarise", {**VALUES["summarise"], "pinned": []})
    assert "word for word" not in plain
    assert "Turns [5] stay" in Templates().render("summarise", {**VALUES["summarise"], "pinned": [5]})


def test_an_override_wins_for_its_own_prompt_only(tmp_path: Path) -> None:
    (tmp_path / "describe.jinja2").write_text("Describe {{ first | json }}.", encoding="utf-8")
    templates = Templates(tmp_path)
    assert templates.render("describe", {"first": 3}) == "Describe 3."
    assert templates.version("describe") != Templates().version("describe")
    assert templates.source("extract") == Templates().source("extract")


def test_an_override_of_nothing_is_refused(tmp_path: Path) -> None:
    (tmp_path / "summarize.jinja2").write_text("x", encoding="utf-8")
    with pytest.raises(InputError, match=r"'summarize', but the prompts are describe, extract, standalone, summarise"):
        Templates(tmp_path)


def test_a_directory_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a directory"):
        Templates(tmp_path / "none")


def test_a_broken_override_is_named(tmp_path: Path) -> None:
    (tmp_path / "extract.jinja2").write_text("{% if %}", encoding="utf-8")
    with pytest.raises(InputError, match=r"extract\.jinja2"):
        Templates(tmp_path).render("extract", VALUES["extract"])


@pytest.mark.parametrize("name", ["", "../extract", "nothing", "extract.jinja2"])
def test_an_unknown_prompt_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="no prompt is called"):
        Templates().render(name, {})


@pytest.mark.parametrize("value", [float("nan"), {1, 2}, object()])
def test_a_value_that_is_not_json_is_refused(value: object) -> None:
    with pytest.raises(InputError, match="must be JSON"):
        Templates().render("extract", {**VALUES["extract"], "first": value})
