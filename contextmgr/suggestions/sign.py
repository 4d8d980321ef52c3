"""One sign that a sentence is, or is not, a standing instruction."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from contextmgr.suggestions.sentences import Unit


@dataclass(frozen=True, slots=True)
class Sign:
    """What a sign is called, its weight, and its pattern.

    The pattern is searched for in a unit's words, or in the ``heading`` it stands under.  It may run over several
    lines: line ends and indents are no part of it.  ``cased`` tells capitals from small letters.
    """

    reason: str
    weight: float
    pattern: str
    heading: bool = False
    cased: bool = False

    def found(self, unit: Unit) -> bool:
        """Whether a unit shows the sign."""
        return compiled(self.pattern, self.cased).search(unit.heading if self.heading else unit.text) is not None


@cache
def compiled(pattern: str, cased: bool = False) -> re.Pattern[str]:
    """A pattern whose lines are joined: compiled when first used, so that importing costs nothing."""
    return re.compile("".join(line.strip("\n").lstrip() for line in pattern.split("\n")), 0 if cased else re.IGNORECASE)
