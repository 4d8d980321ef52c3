"""Paths, numbers and identifiers that users said, and whether a request still has them.

The rules here are the benchmark's own: they share nothing with what picks sentences for a summary or checks them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from contextmgr import jsontext
from contextmgr.transcripts import Replied, Returned, Said, Session
from contextmgr.turns import words

_FACT = re.compile(
    r"""https?://[^\s<>"'`)\]]+                                  # addresses
    |[~.]{0,2}/?[\w@+-][\w.@+-]*(?:/[\w.@+-]+)+                  # paths
    |(?<![\w.])\.?[A-Za-z][\w-]+(?:\.[A-Za-z][\w-]*)*\.[A-Za-z]\w{0,5}\b   # files and dotted names
    |(?<![\w-])--?[a-z][a-z-]+\b                                 # options
    |\b[A-Za-z]\w*_\w+\b|\b[a-z]+[A-Z]\w*\b|\b[A-Z]\w*[a-z][A-Z]\w*\b   # snake_case, camelCase, CamelCase
    |\b(?=\w*\d)(?=\w*[A-Za-z])\w{3,}\b                          # ids with digits in them
    |\d(?:[\d.,:]*\d)                                            # numbers of two digits or more
    """,
    re.VERBOSE,
)
_MOST = 120  # characters: what is longer is data, not a name


def facts(text: str) -> set[str]:
    """The paths, numbers of two digits or more, and identifiers of a text, as they stand."""
    found = (m.group().rstrip(".,:;-") for m in _FACT.finditer(text))
    return {fact for fact in found if 1 < len(fact) <= _MOST}


def stands_in(fact: str, text: str) -> bool:
    """Whether a text has a fact as a whole word."""
    at = text.find(fact)
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(fact) : at + len(fact) + 1]
        if not (_goes_on(before) and _goes_on(fact[0])) and not (_goes_on(after) and _goes_on(fact[-1])):
            return True
        at = text.find(fact, at + 1)
    return False


def _goes_on(char: str) -> bool:
    return char.isalnum() or char == "_"


def request_text(params: Mapping[str, Any]) -> str:
    """Everything that the messages of a request say, calls and results included."""
    return "\n".join(_strings(params["messages"]))


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)


class UserTurn:
    """What a user turn said: its number, its texts as they are sent, and the facts in them."""

    def __init__(self, number: int, said: Said) -> None:
        self.number = number
        self.human = said.human
        self.texts = [jsontext.sendable_value(text) for text in words(said.blocks)]
        self.facts = frozenset(fact for text in self.texts for fact in facts(text))


def user_turns(session: Session) -> list[UserTurn]:
    """The user turns of a session, by the numbers they are stored under."""
    turns = [e for e in session.events if not isinstance(e, Returned)]
    return [UserTurn(n, e) for n, e in enumerate(turns, 1) if isinstance(e, Said)]


def calls_at(session: Session) -> dict[int, int]:
    """For the number of every turn, how many model calls came before or with it."""
    calls, found = 0, {}
    for number, event in enumerate((e for e in session.events if not isinstance(e, Returned)), 1):
        calls += isinstance(event, Replied)
        found[number] = calls
    return found


@dataclass(slots=True)
class Kept:
    """The mean share of facts that a policy's requests have: of turns that are gone, and of all said so far."""

    gone: list[float] = field(default_factory=list)
    said: list[float] = field(default_factory=list)

    def add(self, turns: Sequence[UserTurn], params: Mapping[str, Any]) -> None:
        """Look at one request; ``turns`` are the user turns so far."""
        text = request_text(params)
        blocks = set(_texts(params))
        gone = [t for t in turns if not all(x in blocks for x in t.texts)]
        known: dict[str, bool] = {}
        for of, into in ((gone, self.gone), (turns, self.said)):
            asked = frozenset[str]().union(*(t.facts for t in of))
            known |= {fact: stands_in(fact, text) for fact in asked - known.keys()}
            if asked:
                into.append(sum(known[fact] for fact in asked) / len(asked))


def _texts(params: Mapping[str, Any]) -> Iterable[str]:
    return (b["text"] for m in params["messages"] for b in m["content"] if b["type"] == "text")
