"""How much of what was said is in view: the words of a conversation that stand verbatim in a request.

Words are those of text blocks of users and assistants; thinking, calls and results are not said to anybody.  A block
is in view when a text block of the request is equal to it; a text said twice counts as often as it stands there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from contextmgr import jsontext
from contextmgr.turns import words


class Words:
    """The words said so far."""

    def __init__(self) -> None:
        self._said: Counter[str] = Counter()
        self._count: dict[str, int] = {}
        self._total = 0

    def add(self, blocks: Iterable[Mapping[str, Any]]) -> None:
        """Add what one message says."""
        for text in map(jsontext.sendable_value, words(blocks)):
            self._said[text] += 1
            size = self._count.setdefault(text, len(text.split()))
            self._total += size

    def share_in(self, params: Mapping[str, Any]) -> float:
        """Share of the words so far, 0 to 1, that stand in a request; 1 where nothing was said."""
        if not self._total:
            return 1.0
        shown = Counter(
            block["text"]
            for message in params["messages"]
            for block in message["content"]
            if block["type"] == "text" and block["text"] in self._said
        )
        return sum(min(n, self._said[text]) * self._count[text] for text, n in shown.items()) / self._total
