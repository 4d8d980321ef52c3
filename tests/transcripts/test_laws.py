"""Whatever happens to a recording: sessions that keep the laws, or a TranscriptError."""

from __future__ import annotations

import contextlib
import copy
from typing import Any

import hypothesis.strategies as st
from hypothesis import given

from contextmgr.errors import TranscriptError
from tests.transcripts.laws import check_laws
from tests.transcripts.lines import ClaudeLines, call, read, read_document, result, text
from tests.transcripts.test_agents import call as codex_call
from tests.transcripts.test_agents import item, message, output, pi, spent
from tests.transcripts.test_messages import ANTHROPIC, OPENAI

MAKE = ClaudeLines()
SIDE = MAKE.user("look around", isSidechain=True)
CLAUDE: list[Any] = [
    MAKE.user("go"),
    MAKE.reply("m1", {"type": "thinking", "thinking": "hm", "signature": "s"}),
    MAKE.reply("m1", call("c1"), call("c2")),
    MAKE.user([result("c1")]),
    MAKE.reply("m1", call("c3")),
    MAKE.user([result("c2"), text("stop")]),
    SIDE,
    MAKE.reply("m9", call("c9"), isSidechain=True, parentUuid=SIDE["uuid"]),
    MAKE.user([result("c3")]),
    MAKE.event("system", subtype="compact_boundary"),
    MAKE.user("summary", isCompactSummary=True),
    MAKE.reply("m2", text("done")),
]
CODEX: list[Any] = [
    {"type": "session_meta", "payload": {"base_instructions": {"text": "s"}}},
    message("user", "go"),
    item("reasoning", summary=[]),
    codex_call("a"),
    codex_call("b"),
    output("b"),
    output("a"),
    spent(50),
    {"type": "compacted", "payload": {}},
    message("assistant", "done"),
]
PI: list[Any] = [
    {"type": "session", "cwd": "x"},
    pi("user", [text("go")]),
    pi("assistant", [{"type": "toolCall", "id": "a", "name": "read", "arguments": {}}], usage={"input": 1}),
    pi("toolResult", [text("x")], toolCallId="a"),
    pi("assistant", [text("ok")], stopReason="stop"),
]
SWE: list[Any] = [{"trajectory": [], "history": OPENAI}]
REQUESTS: list[Any] = [{"model": "m", "max_tokens": 1, "system": "s", "messages": ANTHROPIC}]
RECORDINGS: list[list[Any]] = [CLAUDE, CODEX, PI, SWE, ANTHROPIC, OPENAI, REQUESTS]
WORDS = ("", " ", "\ud800", "tool_use", "tool_result", "user", "assistant", "c1", "message")
BLOCKS = (text("t"), text(" "), call("c1"), result("c1"), {"type": "image"}, None, "x")
JUNK: st.SearchStrategy[Any] = st.sampled_from([None, True, 0, -1, 1e999, *WORDS, [], {}, [[]]]) | st.lists(
    st.sampled_from(BLOCKS), max_size=3
)


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every container of a JSON value with each of its keys."""
    keys = list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []
    return [(value, k) for k in keys] + [p for k in keys for p in places(value[k])]


@st.composite
def damaged(draw: st.DrawFn) -> list[Any]:
    """A recording with some values replaced or removed, and some lines moved, repeated or left out."""
    lines: list[Any] = copy.deepcopy(draw(st.sampled_from(RECORDINGS)))
    for _ in range(draw(st.integers(0, 6))):
        container, key = draw(st.sampled_from(places(lines)))
        if isinstance(container, dict) and draw(st.booleans()):
            container.pop(key, None)
        elif not isinstance(container, list) or key < len(container):
            container[key] = copy.deepcopy(draw(JUNK))
    if draw(st.booleans()):
        order = draw(st.lists(st.integers(0, len(lines) - 1), max_size=len(lines) + 2))
        lines = [lines[i] for i in order]
    return lines


@given(damaged())
def test_a_damaged_recording_is_read_or_refused(lines: list[Any]) -> None:
    for reader in (read, read_document):
        with contextlib.suppress(TranscriptError):
            for session in reader(lines):
                check_laws(session)


@given(st.sampled_from(RECORDINGS), st.data())
def test_a_cut_recording_keeps_what_came_before(lines: list[Any], data: st.DataObject) -> None:
    first_said = next(i for i, v in enumerate(lines) if "go" in str(v))
    kept = data.draw(st.integers(first_said + 1, len(lines)))
    for session in read(lines[:kept]):
        check_laws(session)
        assert "go" in str(session.events[0].blocks) or session.sidechain
