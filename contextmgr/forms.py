"""The forms of a tool result: whole, cut to head and tail, masked to one line, or a filler where none came.

Law: the call's id is never touched (the layout sets it), the original stays stored, and what is missing is said.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from contextmgr import labels
from contextmgr.features import Features
from contextmgr.tokens import Count, block_features
from contextmgr.turns import Block, ToolResult, Turn, is_blank

READABLE = {
    "image": frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"}),
    "document": frozenset({"application/pdf"}),
}
_HOLDERS = {"base64": "data", "text": "data", "content": "content"}
HEAD_SHARE = 0.6
ERROR_CHARACTERS = 240  # of an error message that a masked result keeps
MIN_CUT = 120  # tokens: below this head and tail say nothing, and the mask is the better form


def weight(features: Features) -> int:
    """Tokens of a feature vector, unweighted: what caps in profiles are measured in."""
    return sum(features)


def filler() -> Block:
    """The result of a call whose real one never came: an error that says the outcome is unknown."""
    return {"type": "tool_result", "is_error": True, "content": labels.FILLER}


def masked(
    turn: Turn, result: ToolResult, tools: Iterable[str], pinned: Sequence[str] = (), again: int | None = None
) -> Block:
    """One line in place of a result; it repeats none of the ``pinned`` texts.  A failed call keeps its message."""
    text = _text(result.body)
    error = None
    if result.is_error:
        error = text if len(text) <= ERROR_CHARACTERS else text[: ERROR_CHARACTERS - 1] + "…"
    call = turn.calls[result.call]
    line = labels.masked(call, turn.number, len(text), tools, pinned, error=error, again=again)
    return _with_content(result.body, line)


def cut(
    turn: Turn, result: ToolResult, cap: int, tools: Iterable[str], count: Count, pinned: Sequence[str] = ()
) -> Block:
    """Head and tail of a result within ``cap`` tokens (unweighted), with a pointer to the rest.

    A text's tokens are not spread evenly, so the cut is measured and tightened until it holds.
    """
    names = tuple(tools)
    share = min(1.0, cap / max(1, weight(result.features)))
    for _ in range(6):
        block = _cut_to(turn, result, share, names)
        size = weight(block_features(block, count))
        if size <= cap:
            return block
        share *= 0.9 * cap / size
    return masked(turn, result, names, pinned)


def _cut_to(turn: Turn, result: ToolResult, share: float, tools: tuple[str, ...]) -> Block:
    content = result.body.get("content")
    if isinstance(content, str):
        return _with_content(result.body, _cut_text(content, share, turn.number, tools))
    parts = [_cut_part(part, share, turn.number, tools) for part in content or () if not is_blank(part)]
    return _with_content(result.body, parts)


def _cut_part(part: Mapping[str, Any], share: float, turn: int, tools: tuple[str, ...]) -> Block:
    if part.get("type") == "text":
        return {**part, "text": _cut_text(str(part["text"]), share, turn, tools)}
    return labels.text_block(labels.part_left_out(str(part.get("type")), turn, tools))


def _cut_text(text: str, share: float, turn: int, tools: tuple[str, ...]) -> str:
    keep = int(len(text) * share)
    if keep >= len(text):
        return text
    head, tail = _head(text, int(keep * HEAD_SHARE)), _tail(text, keep - int(keep * HEAD_SHARE))
    line = labels.cut(len(text) - len(head) - len(tail), len(text), turn, tools)
    return f"{head}\n{line}\n{tail}"


def _head(text: str, size: int) -> str:
    """At most ``size`` characters from the start, ended at a line where that costs less than a fifth."""
    end = text.rfind("\n", size - size // 5, size)
    return text[: end if end > 0 else size]


def _tail(text: str, size: int) -> str:
    start = len(text) - size
    line = text.find("\n", start, start + size // 5)
    return text[line + 1 if line >= 0 else start :]


def _with_content(body: Block, content: object) -> Block:
    return {**body, "content": content}


def _text(body: Block) -> str:
    content = body.get("content")
    if isinstance(content, str):
        return content
    return "\n".join(str(p.get("text", "")) for p in content or ())


def as_sent(body: Block) -> Block:
    """A result in a legal, explicit form: blank parts are dropped, and nothing at all says so."""
    content = body.get("content")
    if isinstance(content, str):
        return body if content.strip() else _with_content(body, labels.NO_OUTPUT)
    parts = [legal_part(p) for p in content or () if not is_blank(p)]
    if not parts:
        return _with_content(body, labels.NO_OUTPUT)
    return body if parts == list(content or ()) else _with_content(body, parts)


def legal_part(part: Block) -> Block:
    """A part of a message as it is; without blank texts inside, or a label where the API could not read it."""
    kind = str(part.get("type"))
    if kind == "search_result":
        inside = _legal_parts(part.get("content"))
        return {**part, "content": inside} if inside else _unreadable(part)
    if kind in READABLE:
        source = _legal_source(kind, part.get("source"))
        return {**part, "source": source} if source else _unreadable(part)
    return part


def _legal_parts(content: object) -> list[Block]:
    parts = content if isinstance(content, (list, tuple)) else ()
    return [legal_part(dict(p)) for p in parts if isinstance(p, Mapping) and not is_blank(p)]


def _legal_source(kind: str, source: object) -> Block | None:
    """A source as the API reads it, or None where there is nothing it could read."""
    if not isinstance(source, Mapping) or not source.get("type"):
        return None
    form = str(source["type"])
    if form == "content" and not isinstance(source.get("content"), str):
        inside = _legal_parts(source.get("content"))
        return {**source, "content": inside} if inside else None
    holder = _HOLDERS.get(form)
    if holder is not None and not str(source.get(holder) or "").strip():
        return None
    return None if form == "base64" and source.get("media_type") not in READABLE[kind] else dict(source)


def _unreadable(part: Block) -> Block:
    source = part.get("source")
    media = source.get("media_type") if isinstance(source, Mapping) else None
    return labels.text_block(labels.unreadable(str(part.get("type")), media))
