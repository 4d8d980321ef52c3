"""What the API refuses beyond RV1-RV7: the head of a request, sources of images, cache marks.  See request_check.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.request_reading import all_blocks, says_something

LETTERS = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
THINKING = ("thinking", "redacted_thinking")


def check_head(params: Mapping[str, Any]) -> list[str]:
    """What stands beside the messages."""
    faults = []
    model, max_tokens = params.get("model"), params.get("max_tokens")
    if not (isinstance(model, str) and model.strip()):
        faults.append(f"API model is {model!r}")
    if type(max_tokens) is not int or max_tokens < 0:
        faults.append(f"API max_tokens is {max_tokens!r}")
    system = params.get("system", "nothing to say")
    blocks = [{"type": "text", "text": system}] if isinstance(system, str) else system
    if not isinstance(blocks, list) or not blocks or not all(says_something(block) for block in blocks):
        faults.append("API system is not text that says something")
    thinking = params.get("thinking", {"type": "disabled"})
    if not isinstance(thinking, dict) or not isinstance(thinking.get("type"), str) or not thinking["type"]:
        faults.append(f"API thinking is {thinking!r}")
    elif thinking["type"] == "enabled":
        budget = thinking.get("budget_tokens")
        if type(budget) is not int or budget < 1024:
            faults.append(f"API thinking budget is {budget!r}")
    return faults + check_tools(params.get("tools", []))


def check_tools(tools: Any) -> list[str]:
    """Each tool is one the API knows or has a schema, and no two share a name."""
    if not isinstance(tools, list) or not all(isinstance(tool, dict) for tool in tools):
        return ["API tools is not a list of objects"]
    faults, names = [], []
    for tool in tools:
        if tool.get("type") in (None, "custom"):
            if not isinstance(tool.get("input_schema"), dict):
                faults.append(f"API the tool {tool.get('name')!r} has no schema")
        elif not isinstance(tool["type"], str) or tool["type"] == "":
            faults.append(f"API a tool of type {tool['type']!r}")
        elif tool.get("name") is None:
            continue
        names.append(tool.get("name"))
    faults += [f"API a tool is called {name!r}" for name in names if not is_name(name)]
    good = [name for name in names if is_name(name)]
    if len(set(good)) < len(good):
        faults.append("API two tools have one name")
    if tools and all(tool.get("defer_loading") is True for tool in tools):
        faults.append("API all tools are deferred")
    return faults


def is_name(value: Any) -> bool:
    """1 to 128 letters, digits, underscores and hyphens."""
    return isinstance(value, str) and 1 <= len(value) <= 128 and set(value) <= LETTERS | {"-"}


def check_sources(messages: list[Any]) -> list[str]:
    """Images and documents have a source the API reads."""
    faults = []
    good = {"image": ["image/jpeg", "image/png", "image/gif", "image/webp"], "document": ["application/pdf"]}
    for _, block, _ in all_blocks(messages):
        if block["type"] not in good:
            continue
        source = block.get("source")
        if not isinstance(source, dict) or not isinstance(source.get("type"), str) or source["type"] == "":
            faults.append(f"API a {block['type']} without a source")
        elif source["type"] == "base64":
            data = source.get("data")
            if source.get("media_type") not in good[block["type"]] or not isinstance(data, str) or data == "":
                faults.append(f"API a {block['type']} of type {source.get('media_type')!r}")
    return faults


def check_marks(params: Mapping[str, Any]) -> list[str]:
    """At most four cache marks, on top-level blocks that can carry one, an hour's before five minutes'."""
    tools = params.get("tools")
    system = params.get("system")
    holders = [("tool", tool) for tool in tools] if isinstance(tools, list) else []
    holders += [("block", block) for block in system] if isinstance(system, list) else []
    faults = []
    for _, block, depth in all_blocks(params["messages"]):
        if depth == 0:
            holders.append(("block", block))
        elif block.get("cache_control") is not None:
            faults.append("API a cache mark inside a block")
    holders.append(("request", dict(params)))
    marked = [(sort, h) for sort, h in holders if isinstance(h, dict) and h.get("cache_control") is not None]
    if len(marked) + len(faults) > 4:
        faults.append(f"API {len(marked)} cache marks")
    lifetimes = []
    for sort, holder in marked:
        mark = holder["cache_control"]
        if not isinstance(mark, dict) or mark.get("type") != "ephemeral" or mark.get("ttl", "5m") not in ("5m", "1h"):
            faults.append(f"API the cache mark {mark!r}")
            continue
        lifetimes.append(mark.get("ttl", "5m"))
        blank = sort == "block" and holder.get("type") == "text" and not says_something(holder)
        if blank or (sort == "block" and holder.get("type") in THINKING) or holder.get("defer_loading") is True:
            faults.append("API a cache mark where none can be")
    if lifetimes != sorted(lifetimes):  # "1h" sorts before "5m"
        faults.append("API a mark of an hour after one of five minutes")
    return faults
