"""Opt-in: the real model is asked for the DAL at exchange 18, and its SQL is checked.  Costs a few cents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anthropic
import pytest

from contextmgr.scenario import load_scenario
from contextmgr.scenario.playing import Player, Step
from tests.loopback import ANSWER, model_server
from tests.scenarios.sql_check import injections, python_in

ROUNDS = 6
NO_TOOL = "This tool is not available now. Write the complete code in your answer, as one Python block."


def at_exchange_18() -> Step:
    """The scenario played up to the request for the DAL, with room for a long answer."""
    scenario = load_scenario("prepared-statements").model_copy(update={"max_tokens": 8_192})
    return next(step for step in Player(scenario).steps() if step.exchange == 18)


def ask(client: anthropic.Anthropic, params: Any) -> list[dict[str, Any]]:
    """The blocks of every answer until the model calls no more tools; files it writes count as written."""
    said: list[dict[str, Any]] = []
    messages = list(params["messages"])
    for _ in range(ROUNDS):
        reply = client.messages.create(**{**params, "messages": messages})
        blocks = [block.to_dict() for block in reply.content]
        said += blocks
        calls = [b for b in blocks if b["type"] == "tool_use"]
        if not calls:
            break
        results = [{"type": "tool_result", "tool_use_id": c["id"], "content": _result(c)} for c in calls]
        messages += [{"role": "assistant", "content": blocks}, {"role": "user", "content": results}]
    return said


def _result(call: dict[str, Any]) -> str:
    return f"written: {call['input'].get('path')}" if call["name"] == "write_file" else NO_TOOL


@pytest.mark.live
def test_the_model_keeps_the_rule(tmp_path: Path) -> None:
    step = at_exchange_18()
    codes = python_in(ask(anthropic.Anthropic(), step.request.params))
    assert any("execute" in code for code in codes), "the model wrote no data access at all"
    assert injections(codes, tmp_path) == []


def test_the_run_itself_works_without_the_model() -> None:
    with model_server() as (url, bodies):
        said = ask(anthropic.Anthropic(base_url=url, api_key="none"), at_exchange_18().request.params)
    assert said[-1] == {"type": "text", "text": ANSWER}  # a tool that evidence names may be called first
    texts = [b["text"] for m in bodies[0]["messages"] for b in m["content"] if b["type"] == "text"]
    assert texts.count("All database calls must use prepared statements. This is non-negotiable.") == 1
