"""JSON Schema, the part of it that our prompts use: what a model was asked for is checked again when it arrives."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from contextmgr.errors import InputError

_KEYWORDS = frozenset(
    {"type", "properties", "required", "additionalProperties", "items", "enum", "description", "title"}
)
_IS: dict[str, Callable[[object], bool]] = {
    "object": lambda v: isinstance(v, Mapping),
    "array": lambda v: isinstance(v, (list, tuple)),
    "string": lambda v: isinstance(v, str),
    "boolean": lambda v: isinstance(v, bool),
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
    "null": lambda v: v is None,
}


def check_schema(schema: Mapping[str, Any], where: str = "schema") -> None:
    """Raise `InputError` for a schema with anything in it that `faults` would not check.

    Known are type (one name), properties, required, additionalProperties (true or false), items and enum.
    """
    strange = sorted(schema.keys() - _KEYWORDS)
    if strange:
        raise InputError(f"{where} has {', '.join(strange)}, which is not checked; use {', '.join(sorted(_KEYWORDS))}")
    kind = schema.get("type")
    if not (kind is None and "enum" in schema) and not (isinstance(kind, str) and kind in _IS):
        raise InputError(f"{where}.type = {kind!r} is not one of {', '.join(_IS)}")
    if not isinstance(schema.get("additionalProperties", True), bool):
        raise InputError(f"{where}.additionalProperties must be true or false")
    for name, inner in schema.get("properties", {}).items():
        check_schema(inner, f"{where}.{name}")
    if "items" in schema:
        check_schema(schema["items"], f"{where}[]")


def faults(value: object, schema: Mapping[str, Any], where: str = "answer") -> Iterator[str]:
    """Where and how ``value`` differs from a schema that `check_schema` accepts; nothing when it fits."""
    kind = schema.get("type")
    if kind is not None and not _IS[kind](value):
        yield f"{where} is {type(value).__name__}, not {kind}"
        return
    if "enum" in schema and not any(type(value) is type(v) and value == v for v in schema["enum"]):
        yield f"{where} is {str(value)[:40]!r}, not one of {', '.join(map(str, schema['enum']))}"
    if isinstance(value, Mapping):
        yield from _object_faults(value, schema, where)
    elif isinstance(value, (list, tuple)) and "items" in schema:
        for i, inner in enumerate(value):
            yield from faults(inner, schema["items"], f"{where}[{i}]")


def _object_faults(value: Mapping[str, Any], schema: Mapping[str, Any], where: str) -> Iterator[str]:
    properties = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{where}.{name} is missing"
    for name, inner in value.items():
        if name in properties:
            yield from faults(inner, properties[name], f"{where}.{name}")
        elif schema.get("additionalProperties") is False:
            yield f"{where} has {str(name)[:40]!r}, which was not asked for"
