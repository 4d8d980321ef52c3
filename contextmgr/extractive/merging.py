"""Making fewer items of many without a model: repetitions go, then the kinds that are given up first.

Laws: nothing is reworded; what is kept fits the budget; an item goes as a repetition only if the one that stays holds
all its facts and denies what it denies.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from contextmgr.extractive.size import item_tokens
from contextmgr.summaries import Item, ItemKind
from contextmgr.terms import facts, terms
from contextmgr.tokens import Count

ALIKE = 0.8
"""Share of common words (of all words of both) from which two items say the same."""
GIVEN_UP = tuple(reversed(ItemKind))
"""Kinds in the order in which they are given up: results first, decisions last."""
_MAX_CITED = 8

_DENIAL = re.compile(
    r"\b(?:not?|never|none|without|except|only|cannot|\w+n['’]t|nicht|kein\w*|nie|niemals|ohne|nur|außer|ne|pas|jamais|sans|sauf"
    r"|nunca|sin|solo|sólo|salvo|не|ни|нет|без|только)\b|[不没無未别勿]|ない|ません|않|못|없",
    re.IGNORECASE,
)


class Merged(NamedTuple):
    """The items kept, in turn order, and how many of those given are not among them."""

    items: list[Item]
    dropped: int


def merge(items: Sequence[Item], *, budget: int, count: Count) -> Merged:
    """The items that stay within ``budget`` tokens (see `item_tokens`).

    Of items that say the same the newest stays; where the texts are equal it cites the turns of all of them.  While
    there is too much, items go by kind in the order of `GIVEN_UP`, the oldest of a kind first.
    """
    kept = _without_repetitions(sorted(items, key=_age))
    sizes = [item_tokens(item, count) for item in kept]
    total, gone = sum(sizes), set[int]()
    for index in sorted(range(len(kept)), key=lambda i: (GIVEN_UP.index(kept[i].kind), i)):
        if total <= budget:
            break
        total -= sizes[index]
        gone.add(index)
    left = [item for index, item in enumerate(kept) if index not in gone]
    return Merged(left, len(items) - len(left))


def _age(item: Item) -> tuple[int, int]:
    return item.turns[-1], item.turns[0]


def _without_repetitions(items: Sequence[Item]) -> list[Item]:
    """Of items in turn order those that no later one repeats, in turn order."""
    kept: list[Item] = []
    bags: list[frozenset[str]] = []
    holders: dict[str, list[int]] = defaultdict(list)  # word -> positions in kept
    for item in reversed(items):
        bag = frozenset(terms(item.text))
        twin = _twin(item, bag, kept, bags, holders)
        if twin is None:
            for term in bag:
                holders[term].append(len(kept))
            kept.append(item)
            bags.append(bag)
        elif kept[twin].text == item.text:
            kept[twin] = replace(kept[twin], turns=_cited(kept[twin], item))
    return sorted(kept, key=_age)


def _cited(newer: Item, older: Item) -> tuple[int, ...]:
    return tuple(sorted({*newer.turns, *older.turns})[-_MAX_CITED:])


def _twin(
    item: Item, bag: frozenset[str], kept: Sequence[Item], bags: Sequence[frozenset[str]], holders: dict[str, list[int]]
) -> int | None:
    """Position of the kept item that says what this one says, if there is one."""
    shared: dict[int, int] = defaultdict(int)
    for term in bag:
        for position in holders.get(term, ()):
            shared[position] += 1
    closest = (
        sorted(shared.items(), key=lambda pair: (-pair[1], pair[0])) if bag else [(p, 0) for p in range(len(kept))]
    )
    for position, common in closest:
        alike = common >= ALIKE * (len(bag) + len(bags[position]) - common)
        if alike and _says_all(kept[position], item):
            return position
    return None


def _says_all(kept: Item, item: Item) -> bool:
    """Whether nothing is lost when ``item`` goes: its kind, its facts and its denials stand in ``kept``."""
    if kept.kind != item.kind or kept.verbatim != item.verbatim:
        return False
    same = facts(item.text) <= facts(kept.text) and _denials(item.text) == _denials(kept.text)
    return kept.text == item.text or (same and bool(terms(item.text)))


def _denials(text: str) -> list[str]:
    return sorted(found.casefold() for found in _DENIAL.findall(text))
