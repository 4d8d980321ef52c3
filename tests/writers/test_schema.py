"""The part of JSON Schema that answers are checked against, compared with values made to fit and to differ."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextmgr.errors import InputError
from contextmgr.summaries import ItemKind
from contextmgr.writers.schema import check_schema, faults
from contextmgr.writers.summary import SUMMARY_SCHEMA

ITEM = st.fixed_dictionaries(
    {"text": st.text(), "kind": st.sampled_from([str(k) for k in ItemKind]), "turns": st.lists(st.integers())}
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=9,
)


def found(value: object, schema: dict[str, Any]) -> list[str]:
    check_schema(schema)
    return list(faults(value, schema))


@given(st.lists(ITEM, max_size=5))
def test_what_fits_has_no_faults(items: list[dict[str, Any]]) -> None:
    assert found({"items": items}, SUMMARY_SCHEMA) == []


@given(ITEM, st.sampled_from(["text", "kind", "turns"]))
def test_what_is_missing_is_named(item: dict[str, Any], key: str) -> None:
    less = {k: v for k, v in item.items() if k != key}
    assert found({"items": [less]}, SUMMARY_SCHEMA) == [f"answer.items[0].{key} is missing"]


@given(JSON)
def test_any_json_can_be_checked(value: Any) -> None:
    fits = isinstance(value, dict) and value.keys() == {"items"} and value["items"] == []
    assert (found(value, SUMMARY_SCHEMA) == []) == fits


@pytest.mark.parametrize(
    ("value", "schema", "fault"),
    [
        (True, {"type": "integer"}, "answer is bool, not integer"),
        (1.0, {"type": "integer"}, "answer is float, not integer"),
        (True, {"type": "number"}, "answer is bool, not number"),
        ("x", {"type": "array"}, "answer is str, not array"),
        (None, {"type": "object"}, "answer is NoneType, not object"),
        (0, {"type": "null"}, "answer is int, not null"),
        (1, {"type": "boolean"}, "answer is int, not boolean"),
        ("c", {"enum": ["a", "b"]}, "answer is 'c', not one of a, b"),
        (True, {"enum": [1]}, "answer is 'True', not one of 1"),
        ([1, "2"], {"type": "array", "items": {"type": "integer"}}, "answer[1] is str, not integer"),
        ({"b": 1}, {"type": "object", "additionalProperties": False}, "answer has 'b', which was not asked for"),
    ],
)
def test_faults_say_where_and_what(value: object, schema: dict[str, Any], fault: str) -> None:
    assert found(value, schema) == [fault]


def test_more_than_was_asked_for_is_fine_unless_forbidden() -> None:
    assert found({"a": 1}, {"type": "object"}) == []


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "text"},
        {},
        {"type": ["string", "null"]},
        {"anyOf": [{"type": "string"}]},
        {"type": "object", "additionalProperties": {"type": "string"}},
        {"type": "object", "properties": {"a": {"type": "string", "minLength": 1}}},
        {"type": "array", "items": {"$ref": "#"}},
    ],
)
def test_what_would_not_be_checked_is_refused(schema: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="schema"):
        check_schema(schema)
