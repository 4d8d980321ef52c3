"""Names of the tools by which a model recalls and keeps things: what they return repeats what was said elsewhere."""

from __future__ import annotations

from contextmgr.turns import ToolResult, Turn

SEARCH = "conversation_search"
RECENT = "recent_chats"
READ = "read_turns"
NOTE = "note"
REMEMBER = "remember"
RECALLING = frozenset({SEARCH, RECENT, READ})
"""Tools whose results are words of other turns: those are never indexed, extracted or recalled as the turn's own."""


def recalled_by(turn: Turn, result: ToolResult) -> str | None:
    """The tool of `RECALLING` whose result this is, or None."""
    calls = turn.calls
    name = calls[result.call].get("name") if 0 <= result.call < len(calls) else None
    return name if name in RECALLING else None
