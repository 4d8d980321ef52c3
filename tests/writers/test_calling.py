"""call_writer with plain functions: every way to fail has its reason, and the limit holds whatever they do."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from contextmgr.errors import ContextManagerError, InputError
from contextmgr.writers import (
    MAX_ABANDONED,
    SUMMARY_SCHEMA,
    Reason,
    WriterError,
    abandoned_calls,
    call_writer,
    writer_name,
)
from tests.writers.scripted import GOOD, GOOD_TEXT

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 0.2


def ask(writer: Any, timeout: float = 5.0, **more: Any) -> Any:
    return call_writer(writer, "Take notes.", SUMMARY_SCHEMA, timeout=timeout, **{"sleep": lambda _: None, **more})


def failure(writer: Any, timeout: float = 5.0) -> WriterError:
    with pytest.raises(WriterError) as caught:
        ask(writer, timeout)
    return caught.value


class Fails:
    """A writer that raises, and counts how often it was called; after ``times`` it answers."""

    def __init__(self, error: BaseException, times: int = 99) -> None:
        self.error, self.times, self.called = error, times, 0

    def __call__(self, prompt: str, schema: Any) -> Any:
        self.called += 1
        if self.called > self.times:
            return GOOD
        raise self.error


class StatusError(Exception):
    def __init__(self, status_code: int) -> None:
        super().__init__(f"status {status_code}")
        self.status_code = status_code


async def answers(prompt: str, schema: Any) -> Any:
    await asyncio.sleep(0)
    return GOOD


class Object:
    async def __call__(self, prompt: str, schema: Any) -> Any:
        return GOOD


@pytest.mark.parametrize(
    "writer",
    [
        lambda prompt, schema: GOOD,
        lambda prompt, schema: GOOD_TEXT,
        answers,
        lambda prompt, schema: answers(prompt, schema),
        partial(answers),
        Object(),
        lambda prompt, schema: asyncio.run(answers(prompt, schema)),
    ],
)
def test_any_callable_is_a_writer(writer: Any) -> None:
    assert ask(writer) == GOOD


@pytest.mark.parametrize(
    ("error", "reason", "calls"),
    [
        (RuntimeError("boom"), "error", 1),
        (SystemExit(), "error", 1),
        (asyncio.CancelledError(), "error", 1),
        (StatusError(404), "error", 1),
        (StatusError(429), "error", 3),
        (StatusError(503), "error", 3),
        (ConnectionResetError(), "error", 3),
        (TimeoutError(), "too late", 3),
        (WriterError("refused", "no"), "refused", 1),
        (WriterError("refused", "not now", retryable=True), "refused", 3),
    ],
)
def test_what_is_raised_has_a_reason(error: BaseException, reason: Reason, calls: int) -> None:
    writer = Fails(error)
    caught = failure(writer)
    assert (caught.reason, caught.attempts, writer.called) == (reason, calls, calls)
    assert isinstance(caught, ContextManagerError)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (None, "empty"),
        ("", "empty"),
        ("  \n", "empty"),
        ('{"items": [{"text": "Chose SQ', "not json"),
        ("notes", "not json"),
        ({}, "schema"),
        ([], "schema"),
        (7, "schema"),
        ({"items": [{"text": "x", "kind": "decision"}]}, "schema"),
        ({"items": [], "mood": "good"}, "schema"),
    ],
)
def test_what_is_no_answer_has_a_reason(answer: object, reason: Reason) -> None:
    assert failure(lambda prompt, schema: answer).reason == reason


def test_a_passing_failure_passes() -> None:
    writer = Fails(ConnectionError(), times=2)
    assert ask(writer) == GOOD
    assert writer.called == 3


def test_pauses_double() -> None:
    pauses: list[float] = []
    with pytest.raises(WriterError):
        ask(Fails(ConnectionError()), 60.0, retries=3, backoff=0.5, sleep=pauses.append)
    assert pauses == [0.5, 1.0, 2.0]


def test_no_pause_that_ends_after_the_limit() -> None:
    writer = Fails(ConnectionError())
    with pytest.raises(WriterError) as caught:
        ask(writer, LIMIT, backoff=1.0, sleep=lambda _: pytest.fail("it must not wait"))
    assert (writer.called, caught.value.retryable) == (1, True)


@pytest.fixture
def hang() -> Iterator[threading.Event]:
    """An event that hanging writers wait for; set at the end, so that no thread is left behind."""
    over = threading.Event()
    yield over
    over.set()
    for thread in threading.enumerate():
        if thread.name.startswith("contextmgr-writer"):
            thread.join(5)


def test_a_hanging_function_is_left_behind_and_counted(hang: threading.Event) -> None:
    def writer(prompt: str, schema: Any) -> Any:
        hang.wait()

    error = failure(writer, LIMIT)
    assert (error.reason, error.retryable, error.attempts) == ("too late", True, 1)
    assert abandoned_calls(writer) == 1
    assert all(t.daemon for t in threading.enumerate() if t is not threading.main_thread())


def test_a_writer_that_keeps_hanging_is_called_no_more(hang: threading.Event) -> None:
    called: list[str] = []

    def writer(prompt: str, schema: Any) -> Any:
        called.append(prompt)
        hang.wait()

    errors = [failure(writer, 0.05) for _ in range(MAX_ABANDONED + 2)]
    assert {e.reason for e in errors} == {"too late"}
    assert "still hang" in str(errors[-1])
    assert len(called) == MAX_ABANDONED
    assert ask(answers) == GOOD  # another writer is not affected


def test_a_writer_that_came_back_is_called_again(hang: threading.Event) -> None:
    def writer(prompt: str, schema: Any) -> Any:
        hang.wait()
        return GOOD

    failure(writer, 0.05)
    hang.set()
    assert ask(writer) == GOOD
    for thread in [t for t in threading.enumerate() if t.name.startswith("contextmgr-writer")]:
        thread.join(5)
    assert abandoned_calls(writer) == 0


def test_a_hanging_coroutine_is_cancelled() -> None:
    cancelled = threading.Event()

    async def writer(prompt: str, schema: Any) -> Any:
        try:
            await asyncio.sleep(60)
        finally:
            cancelled.set()

    assert failure(writer, LIMIT).reason == "too late"
    assert cancelled.wait(5)


def test_the_interpreter_can_end_while_a_writer_hangs() -> None:
    code = (
        "import time\nfrom contextmgr.writers import WriterError, call_writer\n"
        "try:\n    call_writer(lambda p, s: time.sleep(60), 'x', {'type': 'object'}, timeout=0.1)\n"
        "except WriterError as error:\n    print(error.reason)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT, timeout=30)
    assert run.stdout == "too late\n"


def test_a_late_answer_is_not_used(hang: threading.Event) -> None:
    def writer(prompt: str, schema: Any) -> Any:
        hang.wait()
        return GOOD

    error = failure(writer, 0.05)
    hang.set()
    assert error.reason == "too late"


def test_it_works_from_a_thread_of_a_running_loop() -> None:
    async def main() -> Any:
        return await asyncio.to_thread(ask, answers)

    assert asyncio.run(main()) == GOOD


def test_context_variables_reach_the_writer() -> None:
    tenant: ContextVar[str] = ContextVar("tenant")
    tenant.set("acme")
    seen: list[str] = []
    ask(lambda prompt, schema: seen.append(tenant.get()) or GOOD)
    assert seen == ["acme"]


def test_the_writer_gets_prompt_and_schema() -> None:
    got: list[Any] = []
    ask(lambda *given: got.append(given) or GOOD)
    assert got == [("Take notes.", SUMMARY_SCHEMA)]


@pytest.mark.parametrize("numbers", [{"timeout": 0.0}, {"timeout": float("nan")}, {"retries": -1}, {"backoff": -0.1}])
def test_numbers_that_cannot_be_are_refused(numbers: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        ask(answers, **numbers)


def test_a_schema_that_cannot_be_checked_is_refused_before_the_call() -> None:
    writer = Fails(RuntimeError())
    with pytest.raises(InputError, match="pattern"):
        call_writer(writer, "x", {"type": "string", "pattern": "a"}, timeout=LIMIT)
    assert writer.called == 0


class Named:
    name = "claude-haiku-5-5"


@pytest.mark.parametrize(
    ("writer", "name"),
    [
        (Named(), "claude-haiku-5-5"),
        (answers, "answers"),
        (partial(partial(answers)), "answers"),
        (Object(), "Object"),
        (Object().__call__, "Object.__call__"),
    ],
)
def test_every_writer_has_a_name(writer: Any, name: str) -> None:
    assert writer_name(writer) == name
