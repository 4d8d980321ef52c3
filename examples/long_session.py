"""A long session in a small budget, without a key: old outputs leave, the pinned rule stays, its proof says where.

The assistant's calls and answers are scripted; with a model they would come from ``client.messages.create``.

    python examples/long_session.py
"""

from __future__ import annotations

import contextmgr

TOOL = {
    "name": "read_log",
    "description": "Read the newest lines of a log.",
    "input_schema": {"type": "object", "properties": {"lines": {"type": "integer"}}, "required": ["lines"]},
}
RULE = "Never print customer names. This holds for the whole session."
MODEL = "claude-sonnet-5-5"


def look(chat: contextmgr.Conversation, number: int) -> contextmgr.AssembledRequest:
    """One exchange: a question, a tool call with much output, and a short answer, all scripted."""
    chat.add_user(f"What happened in hour {number}?")
    chat.assemble(model=MODEL, max_tokens=512, tools=[TOOL])
    call = {"type": "tool_use", "id": f"toolu_{number}", "name": "read_log", "input": {"lines": 200}}
    chat.add_reply({"role": "assistant", "content": [call], "stop_reason": "tool_use"})
    output = "\n".join(f"{number:02}:{i % 60:02} order {number * 1000 + i} paid" for i in range(200))
    chat.add_tool_results([{"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": output}])
    request = chat.assemble(model=MODEL, max_tokens=512, tools=[TOOL])
    answer = {"type": "text", "text": f"200 orders were paid in hour {number}."}
    chat.add_reply({"role": "assistant", "content": [answer], "stop_reason": "end_turn"})
    return request


def main() -> None:
    """Ten hours of a log whose output is several times the budget."""
    with contextmgr.Manager("sqlite://", profile=12_000) as manager:
        chat = manager.conversation("log", tenant="example")
        chat.add_user(RULE, pin=True)
        for number in range(10):
            request = look(chat, number)
            place = request.proof.pins[0].place
            print(f"{request.report.tokens:6,} tokens ({request.report.why}): the rule is in the {place.where}")
        print(request.report)


if __name__ == "__main__":
    main()
