"""What kind of item a sentence makes, by plain rules; and how much it tells because of that.

Law: only a user's sentence becomes a constraint or a decision; what the assistant settled is resolved.  The rules
know a handful of languages; where none of them speaks, a user's sentence is a decision (it says what was wanted) and
an assistant's a result.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from contextmgr.extractive.sentences import Sentence
from contextmgr.extractive.signs import (
    DECISION,
    MADE,
    NARRATION,
    OPEN,
    PATH,
    QUESTION,
    REQUEST,
    RESOLVED,
    RULE,
    RULED_OUT,
    TROUBLE,
)
from contextmgr.pins import PinKind
from contextmgr.suggestions import suggest
from contextmgr.summaries import ItemKind
from contextmgr.turns import Turn

_SUGGESTED = {
    PinKind.CONSTRAINT: ItemKind.CONSTRAINT,
    PinKind.DECISION: ItemKind.DECISION,
    PinKind.APPROVAL: ItemKind.DECISION,
    PinKind.RESOLUTION: ItemKind.RESOLVED,
}
_DOCUMENT = 8_000  # characters from which a user's message is a document: its rules are told by `RULE` alone
_BY_PATTERN = (
    (RULED_OUT, ItemKind.RULED_OUT),
    (RESOLVED, ItemKind.RESOLVED),
    (OPEN, ItemKind.OPEN),
    (DECISION, ItemKind.RESOLVED),
)
_TELLING = {
    ItemKind.CONSTRAINT: 1.3,
    ItemKind.DECISION: 1.1,
    ItemKind.RESOLVED: 1.15,
    ItemKind.RULED_OUT: 1.2,
    ItemKind.OPEN: 1.1,
    ItemKind.ARTIFACT: 1.0,
    ItemKind.RESULT: 0.9,
}


def telling(kind: ItemKind) -> float:
    """What a sentence's weight is multiplied by for being of this kind."""
    return _TELLING[kind]


def is_narration(text: str) -> bool:
    """Whether an assistant's sentence only says what it is about to do."""
    return NARRATION.match(text) is not None


def kinds(turns: Sequence[Turn], found: Sequence[Sentence]) -> list[ItemKind]:
    """The kind of each sentence; ``turns`` holds the turns they are from and what followed them."""
    by_number = {turn.number: turn for turn in turns}
    answered = _answered(turns)
    followed = _followed(turns)
    standing = _standing([t for t in turns if t.role == "user" and len(t.text) <= _DOCUMENT])
    return [
        _of_user(s, by_number[s.turn], standing.get(s.turn, ()), s.turn in answered)
        if by_number[s.turn].role == "user"
        else _of_assistant(s, by_number[s.turn].ends_exchange, s.turn in followed)
        for s in found
    ]


def _standing(users: Sequence[Turn]) -> Mapping[int, list[tuple[str, ItemKind]]]:
    """Quotes that read like standing instructions, by turn."""
    found: dict[int, list[tuple[str, ItemKind]]] = {}
    for suggestion in suggest(users):
        found.setdefault(suggestion.turn, []).append((suggestion.quote, _SUGGESTED[suggestion.kind]))
    return found


def _answered(turns: Sequence[Turn]) -> set[int]:
    """Numbers of the user turns that got an answer before the user spoke again, as far as these turns tell."""
    found: set[int] = set()
    asked: int | None = None
    for turn in turns:
        if turn.role == "user":
            asked = turn.number
        elif turn.ends_exchange and asked is not None:
            found.add(asked)
    return found


def _followed(turns: Sequence[Turn]) -> set[int]:
    """Numbers of the turns right after which the user spoke."""
    return {before.number for before, after in itertools.pairwise(turns) if after.role == "user"}


def _of_user(s: Sentence, turn: Turn, standing: Sequence[tuple[str, ItemKind]], answered: bool) -> ItemKind:
    for quote, kind in standing:
        at = str(turn.blocks[s.block]["text"]).find(quote)
        if at >= 0 and at < s.start + len(s.text) and s.start < at + len(quote):
            return kind
    if REQUEST.match(s.text):
        return ItemKind.DECISION
    if QUESTION.search(s.text):
        return ItemKind.RESOLVED if answered else ItemKind.OPEN
    if RULE.search(s.text):
        return ItemKind.CONSTRAINT
    return ItemKind.OPEN if TROUBLE.search(s.text) and not answered else ItemKind.DECISION


def _of_assistant(s: Sentence, concludes: bool, followed: bool) -> ItemKind:
    if QUESTION.search(s.text) and concludes:
        return ItemKind.RESOLVED if followed else ItemKind.OPEN
    for pattern, kind in _BY_PATTERN:
        if pattern.search(s.text):
            return kind
    return ItemKind.ARTIFACT if MADE.search(s.text) and PATH.search(s.text) else ItemKind.RESULT
