"""What stands in the full-text table, and how it is asked for.

What it reads of a turn are its different terms, spelled in letters, digits and ``_`` alone, so that no tokenizer can
fold, split or drop any of it.  It is reckoned from the stored terms, never stored beside them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Protocol

from contextmgr.micros import from_micros
from contextmgr.ranking import Unit

_SPELLED = re.compile(r"[^a-z0-9]")


class Run(Protocol):
    """Runs a named statement within a scope."""

    def __call__(self, name: str, conversation: str | None = None, values: Mapping[str, Any] | None = None) -> Any: ...


@lru_cache(maxsize=1 << 16)
def spelled(term: str) -> str:
    """A term in letters, digits and ``_``: any other character is its code between underscores."""
    return _SPELLED.sub(lambda c: f"_{ord(c[0]):x}_", term)


def words_of(terms: str) -> str:
    """What the full-text table reads of stored terms: each once.  What was put in must be given to take it out."""
    return " ".join(map(spelled, dict.fromkeys(terms.split())))


def any_of(needed: Sequence[Sequence[str]]) -> str:
    """Turns that hold all of any group: each term in quotes, so that nothing in it is grammar.

    Groups that begin alike share their beginning, since the engine reads a term's turns as often as it is named.
    """
    tree: dict[str, Any] = {}
    for group in sorted(needed, key=len):
        _plant(tree, group)
    return _branches(tree)


def _plant(tree: dict[str, Any], group: Sequence[str]) -> None:
    for place, term in enumerate(group, 1):
        if term in tree and not tree[term]:
            return  # a shorter group, which this one holds, is enough
        tree = tree.setdefault(term, {})
        if place == len(group):
            tree.clear()


def _branches(tree: Mapping[str, Any]) -> str:
    parts = (f'"{spelled(t)}"' + (f" AND ({_branches(rest)})" if rest else "") for t, rest in tree.items())
    return " OR ".join(f"({part})" for part in parts)


def read_unit(row: Mapping[str, Any], chat: int = 0) -> Unit:
    """A row of the index as it is ranked; its numbers are counted from ``chat``."""
    return Unit(
        number=chat + row["n"],
        role=row["role"],
        indexed=row["terms"],
        length=row["length"],
        episode=chat + row["episode"],
        at=from_micros(row["said_at"]) if row["said_at"] else None,
        asks=bool(row["asks"] & 1),
        acts=bool(row["asks"] & 2),
    )
