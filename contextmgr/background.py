"""Work off the reply path: a thread that does what the outbox holds, or nothing but ``flush()``.

Law: a failure here never reaches a caller's request; what was not done stays in the outbox.
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


class Background:
    """Runs ``run(scope, conversation, going)`` for conversations that may have work; it begins nothing more once
    ``going()`` is false.  ``left`` tells how much stays undone.
    """

    def __init__(self, run: Run, left: Callable[[Scope, str], int], *, threaded: bool = True) -> None:
        self._run = run
        self._left = left
        self._threaded = threaded
        self._begin()

    def _begin(self) -> None:
        self._process = os.getpid()
        self._known: dict[Key, None] = {}
        self._lock = threading.Lock()
        self._queue: queue.SimpleQueue[Key | None] = queue.SimpleQueue()
        self._busy = threading.Lock()  # one conversation at a time: flush() waits for the thread and the reverse
        self._thread: threading.Thread | None = None
        self._closed = False

    def add(self, scope: Scope, conversation: str, *, wake: bool = True) -> None:
        """Say that a conversation may have work; without ``wake`` it may wait for ``flush()``, or for more."""
        self._after_fork()
        with self._lock:
            if self._closed:
                return
            self._known[scope, conversation] = None
            if not (self._threaded and wake):
                return
            if self._thread is None or not self._thread.is_alive():  # a fork takes no threads along
                self._thread = threading.Thread(target=self._loop, name="contextmgr-background", daemon=True)
                self._thread.start()
        self._queue.put((scope, conversation))

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
            if left <= 0 or not self._busy.acquire(timeout=left):
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
            self._closed = True
        self._queue.put(None)
        if self._thread is not None:
            self._thread.join(timeout)

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
        while (key := self._queue.get()) is not None:
            if self._closed:
                return
            with self._busy:
                try:
                    self._run(*key, lambda: not self._closed)
                    self._rest(key)
                except ContextManagerError as error:
                    _LOG.warning("background work failed: %s", type(error).__name__)
