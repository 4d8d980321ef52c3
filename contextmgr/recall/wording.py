"""What recall shows of a turn: its words, its calls and their results, as they were.

Laws: never thinking, encoded data or secrets; never what recall itself had brought back, or every search would feed
the next; withdrawn and erased turns are shown to nobody.
"""

from __future__ import annotations

from dataclasses import replace

from contextmgr.sources import Limits, source_lines
from contextmgr.toolnames import recalled_by
from contextmgr.turns import ToolResult, Turn

_WHOLE = Limits(result=500_000, words=500_000, call=2_000)
_SEARCHED = Limits(result=4_000, words=100_000, call=400)


def whole_text(turn: Turn) -> str:
    """Everything that may be read of a turn, word for word."""
    return _text(turn, _WHOLE)


def searched_text(turn: Turn) -> str:
    """What of a turn an excerpt is taken from: long results as head and tail."""
    return _text(turn, _SEARCHED)


def _text(turn: Turn, limits: Limits) -> str:
    own = replace(turn, results=tuple(_own(turn, r) for r in turn.results))
    return "\n\n".join(line.text for line in source_lines(own, limits=limits))


def _own(turn: Turn, result: ToolResult) -> ToolResult:
    name = recalled_by(turn, result)
    if name is None:
        return result
    return replace(
        result, body={**result.body, "content": f"(what {name} brought back from other turns is not repeated)"}
    )
