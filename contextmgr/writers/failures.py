"""Why there is no answer: one error, a closed set of reasons, and whether trying again can help."""

from __future__ import annotations

from typing import Literal

from contextmgr.errors import ContextManagerError

Reason = Literal[
    "error",
    "empty",
    "cut off",
    "tool call",
    "refused",
    "too late",
    "not json",
    "schema",
    "longer than its source",
]

_OFTEN_PASSING: frozenset[Reason] = frozenset({"too late", "not json"})
_PASSING_STATUS = frozenset({408, 409, 429})
# By name, so that nobody's client has to be imported: anthropic and its like call them so, httpx and its heirs too.
_LATE = frozenset({"TimeoutError", "APITimeoutError", "TimeoutException"})
_UNCONNECTED = frozenset({"ConnectionError", "APIConnectionError", "TransportError"})


class WriterError(ContextManagerError):
    """A writer gave no answer that could be used; what was there before stays in force.

    ``retryable`` says whether the same call may succeed later (by default it follows from the reason), ``retry_after``
    how many seconds the other side asked to be left alone, ``attempts`` how often `call_writer` tried.  The message is
    for people and logs: it may quote the model's provider and must not be put into a request.
    """

    def __init__(
        self, reason: Reason, message: str, *, retryable: bool | None = None, retry_after: float | None = None
    ) -> None:
        super().__init__(f"{reason}: {message}")
        self.reason: Reason = reason
        self.retryable = reason in _OFTEN_PASSING if retryable is None else retryable
        self.retry_after = retry_after
        self.attempts = 1


def failure_of(error: BaseException) -> WriterError:
    """What an exception out of a writer means.  Connections, timeouts, 408, 409, 429 and 5xx may pass; nothing else."""
    if isinstance(error, WriterError):
        return error
    names = {cls.__name__ for cls in type(error).__mro__}
    message = f"the writer raised {type(error).__name__}: {str(error)[:300]}"
    if names & _LATE:
        return WriterError("too late", message)
    status = getattr(error, "status_code", None)
    passing = isinstance(status, int) and (status in _PASSING_STATUS or status >= 500)
    passing = passing or bool(names & _UNCONNECTED)
    return WriterError("error", message, retryable=passing, retry_after=_retry_after(error))


def _retry_after(error: BaseException) -> float | None:
    """Seconds from a ``retry-after`` header; the form with a date is left to our own back-off."""
    headers = getattr(getattr(error, "response", None), "headers", None)
    try:
        seconds = float(headers.get("retry-after")) if headers else -1.0
    except (TypeError, ValueError):
        return None
    return seconds if 0 <= seconds < float("inf") else None
