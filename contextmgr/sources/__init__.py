"""What a model that works on history may read of it: words, calls in brief, and the ends of their results.

Laws: thinking, signatures, encoded data and secrets are never among it; pictures and files are named by their turn,
never shown; what was cut says so; everything can be sent, and no chunk is larger than asked for.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from contextmgr import jsontext
from contextmgr.sources.cleaning import MIN_ENCODED, REDACTED, cleaned, ends, is_clean
from contextmgr.sources.language import UNKNOWN, language_of
from contextmgr.tokens import Count
from contextmgr.turns import Block, ToolResult, Turn, is_blank, is_server_result, is_thinking

__all__ = [
    "MIN_ENCODED",
    "REDACTED",
    "UNKNOWN",
    "LIMITS",
    "Limits",
    "Line",
    "chunks",
    "cleaned",
    "is_clean",
    "language_of",
    "rendered",
    "source_lines",
    "source_text",
]

RESULT_CHARACTERS = 600
_ARGUMENT = 160  # characters of one argument of a call
_CALLS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
_SHOWN_KEYS = frozenset({"title", "url", "text", "stdout", "stderr", "error_code", "context", "source"})


class Line(NamedTuple):
    """What one voice said in one turn; ``_asdict()`` is the form the prompt templates read."""

    turn: int
    role: Literal["user", "assistant", "tool"]
    text: str


class Limits(NamedTuple):
    """Most characters of one result, of one text, and of one call with its arguments."""

    result: int = RESULT_CHARACTERS
    words: int = 100_000
    call: int = 400


LIMITS = Limits()
"""What is shown where nothing has to be cut further."""


def source_text(turn: Turn, *, limit: int = RESULT_CHARACTERS) -> str:
    """What may be read of a turn, each voice headed by turn number and role; "" for a turn that says nothing.

    ``limit`` is the most characters (at least 40) shown of one tool result, as head and tail.
    """
    lines = source_lines(turn, limits=Limits(result=limit))
    return "\n\n".join(f"[turn {line.turn}, {line.role}]\n{line.text}" for line in lines)


def source_lines(turn: Turn, *, limits: Limits = LIMITS) -> list[Line]:
    """What may be read of a turn, one line per voice: the speaker's, then one per tool result, in call order."""
    said = "\n\n".join(_own_parts(turn, limits))
    lines = [Line(turn.number, turn.role, said)] if said else []
    lines += [Line(turn.number, "tool", text) for text in _outcomes(turn, limits)]
    return [line._replace(text=jsontext.sendable(line.text)) for line in lines]


def chunks(turns: Sequence[Turn], *, tokens: int, count: Count) -> list[list[Turn]]:
    """The turns in order, in as few groups as needed so that `rendered` shows each within ``tokens``.

    ``tokens`` counts the turns' lines as JSON by ``count``; prompt and answer come on top.  A single turn that is
    larger makes a group of its own, and is cut by `rendered`.
    """
    groups: list[list[Turn]] = []
    used = 0
    for turn in turns:
        size = _size(source_lines(turn), count)
        if not groups or used + size > tokens:
            groups.append([])
            used = 0
        groups[-1].append(turn)
        used += size
    return groups


