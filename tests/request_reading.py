"""Reading a request in tests: its messages, blocks and texts, apart from the product's own readers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

Block = dict[str, Any]


def messages_of(params: Mapping[str, Any]) -> list[tuple[str, list[Block]]]:
    """The messages as (role, blocks); a string is one text block."""
    pairs = []
    for message in params["messages"]:
        content = message["content"]
        pairs.append((message["role"], [{"type": "text", "text": content}] if isinstance(content, str) else content))
    return pairs


def blocks_of(params: Mapping[str, Any]) -> list[tuple[str, Block]]:
    """Every block of every message, flat, with the role it stands under."""
    return [(role, block) for role, blocks in messages_of(params) for block in blocks]


def texts_of(params: Mapping[str, Any]) -> list[str]:
    """Every text of system and messages, results and documents included, in order."""
    system = params.get("system") or []
    found = [system] if isinstance(system, str) else [block["text"] for block in system]
    for _, block in blocks_of(params):
        found += [text for _, text in inner_texts(block)]
    return found


def inner_texts(block: Any) -> list[tuple[str, Any]]:
    """(type of its holder, text) for a block and all blocks inside it."""
    if not isinstance(block, dict):
        return []
    if block.get("type") == "text":
        return [("text", block.get("text"))]
    if block.get("type") == "tool_result" and isinstance(block.get("content"), str):
        return [("tool_result", block["content"])]
    return [text for part in inner_blocks(block) for text in inner_texts(part)]


def inner_blocks(block: Block) -> list[Any]:
    """The blocks directly inside a result, search result or document."""
    if block.get("type") in ("tool_result", "search_result"):
        inside = block.get("content")
    elif block.get("type") == "document" and isinstance(block.get("source"), dict):
        inside = block["source"].get("content")
    else:
        inside = None
    return inside if isinstance(inside, list) else []


def all_blocks(messages: list[Any]) -> list[tuple[str, Block, int]]:
    """Every block at any depth, as (role of its message, block, depth); 0 is a block of the message itself."""
    found = []
    for message in messages:
        layer, depth = list(message["content"]), 0
        while layer:
            found += [(message["role"], block, depth) for block in layer]
            layer, depth = [part for block in layer for part in inner_blocks(block)], depth + 1
    return found


def without_marks(block: Mapping[str, Any]) -> Block:
    """A block without its cache mark."""
    return {key: value for key, value in block.items() if key != "cache_control"}


def same(left: Any, right: Any) -> bool:
    """Whether two values are the same JSON, byte for byte."""
    return json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)


def says_something(block: Any) -> bool:
    """Whether it is a text block with more than white space in it."""
    if not isinstance(block, dict) or block.get("type") != "text":
        return False
    return isinstance(block.get("text"), str) and block["text"].strip() != ""
