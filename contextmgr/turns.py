"""Turns: the atomic units of history, and the pairing of tool calls with their results.

A user turn is one user message.  An assistant turn is one assistant message with all results of its tool
calls; until they are in, it is open.  Law: a call never appears without its result, nor a result without its
call; so both live in one value.  Blocks are the Messages API's JSON, kept as the caller or the SDK gave it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal

from contextmgr import jsontext
from contextmgr.errors import TurnError
from contextmgr.features import ZERO, Features

Block = dict[str, Any]
Role = Literal["user", "assistant"]
Author = Literal["user", "operator", "model"]

THINKING_TYPES = frozenset({"thinking", "redacted_thinking"})
SERVER_CALL_TYPES = frozenset({"server_tool_use", "mcp_tool_use"})
MAX_TURN_BYTES = 64 * 2**20


class Status(StrEnum):
    """Where a turn stands: ``OPEN`` waits for results, ``INTERRUPTED`` went on without some of them."""

    OPEN = "open"
    CLOSED = "closed"
    INTERRUPTED = "interrupted"
    ERASED = "erased"


class Completeness(StrEnum):
    """How an assistant message ended."""

    END_TURN = "end_turn"
    TOOL_USE = "tool_use"
    MAX_TOKENS = "max_tokens"
    PAUSE_TURN = "pause_turn"
    REFUSAL = "refusal"
    INTERRUPTED = "interrupted"
    UNKNOWN = "unknown"


_COMPLETENESS = {
    "end_turn": Completeness.END_TURN,
    "stop_sequence": Completeness.END_TURN,
    "tool_use": Completeness.TOOL_USE,
    "max_tokens": Completeness.MAX_TOKENS,
    "model_context_window_exceeded": Completeness.MAX_TOKENS,
    "pause_turn": Completeness.PAUSE_TURN,
    "refusal": Completeness.REFUSAL,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Token usage of one call as the API reported it."""

    input_tokens: int
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int = 0

    @property
    def true_input(self) -> int:
        """Everything the call took in, in tokens: uncached + read from cache + written to it."""
        return self.input_tokens + self.cache_read_tokens + self.cache_write_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """The result of one call.  ``call`` is the call's position among the turn's calls: ids may recur."""

    call: int
    body: Block
    late: bool = False
    sendable: bool = True
    sha256: str = ""
    features: Features = ZERO
    said_at: datetime | None = None

    @property
    def is_error(self) -> bool:
        """Whether the tool reported failure."""
        return bool(self.body.get("is_error"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One stored turn.

    ``number`` counts from 1 per conversation, in append order.  ``request`` is the number of the request this
    assistant turn answers, when known.  ``features`` covers the blocks without thinking, ``thinking_features``
    the thinking, each result its own.  ``withdrawn`` holds the reason when the turn is kept out of requests.
    ``sendable`` is False where a NUL or lone surrogate is stored and requests carry U+FFFD in its place.
    """

    number: int
    role: Role
    author: Author
    blocks: tuple[Block, ...]
    results: tuple[ToolResult, ...] = ()
    status: Status = Status.CLOSED
    stop_reason: str | None = None
    model: str | None = None
    usage: Usage | None = None
    request: int | None = None
    withdrawn: str | None = None
    said_at: datetime | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    sendable: bool = True
    sha256: str = ""
    features: Features = ZERO
    thinking_features: Features = ZERO

    @property
    def calls(self) -> tuple[Block, ...]:
        """The client tool calls, in order.  Server tools carry their results in the message itself."""
        return tuple(b for b in self.blocks if b.get("type") == "tool_use")

    @property
    def in_place(self) -> dict[int, ToolResult]:
        """Results by call position, late ones left out: they were never part of the turn as sent."""
        return {r.call: r for r in self.results if not r.late}

    @property
    def missing(self) -> tuple[int, ...]:
        """Positions of calls that have no result in place."""
        have = self.in_place
        return tuple(i for i in range(len(self.calls)) if i not in have)

    @property
    def missing_ids(self) -> tuple[str, ...]:
        """Ids of the calls that have no result in place, in call order."""
        calls = self.calls
        return tuple(str(calls[i].get("id")) for i in self.missing)

    @property
    def is_open(self) -> bool:
        """Whether calls are still waiting for results."""
        return self.status is Status.OPEN

    @property
    def is_paused(self) -> bool:
        """Whether the model paused a long server-side turn that is to be resent unchanged."""
        return self.stop_reason == "pause_turn" and not self.calls

    @property
    def waits_for_server(self) -> bool:
        """Whether the API itself still owes results: the next message from here may hold nothing but tool results."""
        if self.role != "assistant" or not (self.is_paused or self.calls):
            return False
        return self.is_paused or bool(server_calls(self.blocks) - server_answers(self.blocks))

    @property
    def ends_exchange(self) -> bool:
        """Whether this is an assistant turn after which only the user can go on."""
        return self.role == "assistant" and not self.calls and not self.is_paused

    @property
    def has_thinking(self) -> bool:
        """Whether any block is (redacted) thinking."""
        return any(is_thinking(b) for b in self.blocks)

    @property
    def completeness(self) -> Completeness:
        """How the message ended; a turn that went on without results is ``INTERRUPTED``."""
        if self.status is Status.INTERRUPTED:
            return Completeness.INTERRUPTED
        return _COMPLETENESS.get(self.stop_reason or "", Completeness.UNKNOWN)

    @property
    def text(self) -> str:
        """What was said in words: text blocks joined by blank lines, without thinking, calls and results."""
        return "\n\n".join(words(self.blocks))


def is_thinking(block: Mapping[str, Any]) -> bool:
    """Whether a block is (redacted) thinking."""
    return block.get("type") in THINKING_TYPES


def is_blank(block: Mapping[str, Any]) -> bool:
    """Whether a block is a text block of white space only: legal on output, illegal on input."""
    return block.get("type") == "text" and not str(block.get("text", "")).strip()


def server_calls(blocks: Iterable[Mapping[str, Any]]) -> set[str]:
    """Ids of the tool calls that the API runs itself."""
    return {str(b.get("id")) for b in blocks if b.get("type") in SERVER_CALL_TYPES}


def is_server_result(block: Mapping[str, Any]) -> bool:
    """Whether a block is the result of a tool that the API ran itself."""
    return str(block.get("type")).endswith("_tool_result") and "tool_use_id" in block


def server_answers(blocks: Iterable[Mapping[str, Any]]) -> set[str]:
    """Ids of the server tool calls whose results stand in these blocks."""
    return {str(b["tool_use_id"]) for b in blocks if is_server_result(b)}


def words(blocks: Iterable[Mapping[str, Any]]) -> list[str]:
    """Texts of the non-blank text blocks, in order."""
    return [str(b["text"]) for b in blocks if b.get("type") == "text" and not is_blank(b)]


def to_block(value: object) -> Block:
    """One content block as JSON: a dict as it is, an SDK object through ``to_dict()``.  Raises `TurnError`."""
    dump = getattr(value, "to_dict", None)
    raw = dump(mode="json") if callable(dump) else value
    if not isinstance(raw, Mapping):
        raise TurnError(f"a content block must be a dict or an SDK block, not {value!r}")
    block = dict(raw)
    if not isinstance(block.get("type"), str) or not block["type"]:
        raise TurnError(f"a content block needs a 'type', got keys {sorted(map(str, block))}")
    if block["type"] == "text" and not isinstance(block.get("text"), str):
        raise TurnError(f"a text block's 'text' must be a string, not {block.get('text')!r}")
    block.pop("cache_control", None)
    return block


def to_blocks(content: object) -> tuple[Block, ...]:
    """Message content as blocks; a string is one text block.  Raises `TurnError` for anything else."""
    if isinstance(content, str):
        return ({"type": "text", "text": content},)
    if isinstance(content, (Mapping, bytes)) or not isinstance(content, Iterable):
        raise TurnError(f"content must be a string or a list of blocks, not {type(content).__name__}")
    blocks = tuple(to_block(b) for b in content)
    check_size(blocks)
    return blocks


def check_size(blocks: Sequence[Block]) -> None:
    """Raise `TurnError` for what JSON cannot hold or what is larger than `MAX_TURN_BYTES`."""
    try:
        size = len(jsontext.dumps(list(blocks)))
    except (TypeError, ValueError, RecursionError) as error:
        raise TurnError(f"content is not JSON ({error}); give strings, numbers, lists and dicts only") from error
    if size > MAX_TURN_BYTES:
        raise TurnError(f"content is {size} bytes as JSON; the limit is {MAX_TURN_BYTES}; split it or send a file id")


def check_user(blocks: Sequence[Block]) -> None:
    """Raise `TurnError` unless the blocks can be one user turn."""
    if not any(not is_blank(b) for b in blocks):
        raise TurnError("a user message must say something: it is empty or white space only")
    for block in blocks:
        if block["type"] in {"tool_use", *SERVER_CALL_TYPES} or is_thinking(block):
            raise TurnError(f"a user message cannot hold a {block['type']!r} block; use add_reply()")
        if block["type"] == "tool_result":
            raise TurnError("results of tool calls belong to add_tool_results()")
        if block["type"].endswith("_tool_result"):
            raise TurnError(f"a {block['type']!r} block belongs to the assistant's message; use add_reply()")


def check_assistant(blocks: Sequence[Block]) -> None:
    """Raise `TurnError` unless the blocks can be one assistant turn (which may be empty: a cancelled answer)."""
    for block in blocks:
        kind = block["type"]
        if kind == "tool_result":
            raise TurnError("an assistant message cannot hold a 'tool_result' block; use add_tool_results()")
        if kind == "tool_use":
            _check_call(block)


def _check_call(block: Block) -> None:
    for name in ("id", "name"):
        if not isinstance(block.get(name), str) or not block[name]:
            raise TurnError(f"a tool_use block needs {name!r} as a string, not {block.get(name)!r}")
    if not isinstance(block.get("input"), Mapping):
        raise TurnError(f"a tool_use block needs 'input' as a dict, not {block.get('input')!r}")


def check_result(block: Block) -> None:
    """Raise `TurnError` unless the block is a well-formed tool result."""
    if block["type"] != "tool_result":
        raise TurnError(f"add_tool_results() takes 'tool_result' blocks, not {block['type']!r}")
    if not isinstance(block.get("tool_use_id"), str) or not block["tool_use_id"]:
        raise TurnError(f"a tool_result needs 'tool_use_id' as a string, not {block.get('tool_use_id')!r}")
    content = block.get("content")
    if content is not None and not isinstance(content, str):
        for part in to_blocks(content):
            if part["type"] in {"tool_use", "tool_result"} or is_thinking(part):
                raise TurnError(f"a tool_result's content cannot hold a {part['type']!r} block")


def pair(calls: Sequence[Mapping[str, Any]], taken: Iterable[int], call_id: str) -> int | None:
    """Position of the first call with this id that is not in ``taken``, or None."""
    used = set(taken)
    return next((i for i, c in enumerate(calls) if c.get("id") == call_id and i not in used), None)


def open_round(turns: Sequence[Turn], model: str) -> frozenset[int]:
    """Numbers of the turns of the tool round that is open: those after the last user turn, made by ``model``."""
    start = max((t.number for t in turns if t.role == "user"), default=0)
    return frozenset(t.number for t in turns if t.number > start and t.model in (None, model))
