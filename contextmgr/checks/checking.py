"""From items to verdicts, and from verdicts to the items that may be kept."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from contextmgr.checks.claims import Claim, Speaker, claim
from contextmgr.checks.consent import agreed_to
from contextmgr.checks.faults import faults
from contextmgr.checks.sentences import spans
from contextmgr.checks.sources import Source, Sources, matches
from contextmgr.checks.statement import Statement
from contextmgr.sources.cleaning import is_clean
from contextmgr.summaries import MAX_ITEM_CHARACTERS, Item, ItemKind
from contextmgr.turns import Turn

_REFERENCE = re.compile(
    r"\s*[\[(](?:(?:see|cf\.?|in)\s+)?(?:turns?\s*)?#?\d+(?:\s*(?:,|-|–|and)\s*#?\d+)*[\])]"
    r"|\b(?:in|from|at|of|see)?\s*turns?\s+#?\d+(?:\s*(?:,|-|–|and|to)\s*#?\d+)*\s*[,:]?",
    re.IGNORECASE,
)
_ENOUGH = 0.34
"""Share of an item's words that a sentence has to hold to stand in its place."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether an item holds; if not, ``reasons`` say why, each with the value that is wrong (secrets left out)."""

    ok: bool
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Checked:
    """Items that may be shown, in turn order, and how many of those given were kept, replaced by a sentence, dropped.

    ``reasons`` has one line for each item that failed.
    """

    items: tuple[Item, ...]
    kept: int = 0
    replaced: int = 0
    dropped: int = 0
    reasons: tuple[str, ...] = ()


def check_item(item: Item, turns: Mapping[int, Turn]) -> Verdict:
    """Hold an item against ``turns``, every turn of the covered range by number; give `Sources` for many items."""
    reasons = tuple(dict.fromkeys(_reasons(item, _indexed(turns))))
    return Verdict(not reasons, reasons)


def checked(items: Sequence[Item], turns: Mapping[int, Turn]) -> Checked:
    """Check all items of a range; failing ones are replaced by a sentence of a cited turn, or dropped."""
    sources = _indexed(turns)
    shown: dict[tuple[str, ItemKind], Item] = {}
    kept, replaced, reasons = 0, 0, []
    for item in items:
        verdict = check_item(item, sources)
        instead = item if verdict.ok else verbatim_instead(item, sources)
        if not verdict.ok:
            reasons.append(f"turns {', '.join(map(str, item.turns))}: {'; '.join(verdict.reasons)}")
        if instead is not None and (instead.text, instead.kind) not in shown:
            shown[instead.text, instead.kind] = instead
            kept, replaced = kept + verdict.ok, replaced + (not verdict.ok)
    in_order = tuple(sorted(shown.values(), key=lambda i: i.turns))
    return Checked(in_order, kept, replaced, len(items) - kept - replaced, tuple(reasons))


def verbatim_instead(item: Item, turns: Mapping[int, Turn]) -> Item | None:
    """The sentence of a cited turn that says most of what an item says, or None when none says enough.

    For what is told as the user's word it is a sentence of a user turn.
    """
    sources = _indexed(turns)
    statements = list(_statements(item, sources))
    bag = frozenset[str]().union(*(s.bag for s in statements))
    allowed = _common(statements)
    if not bag or not allowed:
        return None
    for match in matches(bag, allowed):
        shared = len(bag & match.sentence.bag)
        if match.share < _ENOUGH or (shared < 2 and match.share < 1):
            continue
        instead = replace(item, text=match.sentence.text, turns=(match.turn,), verbatim=True)
        if check_item(instead, sources).ok:
            return instead
    return None


def _indexed(turns: Mapping[int, Turn]) -> Sources:
    return turns if isinstance(turns, Sources) else Sources(turns)


def _reasons(item: Item, sources: Sources) -> Iterator[str]:
    missing = [n for n in item.turns if n not in sources]
    if missing:
        yield f"turn {missing[0]} is not in the range"
    if len(item.text) > MAX_ITEM_CHARACTERS:
        yield f"{len(item.text)} characters; the limit is {MAX_ITEM_CHARACTERS}"
        return
    if not is_clean(item.text):
        yield "secret or encoded bytes"
        return
    statements = list(_statements(item, sources))
    if not statements:
        yield "says nothing"
    if item.verbatim:
        if not any(_stands_in(item, s) for s in _common(statements)):
            yield "not word for word in the turns that may say it"
        elif any(s.is_sentence(item.text) for s in _common(statements)):
            return
    for statement in statements:
        if not statement.sources:
            yield _nobody(statement)
        else:
            yield from faults(statement)


def _nobody(statement: Statement) -> str:
    who = statement.claim.speaker
    return "no turn is left" if who is Speaker.NOBODY else f"told of the {who}, but no {who} turn is cited"


def _stands_in(item: Item, source: Source) -> bool:
    return item.text in source.words or (item.kind not in _USERS and item.text in source.raw_data)


_USERS = (ItemKind.CONSTRAINT, ItemKind.DECISION)


def _common(statements: Sequence[Statement]) -> list[Source]:
    """The sources that all statements of an item may be taken from; the user's where one of them is the user's."""
    users = [s for s in statements if s.from_user]
    by_number = {s.number: s for s in (users or statements)[0].sources} if statements else {}
    return [by_number[n] for n in sorted(by_number)]


def _statements(item: Item, sources: Sources) -> Iterator[Statement]:
    """The sentences of an item, each with the turns that may bear it out."""
    cited = [sources.source(n) for n in item.turns if n in sources]
    text = _REFERENCE.sub(lambda m: _unless_cited(m, item), item.text)
    for start, end in spans(text):
        sentence = text[start:end]
        told = _told(claim(sentence), item.kind, sentence)
        if told.speaker is Speaker.ASSISTANT and any(s.is_sentence(sentence) for s in cited):
            told = Claim(Speaker.NOBODY, sentence)  # somebody said so of the assistant, in these words
        speaking = [s for s in cited if told.speaker is Speaker.NOBODY or s.is_user == (told.speaker is Speaker.USER)]
        consents = told.speaker is Speaker.USER and (told.agreed or item.kind is ItemKind.DECISION)
        yield Statement(sentence, told, speaking, agreed_to(cited) if consents else ())


def _told(found: Claim, kind: ItemKind, sentence: str) -> Claim:
    """A rule is always told of the user; a decision too, unless it is told as the assistant's."""
    if kind is ItemKind.CONSTRAINT:
        rest = found.rest if found.speaker is Speaker.USER else sentence
        return Claim(Speaker.USER, rest, found.agreed, ruled=True)
    if kind is ItemKind.DECISION and found.speaker is Speaker.NOBODY:
        return Claim(Speaker.USER, sentence, ruled=True)
    return found


def _unless_cited(match: re.Match[str], item: Item) -> str:
    """Nothing in place of a reference to the cited turns; any other stays and is checked as a number."""
    told = {int(n) for n in re.findall(r"\d{1,9}", match.group())}
    return " " if told.issubset(item.turns) else match.group()
