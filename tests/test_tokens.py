"""Features of texts and blocks."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextmgr import media
from contextmgr.counters import default_counter
from contextmgr.features import ZERO, Features
from contextmgr.tokens import (
    MAX_SEALED_TOKENS,
    block_features,
    blocks_features,
    head_features,
    message_frame,
    text_features,
)

PROSE = "The quick brown fox jumps over the lazy dog and runs away from the angry farmer. " * 20
CODE = "def parseUserRecord(raw_text: str) -> UserRecord:\n    return UserRecord.fromDict(json.loads(raw_text))\n" * 20


def count(text: str) -> int:
    return default_counter().count(text)


def weigh(block: dict[str, Any]) -> Features:
    return block_features(block, count)


def classes(features: Features) -> int:
    return sum(features[:4])


@given(st.text())
def test_the_classes_share_out_the_count(text: str) -> None:
    features = text_features(text, count)
    assert classes(features) == count(text)
    assert min(features) >= 0


@given(st.text(st.characters(codec=None), max_size=50))
def test_any_string_has_features(text: str) -> None:
    assert classes(text_features(text, count)) == count(text)


def test_nothing_weighs_nothing() -> None:
    assert text_features("", count) == blocks_features([], count) == ZERO


def test_identifiers_make_code_and_words_make_prose() -> None:
    words, names = text_features(PROSE, count), text_features(CODE, count)
    assert names.code / classes(names) > 3 * words.code / classes(words)
    assert words.prose > words.code


def test_other_scripts_are_nonlatin() -> None:
    chinese = text_features("所有数据库调用都必须使用预处理语句。" * 20, count)
    assert chinese.nonlatin == classes(chinese)
    assert text_features("Grüße, café, naïve", count).nonlatin == 0


@pytest.mark.parametrize(("run", "tokens"), [("a" * 300, 300), ("~" * 300, 150), ("-" * 300, 25), (" " * 320, 20)])
def test_long_runs_get_an_allowance(run: str, tokens: int) -> None:
    assert text_features("x\n" + run + "\ny", count).runs == tokens


def test_indentation_numbers_and_short_runs_get_none() -> None:
    assert text_features("if x:\n" + " " * 40 + "pass\n" + "0" * 300 + "\n" * 90 + "-" * 7, count).runs == 0


def test_a_call_counts_name_keys_and_values() -> None:
    empty = {"type": "tool_use", "id": "t1", "name": "read", "input": {}}
    called = {**empty, "input": {"path": CODE, "lines": [1, 2, 3]}}
    assert classes(weigh(called)) > classes(weigh(empty)) + count(CODE)
    assert weigh(called).fixed > weigh(empty).fixed


def test_a_result_counts_everything_in_it() -> None:
    picture = {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": PROSE}, picture]}
    assert classes(weigh(result)) == count(PROSE)
    assert weigh(result).fixed > media.URL_IMAGE_TOKENS


@pytest.mark.parametrize("content", [None, [], "", 7, [None, "plain"], {"type": "text", "text": "alone"}])
def test_odd_results_have_a_weight(content: object) -> None:
    assert weigh({"type": "tool_result", "tool_use_id": "t1", "content": content}).fixed > 0


def test_string_and_blocks_weigh_the_same() -> None:
    string = weigh({"type": "tool_result", "tool_use_id": "t1", "content": PROSE})
    blocks = weigh({"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": PROSE}]})
    assert string[:5] == blocks[:5]


def test_thinking_counts_its_text_and_not_its_signature() -> None:
    short = weigh({"type": "thinking", "thinking": PROSE, "signature": "c2ln"})
    assert short == weigh({"type": "thinking", "thinking": PROSE, "signature": "c2ln" * 1000})
    assert classes(short) == count(PROSE)


def test_withheld_thinking_counts_by_what_is_sealed() -> None:
    sealed = "c2ln" * 1000
    assert weigh({"type": "thinking", "thinking": "", "signature": sealed}).fixed > 1000
    assert weigh({"type": "redacted_thinking", "data": sealed}).fixed > 1000


def test_a_document_counts_by_its_kind() -> None:
    plain = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": PROSE}, "title": "a"}
    parts = {"type": "document", "source": {"type": "content", "content": [{"type": "text", "text": PROSE}]}}
    pdf = {"type": "document", "source": {"type": "base64", "data": "JVBERg=="}}
    file = {"type": "document", "source": {"type": "file", "file_id": "file_1"}}
    assert classes(weigh(plain)) > classes(weigh(parts)) == count(PROSE)
    assert classes(weigh(pdf)) == 0
    assert weigh(pdf).fixed >= media.PAGE_TOKENS
    assert weigh(file).fixed >= media.URL_DOCUMENT_TOKENS


def test_a_search_result_counts_source_title_and_content() -> None:
    content = [{"type": "text", "text": PROSE}]
    found = {"type": "search_result", "source": "https://example.com", "title": "A title", "content": content}
    assert classes(weigh(found)) > count(PROSE)


def test_sealed_search_results_have_no_cap() -> None:
    hit = {"type": "web_search_result", "title": "x", "encrypted_content": "QUJD" * 20_000}
    assert weigh({"type": "web_search_tool_result", "content": [hit]}).fixed > 20_000


def test_an_unknown_block_counts_its_json() -> None:
    assert weigh({"type": "from_the_future", "note": "n" * 200}).fixed >= 100


def test_base64_in_an_unknown_block_is_capped() -> None:
    data = random.Random(1).randbytes(400_000).hex()
    assert weigh({"type": "from_the_future", "data": data}).fixed < MAX_SEALED_TOKENS + 100


def test_cache_marks_weigh_nothing() -> None:
    block = {"type": "from_the_future", "note": "hello"}
    assert weigh(block) == weigh({**block, "cache_control": {"type": "ephemeral"}})


@given(st.dictionaries(st.sampled_from(["type", "text", "input", "source", "content", "data", "name"]), st.text()))
def test_any_block_has_a_weight(block: dict[str, Any]) -> None:
    assert min(weigh(block)) >= 0


def test_a_head_counts_system_and_tools() -> None:
    tool = {"name": "read", "description": PROSE, "input_schema": {"type": "object", "properties": {}}}
    bare, alone = head_features(None, [], count), head_features("Be brief.", [], count)
    equipped = head_features([{"type": "text", "text": "Be brief."}], [tool], count)
    assert bare == ZERO
    assert classes(alone) == count("Be brief.")
    assert classes(equipped) > count(PROSE)
    assert equipped.fixed > 300


def test_frames_add_up() -> None:
    assert message_frame(3).fixed == 3 * message_frame(1).fixed > 0


def test_a_text_is_counted_once() -> None:
    seen: list[str] = []
    text_features(PROSE, lambda text: seen.append(text) or len(text))  # type: ignore[func-returns-value]
    assert seen == [PROSE]
