"""D20: token counting dies on text that holds special tokens."""

from __future__ import annotations

import pytest

from contextmgr.counters import FallbackCounter, TokenCounter, default_counter
from contextmgr.tokens import block_features, head_features

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
