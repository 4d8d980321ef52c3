"""Every error contextmgr raises on purpose.

    ContextManagerError
    ├── InputError (ValueError)          what the caller gave cannot be used; nothing was changed
    │   ├── ScopeError                   no tenant, a wildcard, or a value that is not a name
    │   ├── TurnError                    a message that cannot be stored as a turn
    │   ├── PinError                     a text that cannot be pinned
    │   │   ├── UnsendablePinError       blank, NUL or a lone surrogate in it
    │   │   └── PinBudgetError           it could never fit the profile's budget
    │   ├── TaskError                    a task document that cannot be kept
    │   ├── FactError                    a fact or note that cannot be kept
    │   ├── ProfileError                 an unknown profile, or numbers that contradict each other
    │   ├── ModelTableError              a model table that cannot be read
    │   └── TranscriptError              a recorded session that cannot be read
    ├── NotFoundError (LookupError)      no such conversation, turn, pin or request in this scope
    │   └── ErasedError                  it existed and was erased
    ├── ConflictError                    the conversation has moved on, or says something else
    │   ├── IdempotencyError             the same key with other content
    │   ├── ResultConflictError          a second, different result for one call
    │   ├── StaleReplyError              an answer to a request whose conversation has gone on
    │   ├── HistoryConflictError         sync() was given a changed past
    │   └── ContentionError              other processes won every attempt to commit
    ├── OpenTurnError                    tool calls are waiting for their results
    ├── NothingToAnswerError             the conversation does not end with something to answer
    ├── BudgetError                      what may never give way is larger than the budget
    ├── InvalidRequestError              a request of ours breaks the API's rules: a defect, never sent
    ├── ProofError                       a pin is not where it should be: a defect, never sent
    ├── writers.WriterError              a model or function gave no summary that can be used
    └── StoreError                       the store cannot be used
        ├── StoreBusyError               a lock was not free within the stated wait
        └── StoreVersionError            written by a newer contextmgr

Messages name the value, the limit and the way out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence


class ContextManagerError(Exception):
    """Root of every error contextmgr raises on purpose."""


class InputError(ContextManagerError, ValueError):
    """What the caller gave cannot be used; nothing was changed."""


class ScopeError(InputError):
    """A scope without a tenant, with a wildcard, or with a value that is not a name."""


class TurnError(InputError):
    """A message that cannot be stored as a turn."""


class PinError(InputError):
    """A text that cannot be pinned."""


class UnsendablePinError(PinError):
    """A pin whose text cannot be sent byte for byte: blank, or with a NUL or a lone surrogate."""


class PinBudgetError(PinError):
    """A pin that could never fit the budget of the profile in force."""


class TaskError(InputError):
    """A task document that cannot be kept."""


class FactError(InputError):
    """A fact or note that cannot be kept."""


class ProfileError(InputError):
    """An unknown budget profile, or one whose numbers contradict each other."""


class ModelTableError(InputError):
    """A model table that cannot be read."""


class TranscriptError(InputError):
    """A recorded session that cannot be read."""


class NotFoundError(ContextManagerError, LookupError):
    """No such conversation, turn, pin or request in this scope."""


class ErasedError(NotFoundError):
    """It existed and was erased; only its number is left."""


class ConflictError(ContextManagerError):
    """The conversation has moved on, or says something else."""


class IdempotencyError(ConflictError):
    """The same idempotency key was used with other content."""


class ResultConflictError(ConflictError):
    """A second, different result was given for one tool call."""


class StaleReplyError(ConflictError):
    """An answer to a request whose conversation has gone on since."""


class HistoryConflictError(ConflictError):
    """``sync()`` was given messages that contradict the stored turns."""


class ContentionError(ConflictError):
    """Other processes won every attempt to commit this request."""


class OpenTurnError(ContextManagerError):
    """Tool calls of the last turn are waiting for their results.

    ``missing_ids`` holds their ids, in call order.
    """

    def __init__(self, message: str, missing_ids: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.missing_ids = tuple(missing_ids)


class NothingToAnswerError(ContextManagerError):
    """The conversation does not end with something a model could answer."""


class BudgetError(ContextManagerError):
    """What may never give way is larger than the budget.

    ``tiers`` maps each tier to its tokens, ``budget`` is the limit in tokens, and ``pins``
    maps each active pin's id to its tokens.
    """

    def __init__(
        self,
        message: str,
        *,
        tiers: Mapping[str, int],
        budget: int,
        pins: Mapping[str, int] | None = None,
    ) -> None:
        super().__init__(message)
        self.tiers = dict(tiers)
        self.budget = budget
        self.pins = dict(pins or {})


class InvalidRequestError(ContextManagerError):
    """A request breaks the API's rules.  ``findings`` holds them; the request was not issued."""

    def __init__(self, message: str, findings: Sequence[object] = ()) -> None:
        super().__init__(message)
        self.findings = tuple(findings)


class ProofError(ContextManagerError):
    """A pin is not at exactly one place in a request; the request was not issued."""


class StoreError(ContextManagerError):
    """The store cannot be used."""


class StoreBusyError(StoreError):
    """A lock was not free within the stated wait."""


class StoreVersionError(StoreError):
    """The store was written by a newer contextmgr."""
