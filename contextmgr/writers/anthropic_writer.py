"""A writer over the Messages API, with any client the caller gives: structured output, no tools, its own accounts."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Awaitable, Mapping
from typing import TYPE_CHECKING, Any

from contextmgr import jsontext
from contextmgr.errors import InputError
from contextmgr.models import ModelEntry, ModelTable, model_entry
from contextmgr.writers.failures import Reason, WriterError
from contextmgr.writers.reply import parsed
from contextmgr.writers.seam import Answer

if TYPE_CHECKING:
    from anthropic import Anthropic, AsyncAnthropic
    from anthropic.types import Message, Usage

_STOPS: dict[str | None, Reason] = {
    None: "cut off",
    "max_tokens": "cut off",
    "model_context_window_exceeded": "cut off",
    "pause_turn": "cut off",
    "tool_use": "tool call",
    "refusal": "refused",
}
# Models that think unless told otherwise would spend max_tokens on it (model pages, November 2026).  Where thinking
# cannot be turned off it is kept short.  Models that are not listed do not think unless asked, or are not known.
_OFF: dict[str, Any] = {"thinking": {"type": "disabled"}}
_SHORT: dict[str, Any] = {"output_config": {"effort": "low"}}
_LITTLE_THINKING: dict[str, dict[str, Any]] = {
    "claude-haiku-5-5": _OFF,
    "claude-sonnet-5": _OFF,
    "claude-opus-5": _OFF,
    "claude-sonnet-5-5": {"thinking": {"type": "between_tools"}},
    "claude-opus-5-5": _SHORT,
    **dict.fromkeys((f"claude-{name}-{v}" for name in ("fable", "mythos") for v in ("5", "5-1", "5-2")), _SHORT),
}
_PER_TOKEN = 1e-6  # prices are per million


class AnthropicWriter:
    """Asks a Claude model, through a client that the caller made and closes.

    ``client`` is an ``Anthropic`` or ``AsyncAnthropic`` (or one of their kin for a cloud platform); its key, address
    and headers are used, its retries are not: `call_writer` counts attempts.  An async client's connections belong to
    its event loop, so for it the writer opens, and closes, a connection of its own per call; give a sync client where
    a custom ``http_client`` matters.  ``max_tokens`` bounds an answer, ``timeout`` is the seconds the client may wait
    for the network, ``window`` the tokens that prompt and answer together should keep to (default: the model's window,
    or the end of its cheaper price list); ``table`` is where prices come from (default: the shipped table).

    ``calls``, ``input_tokens`` (cached ones included), ``output_tokens`` and ``cost`` (dollars) add up over all calls
    and threads; answers that are refused count as well, they are paid for.
    Raises `InputError` for numbers that cannot be.
    """

    def __init__(
        self,
        client: Anthropic | AsyncAnthropic,
        *,
        model: str = "claude-haiku-5-5",
        max_tokens: int = 2048,
        timeout: float = 60.0,
        window: int | None = None,
        table: ModelTable | None = None,
    ) -> None:
        self._client: Any = client
        self._async = inspect.iscoroutinefunction(inspect.unwrap(client.messages.create))
        self._entry = model_entry(model, table)
        self.name = model
        self.model = model
        self.max_tokens = max_tokens
        self.timeout = timeout
        self.window = _window(self._entry) if window is None else window
        self._extra = _little_thinking(model)
        self._lock = threading.Lock()
        self.calls = 0
        self.input_tokens = 0
        self.output_tokens = 0
        self.cost = 0.0
        if not 0 < max_tokens < self.window:
            raise InputError(f"max_tokens = {max_tokens} must be above 0 and below the window of {self.window} tokens")
        if not 0 < timeout < float("inf"):
            raise InputError(f"timeout = {timeout!r} must be a number of seconds above 0")

    def __repr__(self) -> str:
        return f"AnthropicWriter({self.model!r}, calls={self.calls}, cost=${self.cost:.6f})"

    def __call__(self, prompt: str, schema: Mapping[str, Any]) -> Answer | Awaitable[Answer]:
        """The model's answer; an awaitable of it if the client is async.

        Raises `WriterError` when the model stopped for another reason than being done, or wrote nothing or no JSON
        object; the SDK's own errors pass through (`call_writer` gives those a reason too).
        """
        request = self.request(prompt, schema)
        return self._ask_async(request) if self._async else self._ask(request)

    def request(self, prompt: str, schema: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of ``messages.create`` for a prompt: one user message, the schema as output format."""
        form = {"format": {"type": "json_schema", "schema": dict(schema)}}
        return {
            **self._extra,
            "model": self.model,
            "max_tokens": self.max_tokens,
            "messages": [{"role": "user", "content": [{"type": "text", "text": jsontext.sendable(prompt)}]}],
            "output_config": {**self._extra.get("output_config", {}), **form},
        }

    def _ask(self, request: dict[str, Any]) -> Answer:
        with self._lock:
            self.calls += 1
        client = self._client.with_options(max_retries=0)
        return self._read(client.messages.create(**request, timeout=self.timeout))

    async def _ask_async(self, request: dict[str, Any]) -> Answer:
        from anthropic import DefaultAsyncHttpxClient

        with self._lock:
            self.calls += 1
        async with DefaultAsyncHttpxClient() as connections:
            client = self._client.with_options(max_retries=0, http_client=connections)
            return self._read(await client.messages.create(**request, timeout=self.timeout))

    def _read(self, message: Message) -> Answer:
        self._account(message.usage)
        reason = _STOPS.get(message.stop_reason)
        if reason is None and any(block.type == "tool_use" for block in message.content):
            reason = "tool call"
        if reason is not None:
            stopped = f"{self.model} stopped with {message.stop_reason!r} after {message.usage.output_tokens} tokens"
            raise WriterError(reason, f"{stopped}; max_tokens is {self.max_tokens}")
        return parsed("".join(block.text for block in message.content if block.type == "text"))

    def _account(self, usage: Usage) -> None:
        read, written = usage.cache_read_input_tokens or 0, usage.cache_creation_input_tokens or 0
        total = usage.input_tokens + read + written
        prices = self._entry.prices(total)
        dollars = _PER_TOKEN * (
            usage.input_tokens * prices.input_price
            + read * prices.read_price
            + written * prices.write_5m_price
            + usage.output_tokens * prices.output_price
        )
        with self._lock:
            self.input_tokens += total
            self.output_tokens += usage.output_tokens
            self.cost += dollars


def _window(entry: ModelEntry) -> int:
    """Tokens to keep to: above the end of the cheaper list the whole request would cost several times as much."""
    return entry.window if entry.long_prompt is None else min(entry.window, entry.long_prompt.above)


def _little_thinking(model: str) -> dict[str, Any]:
    known = ModelTable.shipped().find(model)
    return _LITTLE_THINKING.get(known.name, {}) if known else {}
