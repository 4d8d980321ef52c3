"""Reading values of unknown shape: each function returns what it was asked for, or the stated nothing; none raises."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from contextmgr.turns import Usage

_MILLISECONDS_FROM = 1e11


def mapping(value: object) -> Mapping[str, Any]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def items(value: object) -> list[Any]:
    """The value if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def text(value: object) -> str | None:
    """The value if it is a string that is not empty, else None."""
    return value if isinstance(value, str) and value else None


def count(value: object) -> int:
    """The value if it is a whole number above 0, else 0."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def when(value: object) -> datetime | None:
    """A time in UTC from ISO 8601 text (UTC when it names no zone) or from seconds or milliseconds since 1970."""
    try:
        if isinstance(value, str):
            read = datetime.fromisoformat(value)
            return read.replace(tzinfo=UTC) if read.tzinfo is None else read.astimezone(UTC)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value):
            return datetime.fromtimestamp(value / 1000 if value >= _MILLISECONDS_FROM else value, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None


def usage(*, uncached: object, cache_read: object, cache_write: object, output: object) -> Usage | None:
    """Recorded usage in tokens; None when it says that nothing was read."""
    value = Usage(
        input_tokens=count(uncached),
        cache_read_tokens=count(cache_read),
        cache_write_tokens=count(cache_write),
        output_tokens=count(output),
    )
    return value if value.true_input else None


def anthropic_usage(value: object) -> Usage | None:
    """Usage as the Messages API reports it."""
    found = mapping(value)
    return usage(
        uncached=found.get("input_tokens"),
        cache_read=found.get("cache_read_input_tokens"),
        cache_write=found.get("cache_creation_input_tokens"),
        output=found.get("output_tokens"),
    )
