"""What a request still holds: texts byte for byte, turns and exchanges whole, and how much of a stretch is verbatim.

Law: read from the request as sent, never from a report about it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from contextmgr.evidence import Quote
from contextmgr.proof import Proof, text_at
from contextmgr.turns import Turn

Params = Mapping[str, Any]


class Kept(StrEnum):
    """How a text stands in a request: byte for byte in one text, at least one of its sentences, or not at all."""

    EXACT = "exact"
    PART = "in part"
    GONE = "gone"


def kept(params: Params, texts: Iterable[str]) -> Kept:
    """The worst of how the texts stand anywhere in a request, whoever says them."""
    said = list(_said(params))
    states = [_kept(said, text) for text in texts]
    return max(states, key=list(Kept).index)


def _kept(said: Sequence[str], text: str) -> Kept:
    if any(text in s for s in said):
        return Kept.EXACT
    sentences = [s for s in re.split(r"(?<=[.!?])\s+", text) if len(s.split()) > 2]
    return Kept.PART if any(sentence in s for sentence in sentences for s in said) else Kept.GONE


def proved_once(params: Params, proof: Proof, text: str) -> bool:
    """Whether exactly one proved place of the request holds exactly this text."""
    return [text_at(params, entry.place) for entry in proof.pins].count(text) == 1


def is_whole(params: Params, turn: Turn) -> bool:
    """Whether every word, call and result of a turn stands verbatim in a request."""
    there = _pieces(params)
    return all(piece in there for piece in _turn_pieces(turn))


def is_quoted(params: Params, turn: Turn) -> bool:
    """Whether all words of a turn stand in a request as evidence: on a line of their own, behind who said it when."""
    line = Quote(turn.number, turn.role, turn.text).line
    said = (b["text"] for m in params["messages"] if m["role"] == "user" for b in m["content"] if b["type"] == "text")
    return any(line in text.splitlines() for text in said)


def verbatim_share(params: Params, turns: Iterable[Turn]) -> float:
    """Share of the turns' characters (words, calls, results) that stand verbatim in a request."""
    there = _pieces(params)
    pieces = [piece for turn in turns for piece in _turn_pieces(turn)]
    total = sum(len(content) for _, content in pieces)
    return sum(len(content) for kind, content in pieces if (kind, content) in there) / total if total else 0.0


def _said(params: Params) -> Iterable[str]:
    for message in params["messages"]:
        for block in message["content"]:
            if block["type"] == "text":
                yield block["text"]
            elif block["type"] == "tool_result":
                yield _result_text(block)


def _pieces(params: Params) -> set[tuple[str, str]]:
    return {_piece(block) for message in params["messages"] for block in message["content"]}


def _turn_pieces(turn: Turn) -> list[tuple[str, str]]:
    return [_piece(b) for b in turn.blocks] + [_piece(r.body) for r in turn.in_place.values()]


def _piece(block: Mapping[str, Any]) -> tuple[str, str]:
    """A block without what may change on the way: its id and its cache mark."""
    if block["type"] == "text":
        return "text", str(block["text"])
    if block["type"] == "tool_use":
        return "tool_use", json.dumps([block["name"], block["input"]], sort_keys=True)
    if block["type"] == "tool_result":
        return "tool_result", _result_text(block)
    return str(block["type"]), json.dumps(dict(block), sort_keys=True)


def _result_text(block: Mapping[str, Any]) -> str:
    content = block.get("content")
    if isinstance(content, str) or content is None:
        return content or ""
    return "\n".join(str(part.get("text", "")) for part in content)
