"""A scripted agent that continues yesterday's work in a new conversation, through the tools and the real client."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anthropic

from contextmgr import Conversation, Manager
from tests.loopback import model_server

MODEL = "claude-sonnet-5-5"
YESTERDAY = datetime(2026, 8, 17, 9, tzinfo=UTC)
Script = Callable[[dict[str, Any]], list[dict[str, Any]]]


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = YESTERDAY

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


def results(body: dict[str, Any]) -> list[dict[str, Any]]:
    """The answers of the tools so far, as JSON."""
    blocks = [b for m in body["messages"] if not isinstance(m["content"], str) for b in m["content"]]
    return [json.loads(b["content"][0]["text"]) for b in blocks if b["type"] == "tool_result"]


def use(number: int, name: str, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": given}


def continuing(body: dict[str, Any]) -> list[dict[str, Any]]:
    """Search for what was decided, read the turns around it, note the plan, remember the decision, answer."""
    found = results(body)
    if not found:
        return [use(1, "conversation_search", query="currency rounding decision")]
    hit = found[0]["results"][0]
    if len(found) == 1:
        first = hit["turns"][0]
        return [use(2, "read_turns", chat_id=hit["chat_id"], first=first, last=first + 1)]
    if len(found) == 2:
        plan = use(3, "note", section="plan", text="1. finish rounding in ledger.py")
        return [plan, use(4, "remember", key="rounding", value="half even")]
    said = json.dumps(found[1], ensure_ascii=False)
    return [{"type": "text", "text": "You decided on half even." if "half even" in said else "I found nothing."}]


def listing(body: dict[str, Any]) -> list[dict[str, Any]]:
    """Ask for the last chats and name them."""
    found = results(body)
    if not found:
        return [use(1, "recent_chats", count=3)]
    return [{"type": "text", "text": "; ".join(chat["title"] for chat in found[0]["chats"])}]


def work(chat: Conversation, exchanges: int = 30) -> None:
    """A day's work, with one decision in it."""
    for number in range(exchanges):
        said = f"Now step {number} of the importer: parse column {number}."
        chat.add_user("For currency rounding we settled on half even, everywhere." if number == 12 else said)
        chat.add_reply({"role": "assistant", "content": [{"type": "text", "text": f"Step {number} is done."}]})


def run(chat: Conversation, question: str, script: Script) -> tuple[str, list[dict[str, Any]]]:
    """The agent's loop; the final answer, and what the server received."""
    with model_server(script) as (url, bodies):
        client = anthropic.Anthropic(base_url=url, api_key="none", max_retries=0)
        chat.add_user(question)
        for _ in range(8):
            request = chat.assemble(model=MODEL, max_tokens=500, tools=chat.recall_tools())
            reply = client.messages.create(**request.params)
            chat.add_reply(reply, request=request)
            uses = [b for b in reply.content if b.type == "tool_use"]
            if not uses:
                return "".join(b.text for b in reply.content if b.type == "text"), bodies
            chat.add_tool_results([chat.handle_tool_use(b) for b in uses])
    raise AssertionError("the agent did not come to an end")


def test_yesterdays_work_is_continued_in_a_new_conversation(tmp_path: Path) -> None:
    clock = Clock()
    with Manager(tmp_path / "a.db", clock=clock) as manager:
        work(manager.conversation("ledger", tenant="t", user="u", title="The ledger importer"))
        work(manager.conversation("ledger", tenant="t", user="someone else"))
        manager.flush()
        clock.now += timedelta(days=1)
        chat = manager.conversation("today", tenant="t", user="u")
        answer, bodies = run(chat, "Let us go on with the importer. How did we want to round?", continuing)
        assert answer == "You decided on half even."
        assert results(bodies[-1])[0]["results"][0]["title"] == "The ledger importer"
        assert chat.notes.get("plan") == "1. finish rounding in ledger.py"
        remembered = chat.facts.get("rounding")
        assert remembered is not None
        assert (remembered.value, remembered.author) == ("half even", "model")
        assert bodies[0]["tools"] == bodies[-1]["tools"]
        with manager._store.reading(chat.scope) as tx:
            actions = [r.action for r in tx.state.audits(9)]
    assert actions == ["remember", "note", "read_turns", "conversation_search"]


def test_what_the_last_chats_were_is_answered_in_order(tmp_path: Path) -> None:
    clock = Clock()
    with Manager(tmp_path / "a.db", clock=clock) as manager:
        for title in ("Taxes", "The garden", "A birthday", "The boiler"):
            work(manager.conversation(title.lower(), tenant="t", title=title), exchanges=1)
            clock.now += timedelta(hours=5)
        chat = manager.conversation("today", tenant="t")
        answer, _ = run(chat, "What were my last few chats?", listing)
    assert answer == "The boiler; A birthday; The garden"
