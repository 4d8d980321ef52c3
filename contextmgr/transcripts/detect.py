"""Which format a recording is in, told by its content alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from contextmgr.transcripts import anthropic_messages, claude_code, codex, openai_messages, pi_agent, swe_agent
from contextmgr.transcripts.conversations import conversations, holds_messages
from contextmgr.transcripts.fields import items, mapping
from contextmgr.transcripts.recorded_file import RecordedFile
from contextmgr.transcripts.session import Session

Reader = Callable[[RecordedFile], list[Session]]
_LOOKED_AT = 200
_OPENAI_ROLES = frozenset({"tool", "function", "developer"})
_OPENAI_PARTS = frozenset({"image_url", "input_audio", "refusal", "file"})
_ANTHROPIC_BLOCKS = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking", "image", "document"})


class Format(NamedTuple):
    """A format: its name, and its reader."""

    name: str
    read: Reader


_BY_LINE: tuple[tuple[Callable[[Mapping[str, Any]], bool], Format], ...] = (
    (claude_code.recognises, Format(claude_code.NAME, claude_code.read)),
    (swe_agent.recognises, Format(swe_agent.NAME, swe_agent.read)),
    (codex.recognises, Format(codex.NAME, codex.read)),
    (pi_agent.recognises, Format(pi_agent.NAME, pi_agent.read)),
)
_ANTHROPIC = Format(anthropic_messages.NAME, anthropic_messages.read)
_OPENAI = Format(openai_messages.NAME, openai_messages.read)

FORMATS: tuple[str, ...] = (
    claude_code.NAME,
    anthropic_messages.NAME,
    openai_messages.NAME,
    swe_agent.NAME,
    codex.NAME,
    pi_agent.NAME,
)


def detect(recorded: RecordedFile) -> Format | None:
    """The format most of the first 200 values belong to, or None when none of them belongs to any."""
    values = [r.value for r in recorded.records[:_LOOKED_AT]]
    votes = Counter(f for v in values for recognises, f in _BY_LINE if recognises(mapping(v)))
    document = values[0] if recorded.is_document and isinstance(values[0], list) else values
    messages = sum(map(holds_messages, document))
    best = votes.most_common(1)
    if best and best[0][1] >= messages:
        return best[0][0]
    return _dialect(recorded) if messages else None


def _dialect(recorded: RecordedFile) -> Format:
    """Anthropic's or OpenAI's messages: by what only one of them has; a leading system message decides a tie."""
    openai = anthropic = 0
    for one in conversations(recorded)[:_LOOKED_AT]:
        messages = [m for _, m in one.messages]
        openai += sum(map(_is_openai, messages)) + sum("function" in mapping(t) for t in items(one.holder.get("tools")))
        anthropic += sum(map(_is_anthropic, messages)) + ("system" in one.holder)
        anthropic += sum("input_schema" in mapping(t) for t in items(one.holder.get("tools")))
    if openai == anthropic:
        first = conversations(recorded)[0].messages[:1]
        return _OPENAI if any(m["role"] == "system" for _, m in first) else _ANTHROPIC
    return _OPENAI if openai > anthropic else _ANTHROPIC


def _is_openai(message: Mapping[str, Any]) -> bool:
    has_calls = bool(message.get("tool_calls") or message.get("function_call"))
    return has_calls or message["role"] in _OPENAI_ROLES or _has(message, _OPENAI_PARTS)


def _is_anthropic(message: Mapping[str, Any]) -> bool:
    return _has(message, _ANTHROPIC_BLOCKS)


def _has(message: Mapping[str, Any], types: Iterable[str]) -> bool:
    return any(mapping(b).get("type") in tuple(types) for b in items(message.get("content")))
