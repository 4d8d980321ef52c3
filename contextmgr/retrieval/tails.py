"""The newest turns of a conversation, searched before they are indexed.

Law: what this costs is bounded by turns and by characters, however much waits to be indexed; a turn is analysed once.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field, replace

from contextmgr.indexing import UNREADABLE, index_text
from contextmgr.ranking import Unit
from contextmgr.store import Transaction
from contextmgr.store.search_base import Unindexed
from contextmgr.turns import Turn

TAIL = 64  # newest turns that are searched though they are not indexed yet; twice what the thread waits for
FRESH = 40_000  # characters of them that one search analyses, newest first; the rest waits for the next, or the thread
_KNOWN = 2_048  # turns whose analysis is remembered until they are indexed


@dataclass(frozen=True, slots=True)
class Tails:
    """The tails of one scope's conversations."""

    known: OrderedDict[tuple[str, Unindexed], Unit] = field(default_factory=OrderedDict)

    def newest(self, tx: Transaction, conversation: str, most: int = TAIL, fresh: int = FRESH) -> list[Unit]:
        """The newest turns that are not indexed, in order and in the episode that is going on."""
        record, state = tx.conversation(conversation), tx.search.state(conversation)
        if record is None or record.last_turn <= state.upto:
            return []
        waiting = tx.search.unindexed(conversation, max(state.upto, record.last_turn - most) + 1, record.last_turn)
        last = tx.search.units(conversation, [state.upto])
        units = []
        for turn in reversed(waiting):
            unit = self.known.get((conversation, turn))
            if unit is None and fresh > 0:
                unit, characters = self._analysed(tx, conversation, turn)
                fresh -= characters
            if unit is not None and unit.length:
                units.append(replace(unit, episode=last[0].episode if last else 1))
        return units[::-1]

    def _analysed(self, tx: Transaction, conversation: str, waiting: Unindexed) -> tuple[Unit, int]:
        """A turn as it is ranked, and the characters that were read for it."""
        turn = tx.turn(conversation, waiting.number)
        text = _text(turn) if turn is not None else ""
        role = turn.role if turn is not None else "user"
        at, acts = (turn.said_at, bool(turn.calls)) if turn is not None else (None, False)
        unit = Unit.of(waiting.number, role, text, at=at, acts=acts)
        self.known[conversation, waiting] = unit
        if len(self.known) > _KNOWN:
            self.known.popitem(last=False)
        return unit, len(text)


def _text(turn: Turn) -> str:
    try:
        return index_text(turn)
    except UNREADABLE:
        return ""
