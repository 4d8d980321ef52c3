"""Times and spans as whole microseconds, which every store keeps exactly."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_START = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def to_micros(at: datetime | None) -> int:
    """Microseconds since 1970, UTC; 0 for None."""
    return 0 if at is None else (at - _START) // _MICROSECOND


def from_micros(value: int) -> datetime:
    """The aware UTC time that `to_micros` wrote."""
    return _START + timedelta(0, 0, value)


def span_micros(span: timedelta) -> int:
    """A span in microseconds."""
    return span // _MICROSECOND
