"""What the model gets to see, decided before each call: pinned turns byte for byte, inside a budget.

The facade is `Manager` (and `AsyncManager`); the pure layer is public for people with a store of their own.
"""

from __future__ import annotations

from importlib import import_module, metadata
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from contextmgr.aio import AsyncConversation, AsyncManager
    from contextmgr.allocator import Allocation, Candidate, Fixed, Limits, ResultSize, allocate
    from contextmgr.assembly import AssembledRequest
    from contextmgr.conversation import Conversation
    from contextmgr.errors import (
        BudgetError,
        ConflictError,
        ContentionError,
        ContextManagerError,
        ErasedError,
        FactError,
        HistoryConflictError,
        IdempotencyError,
        InputError,
        InvalidRequestError,
        ModelTableError,
        NotFoundError,
        NothingToAnswerError,
        OpenTurnError,
        PinBudgetError,
        PinError,
        ProfileError,
        ProofError,
        ResultConflictError,
        ScopeError,
        StaleReplyError,
        StoreBusyError,
        StoreError,
        StoreVersionError,
        TaskError,
        TranscriptError,
        TurnError,
        UnsendablePinError,
    )
    from contextmgr.facts import Fact, FactKind, FactScope, Note
    from contextmgr.handing_over import Handoff, HandoffItem
    from contextmgr.knowledge import TypedState
    from contextmgr.lookups import ProjectPins
    from contextmgr.manager import Manager
    from contextmgr.models import ModelEntry, ModelTable, UnknownModelWarning, model_entry
    from contextmgr.pinning import PinShareWarning
    from contextmgr.pins import Pin, PinKind, PinStatus
    from contextmgr.profiles import Profile, load_profile
    from contextmgr.proof import PinProof, Place, Proof, prove
    from contextmgr.recall import Caps, Recall
    from contextmgr.report import Disposition, Report, Span
    from contextmgr.scope import Scope
    from contextmgr.store import Store, open_store
    from contextmgr.suggestions import Suggestion
    from contextmgr.trigger import Trigger, should_search_history
    from contextmgr.turns import Completeness, Status, ToolResult, Turn, Usage
    from contextmgr.validity import Finding, validate

_HOME = {
    "aio": ("AsyncConversation", "AsyncManager"),
    "allocator": ("Allocation", "Candidate", "Fixed", "Limits", "ResultSize", "allocate"),
    "assembly": ("AssembledRequest",),
    "conversation": ("Conversation",),
    "errors": (
        "BudgetError",
        "ConflictError",
        "ContentionError",
        "ContextManagerError",
        "ErasedError",
        "FactError",
        "HistoryConflictError",
        "IdempotencyError",
        "InputError",
        "InvalidRequestError",
        "ModelTableError",
        "NotFoundError",
        "NothingToAnswerError",
        "OpenTurnError",
        "PinBudgetError",
        "PinError",
        "ProfileError",
        "ProofError",
        "ResultConflictError",
        "ScopeError",
        "StaleReplyError",
        "StoreBusyError",
        "StoreError",
        "StoreVersionError",
        "TaskError",
        "TranscriptError",
        "TurnError",
        "UnsendablePinError",
    ),
    "facts": ("Fact", "FactKind", "FactScope", "Note"),
    "handing_over": ("Handoff", "HandoffItem"),
    "knowledge": ("TypedState",),
    "lookups": ("ProjectPins",),
    "manager": ("Manager",),
    "models": ("ModelEntry", "ModelTable", "UnknownModelWarning", "model_entry"),
    "pinning": ("PinShareWarning",),
    "pins": ("Pin", "PinKind", "PinStatus"),
    "profiles": ("Profile", "load_profile"),
    "proof": ("PinProof", "Place", "Proof", "prove"),
    "recall": ("Caps", "Recall"),
    "report": ("Disposition", "Report", "Span"),
    "scope": ("Scope",),
    "store": ("Store", "open_store"),
    "suggestions": ("Suggestion",),
    "trigger": ("Trigger", "should_search_history"),
    "turns": ("Completeness", "Status", "ToolResult", "Turn", "Usage"),
    "validity": ("Finding", "validate"),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}
__all__ = [
    "Allocation",
    "AssembledRequest",
    "AsyncConversation",
    "AsyncManager",
    "BudgetError",
    "Candidate",
    "Caps",
    "Completeness",
    "ConflictError",
    "ContentionError",
    "ContextManagerError",
    "Conversation",
    "Disposition",
    "ErasedError",
    "Fact",
    "FactError",
    "FactKind",
    "FactScope",
    "Finding",
    "Fixed",
    "Handoff",
    "HandoffItem",
    "HistoryConflictError",
    "IdempotencyError",
    "InputError",
    "InvalidRequestError",
    "Limits",
    "Manager",
    "ModelEntry",
    "ModelTable",
    "ModelTableError",
    "NotFoundError",
    "Note",
    "NothingToAnswerError",
    "OpenTurnError",
    "Pin",
    "PinBudgetError",
    "PinError",
    "PinKind",
    "PinProof",
    "PinShareWarning",
    "PinStatus",
    "Place",
    "Profile",
    "ProfileError",
    "ProjectPins",
    "Proof",
    "ProofError",
    "Recall",
    "Report",
    "ResultConflictError",
    "ResultSize",
    "Scope",
    "ScopeError",
    "Span",
    "StaleReplyError",
    "Status",
    "Store",
    "StoreBusyError",
    "StoreError",
    "StoreVersionError",
    "Suggestion",
    "TaskError",
    "ToolResult",
    "TranscriptError",
    "Trigger",
    "Turn",
    "TurnError",
    "TypedState",
    "UnknownModelWarning",
    "UnsendablePinError",
    "Usage",
    "__version__",
    "allocate",
    "load_profile",
    "model_entry",
    "open_store",
    "prove",
    "should_search_history",
    "validate",
]


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used: the store and its libraries take a second to import."""
    if name == "__version__":
        try:
            return metadata.version("contextmgr")
        except metadata.PackageNotFoundError:  # run from a checkout that is not installed
            return "0+unknown"
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'contextmgr' has no attribute {name!r}")
    value = getattr(import_module(f"contextmgr.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
