"""The user turns of a stretch of a conversation, each with its own words and what it answers, in chunks.

Law: withdrawn and erased turns are not there, neither as sources nor as what an answer refers to.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import tzinfo
from typing import Any

from contextmgr.extraction.checking import Said
from contextmgr.extraction.own_words import SEAM, Heard, own_words
from contextmgr.reading import is_visible
from contextmgr.sources.cleaning import cleaned, ends
from contextmgr.tokens import Count
from contextmgr.turns import Turn

WORDS = 6_000  # characters of one user turn that a writer reads, as head and tail
CONTEXT = 600  # characters of the assistant turn before it
CHUNK = 12_000
"""Unweighted tokens that one prompt may read."""


def said_in(turns: Sequence[Turn], first: int) -> list[Said]:
    """The user turns from number ``first`` on that say something themselves; ``turns`` begin some way before it."""
    heard, found = Heard(), []
    before: Turn | None = None
    for turn in filter(is_visible, turns):
        if turn.role == "user" and turn.metadata.get("human") is not False:  # what a client put in itself is nobody's
            own = own_words(turn, heard) if turn.number >= first else None
            if own is not None and own.parts:
                follows = before is not None and before.role == "assistant"
                found.append(Said(turn, own, before if follows else None))
        heard.add(turn)
        before = turn
    return found


def chunks(
    said: Sequence[Said], zone: tzinfo, count: Count, most: int = CHUNK
) -> Iterator[tuple[list[Said], list[Any]]]:
    """The user turns in groups whose lines stay within ``most`` tokens, each group with its lines for the prompt."""
    group: list[Said] = []
    lines: list[Mapping[str, Any]] = []
    used = 0
    for one in said:
        own = list(_lines(one, zone))
        size = sum(count(json.dumps(line, ensure_ascii=False)) + 1 for line in own)
        if group and used + size > most:
            yield group, lines
            group, lines, used = [], [], 0
        group.append(one)
        lines += own
        used += size
    if group:
        yield group, lines


def _lines(said: Said, zone: tzinfo) -> Iterator[Mapping[str, Any]]:
    if said.before is not None and said.before.text.strip():
        text = ends(said.before.text, CONTEXT, _left_out)
        yield {"turn": said.before.number, "role": "assistant", "day": None, "text": text}
    day = said.day(zone)
    told = f"{day:%A} {day.isoformat()}" if day is not None else None
    text = ends(cleaned(said.own.shown), WORDS, _left_out)
    yield {"turn": said.turn.number, "role": said.turn.author, "day": told, "text": text}


def _left_out(_left: int, _whole: int) -> str:
    return SEAM.strip()
