"""The request check RV1-RV5 and RV7, for every request of the whole suite: written apart from ``contextmgr.validity``.

It shares no code with the product, so that a rule misread there is not misread here too.  Each fault is one line that
begins with the check it breaks (``RV1`` ... ``RV7``; ``API`` for what the API refuses beyond those).

    assert check_request(request.params) == []
    assert check_thinking(request.params, answered) == []          # RV4 against the requests and replies so far
    assert check_size(request.params, count, budget=..., window=...) == []                              # RV5
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

from tests.request_extras import LETTERS, THINKING, check_head, check_marks, check_sources, is_name
from tests.request_past import Answered, check_size, check_thinking
from tests.request_reading import Block, all_blocks, blocks_of, inner_texts, messages_of, texts_of, without_marks

__all__ = [
    "Answered",
    "blocks_of",
    "check_request",
    "check_size",
    "check_thinking",
    "messages_of",
    "texts_of",
    "without_marks",
]

SERVER_CALLS = ("server_tool_use", "mcp_tool_use")


def check_request(params: Mapping[str, Any], *, paused_tail: bool = False) -> list[str]:
    """Everything wrong with one request that shows in the request itself; ``[]`` when it is valid."""
    faults = check_json(params) + check_head(params)
    messages = params.get("messages")
    if not isinstance(messages, list) or not messages or len(messages) > 100_000:
        return [*faults, "RV1 there are no messages, or too many"]
    misshapen = check_shapes(messages)
    if misshapen:
        return faults + misshapen  # what follows reads roles and types without looking twice
    faults += check_order(messages, paused_tail)
    faults += check_texts(messages)
    faults += check_ids(messages)
    faults += check_client_calls(messages)
    faults += check_server_calls(messages, paused_tail)
    faults += check_tools_present(params)
    faults += check_seals(messages)
    faults += check_sources(messages)
    faults += check_marks(params)
    return faults


# --- RV7: the bytes ---------------------------------------------------------------------------------------------------


def check_json(params: Mapping[str, Any]) -> list[str]:
    """RV7: it encodes to JSON as UTF-8, without NUL, within 32 MB."""
    try:
        body = json.dumps(params, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8")
    except (TypeError, ValueError, RecursionError) as error:  # UnicodeEncodeError is a ValueError
        return [f"RV7 the request does not encode: {error}"[:200]]
    if len(body) > 32_000_000:
        return [f"RV7 the body has {len(body)} bytes"]
    if b"\\u0000" in body and any("\x00" in text for text in strings_in(json.loads(body))):
        return ["RV7 a string holds NUL"]
    return []


def strings_in(value: Any) -> Iterable[str]:
    """Every string of a JSON value, keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from strings_in(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from strings_in(item)


# --- RV1 and RV3: messages and texts ----------------------------------------------------------------------------------


def check_shapes(messages: list[Any]) -> list[str]:
    """RV1: every message is {role, content}, every content a non-empty list of blocks, inside results too."""
    faults: list[str] = []
    for n, message in enumerate(messages):
        if not isinstance(message, dict) or set(message) != {"role", "content"}:
            faults.append(f"RV1 message {n} is not role and content")
        elif message["role"] not in ("user", "assistant"):
            faults.append(f"RV1 message {n} is from {message['role']!r}")
        else:
            faults += check_content(message["content"], f"message {n}", 0)
    return faults


def check_content(content: Any, where: str, depth: int) -> list[str]:
    """RV1 for one content list."""
    if not isinstance(content, list) or content == []:
        return [f"RV1 {where}: the content is empty or not a list"]
    faults: list[str] = []
    for block in content:
        if not isinstance(block, dict) or not isinstance(block.get("type"), str) or block["type"] == "":
            faults.append(f"RV1 {where}: a block without a type")
            continue
        kind, source = block["type"], block.get("source")
        if depth > 0 and kind in ("tool_use", "server_tool_use", "tool_result", *THINKING):
            faults.append(f"RV1 {where}: {kind} inside another block")
        elif depth < 3 and kind == "search_result":
            faults += check_content(block.get("content"), where, depth + 1)
        elif kind == "tool_result" and block.get("content") is not None and not isinstance(block["content"], str):
            faults += check_content(block["content"], where, depth + 1)
        elif depth < 3 and kind == "document" and isinstance(source, dict) and source.get("type") == "content":
            inside = source.get("content")
            faults += [] if isinstance(inside, str) else check_content(inside, where, depth + 1)
    return faults


def check_order(messages: list[Any], paused_tail: bool) -> list[str]:
    """RV1: it begins with the user, alternates, and ends with the user or with a paused turn."""
    roles = [message["role"] for message in messages]
    faults = []
    if roles[0] != "user":
        faults.append("RV1 the first message is not the user's")
    if any(here == after for here, after in pairwise(roles)):
        faults.append("RV1 two neighbours have one role")
    if roles[-1] != "user" and not paused_tail:
        faults.append("RV1 the last message is not the user's")
    return faults


def check_texts(messages: list[Any]) -> list[str]:
    """RV3: no blank text anywhere; nothing is left hanging in white space at the end of an assistant message."""
    faults = []
    for n, message in enumerate(messages):
        for block in message["content"]:
            for holder, text in inner_texts(block):
                if not isinstance(text, str) or text.strip() == "":
                    faults.append(f"RV3 message {n}: a blank text in a {holder} block")
    last = messages[-1]["content"][-1]
    if messages[-1]["role"] == "assistant" and last["type"] == "text":
        text = last.get("text")
        if isinstance(text, str) and text.strip() and text != text.rstrip():
            faults.append("RV3 the request ends in white space")
    return faults


# --- RV2: calls and results -------------------------------------------------------------------------------------------


def check_ids(messages: list[Any]) -> list[str]:
    """RV2: calls are well-formed, stand in assistant messages, and have ids of their own."""
    faults, ids = [], []
    for message in messages:
        for block in message["content"]:
            if block["type"] not in ("tool_use", *SERVER_CALLS):
                continue
            call = block.get("id")
            allowed = LETTERS if block["type"] == "server_tool_use" else LETTERS | {"-"}
            if message["role"] != "assistant":
                faults.append(f"RV2 the user calls {block.get('name')!r}")
            if not isinstance(call, str) or call == "" or not set(call) <= allowed:
                faults.append(f"RV2 a call has the id {call!r}")
            elif block["type"] == "server_tool_use" and (call[:9] != "srvtoolu_" or len(call) == 9):
                faults.append(f"RV2 a server call has the id {call!r}")
            if not is_name(block.get("name")) or not isinstance(block.get("input"), dict):
                faults.append(f"RV2 the call {call!r} has no proper name or input")
            if message["role"] == "assistant":
                ids.append(str(call))
    if len(set(ids)) < len(ids):
        faults.append("RV2 two calls have one id")
    return faults


def check_client_calls(messages: list[Any]) -> list[str]:
    """RV2: each message's calls and the results at the head of the next message are the same ids, once each."""
    faults = []
    after: list[Any] = [*messages[1:], {"role": "user", "content": []}]
    for n, (message, following) in enumerate(zip(messages, after, strict=True)):
        calls = [b.get("id") for b in message["content"] if b["type"] == "tool_use" and message["role"] == "assistant"]
        answers = [b.get("tool_use_id") for b in following["content"] if b["type"] == "tool_result"]
        if following["role"] != "user":
            answers = []
        if sorted(map(repr, calls)) != sorted(map(repr, answers)):
            faults.append(f"RV2 message {n} calls {calls} and the next one answers {answers}")
    for n, message in enumerate(messages):
        is_result = [block["type"] == "tool_result" for block in message["content"]]
        if is_result != sorted(is_result, reverse=True):
            faults.append(f"RV2 message {n}: results are not first")
        if any(is_result) and (n == 0 or message["role"] != "user"):
            faults.append(f"RV2 message {n}: results where no results can be")
    return faults


def check_server_calls(messages: list[Any], paused_tail: bool) -> list[str]:
    """RV2 for tools the API runs: call and result inside one assistant turn.

    A turn goes on over user messages of nothing but results, so it is read here as one row of blocks; only the last
    turn, if it is still going on, may hold calls without a result.
    """
    faults = []
    turns: list[list[Block]] = [[]]
    for message in messages:
        if message["role"] == "assistant":
            turns[-1] += message["content"]
        else:
            strays = [b["type"] for b in message["content"] if b["type"].endswith("_tool_result")]
            faults += [f"RV2 a {kind} block in a user message" for kind in strays]
            if any(block["type"] != "tool_result" for block in message["content"]):
                turns.append([])
    going_on = paused_tail if messages[-1]["role"] == "assistant" else turns[-1] != []
    for n, turn in enumerate(turns):
        calls = [b.get("id") for b in turn if b["type"] in SERVER_CALLS]
        unknown = [b.get("id") for b in turn if b["type"].endswith("_tool_use") and b["type"] not in SERVER_CALLS]
        called: list[Any] = []
        for block in turn:
            if block["type"] in SERVER_CALLS:
                called.append(block.get("id"))
            elif block["type"].endswith("_tool_result") and isinstance(block.get("tool_use_id"), str):
                if block["tool_use_id"] in called:
                    called.remove(block["tool_use_id"])
                elif block["tool_use_id"] not in unknown:
                    faults.append(f"RV2 the server's result {block['tool_use_id']!r} follows no open call of {calls}")
        if called and not (going_on and n == len(turns) - 1):
            faults.append(f"RV2 the server calls {called} have no result in their turn")
    return faults


def check_tools_present(params: Mapping[str, Any]) -> list[str]:
    """RV2: tool blocks need tools."""
    kinds = {block["type"] for _, block in blocks_of(params)}
    if any(kind.endswith(("tool_use", "tool_result")) for kind in kinds) and not params.get("tools"):
        return ["RV2 tool blocks without tools"]
    return []


# --- RV4: thinking ----------------------------------------------------------------------------------------------------


def check_seals(messages: list[Any]) -> list[str]:
    """RV4: thinking has its signature, redacted thinking its data, and both are the assistant's."""
    faults = []
    for role, block, _ in all_blocks(messages):
        if block["type"] in THINKING:
            seal = block.get("signature" if block["type"] == "thinking" else "data")
            if role != "assistant" or not isinstance(seal, str) or seal == "":
                faults.append(f"RV4 {block['type']} of the {role}, sealed {seal!r}")
            elif block["type"] == "thinking" and not isinstance(block.get("thinking"), str):
                faults.append("RV4 a thinking block without thinking")
    return faults
