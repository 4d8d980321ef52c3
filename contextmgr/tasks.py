"""Task documents: named texts of the task in hand that the caller sets; whole in every request, or not at all."""

from __future__ import annotations

from dataclasses import dataclass

from contextmgr import jsontext
from contextmgr.errors import TaskError
from contextmgr.features import ZERO, Features

MAX_NAME = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskDocument:
    """One document: its name, its text and what it weighs."""

    name: str
    text: str
    sha256: str = ""
    features: Features = ZERO


def check_task(name: str, text: str) -> None:
    """Raise `TaskError` unless name and text can stand in a request."""
    if not isinstance(name, str) or not name.strip() or len(name) > MAX_NAME or "\n" in name:
        raise TaskError(f"a task document needs a one-line name of at most {MAX_NAME} characters, not {name!r}")
    if not isinstance(text, str) or not text.strip():
        raise TaskError(f"task document {name!r} is blank; use drop_task({name!r}) to take it away")
    if not (jsontext.is_sendable(text) and jsontext.is_sendable(name)):
        raise TaskError(f"task document {name!r} holds a NUL or a lone surrogate; it could not be sent as it is")
