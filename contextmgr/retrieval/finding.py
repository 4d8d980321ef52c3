"""From a query to the best turns of a ground: which turns are read, and how many.

Law: what is read for one query is bounded, whatever the ground holds; what is left out by the bounds is what the
query's own words, weighed with the ground's own numbers, make worth least.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import accumulate

from contextmgr.ranking import DEFAULTS, Cosines, Hit, Query, Statistics, Unit, candidate_terms, rank
from contextmgr.retrieval.grading import Grades
from contextmgr.retrieval.grounds import Ground
from contextmgr.store.search_base import Match

MATCHED = 150  # turns that are read for one query; where more hold a term, those that hold its weightiest groups
MOST_MATCHED = 225  # where terms go together more often than by chance
COMBINED = 7  # of its rarest terms, from which groups are made
COUNTED = 1_000  # turns after which a term's frequency is reckoned rather than counted
SIMILAR = 64  # turns that are ranked because their vectors are nearest
DRIVING = 20_000  # turns that hold a term; those that more hold are in no group, unless there is no other


def find(
    ground: Ground,
    query: Query,
    tail: Sequence[Unit],
    k: int,
    *,
    shown: Callable[[int], bool],
    near: Cosines | None = None,
) -> tuple[list[Hit], Grades]:
    """The best turns that are ``shown``, and what grades them; ``tail`` are those that are not indexed yet."""
    statistics = _statistics(ground, query, tail)
    waiting = {u.number: u for u in tail}
    matches = {m.number: m for m in _candidates(ground, query, statistics)} | waiting
    chosen = _best([m for m in matches.values() if shown(m.number)], query, statistics)[: max(ground.reading.ranked, k)]
    wanted = {*chosen, *(n + step for n in chosen[: ground.reading.near] for step in (-1, 1))}
    if near is not None:
        wanted |= set(sorted(near.values, key=lambda n: -near.values[n])[:SIMILAR])
    units = [*ground.units(wanted - waiting.keys()), *(waiting[n] for n in wanted & waiting.keys())]
    given = sorted((u for u in units if shown(u.number)), key=lambda u: u.number)
    episodes = ground.episode_terms({u.episode for u in given if u.episode is not None})
    known = replace(statistics, episode_terms=episodes)
    return rank(query, given, known, k=k, cosines=near), Grades.of(query, known)


def _statistics(ground: Ground, query: Query, tail: Sequence[Unit]) -> Statistics:
    """The ground's own numbers, with those of the turns that are not indexed yet."""
    state, holding = ground.state(), ground.holding(query.terms, COUNTED)
    for term in query.terms:
        holding[term] += sum(1 for unit in tail if f" {term} " in unit.indexed)
    return Statistics(
        units=state.units + len(tail),
        terms=state.terms + sum(unit.length for unit in tail),
        holding=holding,
        episodes=max(1, state.episodes),
    )


def _candidates(ground: Ground, query: Query, statistics: Statistics) -> list[Match]:
    """The indexed turns to be ranked: all that hold a term, while they are about `MATCHED`; else those of `_needed`.

    Not the best by the engine's own rank: its statistics are of the whole store, so other tenants would decide who is
    left out.
    """
    holding = statistics.holding
    held = sorted((t for t in candidate_terms(query) if holding[t]), key=lambda t: holding[t])
    if sum(holding[t] for t in held) <= MATCHED:
        return ground.matches([[t] for t in held], MATCHED, newest=False)
    few = [t for t in held if holding[t] <= DRIVING]
    needed, are_more = _needed((few or held)[:COMBINED], statistics)
    return ground.matches(needed, MOST_MATCHED, newest=are_more)


def _needed(terms: Sequence[str], statistics: Statistics) -> tuple[list[tuple[str, ...]], bool]:
    """The smallest groups of ``terms`` that weigh enough together, so that about `MATCHED` turns hold one of them, if
    terms are independent; and whether more than that hold the one group that is left.  The rarest term must come first.

    What is left out is what holds less of the question's weight than any turn that is read.
    """
    sets: list[tuple[float, float, tuple[str, ...]]] = [(0.0, 1.0, ())]  # weight, share of turns with just these, terms
    for term in terms:
        idf, share = statistics.idf(term), statistics.holding[term] / max(1, statistics.units)
        sets = [
            *((weight, part * (1 - share), held) for weight, part, held in sets),
            *((weight + idf, part * share, (*held, term)) for weight, part, held in sets),
        ]
    sets.sort(key=lambda s: (-s[0], len(s[2])))
    reaches = accumulate(part * statistics.units for _, part, _ in sets)
    enough = sum(1 for reach in reaches if reach <= MATCHED)
    smallest: list[tuple[str, ...]] = []
    for group in sorted((held for _, _, held in sets[: max(1, enough)] if held), key=len):
        if not any(set(other) <= set(group) for other in smallest):
            smallest.append(group)
    return smallest, not enough


def _best(found: Iterable[Match | Unit], query: Query, statistics: Statistics) -> list[int]:
    """Turns by the scores of their own words, best first."""
    average = statistics.average
    wanted = [(f" {t}", f" {t} ", statistics.idf(t)) for t in candidate_terms(query)]
    k1, b = DEFAULTS.saturation, DEFAULTS.by_length
    scored = []
    for match in found:
        norm = k1 * (1 - b + b * match.length / average)
        score, text = 0.0, match.indexed
        for head, term, weight in wanted:
            if head in text and (n := text.count(term)):  # a search for what ends in a letter is twice as fast
                score += weight * n / (n + norm)
        scored.append((-score, -match.number))
    scored.sort()
    return [-number for _, number in scored]
