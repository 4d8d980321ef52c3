"""Work off the reply path: a thread that does what the outbox holds, or nothing but ``flush()``.

Laws: a failure here never reaches a caller's request; what was not done stays in the outbox; the thread gives way to
whoever else uses the process, and still gets on.
"""

from __future__ import annotations

import logging
import os
import queue
import threading
import time
from collections.abc import Callable

from contextmgr.errors import ContextManagerError
from contextmgr.scope import Scope

_LOG = logging.getLogger(__name__)
Key = tuple[Scope, str]
Run = Callable[[Scope, str, Callable[[], bool]], int]

PATIENCE = 5.0  # seconds after which the thread does what nobody woke it for
QUIET = 0.05  # seconds since a turn was said: its request is probably being assembled
SHORTEST, LONGEST = 0.0002, 0.02  # seconds of one pause: the least that lets others run, the most there is any need for
CALM, BUSY = 1.0, 10.0  # pause by the work since the last one: in a quiet process, and in one that is in use


class Background:
    """Runs ``run(scope, conversation, going)`` for conversations that may have work; it begins nothing more once
    ``going()`` is false.  In the thread, ``going()`` also lets others run: they share the interpreter, and would wait
    for it at every statement.  ``left`` tells how much stays undone.
    """

    def __init__(self, run: Run, left: Callable[[Scope, str], int], *, threaded: bool = True) -> None:
        self._run = run
        self._left = left
        self._threaded = threaded
        self._begin()

    def _begin(self) -> None:
        self._process = os.getpid()
        self._known: dict[Key, None] = {}
        self._resting: dict[Key, None] = {}  # those of the known that nobody woke the thread for
        self._lock = threading.Lock()
        self._queue: queue.SimpleQueue[list[Key] | None] = queue.SimpleQueue()
        self._busy = threading.Lock()  # one conversation at a time: flush() waits for the thread and the reverse
        self._thread: threading.Thread | None = None
        self._closed = threading.Event()
        self._awaited = 0  # how many wait for the thread to be done
        self._said = self._resumed = self._resting_since = 0.0

    def add(self, scope: Scope, conversation: str, *, wake: bool = True) -> None:
        """Say that a conversation may have work; without ``wake`` it may wait for ``flush()``, for more, or for
        `PATIENCE` seconds.
        """
        self._after_fork()
        self._said = time.monotonic()
        with self._lock:
            if self._closed.is_set():
                return
            self._known[scope, conversation] = None
            if not self._threaded:
                return
            news = [(scope, conversation)] if wake else [] if not self._resting else None
            if not wake:
                self._resting_since = self._resting_since if self._resting else self._said
                self._resting[scope, conversation] = None
            if self._thread is None or not self._thread.is_alive():  # a fork takes no threads along
                self._thread = threading.Thread(target=self._loop, name="contextmgr-background", daemon=True)
                self._thread.start()
        if news is not None:
            self._queue.put(news)

    def flush(self, timeout: float) -> int:
        """Do what is due; returns the number of jobs left.

        Nothing is begun after ``timeout`` seconds, but what was begun is finished.
        """
        self._after_fork()
        deadline = time.monotonic() + timeout
        with self._lock:
            keys = list(self._known)
        for key in keys:
            left = deadline - time.monotonic()
            if left <= 0 or not self._wait(left):
                break
            try:
                self._run(*key, lambda: time.monotonic() < deadline)
            finally:
                self._busy.release()
        return sum(self._rest(key) for key in keys)

    def close(self, timeout: float) -> None:
        """Stop after the piece of work in hand, waiting at most ``timeout`` seconds for it."""
        self._after_fork()
        with self._lock:
            self._closed.set()
        self._queue.put(None)
        if self._thread is not None:
            self._thread.join(timeout)

    def _wait(self, timeout: float) -> bool:
        """Take the thread's turn; meanwhile it makes no pauses."""
        with self._lock:
            self._awaited += 1
        taken = self._busy.acquire(timeout=timeout)
        with self._lock:
            self._awaited -= 1
        return taken

    def _after_fork(self) -> None:
        """Begin anew in a forked process: the thread is the parent's, and so are locks that it held."""
        if self._process != os.getpid():
            self._begin()

    def _rest(self, key: Key) -> int:
        """How much is left of a conversation's work; one that has none is forgotten until it is added again."""
        with self._lock:
            self._known.pop(key, None)
        left = self._left(*key)
        if left:
            with self._lock:
                self._known[key] = None
        return left

    def _loop(self) -> None:
        while (keys := self._next()) is not None:
            for key in keys:
                with self._busy:
                    if self._closed.is_set():
                        return
                    try:
                        self._run(*key, self._going)
                        self._rest(key)
                    except ContextManagerError as error:
                        _LOG.warning("background work failed: %s", type(error).__name__)

    def _next(self) -> list[Key] | None:
        """What the thread was woken for, or in the end those that nobody woke it for; None to end."""
        with self._lock:
            left = self._resting_since + PATIENCE - time.monotonic() if self._resting else None
        try:
            return self._queue.get(timeout=None if left is None else max(0.0, left))
        except queue.Empty:
            with self._lock:
                keys, self._resting = list(self._resting), {}
            return keys

    def _going(self) -> bool:
        """Whether the thread goes on, after a pause by what it has worked since the last one."""
        now = time.monotonic()
        pause = (now - self._resumed) * (BUSY if now - self._said < QUIET else CALM)
        if not self._awaited:
            self._closed.wait(min(max(pause, SHORTEST), LONGEST))
        self._resumed = time.monotonic()
        return not self._closed.is_set()
