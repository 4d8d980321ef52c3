"""What is newer comes first among results that are about equally good.

Law: it only re-orders near-ties: a result whose score is more than ``1 + NEAR`` times another's stays before it,
however old it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TypeVar

NEAR = 0.1
"""Most that freshness adds to a score, as a share of it."""
HALF_LIFE = 30.0
"""Days after which half of it is left, counted from the newest of the results: no clock is read."""

Item = TypeVar("Item")


def fresh_first(items: Sequence[tuple[float, datetime | None, Item]]) -> list[Item]:
    """Items with score and time, best first; undated ones get nothing for freshness."""
    newest = max((at for _, at, _ in items if at is not None), default=None)
    worth = [(score * (1 + NEAR * _share(at, newest)), place) for place, (score, at, _) in enumerate(items)]
    return [items[place][2] for _, place in sorted(worth, key=lambda w: (-w[0], w[1]))]


def _share(at: datetime | None, newest: datetime | None) -> float:
    if at is None or newest is None:
        return 0.0
    days = (newest - at).total_seconds() / 86_400
    return float(0.5 ** (days / HALF_LIFE))
