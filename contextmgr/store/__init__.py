"""Stores: one protocol, one schema, one set of statements."""

from __future__ import annotations

from contextmgr.store.base import MAX_ATTEMPTS, ConversationRecord, Job, LateResult, Store, Transaction
from contextmgr.store.opening import open_store

__all__ = ["MAX_ATTEMPTS", "ConversationRecord", "Job", "LateResult", "Store", "Transaction", "open_store"]
