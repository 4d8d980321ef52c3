"""Conversations for the tests of the ranking."""

from __future__ import annotations

from collections.abc import Iterable

from contextmgr.ranking import Index, Unit

FILLERS = (
    "Why would the team that can do it not do the other one, and what about that?",
    "The meeting was moved to {n} o'clock, so we can have lunch before it.",
    "I think that the colour of button {n} should be somewhat darker than that.",
    "What can you tell me about the weather in the hills, and why is it so?",
    "¿Por qué no puede ser que la reunión {n} sea otro día?",
)


def noise(count: int, start: int = 1) -> list[Unit]:
    """Small talk full of function words, from turn ``start`` on."""
    return [
        Unit.of(n, "user" if n % 2 else "assistant", FILLERS[n % len(FILLERS)].format(n=n))
        for n in range(start, start + count)
    ]


def index(texts: Iterable[str], *, around: int = 0) -> Index:
    """User turns that say ``texts``, numbered from 1, followed by ``around`` turns of noise."""
    said = [Unit.of(n, "user", text) for n, text in enumerate(texts, 1)]
    return Index([*said, *noise(around, len(said) + 1)])


def numbers(found: Index, query: str, k: int = 10) -> list[int]:
    """Numbers of the turns that a query finds, best first."""
    return [hit.number for hit in found.search(query, k=k)]
