"""Work off the reply path: a thread that does what the outbox holds, or nothing but ``flush()``.

Law: a failure here never reaches a caller's request; what was not done stays in the outbox.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable

from contextmgr.errors import ContextManagerError
from contextmgr.scope import Scope

_LOG = logging.getLogger(__name__)
Key = tuple[Scope, str]


class Background:
    """Runs ``run(scope, conversation)`` for conversations that may have work; ``left`` tells what stays undone."""

    def __init__(
        self, run: Callable[[Scope, str], int], left: Callable[[Scope, str], int], *, threaded: bool = True
    ) -> None:
        self._run = run
        self._left = left
        self._known: dict[Key, None] = {}
        self._lock = threading.Lock()
        self._queue: queue.SimpleQueue[Key | None] = queue.SimpleQueue()
        self._busy = threading.Lock()  # one conversation at a time: flush() waits for the thread and the reverse
        self._threaded = threaded
        self._thread: threading.Thread | None = None
        self._closed = False

    def add(self, scope: Scope, conversation: str) -> None:
        """Say that a conversation may have work."""
        with self._lock:
            if self._closed:
                return
            self._known[scope, conversation] = None
            if self._threaded and self._thread is None:
                self._thread = threading.Thread(target=self._loop, name="contextmgr-background", daemon=True)
                self._thread.start()
        self._queue.put((scope, conversation))

    def flush(self, timeout: float) -> int:
        """Do what is due, at most ``timeout`` seconds; returns the number of jobs left."""
        deadline = time.monotonic() + timeout
        keys = list(self._known)
        for key in keys:
            left = deadline - time.monotonic()
            if left <= 0 or not self._busy.acquire(timeout=left):
                break
            try:
                self._run(*key)
            finally:
                self._busy.release()
        return sum(self._left(*key) for key in keys)

    def close(self, timeout: float) -> None:
        """Stop after the piece of work in hand, waiting at most ``timeout`` seconds for it."""
        with self._lock:
            self._closed = True
        self._queue.put(None)
        if self._thread is not None:
            self._thread.join(timeout)

    def _loop(self) -> None:
        while (key := self._queue.get()) is not None:
            if self._closed:
                return
            with self._busy:
                try:
                    self._run(*key)
                except ContextManagerError as error:
                    _LOG.warning("background work failed: %s", type(error).__name__)
