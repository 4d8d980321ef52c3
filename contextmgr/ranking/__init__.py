"""Which older turns answer a question: text analysis, scoring, fusion with vectors, excerpts.  Pure: no store, no I/O.

Give `rank` a `Query`, the `Unit` of each candidate and the conversation's `Statistics`; or hold a whole conversation in
an `Index`.
"""

from __future__ import annotations

from contextmgr.ranking.analysis import Token, terms, tokens
from contextmgr.ranking.excerpts import Excerpt, excerpt
from contextmgr.ranking.folding import fold
from contextmgr.ranking.fusion import Cosines, Hit, rank
from contextmgr.ranking.index import Index
from contextmgr.ranking.queries import Query, candidate_terms, query_terms
from contextmgr.ranking.settings import DEFAULTS, Settings
from contextmgr.ranking.standalone import standalone
from contextmgr.ranking.units import Statistics, Unit, joined

__all__ = [
    "DEFAULTS",
    "Cosines",
    "Excerpt",
    "Hit",
    "Index",
    "Query",
    "Settings",
    "Statistics",
    "Token",
    "Unit",
    "candidate_terms",
    "excerpt",
    "fold",
    "joined",
    "query_terms",
    "rank",
    "standalone",
    "terms",
    "tokens",
]
