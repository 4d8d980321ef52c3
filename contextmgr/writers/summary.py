"""Summaries over the seam: the values of the prompt, the schema of its answer, and the items in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from contextmgr import jsontext
from contextmgr.summaries import MAX_ITEM_CHARACTERS, Item, ItemKind

SUMMARY_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "items": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "text": {"type": "string"},
                    "kind": {"type": "string", "enum": [kind.value for kind in ItemKind]},
                    "turns": {"type": "array", "items": {"type": "integer"}},
                },
                "required": ["text", "kind", "turns"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["items"],
    "additionalProperties": False,
}
"""What the summarise prompt asks for: ``{"items": [{"text": str, "kind": ItemKind, "turns": [int]}]}``."""


def summary_values(
    *,
    first: int,
    last: int,
    turns: Sequence[Mapping[str, Any]] = (),
    items: Sequence[Item] = (),
    pinned: Sequence[int] = (),
    language: str | None = None,
    max_items: int = 20,
    max_tokens: int = 1000,
) -> dict[str, Any]:
    """Values for the prompt ``summarise``: about ``turns``, or merging ``items`` where there are no turns to read.

    A turn is ``{"turn": int, "role": "user" | "assistant" | "tool", "text": str}``, without thinking and base64.
    ``language`` names the conversation's language, ``max_items`` and ``max_tokens`` bound the answer.  The ``boundary``
    that encloses the material is made from its hash, so that no text can hold the one it stands in.
    """
    notes = [{"text": i.text, "kind": i.kind.value, "turns": list(i.turns)} for i in items]
    said = [dict(turn) for turn in turns]
    return {
        "first": first,
        "last": last,
        "turns": said,
        "items": notes,
        "pinned": list(pinned),
        "language": language,
        "max_items": max_items,
        "max_tokens": max_tokens,
        "boundary": jsontext.sha256(jsontext.canonical([said, notes]))[:16],
    }


def items_of(answer: Mapping[str, Any]) -> tuple[list[Item], int]:
    """The items of an answer to the prompt ``summarise``, in its order, and how many were skipped as malformed.

    Skipped is what says nothing, is longer than `MAX_ITEM_CHARACTERS`, is of no known kind or cites no turn.  Turn
    numbers are put in order; whether they exist, and say what the item says, is for the checks on items.
    """
    given = answer.get("items")
    if not isinstance(given, (list, tuple)):
        return [], 1
    items = [item for item in map(_item, given) if item is not None]
    return items, len(given) - len(items)


def _item(value: object) -> Item | None:
    if not isinstance(value, Mapping):
        return None
    text, kind, turns = value.get("text"), value.get("kind"), value.get("turns")
    if not isinstance(text, str) or not 0 < len(text.strip()) <= MAX_ITEM_CHARACTERS:
        return None
    if not isinstance(kind, str) or kind not in set(ItemKind):
        return None
    if not isinstance(turns, (list, tuple)) or not turns or not all(type(n) is int and n > 0 for n in turns):
        return None
    return Item(text=jsontext.sendable(text.strip()), kind=ItemKind(kind), turns=tuple(sorted(set(turns))))
