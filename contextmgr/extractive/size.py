"""What an item takes in a summary."""

from __future__ import annotations

from contextmgr.summaries import Item
from contextmgr.tokens import Count, text_features

ITEM_TOKENS = 9
"""Allowance for what stands beside an item's text: its kind, its turn numbers, the line end."""


def item_tokens(item: Item, count: Count) -> int:
    """Unweighted tokens of an item: its text and `ITEM_TOKENS`, and one for each turn cited beyond the first."""
    return sum(text_features(item.text, count)) + ITEM_TOKENS + len(item.turns) - 1
