"""One sign that a message relies on what was said before, or that it does not."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

Kind = Literal["topic", "recent"]
"""What to look with: for a subject, or through the last chats by date."""


@dataclass(frozen=True, slots=True)
class Sign:
    """What a sign is called, how to look where it stands, and its pattern, in folded text.

    ``kind=None`` takes the signs away that stand where it does: who else is meant, or what is in view anyway.
    """

    reason: str
    kind: Kind | None
    pattern: str

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where the sign stands."""
        return [found.span() for found in _compiled(self.pattern).finditer(text)]


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """A pattern whose lines are joined: compiled when first used, so that importing costs nothing."""
    return re.compile("".join(line.strip("\n").lstrip() for line in pattern.split("\n")))
