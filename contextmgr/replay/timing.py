"""When things happened: recorded times made whole and never going back."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from contextmgr.transcripts import Event

START = datetime(2026, 1, 1, tzinfo=UTC)
STEP = timedelta(seconds=5)


def moments(events: Iterable[Event]) -> list[datetime]:
    """One time per event: the recorded one, or 5 seconds after the one before where none was recorded.

    A time earlier than one before it becomes equal to that, so gaps are never negative.  A recording without any
    time starts at `START`.
    """
    recorded = [e.at for e in events]
    now = next((at for at in recorded if at is not None), START) - STEP
    found = []
    for at in recorded:
        now = max(now, at) if at is not None else now + STEP
        found.append(now)
    return found


class Clock:
    """A clock that stands where it was set."""

    def __init__(self, now: datetime = START) -> None:
        self.now = now

    def __call__(self) -> datetime:
        """The time it was set to."""
        return self.now
