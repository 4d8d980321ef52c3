"""Retrieval: which older turns answer a question, in one conversation or across the chats of a scope."""

from __future__ import annotations

from contextmgr.retrieval.hits import ChatHit, SearchHit
from contextmgr.retrieval.quoting import found_before
from contextmgr.retrieval.searching import MOST, Searcher
from contextmgr.retrieval.tails import TAIL

__all__ = ["MOST", "TAIL", "ChatHit", "SearchHit", "Searcher", "found_before"]
