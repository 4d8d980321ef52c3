"""The recall tools as the SDK's tool runner takes them: ``client.beta.messages.tool_runner(tools=...)``.

Not imported by the package: it needs the SDK.  The runner does not say which call it runs, so their answers share the
cap of the turn that was stored last.
"""

from __future__ import annotations

from typing import Any, cast

from anthropic.lib.tools import BetaAsyncBuiltinFunctionTool, BetaBuiltinFunctionTool, ToolError
from anthropic.types.beta import BetaToolUnionParam
from anyio.to_thread import run_sync

from contextmgr.recall.recalling import Recall


class RecallTool(BetaBuiltinFunctionTool):
    """One recall tool of a conversation that the runner can run; what the model did wrong is a ``ToolError``."""

    def __init__(self, recall: Recall, conversation: str | None, definition: dict[str, Any]) -> None:
        self._recall = recall
        self._conversation = conversation
        self._definition = definition

    def to_dict(self) -> BetaToolUnionParam:
        """The definition, as `Recall.definitions` gives it."""
        return cast(BetaToolUnionParam, self._definition)

    def call(self, input: object) -> str:
        """The answer as JSON text.  Raises ``ToolError``."""
        answer = self._recall.answer(self._conversation, self._definition["name"], input)
        if answer.is_error:
            raise ToolError(answer.text)
        return answer.text


class AsyncRecallTool(BetaAsyncBuiltinFunctionTool):
    """The same for the asynchronous client; the store is read in a thread."""

    def __init__(self, tool: RecallTool) -> None:
        self._tool = tool

    def to_dict(self) -> BetaToolUnionParam:
        """The definition."""
        return self._tool.to_dict()

    async def call(self, input: object) -> str:
        """The answer as JSON text.  Raises ``ToolError``."""
        return await run_sync(self._tool.call, input)


def runner_tools(recall: Recall, conversation: str | None, *, writing: bool = True) -> list[RecallTool]:
    """The tools for ``anthropic.Anthropic``, in the order of the definitions."""
    return [RecallTool(recall, conversation, d) for d in recall.definitions(writing=writing)]


def async_runner_tools(recall: Recall, conversation: str | None, *, writing: bool = True) -> list[AsyncRecallTool]:
    """The tools for ``anthropic.AsyncAnthropic``."""
    return [AsyncRecallTool(tool) for tool in runner_tools(recall, conversation, writing=writing)]
