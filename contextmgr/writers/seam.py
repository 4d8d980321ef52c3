"""What a writer is: any callable that turns a prompt and a schema into an answer."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from functools import partial
from typing import Any, Protocol

Answer = Mapping[str, Any]


class Writer(Protocol):
    """Anything that writes an answer to a prompt: a function, a method, an object with ``__call__``, sync or async.

    A ``name`` attribute, where there is one, is recorded with what it wrote (see `writer_name`).
    """

    def __call__(self, prompt: str, schema: Mapping[str, Any], /) -> Answer | Awaitable[Answer]:
        """The JSON object that answers ``prompt`` and fits ``schema``, or an awaitable of it.

        Text that holds the object is taken too.  Raise whatever fits to say that there is no answer.
        """
        ...


def writer_name(writer: Writer) -> str:
    """What is recorded as the author of derived text: the writer's ``name``, else that of its function or class."""
    inner: object = writer
    while isinstance(inner, partial):
        inner = inner.func
    names = (getattr(inner, "name", None), getattr(inner, "__qualname__", None), type(inner).__qualname__)
    return next(name for name in names if isinstance(name, str) and name.strip())
