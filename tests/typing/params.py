# pyright: strict
"""Read by type checkers only, never run: our params unpack into every call of the SDK that takes a request.

Each ``assert_type`` also pins what comes back: an argument of a wrong type would make a checker fall through to
another overload.
"""

from __future__ import annotations

from typing import assert_type

from anthropic import Anthropic, AsyncAnthropic, AsyncStream, Stream
from anthropic.types import Message, MessageTokensCount, RawMessageStreamEvent

from contextmgr.params import CountParams, RequestParams


def sync_client(client: Anthropic, params: RequestParams, count: CountParams) -> None:
    """Create, create with ``stream=True``, the streaming helper and the counter of the synchronous client."""
    assert_type(client.messages.create(**params), Message)
    assert_type(client.messages.create(**params, stream=True), Stream[RawMessageStreamEvent])
    assert_type(client.messages.create(**params, tool_choice={"type": "none"}, timeout=30), Message)
    with client.messages.stream(**params) as stream:
        assert_type(stream.get_final_text(), str)
    assert_type(client.messages.count_tokens(**count), MessageTokensCount)


async def async_client(client: AsyncAnthropic, params: RequestParams, count: CountParams) -> None:
    """The same calls of the asynchronous client."""
    assert_type(await client.messages.create(**params), Message)
    assert_type(await client.messages.create(**params, stream=True), AsyncStream[RawMessageStreamEvent])
    assert_type(await client.messages.create(**params, tool_choice={"type": "none"}, timeout=30), Message)
    async with client.messages.stream(**params) as stream:
        assert_type(await stream.get_final_text(), str)
    assert_type(await client.messages.count_tokens(**count), MessageTokensCount)


def by_hand() -> RequestParams:
    """A caller may write such a request out, and change one of ours."""
    params: RequestParams = {
        "model": "claude-sonnet-5-5",
        "max_tokens": 1024,
        "system": [{"type": "text", "text": "Be brief."}],
        "tools": [{"name": "look", "input_schema": {"type": "object"}}, {"type": "bash_20250124", "name": "bash"}],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Hello"}]}],
    }
    params["thinking"] = {"type": "adaptive"}
    params["max_tokens"] = 2048
    return params
