"""What a model gave a tool, checked and brought within limits.

Law: what has a wrong type, a wrong name or nothing in it is refused, with the field, the value and what would do; what
is only too much or too little is clamped, and the answer says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time
from typing import Any
from zoneinfo import ZoneInfo

from contextmgr import jsontext
from contextmgr.errors import InputError
from contextmgr.recall.caps import MAX_QUERY

_SHOWN = 80  # characters of a value that a message repeats
_LARGEST = 2**53  # what every JSON reader and every store can hold


class ArgumentError(InputError):
    """A tool was given arguments it cannot use; the model is told, the caller never sees it."""


class Arguments:
    """The arguments of one call.  ``notes`` say what was clamped."""

    def __init__(self, tool: str, given: object, fields: Sequence[str]) -> None:
        if not isinstance(given, Mapping):
            raise ArgumentError(f"the input of {tool} must be an object, not {shown(given)}")
        unknown = sorted(str(name) for name in given if name not in fields)
        if unknown:
            raise ArgumentError(f"{tool} has no field {shown(unknown[0])}; its fields are {', '.join(fields)}")
        self._given = {name: value for name, value in given.items() if value is not None}
        self.tool = tool
        self.notes: list[str] = []

    def __contains__(self, name: str) -> bool:
        return name in self._given

    def value(self, name: str) -> Any:
        """A required value of any type.  Raises `ArgumentError` where it is not there."""
        if name not in self._given:
            raise ArgumentError(f"{self.tool} needs the field {name!r}")
        return self._given[name]

    def text(self, name: str, most: int | None = None, *, blank: bool = False) -> str:
        """A required string with something in it, at most ``most`` characters long."""
        value = self.value(name)
        if not isinstance(value, str):
            raise ArgumentError(f"{name} must be a string, not {shown(value)}")
        if not blank and not value.strip():
            raise ArgumentError(f"{name} is blank ({shown(value)}); give at least one word")
        if most is not None and len(value) > most:
            raise ArgumentError(f"{name} has {len(value):,} characters; the limit is {most:,}; use fewer words")
        return value

    def query(self) -> str:
        """The words to look for."""
        return self.text("query", MAX_QUERY)

    def optional_text(self, name: str) -> str | None:
        """A string with something in it, or None where it is left out."""
        return self.text(name) if name in self._given else None

    def whole(self, name: str, *, least: int, most: int | None = None, default: int | None = None) -> int:
        """A whole number, clamped to ``least..most``; required where there is no ``default``."""
        value = self._given.get(name, default) if default is not None else self.value(name)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            limits = f"from {least} to {most}" if most is not None else f"from {least} on"
            raise ArgumentError(f"{name} must be a whole number {limits}, not {shown(value)}")
        clamped = max(least, min(value, _LARGEST if most is None else most))
        if clamped != value:
            limits = f"{least} to {most}" if most is not None else f"from {least} on"
            self.notes.append(f"{name}={shown(value)} was clamped to {clamped}; the limits are {limits}")
        return clamped

    def choice(self, name: str, choices: Sequence[str]) -> str:
        """One of ``choices``; the first where it is left out."""
        value = self._given.get(name, choices[0])
        if value not in choices:
            raise ArgumentError(f"{name} must be one of {', '.join(map(repr, choices))}, not {shown(value)}")
        return str(value)

    def moment(self, name: str, zone: ZoneInfo) -> datetime | None:
        """A time in UTC, or None where it is left out.  A date is its beginning; without an offset, ``zone`` counts."""
        if name not in self._given:
            return None
        text = self.text(name).strip()
        try:
            day = date.fromisoformat(text) if len(text) == len("YYYY-MM-DD") else None
            at = datetime.combine(day, time()) if day is not None else datetime.fromisoformat(text)
            return (at if at.tzinfo is not None else at.replace(tzinfo=zone)).astimezone(UTC)
        except (ValueError, OverflowError):
            raise ArgumentError(
                f"{name} must be a date as YYYY-MM-DD or an ISO 8601 time such as 2026-08-17T09:30, not {shown(text)}"
            ) from None


def shown(value: object) -> str:
    """A value as a message repeats it: short, and such that it can be sent."""
    try:
        text = jsontext.sendable(repr(value))
    except (ValueError, RecursionError):  # a number of thousands of digits, or lists in lists without end
        return f"a {type(value).__name__} too large to be shown"
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
