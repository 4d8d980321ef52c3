"""The model table: lookup by any spelling of an id, conservative unknowns, users' files."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

import pytest

from contextmgr.errors import ModelTableError
from contextmgr.models import ModelEntry, ModelTable, UnknownModelWarning, model_entry

TABLE = ModelTable.shipped()
ENTRIES = list(TABLE.entries.values())


def load(tmp_path: Path, text: str) -> ModelTable:
    path = tmp_path / "models.toml"
    path.write_text(text)
    return ModelTable.load(path)


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("claude-opus-5-5", "claude-opus-5-5"),
        ("claude-opus-4-5-20251101", "claude-opus-4-5"),
        ("claude-opus-4-20250514", "claude-opus-4"),
        ("claude-sonnet-4-0", "claude-sonnet-4"),
        ("anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"),
        ("us.anthropic.claude-haiku-4-5-20251001-v1:0", "claude-haiku-4-5"),
        ("claude-haiku-4-5@20251001", "claude-haiku-4-5"),
        ("anthropic/claude-opus-4.5", "claude-opus-4-5"),
        ("arn:aws:bedrock:us-east-1:1:inference-profile/global.anthropic.claude-opus-4-6-v1", "claude-opus-4-6"),
        ("claude-sonnet-5-5[1m]", "claude-sonnet-5-5"),
        ("claude-sonnet-5-latest", "claude-sonnet-5"),
    ],
)
def test_any_spelling_of_an_id_finds_its_entry(name: str, known: str) -> None:
    assert model_entry(name) is TABLE.entries[known]


@pytest.mark.parametrize("name", ["claude-opus-5-6", "claude-fable-5-3", "claude-opus-51", "not-claude-opus-5", ""])
def test_a_version_not_listed_never_inherits_from_its_sibling(name: str) -> None:
    assert TABLE.find(name) is None


def test_an_unknown_model_warns_once_and_keeps_its_name() -> None:
    with pytest.warns(UnknownModelWarning, match="claude-novel-9"):
        entry = model_entry("claude-novel-9")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = model_entry("claude-novel-9")
    assert entry == again
    assert (entry.name, entry.known) == ("claude-novel-9", False)


def test_the_unknown_entry_errs_on_the_safe_side() -> None:
    unknown = TABLE.unknown
    assert unknown.window == min(e.window for e in ENTRIES)
    assert unknown.max_output == min(e.max_output for e in ENTRIES)
    assert unknown.cache_minimum == max(e.cache_minimum for e in ENTRIES)
    for price in ("input_price", "output_price", "write_5m_price", "write_1h_price", "read_price"):
        assert getattr(unknown, price) == max(getattr(e, price) for e in ENTRIES)
    assert (unknown.binds_thinking, unknown.family, unknown.system_messages) == (True, "v4", "no")


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda e: e.name)
def test_cache_prices_are_the_published_multiples(entry: ModelEntry) -> None:
    for prices in (entry, entry.long_prompt or entry):
        assert prices.write_5m_price == pytest.approx(1.25 * prices.input_price)
        assert prices.write_1h_price == pytest.approx(2 * prices.input_price)
        assert round(prices.read_price / prices.input_price, 4) in (0.025, 0.05, 0.1)


def test_thinking_is_bound_or_may_go_back_but_not_both() -> None:
    assert not [e.name for e in ENTRIES if e.binds_thinking and e.thinking_in_tool_round]
    bound = {e.name for e in ENTRIES if e.binds_thinking}
    assert {"claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5", "claude-fable-5-1"} < bound
    assert bound.isdisjoint({"claude-opus-5", "claude-sonnet-5", "claude-fable-5", "claude-sonnet-4-5"})


@pytest.mark.parametrize(("name", "family"), [("claude-opus-4-6", "v3"), ("claude-opus-4-7", "v4")])
def test_the_tokenizer_changed_with_opus_4_7(name: str, family: str) -> None:
    assert model_entry(name).family == family


def test_the_long_prompt_price_is_for_the_whole_request() -> None:
    haiku = model_entry("claude-haiku-5-5")
    assert haiku.prices(100_000).input_price == 0.1
    assert haiku.prices(100_001).input_price == 0.5


def test_safety_is_one_percent_of_the_window_rounded_up() -> None:
    assert model_entry("claude-haiku-4-5").safety == 2_000
    assert replace(model_entry("claude-haiku-4-5"), window=64_001).safety == 641


def test_a_file_overrides_single_fields(tmp_path: Path) -> None:
    table = load(tmp_path, "as_of = 2027-01-02\n[models.claude-opus-5-5]\nread_price = 0.1\n")
    entry, shipped = model_entry("claude-opus-5-5", table), TABLE.entries["claude-opus-5-5"]
    assert entry == replace(shipped, read_price=0.1, as_of=entry.as_of)
    assert (entry.as_of.year, shipped.read_price) == (2027, 0.2)
    assert table.entries["claude-opus-5"] is TABLE.entries["claude-opus-5"]


def test_a_file_adds_a_model_like_another(tmp_path: Path) -> None:
    table = load(tmp_path, '[models."my-proxy/fast"]\nlike = "claude-haiku-5-5"\nwindow = 300_000\n')
    entry = model_entry("my-proxy/fast", table)
    assert (entry.window, entry.known, entry.long_prompt is not None) == (300_000, True, True)


def test_a_file_overrides_what_is_assumed_of_unknown_models(tmp_path: Path) -> None:
    table = load(tmp_path, "[unknown]\nwindow = 32_000\n")
    with pytest.warns(UnknownModelWarning, match="32000"):
        assert model_entry("claude-novel-32k", table).window == 32_000


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[models.x]\nlike = 'claude-opus-9'", r"models\.x\.like = 'claude-opus-9'"),
        ("[models.x]\nwindow = 5", r"models\.x lacks .*input_price"),
        ("[models.claude-opus-5]\nwindows = 5", r"models\.claude-opus-5: unknown key 'windows' = 5"),
        ("[models.claude-opus-5]\nwindow = 0", r"window = 0 of model 'claude-opus-5' must be a whole number"),
        ("[models.claude-opus-5]\nmax_output = 2_000_000", r"max_output = 2000000 .* within 1000000"),
        ("[models.claude-opus-5]\nread_price = nan", r"read_price = nan .* dollars per million"),
        ("[models.claude-opus-5]\nbinds_thinking = 1", r"binds_thinking = 1 .* true or false"),
        ("[models.claude-opus-5]\nfamily = 'v9'", r"family = 'v9' .* one of v3, v4"),
        ("[models.claude-opus-5]\nas_of = 'May'", r"as_of = 'May' .* a date"),
        ("[models.claude-opus-5]\nlong_prompt = 5", r"long_prompt = 5 is not a table"),
        ("[models.claude-opus-5.long_prompt]\nabove = 5", r"long_prompt lacks input_price"),
        ("[models.claude-haiku-5-5]\nname = 'x'", r"unknown key 'name'"),
        ("models = 5", r"models = 5 is not a table"),
        ("[models]\nclaude-opus-5 = 5", r"models\.claude-opus-5 = 5 is not a table"),
        ("model = 5", r"unknown key 'model' = 5"),
        ("[unknown", r"cannot be read"),
    ],
)
def test_a_bad_file_is_refused_by_key_and_value(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(ModelTableError, match=says) as caught:
        load(tmp_path, text)
    assert "models.toml" in str(caught.value)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelTableError, match=r"none\.toml"):
        ModelTable.load(tmp_path / "none.toml")
