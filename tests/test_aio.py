"""The awaited face, with the real async client against the stand-in server; many tasks at once, and cancelled ones."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any

import anthropic
import pytest

from contextmgr import AsyncConversation, AsyncManager, Manager, NothingToAnswerError, StoreError
from tests.loopback import ANSWER, model_server

MODEL = "claude-sonnet-5-5"
TOOLS: list[Any] = [{"name": "read_schema", "input_schema": {"type": "object"}}]


def run(file: Path, work: Callable[[AsyncManager], Coroutine[Any, Any, None]]) -> None:
    """Run ``work`` with a manager of its own."""

    async def opened() -> None:
        async with AsyncManager(file) as manager:
            await work(manager)

    asyncio.run(opened())


def stored(file: Path, name: str = "c") -> list[str]:
    with Manager(file) as manager:
        return [t.text for t in manager.conversation(name, tenant="t").history.turns()]


async def exchange(chat: AsyncConversation, client: anthropic.AsyncAnthropic, said: str) -> str:
    """Say something, run the tool that is called, and return the answer."""
    await chat.add_user(said)
    while True:
        request = await chat.assemble(model=MODEL, max_tokens=500, tools=TOOLS)
        turn = await chat.add_reply(await client.messages.create(**request.params), request=request)
        if not turn.calls:
            return turn.text
        results = [{"type": "tool_result", "tool_use_id": c["id"], "content": "id INT"} for c in turn.calls]
        await chat.add_tool_results(results)


def with_client(work: Callable[[AsyncManager, anthropic.AsyncAnthropic], Awaitable[None]], file: Path) -> None:
    with model_server() as (address, _):

        async def opened(manager: AsyncManager) -> None:
            async with anthropic.AsyncAnthropic(base_url=address, api_key="none") as client:
                await work(manager, client)

        run(file, opened)


def test_a_tool_loop_from_question_to_answer(tmp_path: Path) -> None:
    async def work(manager: AsyncManager, client: anthropic.AsyncAnthropic) -> None:
        chat = await manager.conversation("c", tenant="t")
        assert await exchange(chat, client, "Use read_schema.") == ANSWER
        assert [t.role for t in await chat.history.turns()] == ["user", "assistant", "assistant"]
        again = await chat.request_at(2)
        assert again.params["messages"][-1]["role"] == "user"

    with_client(work, tmp_path / "a.db")


def test_a_streamed_answer(tmp_path: Path) -> None:
    async def work(manager: AsyncManager, client: anthropic.AsyncAnthropic) -> None:
        chat = await manager.conversation("c", tenant="t")
        await chat.add_user("Hello.")
        request = await chat.assemble(model=MODEL, max_tokens=500)
        async with client.messages.stream(**request.params) as events:
            turn = await chat.add_reply(await events.get_final_message())
        assert turn.text == ANSWER

    with_client(work, tmp_path / "a.db")


def test_twenty_conversations_at_once(tmp_path: Path) -> None:
    async def work(manager: AsyncManager, client: anthropic.AsyncAnthropic) -> None:
        chats = await asyncio.gather(*(manager.conversation(f"c{i}", tenant="t") for i in range(20)))
        answers = await asyncio.gather(*(exchange(c, client, f"Use read_schema, {c.id}.") for c in chats))
        assert answers == [ANSWER] * 20

    with_client(work, tmp_path / "a.db")
    assert all(stored(tmp_path / "a.db", f"c{i}")[0] == f"Use read_schema, c{i}." for i in range(20))


def test_twenty_tasks_in_one_conversation(tmp_path: Path) -> None:
    async def work(manager: AsyncManager) -> None:
        chat = await manager.conversation("c", tenant="t")
        turns = await asyncio.gather(*(chat.add_user(f"said {i}", key=f"k{i % 10}") for i in range(10)))
        assert sorted(t.number for t in turns) == list(range(1, 11))
        requests = await asyncio.gather(*(chat.assemble(model=MODEL, max_tokens=500) for _ in range(20)))
        assert all(r == requests[0] for r in requests)

    run(tmp_path / "a.db", work)


def test_pins_tasks_and_project_pins(tmp_path: Path) -> None:
    async def work(manager: AsyncManager) -> None:
        chat = await manager.conversation("c", tenant="t", project="p")
        await manager.project_pins(tenant="t", project="p").add("Never touch production.")
        await chat.add_user("Hello.")
        await chat.add_user("Use tabs.", pin=True)
        await chat.set_task("brief", "Build it.")
        request = await chat.assemble(model=MODEL, max_tokens=500)
        assert {p.pin for p in request.proof.pins} == {p.id for p in await chat.pins.list()}
        await chat.drop_task("brief")
        assert len(await manager.conversations(tenant="t", project="p")) == 1

    run(tmp_path / "a.db", work)


def test_errors_are_the_same(tmp_path: Path) -> None:
    async def work(manager: AsyncManager) -> None:
        chat = await manager.conversation("c", tenant="t")
        with pytest.raises(NothingToAnswerError):
            await chat.assemble(model=MODEL, max_tokens=500)

    run(tmp_path / "a.db", work)


def test_a_cancelled_call_is_whole_or_not_there(tmp_path: Path) -> None:
    """What was cancelled may have been stored; nothing is torn, and the next call works."""

    async def work(manager: AsyncManager) -> None:
        chat = await manager.conversation("c", tenant="t")
        tasks = [asyncio.create_task(chat.add_user(f"said {i}", key=f"k{i}")) for i in range(20)]
        await asyncio.sleep(0)
        for task in tasks[::2]:
            task.cancel()
        done = await asyncio.gather(*tasks, return_exceptions=True)
        kept = {t.number for t in done if not isinstance(t, BaseException)}
        turns = await chat.history.turns()
        assert kept <= {t.number for t in turns}
        assert [t.number for t in turns] == list(range(1, len(turns) + 1))
        for i in range(20):  # retried under their keys, each is there once
            await chat.add_user(f"said {i}", key=f"k{i}")
        assert (await chat.assemble(model=MODEL, max_tokens=500)).number == 1

    run(tmp_path / "a.db", work)
    assert sorted(stored(tmp_path / "a.db")) == sorted(f"said {i}" for i in range(20))


def test_closing_waits_for_what_was_begun(tmp_path: Path) -> None:
    async def work(manager: AsyncManager) -> None:
        chat = await manager.conversation("c", tenant="t")
        tasks = [asyncio.create_task(chat.add_user(f"said {i}")) for i in range(20)]
        await asyncio.sleep(0)
        await manager.close()
        await asyncio.gather(*tasks)

    run(tmp_path / "a.db", work)
    assert len(stored(tmp_path / "a.db")) == 20


def test_a_closed_manager_says_so(tmp_path: Path) -> None:
    async def closed() -> AsyncConversation:
        async with AsyncManager(tmp_path / "a.db") as manager:
            return await manager.conversation("c", tenant="t")

    async def use() -> None:
        chat = await closed()
        with pytest.raises(StoreError, match="closed"):
            await chat.add_user("x")

    asyncio.run(use())
