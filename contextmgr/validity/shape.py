"""Rules on what stands where: the head of a request, its messages, their blocks, and the blocks inside results."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from contextmgr.validity.findings import Finding

MAX_MESSAGES: Final = 100_000
MIN_THINKING_BUDGET: Final = 1_024
IMAGE_TYPES: Final = ("image/jpeg", "image/png", "image/gif", "image/webp")
NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,128}")

_BARE = {"thinking": "signature", "redacted_thinking": "data"}
_NOT_INSIDE = frozenset({"tool_use", "server_tool_use", "tool_result", *_BARE})
_MAX_DEPTH = 3  # a result holds a document that holds blocks; the API nests no deeper

Block = Mapping[str, Any]


class Message(NamedTuple):
    """A message as the later checks read it: malformed blocks are ``{}``, a malformed message has no role."""

    role: str
    content: Sequence[Block]


def is_blank(text: str) -> bool:
    """Whether there is nothing in a text but white space."""
    return not text or text.isspace()


def check_head(params: Mapping[str, Any], found: list[Finding]) -> None:
    """V01, V02, V22-V24: everything beside the messages."""
    model, max_tokens = params.get("model"), params.get("max_tokens")
    if not isinstance(model, str) or is_blank(model):
        found.append(Finding("V01", "model", f"{model!r} names no model"))
    if not isinstance(max_tokens, int) or isinstance(max_tokens, bool) or max_tokens < 0:
        found.append(Finding("V02", "max_tokens", f"{max_tokens!r} is not a number of tokens"))
    if "system" in params:
        _check_system(params["system"], found)
    if "tools" in params:
        _check_tools(params["tools"], found)
    if "thinking" in params:
        _check_thinking_config(params["thinking"], found)


def _check_system(system: object, found: list[Finding]) -> None:
    if isinstance(system, str):
        if is_blank(system):
            found.append(Finding("V22", "system", "it is blank; leave it out"))
    elif not isinstance(system, (list, tuple)) or not system:
        found.append(Finding("V22", "system", f"{_kind(system)} is neither a string nor a non-empty list"))
    else:
        for i, block in enumerate(system):
            text = block.get("text") if isinstance(block, Mapping) and block.get("type") == "text" else None
            if not isinstance(text, str) or is_blank(text):
                found.append(Finding("V22", f"system[{i}]", "it is not a text block that says something"))


def _check_tools(tools: object, found: list[Finding]) -> None:
    if not isinstance(tools, (list, tuple)):
        found.append(Finding("V23", "tools", f"{_kind(tools)} is not a list"))
        return
    names: set[str] = set()
    for i, tool in enumerate(tools):
        for message in _tool_faults(tool, names):
            found.append(Finding("V23", f"tools[{i}]", message))
    if tools and all(isinstance(t, Mapping) and t.get("defer_loading") is True for t in tools):
        found.append(Finding("V23", "tools", "every tool is deferred; at least one must be there from the start"))


def _tool_faults(tool: object, names: set[str]) -> Iterator[str]:
    if not isinstance(tool, Mapping):
        yield f"{_kind(tool)} is not a tool"
        return
    kind, name = tool.get("type"), tool.get("name")
    custom = kind is None or kind == "custom"
    if custom and not isinstance(tool.get("input_schema"), Mapping):
        yield "it has neither a type of its own nor an input_schema object"
    if not custom and not (isinstance(kind, str) and kind):
        yield f"its type is {kind!r}"
    if name is None and not custom:
        return  # a toolset: its members bring their names
    if not isinstance(name, str) or not NAME.fullmatch(name):
        yield f"its name is {name!r}; 1 to 128 letters, digits, '_' and '-' are allowed"
    elif name in names:
        yield f"another tool is called {name!r} too"
    else:
        names.add(name)


def _check_thinking_config(thinking: object, found: list[Finding]) -> None:
    kind = thinking.get("type") if isinstance(thinking, Mapping) else None
    if not isinstance(thinking, Mapping) or not isinstance(kind, str) or not kind:
        found.append(Finding("V24", "thinking", f"{_kind(thinking)} without a type"))
    elif kind == "enabled":
        budget = thinking.get("budget_tokens")
        if not isinstance(budget, int) or isinstance(budget, bool) or budget < MIN_THINKING_BUDGET:
            found.append(Finding("V24", "thinking", f"budget_tokens={budget!r} is not {MIN_THINKING_BUDGET} or more"))


def check_messages(messages: object, paused_tail: bool, found: list[Finding]) -> list[Message]:
    """V03-V10, V18, V28: the messages one by one; returns them for the checks that compare several."""
    if not isinstance(messages, (list, tuple)) or not 1 <= len(messages) <= MAX_MESSAGES:
        size = f"a list of {len(messages)}" if isinstance(messages, (list, tuple)) else _kind(messages)
        found.append(Finding("V03", "messages", f"{size}, not a list of 1 to {MAX_MESSAGES:,} messages"))
        if not isinstance(messages, (list, tuple)) or not messages:
            return []
    read = [_read(i, message, found) for i, message in enumerate(messages)]
    if read[0].role == "assistant":
        found.append(Finding("V05", "messages[0]", "the first message is the assistant's"))
    for i in range(1, len(read)):
        if read[i].role and read[i].role == read[i - 1].role:
            found.append(Finding("V07", f"messages[{i}]", f"two {read[i].role} messages in a row; merge them"))
    if read[-1].role == "assistant":
        _check_end(read, paused_tail, found)
    return read


def _check_end(messages: list[Message], paused_tail: bool, found: list[Finding]) -> None:
    where = f"messages[{len(messages) - 1}]"
    if not paused_tail:
        found.append(Finding("V06", where, "the request ends on an assistant message that was not paused"))
    last = messages[-1].content[-1] if messages[-1].content else {}
    text = last.get("text")
    if last.get("type") == "text" and isinstance(text, str) and not is_blank(text) and text[-1].isspace():
        found.append(Finding("V10", where, f"it ends with white space ({text[-20:]!r})"))


def _read(i: int, message: object, found: list[Finding]) -> Message:
    where = f"messages[{i}]"
    if not isinstance(message, Mapping) or len(message) != 2 or "role" not in message or "content" not in message:
        keys = sorted(map(str, message)) if isinstance(message, Mapping) else _kind(message)
        found.append(Finding("V04", where, f"{keys} instead of role and content"))
        if not isinstance(message, Mapping):
            return Message("", ())
    role, content = message.get("role"), message.get("content")
    if role != "user" and role != "assistant":
        found.append(Finding("V04", where, f"the role {role!r} is neither user nor assistant"))
        role = ""
    return Message(role, _check_content(where, content, role, 0, found))


def _check_content(where: str, content: object, role: str, depth: int, found: list[Finding]) -> Sequence[Block]:
    if not isinstance(content, (list, tuple)) or not content:
        found.append(Finding("V08", where, f"content is {_kind(content)}, not a non-empty list of blocks"))
        return ()
    blocks: list[Block] = []
    for j, block in enumerate(content):
        kind = block.get("type") if isinstance(block, Mapping) else None
        if not isinstance(kind, str) or not kind:
            found.append(Finding("V08", f"{where}.content[{j}]", f"{_kind(block)} without a type is not a block"))
            blocks.append({})
            continue
        blocks.append(block)
        _check_block(f"{where}.content[{j}]", kind, block, role, depth, found)
    return blocks


def _check_block(where: str, kind: str, block: Block, role: str, depth: int, found: list[Finding]) -> None:
    if kind == "text":
        _check_text(where, block.get("text"), found)
    elif depth and kind in _NOT_INSIDE:
        found.append(Finding("V08", where, f"a {kind} block cannot stand inside another block"))
    elif kind in _BARE:
        _check_thinking(where, kind, block, role, found)
    elif kind == "image" or kind == "document":
        _check_source(where, kind, block.get("source"), depth, found)
    elif kind == "tool_result" or kind == "search_result":
        content = block.get("content")
        if isinstance(content, str) and kind == "tool_result":
            _check_text(where, content, found)
        elif (content is not None or kind == "search_result") and depth < _MAX_DEPTH:
            _check_content(where, content, role, depth + 1, found)


def _check_text(where: str, text: object, found: list[Finding]) -> None:
    if not isinstance(text, str):
        found.append(Finding("V09", where, f"its text is {_kind(text)}, not a string"))
    elif is_blank(text):
        found.append(Finding("V09", where, f"its text is blank ({text[:20]!r})"))


def _check_thinking(where: str, kind: str, block: Block, role: str, found: list[Finding]) -> None:
    seal = block.get(_BARE[kind])
    if role != "assistant":
        found.append(Finding("V18", where, f"a {kind} block stands outside an assistant message"))
    if not isinstance(seal, str) or not seal:
        found.append(Finding("V18", where, f"a {kind} block has {_BARE[kind]}={seal!r}"))
    if kind == "thinking" and not isinstance(block.get("thinking"), str):
        found.append(Finding("V18", where, f"a thinking block has thinking={block.get('thinking')!r}"))


def _check_source(where: str, kind: str, source: object, depth: int, found: list[Finding]) -> None:
    form = source.get("type") if isinstance(source, Mapping) else None
    if not isinstance(source, Mapping) or not isinstance(form, str) or not form:
        found.append(Finding("V28", where, f"its source is {_kind(source)} without a type"))
    elif form == "base64":
        allowed = IMAGE_TYPES if kind == "image" else ("application/pdf",)
        if source.get("media_type") not in allowed:
            found.append(Finding("V28", where, f"media_type {source.get('media_type')!r} is not in {list(allowed)}"))
        if not isinstance(source.get("data"), str) or not source["data"]:
            found.append(Finding("V28", where, "its source has no data"))
    elif form == "content" and not isinstance(source.get("content"), str) and depth < _MAX_DEPTH:
        _check_content(f"{where}.source", source.get("content"), "", depth + 1, found)


def _kind(value: object) -> str:
    name = type(value).__name__
    return f"{name} {value[:40]!r}" if isinstance(value, str) else name
