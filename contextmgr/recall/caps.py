"""How much recall may bring into a request: counts, ranges and tokens, all of them hard."""

from __future__ import annotations

from dataclasses import dataclass

from contextmgr.errors import InputError

MAX_RESULTS = 10
DEFAULT_RESULTS = 5
MAX_CHATS = 20
DEFAULT_CHATS = 5
MAX_TURNS = 20
"""Turns of one `read_turns`."""
MAX_QUERY = 1_000  # characters
MAX_TITLE = 120  # characters of a caller's title that are shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """Most tokens (cl100k) of one excerpt, of one result with all its fields, of one call's answer, and of the answers
    to all calls of one assistant turn together.  Raises `InputError` where a smaller one is larger than a larger one.
    """

    excerpt: int = 220
    result: int = 400
    call: int = 2_000
    turn: int = 6_000

    def __post_init__(self) -> None:
        if not 20 <= self.excerpt <= self.result <= self.call <= self.turn:
            raise InputError(f"{self!r} does not work: 20 <= excerpt <= result <= call <= turn, in tokens")


CAPS = Caps()
"""The caps that hold unless the caller sets others."""
