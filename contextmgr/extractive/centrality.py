"""How central each text is among others (LexRank), and how alike two of them are.

Sparse vectors in plain Python: words weighted by rarity, compared through an index of words, so the cost follows the
words that texts share and not the number of pairs.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

LIKE = 0.1
"""Cosine from which two texts are neighbours."""
_DAMPING = 0.85
_ROUNDS = 12  # enough for the order: what is left moves scores by less than 0.85 ** 12 = 14 % of their spread
_COMMON = 0.3  # share of the texts from which a word tells nothing of what a text is about

Vector = Mapping[str, float]
Likeness = list[dict[int, float]]
"""For each text its neighbours with their cosine, itself left out."""


def vectors(bags: Sequence[Sequence[str]]) -> list[Vector]:
    """A unit vector for each bag of words: frequency times rarity among the bags; {} for an empty one."""
    spread = Counter(term for bag in bags for term in set(bag))
    common = max(3.0, _COMMON * len(bags))
    rarity = {t: math.log(1 + len(bags) / n) for t, n in spread.items() if n <= common}
    found: list[Vector] = []
    for bag in bags:
        weights = {t: (1 + math.log(n)) * rarity[t] for t, n in Counter(bag).items() if t in rarity}
        norm = math.sqrt(sum(w * w for w in weights.values()))
        found.append({t: w / norm for t, w in weights.items()})
    return found


def likeness(found: Sequence[Vector]) -> Likeness:
    """Cosines of at least `LIKE` between the vectors, both ways."""
    holders: dict[str, list[tuple[int, float]]] = defaultdict(list)
    rows: Likeness = [{} for _ in found]
    for i, vector in enumerate(found):
        dots: dict[int, float] = defaultdict(float)
        for term, weight in vector.items():
            for j, other in holders[term]:
                dots[j] += weight * other
            holders[term].append((i, weight))
        for j, dot in dots.items():
            if dot >= LIKE:
                rows[i][j] = rows[j][i] = min(1.0, dot)
    return rows


def lexrank(rows: Likeness) -> list[float]:
    """Centrality of each text, 0 to 1, the most central 1: what a walk from like to like visits most."""
    size = len(rows)
    sums = [sum(row.values()) for row in rows]
    steps = [[(j, like / total) for j, like in row.items()] for row, total in zip(rows, sums, strict=True)]
    scores = [1.0] * size
    for _ in range(_ROUNDS):
        following = [1 - _DAMPING] * size
        for score, step in zip(scores, steps, strict=True):
            given = _DAMPING * score
            for j, share in step:
                following[j] += given * share
        scores = following
    most = max(scores, default=1.0)
    return [score / most for score in scores]
