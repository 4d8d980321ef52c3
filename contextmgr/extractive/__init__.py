"""A summary without a model: sentences that were said, quoted exactly, and the files that were changed.

Laws: every text is a stretch of a text block of the one turn it cites (files apart, see `artifacts`); the items fit
the budget; only a user's sentence is a constraint or a decision; the same turns give the same items.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from contextmgr.extractive.artifacts import artifacts
from contextmgr.extractive.centrality import lexrank, likeness, vectors
from contextmgr.extractive.choice import Candidate, Choice
from contextmgr.extractive.kinds import is_narration, kinds, telling
from contextmgr.extractive.merging import merge
from contextmgr.extractive.sentences import Sentence, sentences
from contextmgr.extractive.size import item_tokens
from contextmgr.summaries import Item, ItemKind
from contextmgr.terms import facts, terms
from contextmgr.tokens import Count
from contextmgr.turns import Turn

__all__ = ["MAX_RANKED", "artifacts", "extract", "item_tokens", "merge", "sentences"]

MAX_RANKED = 400
"""Sentences compared with each other in one call; more are thinned out by weight first, so the cost is bounded."""
ARTIFACT_SHARE = 0.25
"""Of the budget: what items about changed files may take."""

_USER, _CONCLUDING, _WORKING, _NARRATING = 1.0, 0.55, 0.32, 0.08
_DOCUMENT = 15  # sentences from which a user's message is a document: its ends are what the user says of it
_INSIDE_DOCUMENT = 0.5
_WEAK = 0.4


def extract(turns: Sequence[Turn], *, budget: int, count: Count) -> list[Item]:
    """Items about the turns within ``budget`` tokens (see `item_tokens`), in turn order; [] where nothing fits.

    Every user turn with a quotable sentence has an item while the budget allows; then come changed files, up to
    `ARTIFACT_SHARE` of the budget; then what is most central among the rest, users' words first.  Withdrawn turns
    are left out.
    """
    shown = [turn for turn in turns if turn.withdrawn is None]
    found = _ranked_first(shown)
    of_kind = kinds(shown, found)
    rows = likeness(vectors([terms(s.text) for s in found]))
    central = lexrank(rows)
    users = {turn.number for turn in shown if turn.role == "user"}
    weights = _base_weights(shown)
    candidates = [
        Candidate(
            text=s.text,
            weight=_weight(s, weights[s.turn], s.turn in users) * _by_centrality(c, s.turn in users) * telling(kind),
            cost=item_tokens(_quote(s, kind), count),
            facts=facts(s.text),
            group=s.turn if s.turn in users else None,
        )
        for s, kind, c in zip(found, of_kind, central, strict=True)
    ]
    choice = Choice(candidates, rows, budget)
    choice.one_per_group()
    files = list(_fitting(artifacts(shown), min(choice.room, int(budget * ARTIFACT_SHARE)), count))
    choice.room -= sum(item_tokens(item, count) for item in files)
    choice.fill()
    quotes = [_quote(found[i], of_kind[i]) for i in sorted(choice.taken)]
    return sorted([*quotes, *files], key=lambda item: item.turns[-1])


def _ranked_first(turns: Sequence[Turn]) -> list[Sentence]:
    """The sentences of all turns in order, at most `MAX_RANKED`: those with the highest weight before comparing."""
    found = [s for turn in turns for s in sentences(turn)]
    if len(found) <= MAX_RANKED:
        return found
    users = {turn.number for turn in turns if turn.role == "user"}
    base = _base_weights(turns)
    weights = [_weight(s, base[s.turn], s.turn in users) for s in found]
    order = sorted(range(len(found)), key=lambda i: (-weights[i], i))
    # The best of each user turn comes before the second best of any, so that none is lost before it is looked at.
    first = set({found[i].turn: i for i in reversed(order) if found[i].turn in users}.values())
    ranked = sorted(order, key=lambda i: i not in first)
    return [found[i] for i in sorted(ranked[:MAX_RANKED])]


def _base_weights(turns: Sequence[Turn]) -> dict[int, float]:
    return {t.number: _USER if t.role == "user" else _CONCLUDING if t.ends_exchange else _WORKING for t in turns}


def _weight(s: Sentence, base: float, is_user: bool) -> float:
    """What a sentence weighs by who said it and where it stands."""
    if is_user:
        inside = s.of > _DOCUMENT and 3 <= s.place < s.of - 3
        weight = base * (_INSIDE_DOCUMENT if inside else 1.0)
    else:
        weight = _NARRATING if is_narration(s.text) else base
    return weight * (_WEAK if s.weak else 1.0)


def _by_centrality(central: float, is_user: bool) -> float:
    return 0.75 + 0.25 * central if is_user else 0.5 + 0.5 * central


def _quote(s: Sentence, kind: ItemKind) -> Item:
    return Item(text=s.text, kind=kind, turns=(s.turn,), verbatim=True)


def _fitting(items: Sequence[Item], room: int, count: Count) -> Iterator[Item]:
    for item in items:
        cost = item_tokens(item, count)
        if cost <= room:
            room -= cost
            yield item
