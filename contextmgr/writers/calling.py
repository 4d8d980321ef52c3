"""Calling a writer: its time limit holds whatever it does, retries are few, and what comes back was checked.

Law: the caller gets an answer that fits its schema or a `WriterError`, no later than the limit.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future
from typing import Any, Final

from contextmgr.errors import InputError
from contextmgr.writers.failures import WriterError, failure_of
from contextmgr.writers.reply import checked
from contextmgr.writers.schema import check_schema
from contextmgr.writers.seam import Answer, Writer, writer_name

MAX_ABANDONED: Final = 4
"""Calls of one writer that may hang in this process before it is no longer called."""

_hanging: list[tuple[Writer, threading.Thread]] = []
_lock = threading.Lock()


def call_writer(
    writer: Writer,
    prompt: str,
    schema: Mapping[str, Any],
    *,
    timeout: float,
    retries: int = 2,
    backoff: float = 0.5,
    sleep: Callable[[float], None] = time.sleep,
) -> Answer:
    """The writer's answer to ``prompt``, checked against ``schema``.

    ``timeout`` is the limit in seconds for everything: attempts, and the pauses between them.  A writer that is still
    busy then is cancelled if it is async, and otherwise left behind on its daemon thread; its answer is not used.
    Failures that may pass (``retryable``) are tried again up to ``retries`` times, after ``backoff``, twice, four times
    as many seconds, or longer if the other side asks for it; never when the pause would end after the limit.

    An async writer runs in an event loop of its own, on its own thread, so this may be called from anywhere except an
    event loop, which it would block.  Raises `WriterError`, and `InputError` for a schema that cannot be checked or
    numbers that cannot be.
    """
    check_schema(schema)
    _check_numbers(timeout, retries, backoff)
    deadline = time.monotonic() + timeout
    attempt = 0
    while True:
        attempt += 1
        try:
            return checked(_run(writer, prompt, schema, deadline - time.monotonic()), schema)
        except WriterError as error:
            error.attempts = attempt
            pause = max(backoff * 2.0 ** (attempt - 1), error.retry_after or 0.0)
            if not error.retryable or attempt > retries or time.monotonic() + pause >= deadline:
                raise
        sleep(pause)


def abandoned_calls(writer: Writer | None = None) -> int:
    """How many calls of ``writer``, or of any, were left behind at their limit and are still busy."""
    with _lock:
        _hanging[:] = [(w, thread) for w, thread in _hanging if thread.is_alive()]
        return sum(writer is None or w is writer for w, _ in _hanging)


def _run(writer: Writer, prompt: str, schema: Mapping[str, Any], limit: float) -> object:
    """What one call returns within ``limit`` seconds.  Raises `WriterError`."""
    busy = abandoned_calls(writer)
    if busy >= MAX_ABANDONED:
        raise WriterError("too late", f"{busy} earlier calls of {writer_name(writer)} still hang; none is added")
    if limit <= 0:
        raise WriterError("too late", "no time is left for another attempt")
    outcome: Future[object] = Future()
    # Not an executor: its threads are joined when the interpreter ends, which one hanging writer would prevent.
    context = contextvars.copy_context()
    thread = threading.Thread(
        target=context.run,
        args=(_work, outcome, writer, prompt, schema, limit),
        name=f"contextmgr-writer-{writer_name(writer)}",
        daemon=True,
    )
    thread.start()
    try:
        error = outcome.exception(timeout=limit)
    except TimeoutError as late:
        with _lock:
            _hanging.append((writer, thread))
        raise WriterError("too late", f"{writer_name(writer)} gave no answer in {limit:.3g} seconds") from late
    if error is not None:
        raise failure_of(error) from error
    return outcome.result()


def _work(outcome: Future[object], writer: Writer, prompt: str, schema: Mapping[str, Any], limit: float) -> None:
    """Body of the thread: whatever the writer does ends up in ``outcome``."""
    try:
        answer: object = writer(prompt, schema)
        if inspect.isawaitable(answer):
            answer = asyncio.run(_within(answer, limit))
        outcome.set_result(answer)
    except BaseException as error:  # noqa: BLE001  anything at all may come out of a caller's function; it is handed on
        outcome.set_exception(error)


async def _within(answer: Awaitable[object], limit: float) -> object:
    return await asyncio.wait_for(answer, limit)


def _check_numbers(timeout: float, retries: int, backoff: float) -> None:
    if not 0 < timeout < float("inf"):
        raise InputError(f"timeout = {timeout!r} must be a number of seconds above 0; a call needs a limit")
    if retries < 0 or not 0 <= backoff < float("inf"):
        raise InputError(f"retries = {retries!r} and backoff = {backoff!r} must be 0 or more")
