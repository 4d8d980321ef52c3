"""Rules on cache marks (``cache_control``), read in the order the API caches in: tools, system, messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from contextmgr.validity.findings import Finding
from contextmgr.validity.shape import Block, Message, is_blank

MAX_MARKS: Final = 4
_LIFETIMES: Final = {"5m": 300, "1h": 3_600}  # seconds
_NEVER_MARKED: Final = frozenset({"thinking", "redacted_thinking"})


def check(params: Mapping[str, Any], messages: Sequence[Message], found: list[Finding]) -> None:
    """V19-V21: append what is wrong with the marks of a request to ``found``."""
    marked = list(_marked(params, messages))
    if len(marked) > MAX_MARKS:
        found.append(Finding("V19", marked[MAX_MARKS][0], f"{len(marked)} cache marks; {MAX_MARKS} are allowed"))
    shortest = max(_LIFETIMES.values())
    for where, holder, inside in marked:
        fault = _fault(holder, inside)
        if fault:
            found.append(Finding("V20", where, fault))
            continue
        lifetime = _LIFETIMES[holder["cache_control"].get("ttl", "5m")]
        if lifetime > shortest:
            found.append(Finding("V21", where, f"a mark for {lifetime} s after one for {shortest} s"))
        shortest = min(shortest, lifetime)


def _marked(params: Mapping[str, Any], messages: Sequence[Message]) -> Iterator[tuple[str, Block, bool]]:
    """Every holder of a mark: where it is, itself, and whether it stands inside another block."""
    for key in ("tools", "system"):
        items = params.get(key)
        for i, item in enumerate(items if isinstance(items, (list, tuple)) else ()):
            if isinstance(item, Mapping) and item.get("cache_control") is not None:
                yield f"{key}[{i}]", item, False
    for i, message in enumerate(messages):
        for j, block in enumerate(message.content):
            if block.get("cache_control") is not None:
                yield f"messages[{i}].content[{j}]", block, False
            if "content" in block or "source" in block:
                for k, part in _parts(block):
                    if part.get("cache_control") is not None:
                        yield f"messages[{i}].content[{j}].content[{k}]", part, True
    if params.get("cache_control") is not None:
        yield "cache_control", params, False


def _parts(block: Block) -> Iterator[tuple[int, Block]]:
    """The blocks inside a result or document, however deep; the number is that of the outermost part."""
    stack = list(enumerate(_inner(block)))
    while stack:
        k, part = stack.pop()
        if isinstance(part, Mapping):
            yield k, part
            stack.extend((k, inner) for inner in _inner(part))


def _inner(block: Block) -> Iterator[Any]:
    source = block.get("source")
    for parts in (block.get("content"), source.get("content") if isinstance(source, Mapping) else None):
        if isinstance(parts, (list, tuple)):
            yield from parts


def _fault(holder: Block, inside: bool) -> str:
    mark = holder["cache_control"]
    if not isinstance(mark, Mapping) or mark.get("type") != "ephemeral":
        return f"{mark!r} is not a mark of type 'ephemeral'"
    if not _is_lifetime(mark.get("ttl", "5m")):
        return f"the lifetime {mark.get('ttl')!r} is not one of {list(_LIFETIMES)}"
    if inside:
        return "a block inside another cannot be marked; mark the outer one"
    if holder.get("type") in _NEVER_MARKED:
        return "thinking cannot be marked"
    if holder.get("type") == "text" and (not isinstance(holder.get("text"), str) or is_blank(holder["text"])):
        return "an empty text cannot be marked"
    if holder.get("defer_loading") is True:
        return "a deferred tool cannot be marked"
    return ""


def _is_lifetime(value: object) -> bool:
    return isinstance(value, str) and value in _LIFETIMES
