"""The recall tools in the SDK's own tool runner, over the real client and a loopback address."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import anthropic

from contextmgr import Manager
from contextmgr.recall import definitions
from contextmgr.recall.runner import async_runner_tools, runner_tools
from tests.loopback import ANSWER, model_server
from tests.recall.talk import recall, said

ASKED: dict[str, Any] = {
    "model": "claude-sonnet-5-5",
    "max_tokens": 64,
    "messages": [{"role": "user", "content": "Use conversation_search to find it."}],
}


def result_in(bodies: list[dict[str, Any]]) -> dict[str, Any]:
    """The tool result that the runner sent back."""
    (result,) = bodies[-1]["messages"][-1]["content"]
    found: dict[str, Any] = result
    return found


def test_the_runner_sends_the_definitions_and_runs_the_tools(manager: Manager) -> None:
    said(manager, "old", "This is an example of a heron.")
    tools = runner_tools(recall(manager), None)
    with model_server() as (url, bodies), anthropic.Anthropic(base_url=url, api_key="k", max_retries=0) as client:
        final = client.beta.messages.tool_runner(tools=tools, **ASKED).until_done()
    assert bodies[0]["tools"] == definitions()
    assert final.content[0].text == ANSWER
    found = json.loads(result_in(bodies)["content"])
    assert [(r["chat_id"], r["turns"]) for r in found["results"]] == [("old", [1])]


def test_the_asynchronous_runner_does_the_same(manager: Manager) -> None:
    said(manager, "old", "This is an example of a heron.")
    tools = async_runner_tools(recall(manager), None, writing=False)

    async def run(url: str) -> str:
        async with anthropic.AsyncAnthropic(base_url=url, api_key="k", max_retries=0) as client:
            final = await client.beta.messages.tool_runner(tools=tools, **ASKED).until_done()
            return str(final.content[0].text)

    with model_server() as (url, bodies):
        assert asyncio.run(run(url)) == ANSWER
    assert bodies[0]["tools"] == definitions(writing=False)
    assert "old" in result_in(bodies)["content"]


def test_what_the_model_did_wrong_is_an_error_to_the_model_alone(manager: Manager) -> None:
    asked = {**ASKED, "messages": [{"role": "user", "content": "Use read_turns now."}]}  # with first="example"
    tools = runner_tools(recall(manager), None)
    with model_server() as (url, bodies), anthropic.Anthropic(base_url=url, api_key="k", max_retries=0) as client:
        client.beta.messages.tool_runner(tools=tools, **asked).until_done()
    assert result_in(bodies)["is_error"] is True
    assert "chat_id" in str(result_in(bodies)["content"])


def test_each_runner_tool_is_its_definition(manager: Manager) -> None:
    assert [tool.to_dict() for tool in runner_tools(recall(manager), None)] == definitions()
