"""A conversation over a store in memory, its facts extracted by rule or by a scripted writer."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from contextmgr import Manager
from contextmgr.conversation import Conversation
from contextmgr.extraction import Extractor
from contextmgr.facts import Fact, FactScope
from contextmgr.keeping import Keeping
from contextmgr.scope import Scope, Visibility
from contextmgr.store import Store, open_store
from contextmgr.templates import Templates
from tests.field_reports.talk import profile, reply, text

Lines = Sequence[Mapping[str, Any]]
TUESDAY = datetime(2026, 3, 10, 9, tzinfo=UTC)


class Clock:
    """A clock that moves on by a minute per look, from Tuesday, 10 March 2026."""

    def __init__(self) -> None:
        self.now = TUESDAY

    def __call__(self) -> datetime:
        self.now += timedelta(minutes=1)
        return self.now

    def pass_by(self, **span: float) -> None:
        """Let time pass."""
        self.now += timedelta(**span)


class Scribe:
    """A writer that answers from the lines it is shown; ``prompts`` are those it got."""

    def __init__(self, answer: Callable[[Lines], Any]) -> None:
        self.answer = answer
        self.prompts: list[str] = []

    def __call__(self, prompt: str, schema: Mapping[str, Any]) -> Any:
        self.prompts.append(prompt)
        return self.answer(lines_of(prompt))


def lines_of(prompt: str) -> list[dict[str, Any]]:
    """What a prompt shows of the conversation."""
    return [json.loads(line) for line in prompt.split("\n") if line.startswith('{"turn"')]


def claim(key: str, value: str, turn: int, quote: str, kind: str = "fact") -> dict[str, Any]:
    """One fact as a writer gives it."""
    return {"key": key, "value": value, "kind": kind, "turn": turn, "quote": quote}


def telling(*claims: dict[str, Any]) -> Scribe:
    """A writer that says the same whatever it reads."""
    return Scribe(lambda lines: {"facts": list(claims)})


class Talk:
    """One scope's conversations in one store."""

    def __init__(self, store: Store, manager: Manager, writer: Any, scope: Scope, clock: Clock, timeout: float) -> None:
        self.store, self.manager, self.scope, self.clock = store, manager, scope, clock
        self.extractor = Extractor(
            store, scope, Keeping(store, scope, clock), writer, Templates(), lambda t: len(t) // 4 + 1, clock, timeout
        )
        self.chat = self.open("talk")

    def open(self, name: str) -> Conversation:
        """A conversation of the scope."""
        return self.manager.conversation(
            name, tenant=self.scope.tenant, user=self.scope.user, project=self.scope.project
        )

    def said(self, *words: str) -> list[int]:
        """The user and the assistant in turns, the user first; returns the numbers of the turns."""
        found = []
        for n, said in enumerate(words):
            turn = self.chat.add_user(said) if n % 2 == 0 else self.chat.add_reply(reply(text(said)))
            found.append(turn.number)
        return found

    def extract(self, chat: Conversation | None = None) -> int:
        """Extract what is new; returns how many facts were kept."""
        name = (chat or self.chat).id
        self.extractor.ask(name)
        return self.extractor.run(name)

    def extracted(self, *words: str) -> dict[str, Any]:
        """Say these, extract, and return the values in force."""
        self.said(*words)
        self.extract()
        return self.values

    @property
    def facts(self) -> list[Fact]:
        """The facts of the project that are in force, by key."""
        with self.store.reading(self.scope) as tx:
            return sorted(tx.state.facts("", FactScope.PROJECT, 1_000), key=lambda f: f.key)

    @property
    def values(self) -> dict[str, Any]:
        """Their values."""
        return {f.key: f.value for f in self.facts}

    def left(self) -> int:
        """What is left in the outbox for the conversation."""
        with self.store.reading(self.scope) as tx:
            return self.extractor.left(tx, self.chat.id)

    def hide(self, visibility: Visibility, name: str) -> Conversation:
        """Begin a conversation of this visibility."""
        with self.store.writing(self.scope) as tx:
            record = tx.conversation("talk")
            assert record is not None
            tx.create_conversation(replace(record, id=name, visibility=visibility, last_turn=0))
        return self.open(name)


@contextmanager
def talking(
    writer: Any = None, *, scope: Scope | None = None, timeout: float = 30.0, budget: Any = 20_000
) -> Iterator[Talk]:
    """A conversation ``talk`` of tenant ``t-1``; no thread works beside it."""
    clock, store = Clock(), open_store("sqlite://")
    chosen = profile(budget) if isinstance(budget, int) else budget
    with Manager(store, profile=chosen, clock=clock, background=False) as manager:
        yield Talk(store, manager, writer, scope or Scope(tenant="t-1", user="u-1", project="p-1"), clock, timeout)
