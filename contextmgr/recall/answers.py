"""An answer to a tool call as JSON text within a number of tokens; what does not fit is left out, and it says so."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from contextmgr import jsontext
from contextmgr.tokens import Count

Item = Mapping[str, Any]
_SEAM = 8  # tokens: what joining the parts may add


@dataclass(frozen=True, slots=True)
class Answer:
    """What a call is told: JSON text, or with ``is_error`` a sentence that says what to do instead."""

    text: str
    is_error: bool = False


def _nothing(_kept: Sequence[Item]) -> Mapping[str, Any]:
    return {}


def _whole_only(_item: Item, _room: int) -> Item | None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """An answer before it is fitted: ``items`` under ``name``, best first, beside the fields of ``head``.

    ``found`` says for the audit what each item is.  ``more`` gives further fields for the items that are kept, ``cut``
    an item within a number of tokens, or None.
    """

    head: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""
    items: Sequence[Item] = ()
    found: Sequence[Mapping[str, Any]] = ()
    notes: Sequence[str] = ()
    more: Callable[[Sequence[Item]], Mapping[str, Any]] = _nothing
    cut: Callable[[Item, int], Item | None] = _whole_only

    def text(self, kept: Sequence[Item]) -> str:
        """The answer with these items."""
        listed = {self.name: list(kept)} if self.name else {}
        notes = {"notes": list(self.notes)} if self.notes else {}
        return as_text({**self.head, **listed, **self.more(kept), **notes})


def as_text(value: object) -> str:
    """A JSON value as text that can be sent."""
    return json.dumps(jsontext.sendable_value(value), ensure_ascii=False, separators=(",", ":"))


def fitted(draft: Draft, room: int, count: Count) -> tuple[str, list[Mapping[str, Any]]]:
    """The answer within ``room`` tokens, and what the audit says of the items in it."""
    kept: list[Item] = []
    left = room - count(draft.text(())) - _SEAM
    for item in draft.items:
        size = count(as_text(item)) + 1
        if size > left:
            part = draft.cut(item, left)
            kept += [part] if part is not None else []
            break
        kept.append(item)
        left -= size
    text = draft.text(kept)
    while kept and count(text) > room:
        kept.pop()
        text = draft.text(kept)
    found = draft.found[: len(kept)] if draft.name else draft.found
    return text, list(found)
