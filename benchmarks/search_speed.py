"""How long a search takes: in one long conversation, and in a large store of many; and how fast turns are indexed.

    python -m benchmarks.search_speed [--turns 100000] [--store 1000000] [--conversations 1000] [--json]

Texts are made of words that are as unevenly frequent as in a language, about 60 per turn.  Index rows are written by
the store's own statements, many to a commit.  Queries are questions of one turn's words: one rare, two middling, three
that are common.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from pathlib import Path
from typing import Any

from contextmgr import Manager
from contextmgr.indexing import Indexer, index_text
from contextmgr.ranking import Unit
from contextmgr.retrieval import Searcher
from contextmgr.scope import Scope
from contextmgr.store import ConversationRecord, Store, open_store
from contextmgr.turns import Turn

WORDS = 30_000
LENGTH = 60
START = datetime(2026, 1, 1, tzinfo=UTC)
COMMIT = 5_000
_SYLLABLES = ("ba", "co", "di", "fu", "ge", "ha", "lo", "mi", "nu", "pe", "ra", "so", "ti", "vu", "ze", "ka")


@dataclass(slots=True)
class Language:
    """Words by frequency, and a stream of text made of them."""

    words: list[str]
    weights: list[float]
    random: random.Random

    @classmethod
    def made(cls, seed: int = 7) -> Language:
        """A vocabulary; the n-th word is about 1/n as frequent as the first."""
        words = ["".join(_SYLLABLES[(i >> 4 * p) & 15] for p in range(4)) + "k" for i in range(WORDS)]
        weights = list(accumulate(1 / (rank + 3) ** 0.95 for rank in range(WORDS)))
        return cls(words, weights, random.Random(seed))

    def turns(self, count: int) -> Iterator[list[str]]:
        """Turns of about `LENGTH` words, taken from anywhere in one long text."""
        pool = self.random.choices(self.words, cum_weights=self.weights, k=1_000_000)
        for _ in range(count):
            at = self.random.randrange(len(pool) - 2 * LENGTH)
            yield pool[at : at + self.random.randrange(LENGTH // 2, 3 * LENGTH // 2)]

    def question(self, said: Sequence[str]) -> str:
        """Six words of a turn: the rarest, two of the middle, three common ones."""
        rank = {w: i for i, w in enumerate(self.words)}
        known = sorted(set(said), key=lambda w: -rank[w])
        middle = len(known) // 2
        return " ".join([known[0], *known[middle : middle + 2], *known[-3:]])


def filled(store: Store, scope: Scope, name: str, texts: Iterator[list[str]]) -> list[list[str]]:
    """Write a conversation with its index; returns every hundredth turn."""
    seen: list[list[str]] = []
    with store.writing(scope) as tx:
        tx.create_conversation(ConversationRecord(id=name, created_at=START, updated_at=START))
    units: list[Unit] = []
    number = 0
    for number, words in enumerate(texts, 1):
        units.append(unit(number, words))
        if number % 100 == 1:
            seen.append(words)
        if len(units) == COMMIT:
            flush(store, scope, name, units)
    flush(store, scope, name, units)
    return seen


def unit(number: int, words: Sequence[str]) -> Unit:
    """A turn as it is indexed; every tenth begins an episode."""
    indexed = "".join(f" {w} " for w in words)
    role: Any = "user" if number % 2 else "assistant"
    return Unit(number=number, role=role, indexed=indexed, length=len(words), episode=number - number % 10, at=START)


def flush(store: Store, scope: Scope, name: str, units: list[Unit]) -> None:
    """Write turns and their rows."""
    if not units:
        return
    with store.writing(scope) as tx:
        for made in units:
            at = START + timedelta(seconds=made.number)
            said, _ = tx.next_turn(name, at)
            block = {"type": "text", "text": " ".join(made.indexed.split())}
            author: Any = "user" if made.role == "user" else "model"
            tx.add_turn(name, Turn(number=said, role=made.role, author=author, blocks=(block,), said_at=at), None)
        tx.search.put(name, units, (), units[-1].number)
    units.clear()


def timed(store: Store, places: Sequence[tuple[Scope, str, str]]) -> dict[str, float]:
    """Milliseconds of this process's own time per search: median and 95th percentile."""
    took = []
    for scope, name, question in places:
        searcher = Searcher(store, scope, lambda text: len(text) // 4)
        start = time.process_time()
        found = searcher.search(name, question, 8)
        took.append((time.process_time() - start) * 1_000)
        assert found, question
    took.sort()
    return {"p50": round(statistics.median(took), 2), "p95": round(took[int(len(took) * 0.95)], 2)}


def one_long(folder: Path, turns: int, searches: int) -> dict[str, Any]:
    """One conversation."""
    language, scope = Language.made(), Scope(tenant="bench")
    store = open_store(folder / "long.db")
    start = time.perf_counter()
    seen = filled(store, scope, "c", language.turns(turns))
    built = time.perf_counter() - start
    places = [(scope, "c", language.question(language.random.choice(seen))) for _ in range(searches)]
    found = timed(store, places)
    store.close()
    return {"turns": turns, **found, "written_per_s": round(turns / built)}


def many(folder: Path, turns: int, conversations: int, searches: int) -> dict[str, Any]:
    """Many conversations of equal length in one store, of as many tenants."""
    language = Language.made()
    store = open_store(folder / "many.db")
    places = []
    for i in range(conversations):
        scope = Scope(tenant=f"t{i}")
        seen = filled(store, scope, "c", language.turns(turns // conversations))
        places.append((scope, "c", language.question(language.random.choice(seen))))
    found = timed(store, [language.random.choice(places) for _ in range(searches)])
    start = time.perf_counter()
    with store.writing(places[0][0]) as tx:
        tx.erase_turn("c", 1)
    store.scrub()
    erased = time.perf_counter() - start
    store.close()
    size = (folder / "many.db").stat().st_size
    return {"turns": turns, "conversations": conversations, **found, "erasing_s": round(erased, 2), "bytes": size}


def indexing(folder: Path, turns: int) -> dict[str, Any]:
    """Turns of text indexed from the store, per second; the analysis is most of it."""
    language = Language.made()
    with Manager(folder / "index.db", background=False) as manager:
        chat = manager.conversation("c", tenant="bench")
        with manager._store.writing(chat.scope) as tx:
            for words in language.turns(turns):
                number, _ = tx.next_turn("c", START)
                role: Any = "user" if number % 2 else "assistant"
                block = {"type": "text", "text": " ".join(words)}
                author: Any = "user" if role == "user" else "model"
                tx.add_turn("c", Turn(number=number, role=role, author=author, blocks=(block,), said_at=START), None)
        start = time.process_time()
        done = Indexer(manager._store, chat.scope).run("c", lambda: True)
        took = time.process_time() - start
        characters = len(index_text(chat.history.turn(1)))
    return {"turns": done, "per_s": round(done / took), "characters_per_turn": characters}


def main() -> None:
    """Run all three and print what they took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=100_000)
    parser.add_argument("--store", type=int, default=1_000_000)
    parser.add_argument("--conversations", type=int, default=1_000)
    parser.add_argument("--searches", type=int, default=200)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        result = {"indexing": indexing(folder, 5_000), "long": one_long(folder, given.turns, given.searches)}
        if given.store:
            result["many"] = many(folder, given.store, given.conversations, given.searches)
    print(json.dumps(result) if given.json else "\n".join(f"{k}: {v}" for k, v in result.items()))


if __name__ == "__main__":
    main()
