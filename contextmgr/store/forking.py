"""Forking a process that has stores open.

Law: no connection is inherited.  A child that goes on with its parent's connection, or opens one beside it, believes
that it holds the parent's locks; when the parent closes, the log is removed under the child and its turns are lost.
"""

from __future__ import annotations

import os
import threading
import weakref
from typing import Protocol


class ClosesBeforeFork(Protocol):
    """A store that can let go of its connection for the moment of a fork."""

    def before_fork(self) -> None:
        """Close the connection and let nobody open another."""
        ...

    def after_fork(self) -> None:
        """Go on; runs in the parent and in the child."""
        ...


_guard = threading.Lock()
_open: weakref.WeakSet[ClosesBeforeFork] = weakref.WeakSet()
_paused: list[ClosesBeforeFork] = []


def closes_before_fork(store: ClosesBeforeFork) -> None:
    """Have a store close its connection before every fork of this process, for as long as it lives."""
    with _guard:
        _open.add(store)


def _before() -> None:
    _guard.acquire()
    for store in list(_open):
        store.before_fork()
        _paused.append(store)


def _after() -> None:
    while _paused:
        _paused.pop().after_fork()
    _guard.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after)
