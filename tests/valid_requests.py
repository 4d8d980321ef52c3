"""A hypothesis strategy for valid requests of every kind we send, and one rich request that holds all of it."""

from __future__ import annotations

from typing import Any, NamedTuple

from hypothesis import strategies as st

Block = dict[str, Any]

PNG = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}
PDF = {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0xLjQ="}
TOOLS: list[Block] = [
    {"name": "read_file", "description": "Reads.", "input_schema": {"type": "object", "properties": {}}},
    {"type": "web_search_20260209", "name": "web_search"},
    {"type": "browser_toolset_20260801"},
]


class ValidRequest(NamedTuple):
    """A request, and whether its last turn is a paused one."""

    params: dict[str, Any]
    paused_tail: bool


def text(said: str) -> Block:
    """A text block."""
    return {"type": "text", "text": said}


def thinking(n: int = 1) -> Block:
    """A thinking block as the API returns it."""
    return {"type": "thinking", "thinking": f"hm {n} \r\n", "signature": f"c2ln{n}"}


def call(n: int) -> Block:
    """A client call; its id is ``toolu_<n>``."""
    return {"type": "tool_use", "id": f"toolu_{n}", "name": "read_file", "input": {"path": f"a/{n}.py"}}


def result(n: int, content: Any = "done") -> Block:
    """The result of `call` ``n``; without content where that is None."""
    block = {"type": "tool_result", "tool_use_id": f"toolu_{n}", "content": content}
    return {key: value for key, value in block.items() if value is not None}


def server_call(n: int) -> Block:
    """A call of a tool the API runs."""
    return {"type": "server_tool_use", "id": f"srvtoolu_{n}", "name": "web_search", "input": {"query": "q"}}


def server_result(n: int) -> Block:
    """The result of `server_call` ``n``."""
    found = {"type": "web_search_result", "url": "https://example.com", "title": "t", "encrypted_content": "e"}
    return {"type": "web_search_tool_result", "tool_use_id": f"srvtoolu_{n}", "content": [found]}


def user(*blocks: Block) -> dict[str, Any]:
    """A user message."""
    return {"role": "user", "content": list(blocks)}


def assistant(*blocks: Block) -> dict[str, Any]:
    """An assistant message."""
    return {"role": "assistant", "content": list(blocks)}


def rich_request() -> dict[str, Any]:
    """A new request with everything in it: marks, thinking, parallel and server calls, images, a mixed turn."""
    inside = [text("seen"), {"type": "image", "source": dict(PNG)}]
    mark_1h, mark_5m = {"type": "ephemeral", "ttl": "1h"}, {"type": "ephemeral"}
    return {
        "model": "claude-sonnet-5-5",
        "max_tokens": 1024,
        "system": [text("Be brief.") | {"cache_control": mark_1h}],
        "tools": [dict(tool) for tool in TOOLS],
        "thinking": {"type": "adaptive"},
        "messages": [
            user(text("Look."), {"type": "image", "source": dict(PNG)}, {"type": "document", "source": dict(PDF)}),
            assistant(thinking(), {"type": "redacted_thinking", "data": "eA=="}, text("I will."), call(1), call(2)),
            user(result(1, inside), result(2) | {"is_error": True}, text("And go on.") | {"cache_control": mark_5m}),
            assistant(server_call(1), server_result(1), text("Found.")),
            user(text("Both now.")),
            assistant(thinking(2), server_call(2), call(3)),
            user(result(3, None)),
            assistant(server_result(2), text("Done."), {"type": "from_the_future", "x": None}),
            user(text("Thanks.")),
        ],
    }


texts = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=12).filter(str.strip)
contents = st.one_of(
    st.none(),
    texts,
    st.lists(st.one_of(texts.map(text), st.just({"type": "image", "source": PNG})), min_size=1, max_size=2),
)


@st.composite
def valid_requests(draw: st.DrawFn) -> ValidRequest:
    """Requests that keep every rule; some end on a paused assistant turn, some in the middle of a mixed one."""
    builder = _Builder(draw)
    for _ in range(draw(st.integers(0, 3))):
        builder.exchange()
    messages = builder.messages
    paused = draw(st.booleans()) and messages[-1]["role"] == "user"
    if paused:
        messages.append(assistant(*([thinking(99)] if draw(st.booleans()) else []), server_call(builder.fresh())))
    elif messages[-1]["role"] == "assistant":
        messages.append(user(text(draw(texts))))
    params: dict[str, Any] = {"model": "claude-sonnet-5-5", "max_tokens": draw(st.integers(0, 64_000))}
    if builder.number or draw(st.booleans()):
        params["tools"] = TOOLS
    if draw(st.booleans()):
        params["system"] = draw(st.one_of(texts, st.lists(texts.map(text), min_size=1, max_size=2)))
    params["messages"] = messages
    return ValidRequest(_with_marks(draw, params), paused)


class _Builder:
    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.number = 0
        self.messages = [user(*draw(st.lists(texts.map(text), min_size=1, max_size=2)))]

    def fresh(self) -> int:
        self.number += 1
        return self.number

    def exchange(self) -> None:
        """An assistant message, with its results and what may follow them."""
        draw = self.draw
        if self.messages[-1]["role"] == "assistant":
            self.messages.append(user(text(draw(texts))))
        blocks = [thinking(len(self.messages))] if draw(st.booleans()) else []
        blocks += [text(draw(texts))] if draw(st.booleans()) else []
        if draw(st.booleans()):
            n = self.fresh()
            blocks += [server_call(n), server_result(n)]
        calls = [self.fresh() for _ in range(draw(st.integers(0, 3)))]
        waiting = self.fresh() if bool(calls) and draw(st.booleans()) else None
        blocks += [server_call(waiting)] if waiting else []
        blocks += [call(n) for n in calls]
        self.messages.append(assistant(*(blocks or [text(draw(texts))])))
        if calls:
            after = [] if waiting else draw(st.lists(texts.map(text), max_size=1))
            self.messages.append(user(*(result(n, draw(contents)) for n in draw(st.permutations(calls))), *after))
        if waiting and draw(st.booleans()):
            self.messages.append(assistant(server_result(waiting), text(draw(texts))))
        elif waiting:
            n = self.fresh()  # the turn goes on with another client call before the server's result comes
            self.messages += [assistant(call(n)), user(result(n)), assistant(server_result(waiting), text("so"))]


def _with_marks(draw: st.DrawFn, params: dict[str, Any]) -> dict[str, Any]:
    holders = [("messages", i, j) for i, m in enumerate(params["messages"]) for j in range(len(m["content"]))]
    chosen = draw(st.lists(st.sampled_from(holders), max_size=4, unique=True).map(sorted))
    hours = draw(st.integers(0, len(chosen)))
    messages = [{**m, "content": [dict(block) for block in m["content"]]} for m in params["messages"]]
    for rank, (_, i, j) in enumerate(chosen):
        block = messages[i]["content"][j]
        if block["type"] != "thinking":
            block["cache_control"] = {"type": "ephemeral", "ttl": "1h"} if rank < hours else {"type": "ephemeral"}
    return {**params, "messages": messages}
