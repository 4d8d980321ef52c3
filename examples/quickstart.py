"""A pinned rule, a question, an answer of the model, and the report on what it got to see.

Needs ANTHROPIC_API_KEY and costs less than a cent; the client also takes ANTHROPIC_BASE_URL for a stand-in of yours.

    python examples/quickstart.py
"""

from __future__ import annotations

import anthropic

import contextmgr

SYSTEM = "You are a careful Python developer. Answer in code, without explanations."
RULE = "All database calls must use prepared statements. This is non-negotiable."


def main() -> None:
    """Ask for one function; run it twice and the conversation goes on where it was."""
    client = anthropic.Anthropic()
    with contextmgr.Manager("sqlite:///quickstart.db", profile="coding-agent") as manager:
        chat = manager.conversation("quickstart", tenant="example")
        if chat.history.count() == 0:
            chat.add_user(RULE, pin=True)
        chat.add_user("Write a function that finds a user by email with psycopg.")
        request = chat.assemble(model="claude-sonnet-5-5", max_tokens=1024, system=SYSTEM)
        reply = client.messages.create(**request.params)
        chat.add_reply(reply)
        print("".join(block.text for block in reply.content if block.type == "text"))
        print(request.report)


if __name__ == "__main__":
    main()
