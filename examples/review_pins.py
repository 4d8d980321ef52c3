"""What of a recorded session may deserve a pin: proposals for a person to accept or not.  No key, no network.

The session shipped here holds none, as most do not: take one of your own.

    python examples/review_pins.py examples/sessions/small-session.jsonl
"""

from __future__ import annotations

import sys
from pathlib import Path

import contextmgr
from contextmgr.transcripts import Said, read_sessions


def main(file: str) -> None:
    """Store what people said in the file's first conversation, and print the proposals."""
    session = read_sessions(Path(file))[0]
    with contextmgr.Manager("sqlite://", profile="support-chat") as manager:
        chat = manager.conversation("recorded", tenant="example")
        said = [event for event in session.events if isinstance(event, Said) and event.human]
        for event in said:
            chat.add_user(list(event.blocks))
        found = chat.suggest_pins()
    print(f"{len(found)} proposals in {len(said)} messages")
    for one in found:
        print(f"turn {one.turn}, {one.kind}, {one.score:.2f} ({one.reason}): {one.quote}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else str(Path(__file__).parent / "sessions" / "small-session.jsonl"))
