"""How long a search takes: in one long conversation, in a large store of many, and across its chats; what the cut of
candidates costs; and how fast turns are indexed.

    python -m benchmarks.search_speed [--turns 100000] [--store 1000000] [--conversations 1000] [--folder DIR]
        [--data DIR] [--json]

Texts are made of words that are as unevenly frequent as in a language, about 60 per turn.  Index rows are written by
the store's own statements, many to a commit.  Questions are words of one turn: ``mixed`` one rare, two middling, three
common; ``common`` the four commonest.  Times are this process's own processor time.  ``--folder`` keeps the stores, and
uses those that are there.  ``--data`` has the sets of ``benchmarks.retrieval``: the conversations of a set are put
one behind the other, and what searching finds of the evidence is compared with what scoring every message finds.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from pathlib import Path
from typing import Any

from benchmarks.corpora import SetName, load
from benchmarks.retrieval import UNANSWERABLE
from contextmgr import Manager
from contextmgr.indexing import Indexer, index_text
from contextmgr.ranking import Statistics, Unit, query_terms, rank
from contextmgr.retrieval import Searcher
from contextmgr.retrieval.finding import find
from contextmgr.retrieval.grounds import OneChat
from contextmgr.scope import Scope
from contextmgr.store import ConversationRecord, Store, open_store
from contextmgr.turns import Turn

WORDS = 30_000
LENGTH = 60
START = datetime(2026, 1, 1, tzinfo=UTC)
POOL = 2_000_000
COMMIT = 5_000
SMALL = (10, 5, 100)  # scopes beside the large one, chats in each, turns in each chat
K = 8
SETS: tuple[SetName, ...] = ("locomo", "beam")
COMPARED = 10  # questions whose answers are compared with those of scoring every turn
_SYLLABLES = ("ba", "co", "di", "fu", "ge", "ha", "lo", "mi", "nu", "pe", "ra", "so", "ti", "vu", "ze", "ka")


@dataclass(slots=True)
class Language:
    """Words by frequency, and a stream of text made of them."""

    words: list[str]
    ranks: dict[str, int]
    random: random.Random
    pool: list[str]

    @classmethod
    def made(cls, seed: int = 7) -> Language:
        """A vocabulary; the n-th word is about 1/n as frequent as the first."""
        words = ["".join(_SYLLABLES[(i >> 4 * p) & 15] for p in range(4)) + "k" for i in range(WORDS)]
        weights = list(accumulate(1 / (rank + 3) ** 0.95 for rank in range(WORDS)))
        chance = random.Random(seed)
        pool = chance.choices(words, cum_weights=weights, k=POOL)
        return cls(words, {w: i for i, w in enumerate(words)}, chance, pool)

    def turns(self, count: int) -> Iterator[list[str]]:
        """Turns of about `LENGTH` words, taken from anywhere in one long text."""
        for _ in range(count):
            at = self.random.randrange(len(self.pool) - 2 * LENGTH)
            yield self.pool[at : at + self.random.randrange(LENGTH // 2, 3 * LENGTH // 2)]

    def questions(self, said: Sequence[str]) -> dict[str, str]:
        """Words of a turn, by kind of question."""
        known = sorted(set(said), key=lambda w: -self.ranks[w])
        middle = len(known) // 2
        mixed = [known[0], *known[middle : middle + 2], *known[-3:]]
        return {"mixed": " ".join(mixed), "common": " ".join(known[-4:])}


def filled(store: Store, scope: Scope, name: str, texts: Iterator[list[str]]) -> list[list[str]]:
    """Write a conversation with its index; returns every hundredth turn."""
    seen: list[list[str]] = []
    with store.writing(scope) as tx:
        used = START + timedelta(seconds=int(name[1:] or 0))
        tx.create_conversation(ConversationRecord(id=name, created_at=START, updated_at=used))
    units: list[Unit] = []
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
            at = START + timedelta(seconds=made.number + int(name[1:] or 0))
            said, _ = tx.next_turn(name, at)
            block = {"type": "text", "text": " ".join(made.indexed.split())}
            author: Any = "user" if made.role == "user" else "model"
            tx.add_turn(name, Turn(number=said, role=made.role, author=author, blocks=(block,), said_at=at), None)
        tx.search.put(name, units, (), units[-1].number)
    units.clear()


Ask = Callable[[Searcher, str, str], Sequence[Any]]
Place = tuple[Scope, str, dict[str, str]]  # a conversation, and questions about it by kind


def in_one(searcher: Searcher, name: str, question: str) -> Sequence[Any]:
    """Search one conversation."""
    return searcher.search(name, question, K)


def in_all(searcher: Searcher, _name: str, question: str) -> Sequence[Any]:
    """Search all chats of the scope."""
    return searcher.search_chats(question, K)


def timed(store: Store, places: Sequence[Place], ask: Ask) -> dict[str, dict[str, float]]:
    """Milliseconds of this process's own time per search, by kind of question: median and 95th percentile."""
    found = {}
    for kind in places[0][2]:
        took = []
        for scope, name, questions in places:
            searcher = Searcher(store, scope, lambda text: len(text) // 4)
            start = time.process_time()
            hits = ask(searcher, name, questions[kind])
            took.append((time.process_time() - start) * 1_000)
            assert hits, questions
        found[kind] = percentiles(took)
    return found


def percentiles(took: Sequence[float]) -> dict[str, float]:
    """The median and the 95th percentile."""
    return {"p50": round(statistics.median(took), 2), "p95": round(sorted(took)[int(len(took) * 0.95)], 2)}


def compared(store: Store, scope: Scope, name: str, places: Sequence[Place], turns: int) -> dict[str, float]:
    """How many of the first eight turns are those that scoring every turn of the conversation gives, 0 to 1."""
    with store.reading(scope) as tx:
        units = tx.search.units(name, range(1, turns + 1))
    whole, searcher = Statistics.of(units), Searcher(store, scope, len)
    shares: dict[str, list[float]] = {}
    for _, _, questions in places[:COMPARED]:
        for kind, question in questions.items():
            best = [h.number for h in rank(query_terms(question), units, whole, k=K)]
            found = {h.turn for h in searcher.search(name, question, K)}
            shares.setdefault(kind, []).append(len(found.intersection(best)) / len(best))
    return {kind: round(statistics.fmean(values), 3) for kind, values in shares.items()}


def one_long(folder: Path, turns: int, searches: int) -> dict[str, Any]:
    """One conversation."""
    language, scope, file = Language.made(), Scope(tenant="bench"), folder / f"long-{turns}.db"
    done = file.exists()
    store = open_store(file)
    start = time.process_time()
    seen = [w for i, w in enumerate(language.turns(turns)) if i % 100 == 0]
    if not done:
        filled(store, scope, "c", Language.made().turns(turns))
    built = time.process_time() - start
    places = [(scope, "c", language.questions(language.random.choice(seen))) for _ in range(searches)]
    found: dict[str, Any] = {"search": timed(store, places, in_one), "search_chats": timed(store, places, in_all)}
    overlap = compared(store, scope, "c", places, turns)
    store.close()
    return {"turns": turns, **found, "overlap_at_8": overlap, "built_s": None if done else round(built)}


def many(folder: Path, turns: int, conversations: int, searches: int) -> dict[str, Any]:
    """Many conversations of equal length in one scope, beside a few small scopes in the same store."""
    file = folder / f"many-{turns}-{conversations}.db"
    done = file.exists()
    store, language, start = open_store(file), Language.made(), time.process_time()
    large, small = [], []
    scopes, chats, length = SMALL
    step = max(1, conversations // (scopes * chats))
    for i in range(conversations):
        seen = written(store, Scope(tenant="large"), f"c{i}", language, turns // conversations, done=done)
        large.append((Scope(tenant="large"), f"c{i}", language.questions(seen)))
        if i % step == 0:
            scope = Scope(tenant=f"small-{i // step % scopes}")
            small.append(
                (scope, f"c{i}", language.questions(written(store, scope, f"c{i}", language, length, done=done)))
            )
    built = time.process_time() - start
    chosen, few = ([language.random.choice(places) for _ in range(searches)] for places in (large, small))
    found = {
        "search": timed(store, chosen, in_one),
        "search_chats": timed(store, chosen, in_all),
        "search_chats_of_a_small_scope": timed(store, few, in_all),
    }
    store.close()
    size = file.stat().st_size
    return {
        "turns": turns,
        "conversations": conversations,
        **found,
        "built_s": None if done else round(built),
        "bytes": size,
    }


def written(store: Store, scope: Scope, name: str, language: Language, turns: int, *, done: bool) -> list[str]:
    """Write a conversation unless that was ``done`` before; returns one of its turns."""
    if not done:
        return language.random.choice(filled(store, scope, name, language.turns(turns)))
    return language.random.choice([w for i, w in enumerate(language.turns(turns)) if i % 100 == 0])


def indexing(folder: Path, turns: int) -> dict[str, Any]:
    """Turns of text indexed from the store, per second; the analysis is most of it."""
    language = Language.made()
    with tempfile.TemporaryDirectory(dir=folder) as name, Manager(Path(name) / "a.db", background=False) as manager:
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


def merged(name: SetName, directory: Path) -> tuple[list[Unit], list[tuple[str, frozenset[int]]]]:
    """The messages of a set as one conversation, and questions with the numbers of their evidence."""
    units, questions, before = list[Unit](), [], 0
    for corpus in load(name, directory):
        for m in corpus.messages:
            at = m.at.replace(tzinfo=UTC) if m.at else None
            units.append(Unit.of(before + m.number, m.role, m.text, episode=before + m.episode, at=at))
        answerable = (q for q in corpus.questions if q.category != UNANSWERABLE)
        questions += [(q.text, frozenset(before + n for n in q.evidence)) for q in answerable]
        before += len(corpus.messages)
    return units, questions


def cut(name: SetName, directory: Path, most: int) -> dict[str, Any]:
    """What the bounds of searching cost on conversations that people had."""
    units, questions = merged(name, directory)
    chosen = random.Random(1).sample(questions, min(most, len(questions)))
    store, scope, whole = open_store("sqlite://"), Scope(tenant="bench"), Statistics.of(units)
    with store.writing(scope) as tx:
        tx.create_conversation(ConversationRecord(id="c", created_at=START, updated_at=START))
        tx.search.put("c", units, (), len(units))
    sums = dict.fromkeys(("searched", "all", "overlap"), 0.0)
    took = []
    for question, evidence in chosen:
        query = query_terms(question)
        best = [h.number for h in rank(query, units, whole, k=10)]
        start = time.process_time()
        with store.reading(scope) as tx:
            hits, _ = find(OneChat(tx.search, "c"), query, (), 10, shown=lambda _: True)
        took.append((time.process_time() - start) * 1_000)
        found = [h.number for h in hits]
        sums["searched"] += len(evidence.intersection(found)) / len(evidence)
        sums["all"] += len(evidence.intersection(best)) / len(evidence)
        sums["overlap"] += len(set(found[:K]) & set(best[:K])) / max(1, len(best[:K]))
    store.close()
    shares = {key: round(value / len(chosen), 3) for key, value in sums.items()}
    return {
        "messages": len(units),
        "questions": len(chosen),
        "recall_at_10": shares["searched"],
        "recall_at_10_of_scoring_all": shares["all"],
        "overlap_at_8": shares["overlap"],
        **percentiles(took),
    }


def main() -> None:
    """Run all three and print what they took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=100_000)
    parser.add_argument("--store", type=int, default=1_000_000)
    parser.add_argument("--conversations", type=int, default=1_000)
    parser.add_argument("--searches", type=int, default=200)
    parser.add_argument("--folder", type=Path, help="keep the stores here, and use those that are there")
    parser.add_argument("--data", type=Path, help="folder of the sets locomo and beam")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = given.folder or Path(name)
        folder.mkdir(exist_ok=True)
        result: dict[str, Any] = {"indexing": indexing(folder, 5_000)}
        if given.turns:
            result["long"] = one_long(folder, given.turns, given.searches)
        if given.store:
            result["many"] = many(folder, given.store, given.conversations, given.searches)
    if given.data:
        result["cut"] = {name: cut(name, given.data, given.searches) for name in SETS}
    print(json.dumps(result) if given.json else "\n".join(f"{k}: {v}" for k, v in result.items()))


if __name__ == "__main__":
    main()
