"""The laws of a recorded session, checked event by event."""

from __future__ import annotations

from contextmgr.transcripts import Replied, Returned, Said, Session


def check_laws(session: Session) -> None:
    """Fail unless the session can be replayed: something to answer first, results beside their calls, none lost."""
    assert isinstance(session.events[0], Said)
    open_ids: list[object] = []
    last: object = None
    for event in session.events:
        if isinstance(event, Replied):
            assert open_ids == []
            open_ids = [c["id"] for c in event.calls]
        elif isinstance(event, Returned):
            assert isinstance(last, Replied | Returned)
            for block in event.blocks:
                open_ids.remove(block["tool_use_id"])
        else:
            open_ids = []
        last = event
