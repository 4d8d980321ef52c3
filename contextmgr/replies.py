"""From the SDK's ``Message``, or the same as a dict, to what is stored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contextmgr.errors import TurnError
from contextmgr.recording import Reply
from contextmgr.turns import Usage, to_blocks


def to_reply(message: object) -> Reply:
    """Read an assistant message.  Raises `TurnError` for anything else."""
    dump = getattr(message, "to_dict", None)
    raw = dump(mode="json") if callable(dump) else message
    if not isinstance(raw, Mapping) or "content" not in raw:
        raise TurnError(f"add_reply() takes the SDK's Message or the same as a dict, not {type(message).__name__}")
    if raw.get("role", "assistant") != "assistant":
        raise TurnError(f"add_reply() takes an assistant message, not one of role {raw.get('role')!r}")
    return Reply(
        blocks=to_blocks(raw["content"]),
        stop_reason=_text(raw, "stop_reason"),
        model=_text(raw, "model"),
        usage=_usage(raw.get("usage")),
    )


def _text(raw: Mapping[str, Any], name: str) -> str | None:
    value = raw.get(name)
    if value is not None and not isinstance(value, str):
        raise TurnError(f"{name} must be a string or None, not {value!r}")
    return value


def _usage(raw: object) -> Usage | None:
    if not isinstance(raw, Mapping):
        return None
    fresh = raw.get("input_tokens")
    if not isinstance(fresh, int):
        return None
    return Usage(
        input_tokens=fresh,
        cache_read_tokens=_tokens(raw, "cache_read_input_tokens"),
        cache_write_tokens=_tokens(raw, "cache_creation_input_tokens"),
        output_tokens=_tokens(raw, "output_tokens"),
    )


def _tokens(raw: Mapping[str, Any], name: str) -> int:
    value = raw.get(name)
    return value if isinstance(value, int) else 0
