"""What callers give, checked and brought into the form it is stored in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from contextmgr import jsontext
from contextmgr.errors import InputError
from contextmgr.forms import as_sent
from contextmgr.turns import Block, check_result, to_block, to_blocks


def result_block(block: Block) -> Block:
    """A tool result with its content as plain blocks.  Raises `TurnError` for one that cannot be stored."""
    content = block.get("content")
    if content is not None and not isinstance(content, str):
        block = {**block, "content": [to_block(b) for b in content]}
    check_result(block)
    return block


def stored_message(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """A message with its results in the form they are stored and compared in."""
    content = message.get("content") if isinstance(message, Mapping) else None
    if content is None or isinstance(content, str):
        return message
    blocks = [as_sent(b) if b["type"] == "tool_result" else b for b in to_blocks(content)]
    return {**message, "content": blocks}


def has_calls(blocks: Sequence[Block]) -> bool:
    """Whether any of the blocks is a tool call."""
    return any(b["type"] == "tool_use" for b in blocks)


def checked_key(key: str | None) -> str | None:
    """The idempotency key, if it is one.  Raises `InputError`."""
    if key is not None and (not isinstance(key, str) or not key.strip() or not jsontext.is_sendable(key)):
        raise InputError(f"key must be a plain, non-blank string, not {key!r}; leave it out for none")
    return key


def checked_metadata(metadata: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """The metadata, if it is JSON.  Raises `InputError`."""
    if metadata is None:
        return None
    try:
        jsontext.dumps(dict(metadata))
    except (TypeError, ValueError) as error:
        raise InputError(f"metadata must be JSON: {error}") from error
    return metadata
