"""The authorization boundary: every store call names one `Scope`, and there is no default."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from contextmgr.errors import ScopeError

MAX_NAME_BYTES = 512
_WILDCARDS = frozenset("*%?")


class Visibility(StrEnum):
    """Who else may see a conversation: recall reads ``NORMAL`` only; ``INCOGNITO`` leaves nothing behind."""

    NORMAL = "normal"
    EXCLUDED = "excluded"
    INCOGNITO = "incognito"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Whose data a call may touch.

    ``tenant`` is always named.  ``user=None`` and ``project=None`` are values of their own that match
    only themselves; they never mean "any".  Raises `ScopeError` for a blank or wildcard name.
    """

    tenant: str
    user: str | None = None
    project: str | None = None

    def __post_init__(self) -> None:
        check_name("tenant", self.tenant)
        for field, value in (("user", self.user), ("project", self.project)):
            if value is not None:
                check_name(field, value)


def check_name(field: str, value: object) -> str:
    """Return ``value`` if it can name a tenant, user, project or conversation, else raise `ScopeError`."""
    if not isinstance(value, str):
        raise ScopeError(f"{field} must be a string, not {value!r}; name one {field}, there is no 'any'")
    if not value.strip():
        raise ScopeError(f"{field} is blank ({value!r}); name one {field}, there is no 'any'")
    if value in _WILDCARDS:
        raise ScopeError(f"{field}={value!r} is a wildcard; name one {field}, there is no 'any'")
    if "\x00" in value or any("\ud800" <= c <= "\udfff" for c in value):
        raise ScopeError(f"{field}={value!r} holds a NUL or a lone surrogate; use plain text")
    size = len(value.encode())
    if size > MAX_NAME_BYTES:
        raise ScopeError(f"{field} is {size} bytes long; the limit is {MAX_NAME_BYTES}; use a shorter id")
    return value
