"""Rules on the request as bytes: it can be written as JSON, its strings sent as they are, and it is not too large."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, Final

from contextmgr.validity.findings import Finding

MAX_BODY_BYTES: Final = 32_000_000
_MAX_ESCAPED = 6  # bytes JSON needs for one character at the most: \u001f
_FAST_DEPTH = 64
_FAST_NODES = 1_000_000
_FAST_INT = 2**63

_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def check(params: Mapping[str, Any], found: list[Finding]) -> None:
    """V25-V27: append what keeps the request from being sent as bytes to ``found``."""
    body = dict(params)
    if _plainly_fine(body):
        return
    try:
        text = _encode(body)
    except (TypeError, ValueError, RecursionError) as error:
        found.append(Finding("V26", "params", f"it cannot be written as JSON: {type(error).__name__}: {error}"[:300]))
        return
    for where, fault in _unsendable(body):
        found.append(Finding("V25", where, fault))
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > MAX_BODY_BYTES:
        found.append(Finding("V27", "params", f"{size:,} bytes as JSON; {MAX_BODY_BYTES:,} are allowed"))


def _plainly_fine(body: dict[str, Any]) -> bool:
    """Whether one look at every value shows that nothing is wrong: several times quicker than writing the JSON."""
    level: list[Any] = [body]
    size = nodes = 0
    for _ in range(_FAST_DEPTH):
        deeper: list[Any] = []
        for value in level:
            kind = type(value)
            if kind is str:
                if not _is_sendable(value):
                    return False
                size += len(value)
            elif kind is dict:
                try:
                    keys = "".join(value)
                except TypeError:
                    return False
                if not _is_sendable(keys):
                    return False
                size += len(keys)
                deeper.extend(value.values())
            elif kind is list or kind is tuple:
                deeper.extend(value)
            elif not (value is None or kind is bool or _is_plain_number(value)):
                return False
        nodes += len(level)
        if nodes > _FAST_NODES:
            return False
        if not deeper:
            return _MAX_ESCAPED * size + 32 * nodes < MAX_BODY_BYTES
        level = deeper
    return False


def _is_plain_number(value: object) -> bool:
    if type(value) is int:
        return abs(value) < _FAST_INT
    return type(value) is float and math.isfinite(value)


def _is_sendable(text: str) -> bool:
    if "\x00" in text:
        return False
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _unsendable(body: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Where each string is that cannot be sent, and why; keys count as strings of their object."""
    stack: list[tuple[str, Any]] = [("", body)]
    while stack:
        where, value = stack.pop()
        if isinstance(value, str):
            if not _is_sendable(value):
                yield where or "params", "it holds a NUL" if "\x00" in value else "it holds a lone surrogate"
        elif isinstance(value, dict):
            prefix = f"{where}." if where else ""
            keys = ((f"{prefix}{k!a}"[:200], k) for k in value if isinstance(k, str) and not _is_sendable(k))
            stack.extend(chain(((f"{prefix}{k}", v) for k, v in value.items()), keys))
        elif isinstance(value, (list, tuple)):
            stack.extend((f"{where}[{i}]", v) for i, v in enumerate(value))
