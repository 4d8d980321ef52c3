"""``contextmgr eval recall``: how often search finds the turns that a gold file names."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer
from rich import box
from rich.table import Table

from contextmgr.cli.console import output
from contextmgr.cli.existing import existing_store
from contextmgr.counters import default_counter
from contextmgr.errors import InputError, NotFoundError
from contextmgr.evaluation import RECALL_AT, Gold, Interval, Score, as_json, measures, read_gold, scores
from contextmgr.manager import Manager
from contextmgr.replay.storing import store_session
from contextmgr.retrieval import MOST, TAIL, Searcher
from contextmgr.scope import Scope, check_name
from contextmgr.store import Store, open_store
from contextmgr.transcripts import read_sessions

DEPTH = max(RECALL_AT)
SESSION = "0"  # the conversation of a recorded file that is meant where none is named: its first
_TENANT = "eval"
_COLUMNS = (*(f"recall@{k}" for k in RECALL_AT), "any_hit@10", "ndcg@10", "mrr")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where the gold file's conversations are: an existing store with a scope, or a recorded session.

    ``conversation`` is meant by questions that name none.
    """

    store: str | None
    session: Path | None
    tenant: str | None
    user: str | None = None
    project: str | None = None
    conversation: str | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """What was found: scores by category, questions that found nothing, conversations with turns nobody searched."""

    scores: Mapping[str, Score]
    k: int
    silent: int
    behind: Mapping[str, int]

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        notes = {"k": self.k, "found_nothing": self.silent, "not_indexed": dict(self.behind)}
        return {**notes, "scores": as_json(self.scores)}


def run(gold: Path, place: Place, *, k: int, as_json: bool) -> None:
    """Search every question of a gold file and print how well that went.

    Raises `InputError` for a file that is none, a question without a conversation or about a turn that is not there,
    and options that do not go together; `StoreError` for a store that is not there; `NotFoundError` for a conversation
    that is not in the scope; `TranscriptError` for a session that cannot be read.
    """
    if not 1 <= k <= MOST:
        raise InputError(f"-k {k} must be a number from 1 to {MOST}")
    questions = _questions(gold)
    with _opened(place) as (store, scope):
        found = evaluated(questions, store, scope, place.conversation or (SESSION if place.session else None), k=k)
    if as_json:
        typer.echo(json.dumps(found.to_json(), ensure_ascii=False))
    else:
        output().print(table(found))
        for line in _notes(found):
            output().print(line, markup=False)


def evaluated(questions: Sequence[Gold], store: Store, scope: Scope, default: str | None, *, k: int) -> Found:
    """Search the conversations of a scope for every question.  Raises as `run` does.

    A turn that says the same as a hit, and was folded into it for that reason, counts as standing right behind it.
    """
    named = [(q, _name(q, default)) for q in questions]
    behind = _check(store, scope, named)
    searcher = Searcher(store, scope, default_counter().count)
    answers, silent = [], 0
    for question, name in named:
        hits = searcher.search(name, question.query, k)
        silent += not hits
        ranked = list(dict.fromkeys(n for hit in hits for n in (hit.turn, *hit.also)))
        answers.append((question.category, measures(ranked, question.turns)))
    return Found(scores(answers), k, silent, behind)


def table(found: Found) -> Table:
    """One row per category: the mean of each measure, and below it the bounds of its 95 % interval."""
    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    shown.add_column("category", overflow="fold", min_width=8)
    for name in ("questions", *_COLUMNS):
        shown.add_column(name.replace("_", " "), justify="right", no_wrap=True)
    for category, score in found.scores.items():
        cells = [_cell(score.measures[name]) for name in _COLUMNS]
        shown.add_row(category.replace("[", "\\["), f"{score.questions:,}", *cells)
    return shown


def _cell(value: Interval) -> str:
    return f"{value.mean:.3f}\n{value.low:.3f}-{value.high:.3f}"


def _notes(found: Found) -> Iterator[str]:
    yield f"means over questions, with 95 % bootstrap intervals; the best {found.k} turns of each were looked at"
    if found.silent:
        yield f"{found.silent} questions found nothing at all"
    for name, count in found.behind.items():
        yield f"{count:,} turns of {name!r} are not indexed and were not searched: open it with a Manager and flush()"


def _questions(file: Path) -> list[Gold]:
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"the gold file {str(file)!r} cannot be read: {error}") from error
    questions = read_gold(lines)
    if not questions:
        raise InputError(f'the gold file {str(file)!r} holds no question; a line is {{"query": "...", "turns": [14]}}')
    return questions


@contextmanager
def _opened(place: Place) -> Iterator[tuple[Store, Scope]]:
    """The store to be searched, and the scope: an existing one, or one in memory that holds the recorded session."""
    if (place.store is None) == (place.session is None):
        raise InputError("give either --store with --tenant, or --session FILE")
    if place.store is not None:
        if place.tenant is None:
            raise InputError("--store needs --tenant: whose conversations are searched has no default")
        store = existing_store(place.store)
        try:
            yield store, Scope(tenant=place.tenant, user=place.user, project=place.project)
        finally:
            store.close()
    elif place.session is not None:
        with _recorded(place.session) as store:
            yield store, Scope(tenant=_TENANT)


@contextmanager
def _recorded(file: Path) -> Iterator[Store]:
    """A store in memory with the conversations of a recorded file, named by their places in it: 0, 1, 2 …"""
    sessions = read_sessions(file)
    store = open_store("sqlite://")
    with Manager(store, background=False) as manager:
        for session in sessions:
            store_session(session, manager.conversation(str(session.index), tenant=_TENANT))
            manager.flush()
        yield store


def _name(question: Gold, default: str | None) -> str:
    name = question.conversation or default
    if name is None:
        raise InputError(
            f"the question {question.query[:60]!r} names no conversation; name one in its line, or give --conversation"
        )
    return check_name("conversation", name)


def _check(store: Store, scope: Scope, named: Sequence[tuple[Gold, str]]) -> dict[str, int]:
    """Turns that a search cannot find yet, by conversation.  Raises for conversations and turns that are not there."""
    behind: dict[str, int] = {}
    with store.reading(scope) as tx:
        for question, name in named:
            record = tx.conversation(name)
            if record is None:
                raise NotFoundError(
                    f"the question {question.query[:60]!r} is about conversation {name!r}, not found here"
                )
            if max(question.turns) > record.last_turn:
                turn = max(question.turns)
                raise InputError(
                    f"the question {question.query[:60]!r} is answered by turn {turn}, but {name!r} has "
                    f"{record.last_turn:,} turns; number them as the store does, from 1"
                )
            waiting = record.last_turn - tx.search.state(name).upto - TAIL
            behind |= {name: waiting} if waiting > 0 else {}
    return behind
