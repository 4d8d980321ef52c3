"""RV4 against what was sent and answered before, and RV5 against a count: for tests that know more than one request."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from tests.request_reading import Block, blocks_of, same, without_marks

THINKING = ("thinking", "redacted_thinking")

Answered = tuple[Mapping[str, Any], Sequence[Mapping[str, Any]]]
"""A request as sent, and the content blocks of the reply to it."""


def check_thinking(params: Mapping[str, Any], answered: Iterable[Answered], *, bound: bool = True) -> list[str]:
    """RV4 against the past: thinking is that of earlier replies, whole turns of it, in order, unchanged.

    ``answered`` holds the earlier requests of the conversation, oldest first, each with its reply's blocks.  Where the
    model binds thinking to what it followed (``bound``), system, tools and every block before it must be those of the
    request it answered, cache marks left out of account.
    """
    past = list(answered)
    thoughts = [without_marks(block) for _, block in blocks_of(params) if block["type"] in THINKING]
    replies = [[dict(block) for block in reply if block["type"] in THINKING] for _, reply in past]
    reach = {0}
    for reply in replies:
        reach |= {at + len(reply) for at in reach if same(thoughts[at : at + len(reply)], reply)}
    if len(thoughts) not in reach:
        return ["RV4 the thinking is not that of whole earlier turns, in order"]
    if not bound:
        return []
    return [
        "RV4 thinking stands behind something other than it was produced behind"
        for (request, _), reply in zip(past, replies, strict=True)
        if reply and any(same(reply[0], block) for block in thoughts) and not _behind(params, request, reply)
    ]


def _behind(params: Mapping[str, Any], request: Mapping[str, Any], reply: list[Block]) -> bool:
    for key in ("system", "tools"):
        now, then = params.get(key) or [], request.get(key) or []
        if not same(_unmarked(now), _unmarked(then)):
            return False
    now = [(role, without_marks(block)) for role, block in blocks_of(params)]
    then = [(role, without_marks(block)) for role, block in blocks_of(request)]
    if not same(now[: len(then)], then):
        return False
    thoughts = []
    for role, block in now[len(then) :]:
        if role == "user":
            break
        if block["type"] in THINKING:
            thoughts.append(block)
    return same(thoughts[: len(reply)], reply)


def _unmarked(value: Any) -> Any:
    return value if isinstance(value, str) else [without_marks(item) for item in value]


def check_size(
    params: Mapping[str, Any], count: Callable[[Mapping[str, Any]], int], *, budget: int, window: int
) -> list[str]:
    """RV5: ``count(params)`` tokens fit the budget, and together with ``max_tokens`` the model's window."""
    tokens = count(params)
    faults = []
    if tokens > budget:
        faults.append(f"RV5 {tokens} tokens; the budget is {budget}")
    if tokens + params["max_tokens"] > window:
        faults.append(f"RV5 {tokens} tokens and {params['max_tokens']} of answer; the window is {window}")
    return faults
