"""Small objects of the facade: a conversation's pins and history, and an operator's pins for a project."""

from __future__ import annotations

from typing import Literal

from contextmgr.errors import InputError
from contextmgr.pinning import Pinning, find_turn
from contextmgr.pins import Pin
from contextmgr.recording import Recorder, no_conversation
from contextmgr.store import Transaction
from contextmgr.turns import Turn

PinArgument = bool | Literal["constraint", "decision", "approval", "resolution"]


class Pins:
    """The pins of one conversation."""

    def __init__(self, name: str, pinning: Pinning) -> None:
        self._name = name
        self._pinning = pinning

    def list(self, *, every: bool = False) -> tuple[Pin, ...]:
        """Active pins, the project's first, else in the order they were made; ``every`` adds the ended ones."""
        with self._pinning.store.reading(self._pinning.scope) as tx:
            found = [*tx.project_pins(), *tx.pins(self._name)]
        return tuple(p for p in found if every or p.is_active)

    def add(
        self, turn: int, *, kind: PinArgument = True, quote: str | None = None, context: int | None = None
    ) -> tuple[Pin, ...]:
        """Pin an earlier turn, or a quote of it.  Raises `PinError` or `NotFoundError`."""
        with self._pinning.store.writing(self._pinning.scope) as tx:
            said = find_turn(tx, self._name, turn)
            return tuple(self._pinning.turn(tx, self._name, said, kind=kind, quote=quote, context=context))

    def replace(self, pin: str, turn: int, *, quote: str | None = None) -> tuple[Pin, ...]:
        """Let what a later turn says take the place of a pin; the old one stays on record."""
        with self._pinning.store.writing(self._pinning.scope) as tx:
            old = tx.pin(self._name, pin)
            said = find_turn(tx, self._name, turn)
            kind = str(old.kind) if old is not None else True
            return tuple(self._pinning.turn(tx, self._name, said, kind=kind, quote=quote, replaces=pin))

    def revoke(self, pin: str, reason: str) -> None:
        """End a pin; the next request with a new turn says so."""
        _check_reason(reason)
        with self._pinning.store.writing(self._pinning.scope) as tx:
            self._pinning.revoke(tx, self._name, pin, reason)


class History:
    """The stored turns of one conversation, as they were said."""

    def __init__(self, name: str, recorder: Recorder) -> None:
        self._name = name
        self._recorder = recorder

    def turn(self, number: int) -> Turn:
        """Turn ``number``, whole.  Raises `NotFoundError`."""
        with self._recorder.store.reading(self._recorder.scope) as tx:
            return find_turn(tx, self._name, number)

    def turns(self, first: int = 1, last: int | None = None) -> list[Turn]:
        """Turns ``first`` to ``last``, both included; without ``last`` up to the newest."""
        with self._recorder.store.reading(self._recorder.scope) as tx:
            return tx.turns(self._name, first, self._last(tx) if last is None else last)

    def count(self) -> int:
        """How many turns were said; the number of the newest."""
        with self._recorder.store.reading(self._recorder.scope) as tx:
            return self._last(tx)

    def _last(self, tx: Transaction) -> int:
        record = tx.conversation(self._name)
        if record is None:
            raise no_conversation(self._name)
        return record.last_turn


class ProjectPins:
    """The operator's pins for one project."""

    def __init__(self, pinning: Pinning) -> None:
        self._pinning = pinning

    def list(self, *, every: bool = False) -> tuple[Pin, ...]:
        """Active pins in the order they were made; ``every`` adds the ended ones."""
        with self._pinning.store.reading(self._pinning.scope) as tx:
            return tuple(p for p in tx.project_pins() if every or p.is_active)

    def add(self, text: str, *, kind: PinArgument = True, replaces: str | None = None) -> Pin:
        """Pin a text; ``replaces`` names the pin that gives way to it.  Raises `PinError` or `NotFoundError`."""
        with self._pinning.store.writing(self._pinning.scope) as tx:
            return self._pinning.project(tx, text, kind=kind, replaces=replaces)

    def revoke(self, pin: str, reason: str) -> None:
        """End a pin; the next request with a new turn says so."""
        _check_reason(reason)
        with self._pinning.store.writing(self._pinning.scope) as tx:
            self._pinning.revoke(tx, None, pin, reason)


def _check_reason(reason: str) -> None:
    if not isinstance(reason, str) or not reason.strip():
        raise InputError(f"revoke() needs a reason, not {reason!r}")
