"""Recall on demand: tools by which a model searches, lists and reads earlier chats, and keeps notes and values."""

from __future__ import annotations

from contextmgr.recall.answers import Answer
from contextmgr.recall.caps import CAPS, Caps
from contextmgr.recall.definitions import NAMES, definitions
from contextmgr.recall.links import ChatUrl
from contextmgr.recall.recalling import Recall
from contextmgr.recall.titles import made_title

__all__ = ["CAPS", "NAMES", "Answer", "Caps", "ChatUrl", "Recall", "definitions", "made_title"]
