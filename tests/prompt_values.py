"""Values that render each shipped prompt; the packaging test renders an installed copy with them too."""

from __future__ import annotations

from typing import Any

_TURNS = [
    {"turn": 3, "role": "user", "text": "Use prepared statements everywhere."},
    {"turn": 4, "role": "assistant", "text": "I will."},
]

VALUES: dict[str, dict[str, Any]] = {
    "describe": {"first": 3, "last": 4, "turns": _TURNS, "before": [], "date": "17 August 2026"},
    "extract": {
        "first": 3,
        "last": 4,
        "turns": _TURNS,
        "known": [],
        "language": None,
        "boundary": "0123456789abcdef",
    },
    "standalone": {"turns": _TURNS},
    "summarise": {
        "first": 3,
        "last": 4,
        "turns": _TURNS,
        "items": [],
        "pinned": [3],
        "language": "English",
        "max_items": 8,
        "max_tokens": 1000,
        "boundary": "0123456789abcdef",
    },
}
