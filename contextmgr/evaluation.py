"""How good a search is: gold files, measures per question, and means with bootstrap intervals.

A gold file is JSON lines, one question each, in UTF-8:

    {"query": "why did the nightly export fail?", "turns": [14], "conversation": "c-42", "category": "lookup"}

``turns`` are the numbers of the turns that answer, at least one.  ``conversation`` and ``category`` may be left out.
Lines that are blank are skipped.
"""

from __future__ import annotations

import json
import math
import random
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

from contextmgr.errors import InputError

RECALL_AT = (5, 10, 20)
SAMPLES = 1_000
LEVEL = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Gold:
    """A question and the numbers of the turns that answer it."""

    query: str
    turns: frozenset[int]
    conversation: str | None = None
    category: str = "all"


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean over questions, and the bounds that a share `LEVEL` of resampled means lie within."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:.3f} [{self.low:.3f}, {self.high:.3f}]"


@dataclass(frozen=True, slots=True)
class Score:
    """Means of every measure over ``questions`` questions."""

    questions: int
    measures: Mapping[str, Interval]


def read_gold(lines: Iterable[str]) -> list[Gold]:
    """The questions of a gold file.  Raises `InputError` that names the line for one that is none."""
    return [_gold(line, number) for number, line in enumerate(lines, 1) if line.strip()]


def measures(ranked: Sequence[int], relevant: AbstractSet[int]) -> dict[str, float]:
    """Measures of one answer, each 0 to 1: ``ranked`` are different turn numbers, best first; at least one relevant.

    ``recall@k``: share of the relevant turns among the first k.  ``any_hit@10``: whether there is any among ten.
    ``ndcg@10``: gain discounted by rank, of what the best order had gained.  ``mrr``: 1 / rank of the first.
    """
    if not relevant:
        raise InputError("a question without a relevant turn cannot be measured; leave it out")
    hits = [number in relevant for number in ranked]
    ideal = sum(1 / math.log2(place + 2) for place in range(min(len(relevant), 10)))
    gain = sum(1 / math.log2(place + 2) for place, hit in enumerate(hits[:10]) if hit)
    recalls = {f"recall@{k}": sum(hits[:k]) / len(relevant) for k in RECALL_AT}
    first = hits.index(True) + 1 if True in hits else 0
    return {
        **recalls,
        "any_hit@10": float(any(hits[:10])),
        "ndcg@10": gain / ideal,
        "mrr": 1 / first if first else 0.0,
    }


def interval(values: Sequence[float], *, samples: int = SAMPLES, seed: int = 0) -> Interval:
    """Mean of at least one value, with its bootstrap interval by percentiles; the same seed gives the same bounds."""
    if not values:
        raise InputError("there is no mean of no values")
    chance = random.Random(seed)
    size = len(values)
    means = sorted(math.fsum(chance.choices(values, k=size)) / size for _ in range(samples))
    outside = (1 - LEVEL) / 2
    return Interval(
        math.fsum(values) / size,
        means[int(outside * samples)],
        means[min(math.ceil((1 - outside) * samples), samples) - 1],
    )


def scores(answers: Iterable[tuple[str, Mapping[str, float]]]) -> dict[str, Score]:
    """By category, and under ``"all"``, the means of the measures of (category, measures of one question)."""
    by_category: dict[str, list[Mapping[str, float]]] = defaultdict(list)
    for category, measured in answers:
        for name in {category, "all"}:
            by_category[name].append(measured)
    return {name: _score(by_category[name]) for name in sorted(by_category, key=lambda name: (name != "all", name))}


def as_json(found: Mapping[str, Score]) -> dict[str, Any]:
    """Scores as plain JSON values, rounded to four digits."""
    return {
        name: {
            "questions": score.questions,
            **{m: [round(v, 4) for v in (i.mean, i.low, i.high)] for m, i in score.measures.items()},
        }
        for name, score in found.items()
    }


def _score(measured: Sequence[Mapping[str, float]]) -> Score:
    return Score(len(measured), {name: interval([m[name] for m in measured]) for name in measured[0]})


def _gold(line: str, number: int) -> Gold:
    try:
        raw = json.loads(line)
    except json.JSONDecodeError as error:
        raise InputError(f"line {number} of the gold file is not JSON: {error}") from error
    if not isinstance(raw, dict) or not isinstance(raw.get("query"), str) or not raw["query"].strip():
        raise InputError(f'line {number} of the gold file needs an object with a "query"')
    turns = raw.get("turns")
    if not isinstance(turns, list) or not turns or not all(type(n) is int and n > 0 for n in turns):
        raise InputError(f'line {number} of the gold file needs "turns": at least one number from 1, not {turns!r}')
    return Gold(
        query=raw["query"],
        turns=frozenset(turns),
        conversation=_optional(raw, "conversation", number),
        category=_optional(raw, "category", number) or "all",
    )


def _optional(raw: Mapping[str, Any], name: str, number: int) -> str | None:
    value = raw.get(name)
    if value is not None and not isinstance(value, str):
        raise InputError(f"line {number} of the gold file: {name!r} must be a string, not {value!r}")
    return value
