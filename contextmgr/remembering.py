"""What a new conversation begins with of what is known from others: nothing, what its first words are about, or all.

Laws: only values in force that reach beyond their conversation; what is not about the first words is not taken along to
fill the room; within the cap whatever is known; the same facts and words give the same choice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC
from typing import Any, Literal

from contextmgr import labels
from contextmgr.facts import Fact, FactKind, FactScope
from contextmgr.ranking import Index, Unit, standalone
from contextmgr.tokens import Count

Memory = Literal["blank", "relevant", "all"]
STANDING_SHARE = 0.25
"""Of the cap: what standing preferences may take that the first words are not about."""
MOST_RELEVANT = 32
"""Facts that a search brings along at most."""
_WEIGHT = 1.3  # weighted tokens to a counted one, erring high
_APART = 8  # between the numbers of two facts, so that none counts as the other's neighbour


def chosen(
    facts: Sequence[Fact], first_user_text: str, policy: Memory, cap_tokens: int, count: Count, conversation: str = ""
) -> tuple[Fact, ...]:
    """The facts that a conversation begins with, most wanted first, within ``cap_tokens`` weighted tokens as rendered.

    ``blank`` takes none.  ``relevant`` takes those that a search for ``first_user_text`` finds, best first, and then
    preferences, newest first, within `STANDING_SHARE` of the cap: how a user wants to be answered is not what they
    ask about.  ``all`` takes the newest.  Superseded and erased facts, those of one conversation only, and those said
    in ``conversation`` itself are left out.
    """
    wider = [f for f in facts if f.is_current and f.scope is not FactScope.CONVERSATION]
    usable = _newest_first([f for f in wider if f.conversation != conversation])
    if policy == "blank" or not usable:
        return ()
    if policy == "all":
        return _fitting(usable, cap_tokens, count)
    found = _fitting(_relevant(usable, first_user_text), cap_tokens, count)
    taken = {f.id for f in found}
    standing = [f for f in usable if f.kind is FactKind.PREFERENCE and f.id not in taken]
    left = cap_tokens - sum(_size(f, count) for f in found)
    return found + _fitting(standing, min(left, int(STANDING_SHARE * cap_tokens)), count)


def _relevant(facts: Sequence[Fact], text: str) -> list[Fact]:
    """What the first words are about; nothing where they have no words of their own, such as "hi" or "go on"."""
    asked = standalone(text)
    if asked is None:
        return []
    # the newest has the highest number: it goes first among equals
    units = [_unit(f, n * _APART) for n, f in enumerate(reversed(facts), 1)]
    by_number = {unit.number: fact for unit, fact in zip(units, reversed(facts), strict=True)}
    hits = Index(units).search(asked, k=MOST_RELEVANT)
    numbers = (n for hit in hits for n in (hit.number, *hit.also))
    return [by_number[n] for n in dict.fromkeys(numbers)]


def _unit(fact: Fact, number: int) -> Unit:
    key = fact.key.replace("_", " ").replace(".", " ")
    text = " ".join([key, *_texts(fact.value), fact.quote or ""])
    return Unit.of(number, "user", text, at=fact.valid_from)


def _texts(value: Any) -> Iterator[str]:
    """The texts and numbers in a value, names of its fields included."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield str(key)
            yield from _texts(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from _texts(inner)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def _newest_first(facts: Sequence[Fact]) -> list[Fact]:
    return sorted(facts, key=lambda f: (-f.valid_from.timestamp(), f.key, f.id))


def _fitting(facts: Sequence[Fact], cap: int, count: Count) -> tuple[Fact, ...]:
    """Those that fit, in order; one that is too large leaves its room to the next."""
    kept: list[Fact] = []
    for fact in facts:
        size = _size(fact, count)
        if size <= cap:
            kept.append(fact)
            cap -= size
    return tuple(kept)


def _size(fact: Fact, count: Count) -> int:
    return int(_WEIGHT * (count(labels.fact_line(fact, "", UTC, ())) + 1)) + 1
