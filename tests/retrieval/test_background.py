"""The thread beside the reply path: it gets on, gives way, and forgets nobody."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest

from contextmgr import background
from contextmgr.background import Background
from contextmgr.scope import Scope

SCOPE = Scope(tenant="t")


class Work:
    """Steps that were done, by conversation; each asks first whether to go on."""

    def __init__(self, steps: int) -> None:
        self.steps = steps
        self.done: dict[str, int] = {}
        self.ended = threading.Event()

    def run(self, scope: Scope, conversation: str, going: Callable[[], bool]) -> int:
        """Do the steps."""
        while self.left(scope, conversation) and going():
            self.done[conversation] = self.done.get(conversation, 0) + 1
        self.ended.set()
        return self.steps

    def left(self, scope: Scope, conversation: str) -> int:
        """Steps that are left."""
        return self.steps - self.done.get(conversation, 0)


@pytest.fixture
def work() -> Work:
    return Work(20)


@pytest.fixture
def thread(work: Work) -> Iterator[Background]:
    made = Background(work.run, work.left)
    yield made
    made.close(5)


def test_it_gets_on_while_turns_keep_coming(thread: Background, work: Work) -> None:
    thread.add(SCOPE, "c")
    while not work.ended.wait(0.001):
        thread.add(SCOPE, "other", wake=False)
    assert work.done["c"] == 20


def test_flush_does_not_wait_for_its_pauses(thread: Background, work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    work.steps = 10_000
    monkeypatch.setattr(background, "SHORTEST", 0.02)  # with pauses it would take minutes
    thread.add(SCOPE, "c")
    assert thread.flush(30) == 0


def test_those_that_nobody_woke_it_for_get_their_turn(
    thread: Background, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "PATIENCE", 0.01)
    thread.add(SCOPE, "c", wake=False)
    assert work.ended.wait(10)
    assert thread.flush(10) == 0
    assert work.done == {"c": 20}


def test_without_a_thread_only_flush_works(work: Work) -> None:
    made = Background(work.run, work.left, threaded=False)
    made.add(SCOPE, "c")
    assert work.done == {}
    assert made.flush(10) == 0
    assert work.done == {"c": 20}
    made.close(1)


def test_closing_ends_a_pause(thread: Background, work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    work.steps = 10_000
    monkeypatch.setattr(background, "SHORTEST", 60.0)
    monkeypatch.setattr(background, "LONGEST", 60.0)
    thread.add(SCOPE, "c")
    thread.close(30)
    assert work.ended.is_set() or not work.done
