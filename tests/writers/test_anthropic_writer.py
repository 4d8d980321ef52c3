"""AnthropicWriter with the real client, sync and async, against a stand-in: its request, its failures, its accounts."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import anthropic
import pytest

from contextmgr.errors import InputError
from contextmgr.models import ModelTable, UnknownModelWarning
from contextmgr.validity import validate
from contextmgr.writers import SUMMARY_SCHEMA, AnthropicWriter, Reason, WriterError, call_writer
from tests.loopback import model_server
from tests.writers.scripted import GOOD, GOOD_TEXT, TOOL_CALL, Reply, scripted, text

Make = Callable[[str], AnthropicWriter]


@contextmanager
def sync_writer(url: str) -> Iterator[AnthropicWriter]:
    with anthropic.Anthropic(api_key="k", base_url=url) as client:
        yield AnthropicWriter(client)


@contextmanager
def async_writer(url: str) -> Iterator[AnthropicWriter]:
    client = anthropic.AsyncAnthropic(api_key="k", base_url=url)
    yield AnthropicWriter(client)
    asyncio.run(client.close())


BOTH = pytest.mark.parametrize("writer_at", [sync_writer, async_writer], ids=["sync", "async"])


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def ask(writer: AnthropicWriter, timeout: float = 5.0) -> Any:
    return call_writer(writer, "Take notes.", SUMMARY_SCHEMA, timeout=timeout, sleep=lambda _: None)


def failure(writer: AnthropicWriter, timeout: float = 5.0) -> WriterError:
    with pytest.raises(WriterError) as caught:
        ask(writer, timeout)
    return caught.value


@BOTH
def test_an_answer_comes_back_checked(writer_at: Any) -> None:
    with scripted() as model, writer_at(model.url) as writer:
        assert ask(writer) == GOOD
        assert ask(writer) == GOOD  # a second event loop, where the client is async


@BOTH
def test_the_request_is_valid_and_plain(writer_at: Any) -> None:
    with scripted() as model, writer_at(model.url) as writer:
        ask(writer)
    (body,) = model.bodies
    assert validate(body) == ()
    assert body == {
        "model": "claude-haiku-5-5",
        "max_tokens": 2048,
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Take notes."}]}],
        "thinking": {"type": "disabled"},
        "output_config": {"format": {"type": "json_schema", "schema": SUMMARY_SCHEMA}},
    }


@BOTH
@pytest.mark.parametrize(
    ("reply", "reason", "requests"),
    [
        (text(""), "empty", 1),
        (text("  \n"), "empty", 1),
        (Reply(()), "empty", 1),
        (text(GOOD_TEXT, "max_tokens"), "cut off", 1),
        (text(GOOD_TEXT, "model_context_window_exceeded"), "cut off", 1),
        (text("I cannot help with that.", "refusal"), "refused", 1),
        (TOOL_CALL, "tool call", 1),
        (text("Sure! Here are the notes"), "not json", 3),
        (text("[" * 100_000), "not json", 3),
        (text('{"items": [{"text": "x", "kind": "gossip", "turns": [1]}]}'), "schema", 1),
        (text("[]"), "schema", 1),
        (Reply(half=True), "error", 3),
        (Reply(status=400), "error", 1),
        (Reply(status=401), "error", 1),
        (Reply(status=429), "error", 3),
        (Reply(status=500), "error", 3),
        (Reply(status=529), "error", 3),
    ],
)
def test_failures_have_a_reason_and_bounded_attempts(
    writer_at: Any, reply: Reply, reason: Reason, requests: int
) -> None:
    with scripted(reply) as model, writer_at(model.url) as writer:
        error = failure(writer)
    assert (error.reason, error.attempts, len(model.bodies)) == (reason, requests, requests)


@BOTH
def test_a_model_that_hangs_is_left_at_the_limit(writer_at: Any) -> None:
    with scripted(Reply(hangs=True)) as model, writer_at(model.url) as writer:
        error = failure(writer, timeout=0.3)
        assert [t for t in threading.enumerate() if not t.daemon] == [threading.main_thread()]
    assert (error.reason, error.attempts, len(model.bodies)) == ("too late", 1, 1)


@BOTH
def test_the_writers_own_timeout_is_retried_within_the_limit(writer_at: Any) -> None:
    with scripted(Reply(hangs=True), Reply()) as model, writer_at(model.url) as writer:
        writer.timeout = 0.2
        assert ask(writer) == GOOD
    assert len(model.bodies) == 2


def test_nothing_listens() -> None:
    with sync_writer("http://127.0.0.1:9") as writer:
        error = failure(writer)
    assert (error.reason, error.retryable, error.attempts) == ("error", True, 3)


def test_the_other_side_may_ask_for_a_longer_pause() -> None:
    pauses: list[float] = []
    with scripted(Reply(status=429, headers={"retry-after": "2"}), Reply()) as model, sync_writer(model.url) as writer:
        call_writer(writer, "x", SUMMARY_SCHEMA, timeout=9.0, backoff=0.1, sleep=pauses.append)
    assert pauses == [2.0]


def test_the_plain_stand_in_writes_no_json() -> None:
    with model_server() as (url, bodies), sync_writer(url) as writer:
        assert failure(writer).reason == "not json"
    assert [validate(body) for body in bodies] == [(), (), ()]


@BOTH
def test_accounts_add_up_and_refused_answers_count(writer_at: Any) -> None:
    cached = {"input_tokens": 10, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 20, "output_tokens": 5}
    with scripted(Reply(usage=cached), text("", "max_tokens")) as model, writer_at(model.url) as writer:
        ask(writer)
        failure(writer)
    assert (writer.calls, writer.input_tokens, writer.output_tokens) == (2, 1130, 205)
    first = 10 * 0.1 + 100 * 0.01 + 20 * 0.125 + 5 * 0.5
    assert writer.cost == pytest.approx((first + 1000 * 0.1 + 200 * 0.5) / 1e6)


def test_a_long_prompt_is_charged_by_the_long_price_list() -> None:
    with scripted(Reply(usage={"input_tokens": 200_000, "output_tokens": 100})) as model, sync_writer(model.url) as w:
        ask(w)
    assert w.cost == pytest.approx((200_000 * 0.5 + 100 * 2.5) / 1e6)


def test_accounts_are_exact_with_threads() -> None:
    with scripted() as model, sync_writer(model.url) as writer:
        threads = [threading.Thread(target=ask, args=(writer,)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert (writer.calls, writer.input_tokens, writer.output_tokens) == (8, 8000, 1600)


def test_an_async_writer_can_be_awaited_where_the_client_lives() -> None:
    async def both(url: str) -> tuple[Any, Any]:
        async with anthropic.AsyncAnthropic(api_key="k", base_url=url) as client:
            writer = AnthropicWriter(client)
            awaited: Any = writer("Take notes.", SUMMARY_SCHEMA)
            return await asyncio.to_thread(ask, writer), await awaited

    with scripted() as model:
        assert asyncio.run(both(model.url)) == (GOOD, GOOD)


@pytest.mark.parametrize(
    ("model", "extra"),
    [
        ("claude-sonnet-5-5", {"thinking": {"type": "between_tools"}}),
        ("claude-opus-5-5", {}),
        ("anthropic.claude-haiku-5-5", {"thinking": {"type": "disabled"}}),
        ("claude-haiku-4-5-20251001", {}),
        ("claude-opus-4-8", {}),
    ],
)
def test_thinking_is_off_where_it_can_be(model: str, extra: dict[str, Any]) -> None:
    request = AnthropicWriter(anthropic.Anthropic(api_key="k"), model=model).request("x", SUMMARY_SCHEMA)
    assert {k: v for k, v in request.items() if k == "thinking"} == extra
    assert request["output_config"].get("effort") == ("low" if model == "claude-opus-5-5" else None)
    assert validate(request) == ()


def test_a_thinking_block_in_the_answer_is_passed_over() -> None:
    thought = {"type": "thinking", "thinking": "{", "signature": "c2ln"}
    with scripted(Reply((thought, {"type": "text", "text": GOOD_TEXT}))) as model, sync_writer(model.url) as writer:
        assert ask(writer) == GOOD


def test_a_prompt_is_made_sendable() -> None:
    request = AnthropicWriter(anthropic.Anthropic(api_key="k")).request("a\x00b\ud800c", SUMMARY_SCHEMA)
    assert request["messages"][0]["content"][0]["text"] == "a\ufffdb\ufffdc"


def test_the_window_ends_where_the_price_rises() -> None:
    client = anthropic.Anthropic(api_key="k")
    assert AnthropicWriter(client).window == 100_000
    assert AnthropicWriter(client, model="claude-haiku-4-5").window == 200_000
    assert AnthropicWriter(client, window=8_000).window == 8_000


def test_an_unknown_model_is_charged_safely() -> None:
    with pytest.warns(UnknownModelWarning, match="house-model"):
        writer = AnthropicWriter(anthropic.Anthropic(api_key="k"), model="house-model", table=ModelTable.shipped())
    assert "thinking" not in writer.request("x", SUMMARY_SCHEMA)


@pytest.mark.parametrize("numbers", [{"max_tokens": 0}, {"max_tokens": 9, "window": 9}, {"timeout": 0.0}])
def test_numbers_that_cannot_be_are_refused(numbers: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        AnthropicWriter(anthropic.Anthropic(api_key="k"), **numbers)


def test_it_says_what_it_spent() -> None:
    with scripted() as model, sync_writer(model.url) as writer:
        ask(writer)
    assert repr(writer) == "AnthropicWriter('claude-haiku-5-5', calls=1, cost=$0.000200)"
