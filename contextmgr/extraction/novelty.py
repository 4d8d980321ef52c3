"""What a checked proposal adds to the facts on record: nothing, a new fact, or a new value of a known one.

Laws: what is known is not stored again, under whatever key; a correction takes the place of what it corrects; what the
user says never replaces what the operator set.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from contextmgr import jsontext
from contextmgr.checks.words import flow, plain
from contextmgr.extraction.proposals import Proposal
from contextmgr.facts import Fact, FactAuthor, FactKind
from contextmgr.terms import terms

BESIDE = 9
"""Values of one matter that stand beside each other at most: ``allergy``, ``allergy_2`` and so on."""
_ALSO = frozenset(
    (
        "also",
        "too",
        "another",
        "additional",
        "additionally",
        "besides",
        "auch",
        "außerdem",
        "weitere",
        "aussi",
        "également",
    )
) | {"también", "además"}
_COMPARES = re.compile(
    r"\b(?:over|than|before|after|instead|rather|from|to|statt|als|vor|nach|avant|après|plutôt|antes|después|que)\b",
    re.IGNORECASE,
)
_ALIKE = 0.34
"""Share of the words around a one-word value from which on it is the same fact under another key."""
_TAKEN = 0.5
"""Share of a value's words that a correction has to name."""


def news(proposal: Proposal, known: Sequence[Fact], author: FactAuthor) -> Proposal | None:
    """The proposal under the key it is to be stored by, or None where it tells nothing new; ``known`` are in force."""
    if proposal.corrects is not None:
        return _corrected(proposal, known, author)
    if any(_says(fact, proposal) for fact in known):
        return None
    by_key = {fact.key: fact for fact in known}
    same = by_key.get(proposal.key)
    if same is None:
        return proposal
    if not _ALSO.isdisjoint(terms(proposal.quote)) and proposal.kind is not FactKind.CORRECTION:
        keys = (f"{proposal.key}_{n}" for n in range(2, BESIDE + 1))
        free = next((key for key in keys if key not in by_key), None)
        return None if free is None else replace(proposal, key=free)
    return None if _is_kept(same, author) else proposal


def _corrected(proposal: Proposal, known: Sequence[Fact], author: FactAuthor) -> Proposal | None:
    """The one fact that holds what is taken back, with the value that takes its place."""
    old = set(terms(proposal.corrects or ""))
    held = [f for f in known if old and old <= set(terms(_text(f))) and len(old) >= _TAKEN * len(set(terms(_text(f))))]
    if len(held) != 1 or _is_kept(held[0], author) or _same(_text(held[0]), proposal.value):
        return None
    return replace(proposal, key=held[0].key, corrects=None, kind=FactKind.CORRECTION)


def _is_kept(fact: Fact, author: FactAuthor) -> bool:
    return fact.author == "operator" and author != "operator"


def _says(fact: Fact, proposal: Proposal) -> bool:
    """Whether a fact on record says all that a proposal does."""
    old, new = _text(fact), proposal.value
    if not _same(old, new):
        one, other = _content(old), _content(new)
        if fact.key == proposal.key:
            return bool(other) and _in_order(other, one)
        alike = _in_order(other, one) if _COMPARES.search(new) else set(other) <= set(one)
        return len(set(other)) > 2 and alike
    if fact.key == proposal.key or len(set(terms(new))) > 1:
        return True
    value = set(terms(new))
    mine = set(terms(f"{proposal.key} {proposal.quote}".replace("_", " "))) - value
    theirs = set(terms(f"{fact.key} {fact.quote or ''}".replace("_", " "))) - value
    return len(mine & theirs) >= _ALIKE * min(len(mine), len(theirs))


def _content(text: str) -> list[str]:
    """Content words, numbers and negations, in order."""
    numbers = [t for t in terms(text) if any(c.isdigit() for c in t)]
    return [t for t in flow(text) if t[0] not in "\x01\x02"] + numbers


def _in_order(few: Iterable[str], many: Sequence[str]) -> bool:
    rest = iter(many)
    return all(word in rest for word in few)


def _same(one: str, other: str) -> bool:
    return plain(one).strip(" .") == plain(other).strip(" .")


def _text(fact: Fact) -> str:
    return fact.value if isinstance(fact.value, str) else jsontext.canonical(fact.value)
