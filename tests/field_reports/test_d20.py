"""D20: token counting dies on text that holds special tokens."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from contextmgr.counters import FallbackCounter, TokenCounter, default_counter
from contextmgr.tokens import block_features, head_features
from tests.field_reports.talk import ask, opened, results_in, step, texts_in, tool

MARKERS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|fim_prefix|>", "<|fim_suffix|>", "<|endofprompt|>")


@pytest.fixture(params=[default_counter, FallbackCounter])
def counter(request: pytest.FixtureRequest) -> TokenCounter:
    made: TokenCounter = request.param()
    return made


@pytest.mark.parametrize("marker", MARKERS)
def test_a_marker_is_more_than_one_token_of_plain_text(counter: TokenCounter, marker: str) -> None:
    assert counter.count(marker) > 1
    assert counter.count(f"why does `{marker}` end my stream?") > counter.count("why does `` end my stream?") + 1


@pytest.mark.parametrize("marker", MARKERS)
def test_markers_are_weighed_wherever_they_stand(counter: TokenCounter, marker: str) -> None:
    result = {"type": "tool_result", "tool_use_id": "t1", "content": f"{marker}system\nYou are"}
    call = {"type": "tool_use", "id": "t1", "name": "run", "input": {marker: marker}}
    tool = {"name": "run", "description": marker, "input_schema": {"type": "object"}}
    assert sum(block_features(result, counter.count)[:4]) > 1
    assert sum(block_features(call, counter.count)[:4]) > 2
    assert sum(head_features(marker, [tool], counter.count)[:4]) > 2


# What follows drives a whole conversation.  The same markers in a query come with retrieval.


@pytest.mark.parametrize("marker", MARKERS)
@pytest.mark.parametrize("made", [default_counter, FallbackCounter])
def test_d20_markers_everywhere_are_counted_stored_and_sent_as_they_are(
    tmp_path: Path, marker: str, made: Callable[[], TokenCounter]
) -> None:
    said, output = f"why does `{marker}` end my stream?", f"{marker}system\nYou are {marker * 40}"
    tools = [{**tool("read_log"), "description": f"Reads up to {marker}."}]
    with opened(tmp_path / "a.db", counter=made()) as chat:
        chat.add_user(said, pin=True)
        chat.set_task("brief", f"Escape {marker} first.")
        step(chat, "tu_1", output, what=marker)
        request = ask(chat, system=f"Never print {marker}.", tools=tools)
        body = json.dumps(request.params, ensure_ascii=False)
        assert body.count(marker) == 46
        assert said in texts_in(request)
        assert results_in(request)["tu_1"]["content"] == output
        assert chat.history.turn(2).results[0].body["content"] == output
        assert request.report.tokens > 46


def test_d20_a_text_of_nothing_but_markers_is_cut_like_any_other(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db") as chat:
        chat.add_user("Read it.")
        step(chat, "tu_1", "".join(MARKERS) * 3_000)
        assert "left out here" in results_in(ask(chat))["tu_1"]["content"]