def rendered(turns: Sequence[Turn], *, tokens: int, count: Count) -> list[Line]:
    """Lines of one chunk within ``tokens`` (as JSON, by ``count``): what is too much is cut, and says so.

    First results are shown shorter, then calls and words, last of all lines in the middle are left out.
    """
    limits = LIMITS
    lines = [line for turn in turns for line in source_lines(turn, limits=limits)]
    while _size(lines, count) > tokens and limits.words > 200:
        longest = max(len(line.text) for line in lines)
        limits = Limits(max(80, limits.result // 2), min(limits.words, longest) // 2, max(80, limits.call // 2))
        lines = [line for turn in turns for line in source_lines(turn, limits=limits)]
    return _fewer(lines, tokens, count)


def _fewer(lines: list[Line], tokens: int, count: Count) -> list[Line]:
    """The first and last lines that fit, with a line between them that counts the others."""
    if _size(lines, count) <= tokens:
        return lines
    for keep in range(len(lines) - 1, 0, -1):
        first = (keep + 1) // 2
        gap = Line(lines[first].turn, "tool", f"[… {len(lines) - keep} more results and remarks left out here]")
        shown = [*lines[:first], gap, *lines[len(lines) - (keep - first) :]]
        if _size(shown, count) <= tokens:
            return shown
    return []


def _size(lines: Iterable[Line], count: Count) -> int:
    return sum(count(json.dumps(line._asdict(), ensure_ascii=False)) + 1 for line in lines)


def _own_parts(turn: Turn, limits: Limits) -> Iterator[str]:
    for block in turn.blocks:
        kind = str(block.get("type"))
        if is_thinking(block) or is_blank(block) or is_server_result(block):
            continue
        if kind == "text":
            yield ends(str(block["text"]), limits.words, _left_out)
        elif kind in _CALLS:
            yield f"[calls {_call(block, limits)}]"
        else:
            yield _other(block, turn.number, limits)


def _outcomes(turn: Turn, limits: Limits) -> Iterator[str]:
    """What came back: from the tools of the API itself, then from the client's, those without a result included."""
    yield from (_server_result(b, limits) for b in turn.blocks if is_server_result(b))
    in_place = turn.in_place
    for position, call in enumerate(turn.calls):
        name = _name(call)
        if position in in_place:
            yield _result(name, in_place[position], turn.number, limits)
        elif not turn.is_open:
            yield f"[{name}: no result was recorded, so its outcome is unknown]"
    late = (r for r in turn.results if r.late and r.call < len(turn.calls))
    yield from (_result(f"{_name(turn.calls[r.call])}, late", r, turn.number, limits) for r in late)


def _result(name: str, result: ToolResult, turn: int, limits: Limits) -> str:
    content = result.body.get("content")
    parts = [content] if isinstance(content, str) else [_part(p, turn, limits) for p in content or ()]
    text = "\n".join(p for p in parts if p.strip())
    outcome = "error" if result.is_error else "ok"
    shown = ends(text, limits.result, _left_out) if text else "(no output)"
    return f"[{name}: {outcome}, {len(text):,} characters]\n{shown}"


def _part(part: Mapping[str, Any], turn: int, limits: Limits) -> str:
    if part.get("type") == "text":
        return str(part.get("text", ""))
    return _other(part, turn, limits)


def _server_result(block: Block, limits: Limits) -> str:
    shown = "\n".join(_strings(block.get("content")))
    return f"[{block.get('type')}]\n{ends(shown, limits.result, _left_out)}".rstrip()


def _strings(value: object) -> Iterator[str]:
    """The readable strings of a server tool's result: never its encrypted parts."""
    if isinstance(value, Mapping):
        for key, part in value.items():
            if key in _SHOWN_KEYS and isinstance(part, str):
                yield part
            elif isinstance(part, (Mapping, list)):
                yield from _strings(part)
    elif isinstance(value, list):
        for part in value:
            yield from _strings(part)


def _other(block: Mapping[str, Any], turn: int, limits: Limits) -> str:
    """A placeholder for a picture, a file or an unknown block; a document that is text is shown as a result is."""
    kind = str(block.get("type"))
    source = block.get("source")
    title = f" {cleaned(block['title'])[:80]!r}" if isinstance(block.get("title"), str) else ""
    if kind == "search_result" or (isinstance(source, Mapping) and source.get("type") in {"text", "content"}):
        shown = source.get("data") if isinstance(source, Mapping) else None
        text = shown if isinstance(shown, str) else "\n".join(_strings(block))
        return f"[document{title}, turn {turn}]\n{ends(text, limits.result, _left_out)}"
    name = {"image": "picture", "document": "document"}.get(kind, f"block of type {kind[:60]!r}")
    return f"[{name}{title}, turn {turn}; not shown here]"


def _call(block: Block, limits: Limits) -> str:
    given = block.get("input")
    pairs = given.items() if isinstance(given, Mapping) else [("", given)]
    arguments = ", ".join(_argument(str(key), value) for key, value in pairs)
    return _shorter(f"{_name(block)} {arguments}".rstrip(), limits.call)


def _argument(key: str, value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    # The key stays in front while the text is cleaned: it is what tells that a value is a secret.
    if len(text) > 4 * _ARGUMENT:
        return ends(f"{key}={text}", _ARGUMENT, lambda left, _: f"… {left:,} characters …").replace("\n", " ")
    return _shorter(cleaned(f"{key}={text}"), _ARGUMENT)


def _name(call: Mapping[str, Any]) -> str:
    return cleaned(str(call.get("name")))[:80]


def _shorter(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _left_out(left: int, whole: int) -> str:
    return f"[… {left:,} of {whole:,} characters left out …]"
