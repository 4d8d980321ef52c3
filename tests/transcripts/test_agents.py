"""SWE-agent trajectories, Codex rollouts and pi sessions."""

from __future__ import annotations

from typing import Any

from contextmgr.transcripts import Said
from tests.transcripts.lines import AT, read_document, read_one, shape, text


def trajectory(*history: dict[str, Any]) -> Any:
    (session,) = read_document({"trajectory": [], "environment": "task", "history": list(history)})
    assert (session.format, session.title) == ("swe-agent", "task")
    return session


def item(kind: str, **payload: Any) -> dict[str, Any]:
    return {"type": "response_item", "timestamp": AT, "payload": {"type": kind, **payload}}


def message(role: str, words: str) -> dict[str, Any]:
    return item("message", role=role, content=[{"type": "output_text", "text": words}])


def call(call_id: str) -> dict[str, Any]:
    return item("function_call", call_id=call_id, name="exec", arguments='{"cmd": "ls"}')


def output(call_id: str) -> dict[str, Any]:
    return item("function_call_output", call_id=call_id, output="done")


def spent(tokens: int) -> dict[str, Any]:
    usage = {"input_tokens": tokens, "cached_input_tokens": 10, "output_tokens": 3}
    return {"type": "event_msg", "payload": {"type": "token_count", "info": {"last_token_usage": usage}}}


def pi(role: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "message", "timestamp": AT, "message": {"role": role, "content": content, **more}}


def test_swe_agent_observations_are_no_persons_words() -> None:
    session = trajectory(
        {"role": "system", "content": "s"},
        {"role": "user", "content": "Here is a demonstration", "is_demo": True},
        {"role": "user", "content": "solve it"},
        {"role": "assistant", "content": "ls"},
        {"role": "user", "content": "file.py"},
    )
    assert (shape(session), session.system) == ("cuAc", "s")


def test_swe_agent_with_function_calls() -> None:
    called = {"role": "assistant", "content": "look", "tool_calls": [{"id": "c", "function": {"name": "bash"}}]}
    answer = {"role": "tool", "content": "a.py", "tool_call_ids": ["c"]}
    session = trajectory({"role": "user", "content": "solve it"}, called, answer)
    assert (shape(session), session.tool_names) == ("uAr", ("bash",))


def test_codex_replies_end_with_their_token_count() -> None:
    lines = [message("user", "go"), message("assistant", "I look"), call("a"), call("b"), output("a"), output("b")]
    session = read_one([*lines, spent(100), message("assistant", "done"), spent(150)])
    assert (session.format, shape(session)) == ("codex", "uArrA")
    usages = [r.usage for r in session.replies]
    assert [(u.input_tokens, u.cache_read_tokens) for u in usages if u] == [(90, 10), (140, 10)]


def test_codex_without_token_counts_ends_replies_at_outputs() -> None:
    lines = [message("user", "go"), call("a"), output("a"), call("b"), output("b"), message("assistant", "done")]
    assert shape(read_one(lines)) == "uArArA"


def test_codex_injected_messages_are_no_persons() -> None:
    lines = [message("user", "# AGENTS.md instructions"), message("user", "<env>x</env>"), message("developer", "d")]
    session = read_one([*lines, message("user", "go"), message("assistant", "ok")])
    assert shape(session) == "cccuA"
    assert [e.source for e in session.events if isinstance(e, Said) and e.human] == ["line:3"]


def test_codex_reasoning_and_compactions_are_counted() -> None:
    meta = {"type": "session_meta", "payload": {"base_instructions": {"text": "You code."}}}
    context = {"type": "turn_context", "payload": {"model": "gpt-x"}}
    lines = [meta, context, message("user", "go"), item("reasoning", summary=[]), message("assistant", "ok")]
    session = read_one([*lines, {"type": "compacted", "payload": {"replacement_history": []}}])
    assert (session.system, session.client_compactions, session.skipped) == ("You code.", 1, 1)
    assert session.replies[0].model == "gpt-x"


def test_codex_free_text_calls() -> None:
    patch = item("custom_tool_call", call_id="p", name="apply_patch", input="*** Begin")
    session = read_one([message("user", "go"), patch, item("custom_tool_call_output", call_id="p", output="ok")])
    assert session.replies[0].calls[0]["input"] == {"input": "*** Begin"}
    assert shape(session) == "uAr"


def test_codex_without_envelopes() -> None:
    bare = [line["payload"] for line in (message("user", "go"), call("a"), output("a"))]
    assert shape(read_one(bare)) == "uAr"


def test_pi_messages() -> None:
    blocks = [text("look"), {"type": "toolCall", "id": "a|b", "name": "read", "arguments": {"path": "x"}}]
    usage = {"input": 5, "output": 2, "cacheRead": 30, "cacheWrite": 4}
    lines = [{"type": "session", "cwd": "x"}, pi("user", [text("go")])]
    lines += [pi("assistant", blocks, stopReason="toolUse", usage=usage, model="m")]
    lines += [pi("toolResult", [text("no")], toolCallId="a|b", isError=True)]
    session = read_one(lines)
    assert (session.format, shape(session)) == ("pi", "uAr")
    reply = session.replies[0]
    assert reply.usage is not None
    assert (reply.usage.true_input, reply.stop_reason) == (39, "tool_use")
    assert session.events[-1].blocks == (
        {"type": "tool_result", "tool_use_id": "a_b", "content": "no", "is_error": True},
    )


def test_pi_keeps_cancelled_replies_and_drops_thinking() -> None:
    lines = [
        {"type": "session", "cwd": "x"},
        pi("user", "go"),
        pi("assistant", [], stopReason="aborted"),
        pi("user", "on"),
    ]
    session = read_one([*lines, pi("assistant", [{"type": "thinking", "thinking": "hm"}, text("ok")])])
    assert (shape(session), session.skipped) == ("uAuA", 1)
    assert session.replies[0].blocks == ()


def test_pi_compactions_are_counted() -> None:
    lines = [{"type": "session", "cwd": "x"}, pi("user", "go"), {"type": "compaction", "summary": "s"}]
    assert read_one(lines).client_compactions == 1
