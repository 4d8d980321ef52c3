"""Summary items about recorded sessions of which it is known whether they are true, made from the sessions by rule.

True items are sentences that people and models wrote, as they stand or lightly reworded.  False ones are true ones with
exactly one thing changed, or wishes and consents that nobody uttered.  Everything follows from the file's name, so the
same recordings give the same items.  The rules here share no code with `contextmgr.checks`, which they are there to
judge: sentences are cut, numbers and names found, and negations set and taken by means of their own.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.mutations import MUTATIONS, words_in_common
from contextmgr.summaries import Item, ItemKind
from contextmgr.transcripts import Replied, Returned, Said, Session, read_sessions
from contextmgr.turns import Author, Role, ToolResult, Turn

FILES = ("claude-code-*/*.gz", "codex-*/*.gz", "pi-agent/*.gz", "swe-agent/*.gz", "tau-bench/*.gz")
PER_SESSION = 30
PER_SHORT_SESSION = 3
SHORT = 60
WINDOW = 60
"""Turns of the range that an item is checked in."""

_FENCE = re.compile(r"```.*?(?:```|\Z)|<[a-z_-]+>.*?</[a-z_-]+>", re.DOTALL)
_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?](?=\S)[^.!?\n]*)*[.!?]*")
_LEAD = re.compile(r"^[\s>*#•-]*(?:\d+[.)]\s+)?[*_\s]*")
_OF_USER = re.compile(r"\b(?:users?|customers?|human|client|operator)\b|\bas (?:requested|agreed|instructed|approved)|\byou(?:r|'ve|'re)?\b", re.I)
_ASKING = re.compile(r"^(?:ok(?:ay)?,?\s+|so,?\s+|and\s+|now\s+|then\s+)*(?:please\s+|can you\s+|could you\s+|can we\s+|let's\s+)(?:please\s+|also\s+)*", re.I)
_CONTRACTIONS = {"don't": "do not", "doesn't": "does not", "isn't": "is not", "can't": "cannot", "won't": "will not", "it's": "it is",
                 "didn't": "did not", "wasn't": "was not", "shouldn't": "should not", "let's": "let us", "I'll": "I will", "aren't": "are not"}
_CONDITION = re.compile(r"\b(?:if|unless|when|until|once|before|after|while|not|no|never|without|n't|cannot|even|although|though|otherwise)\b|n't", re.I)
_SMALL = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True, slots=True)
class Labelled:
    """An item, the turns of its range, what was done to make it, and whether it is true.  ``half`` is ``dev | test``."""

    item: Item
    turns: dict[int, Turn]
    made: str
    true: bool
    half: str
    source: str


@dataclass(frozen=True, slots=True)
class Said_:
    """A sentence with its turn."""

    text: str
    turn: Turn
