"""Keeping facts and notes over a store: what is newer wins, what was is kept, every value says who said it where."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from contextmgr import jsontext
from contextmgr.errors import FactError, InputError, NotFoundError
from contextmgr.facts import (
    MAX_SECTIONS,
    Fact,
    FactAuthor,
    FactKind,
    FactScope,
    Note,
    check_author,
    check_key,
    check_note,
    check_section,
    check_value,
)
from contextmgr.pinning import find_turn
from contextmgr.recording import new_id, no_conversation
from contextmgr.scope import Scope
from contextmgr.state import CALLER
from contextmgr.store import Store, Transaction
from contextmgr.turns import Status


@dataclass(frozen=True, slots=True)
class Keeping:
    """Facts and notes of one scope's conversations."""

    store: Store
    scope: Scope
    clock: Callable[[], datetime]

    def set_fact(
        self,
        tx: Transaction,
        conversation: str,
        key: str,
        value: Any,
        *,
        author: FactAuthor,
        turn: int | None = None,
        scope: FactScope | str = FactScope.CONVERSATION,
        kind: FactKind | str = FactKind.FACT,
        quote: str | None = None,
        via: int | None = None,
        valid_from: datetime | None = None,
    ) -> Fact:
        """Set a value within a transaction and return the one that is in force then.

        The same value again changes nothing.  A value from an earlier turn than the one in force is kept as history
        and does not take its place: a mention revives nothing.  Raises `FactError` for what cannot be kept,
        `NotFoundError` for a turn that is not there or was erased.
        """
        text = check_value(check_key(key), value)
        check_author(author)
        said_at = self._said_at(tx, conversation, turn, valid_from)
        fact = Fact(
            id=new_id("fact"),
            key=key,
            value=jsontext.loads(text),
            author=author,
            conversation=conversation,
            kind=_named(FactKind, kind),
            scope=_named(FactScope, scope),
            turn=turn,
            quote=_quote(key, quote),
            via=via,
            valid_from=said_at,
        )
        old = tx.state.current(conversation, fact.scope, key)
        if old is not None and jsontext.canonical(old.value) == jsontext.canonical(fact.value):
            return old
        fact = replace(fact, change=tx.state.next_change(conversation))
        is_dated = turn is not None or valid_from is not None  # else it is said now, whatever the clock says
        if old is not None and is_dated and _is_newer(old, fact):
            tx.state.add_fact(replace(fact, superseded_by=old.id))
            return old
        if old is not None:
            tx.state.supersede(old.id, fact.id)
            if old.conversation != conversation and tx.conversation(old.conversation) is not None:
                tx.state.recall(old.conversation, [fact.id])  # whoever said the old value is told of the new one
        tx.state.add_fact(fact)
        tx.raise_version(conversation)
        return fact

    def set_note(
        self,
        tx: Transaction,
        conversation: str,
        section: str,
        text: str,
        *,
        append: bool = False,
        via: int | None = None,
    ) -> Note:
        """Set a section of the scratchpad, or append a line to it; an empty text takes it away.

        Raises `FactError` where a limit is passed, and then changes nothing.
        """
        check_note(check_section(section), text)
        if tx.conversation(conversation) is None:
            raise no_conversation(conversation)
        notes = {n.section: n for n in tx.state.notes(conversation)}
        old = notes.get(section)
        if append and old is not None and old.text:
            text = check_note(section, f"{old.text}\n{text}")
        if old is not None and old.text == text:
            return old
        if text and sum(1 for n in notes.values() if n.text and n.section != section) >= MAX_SECTIONS:
            raise FactError(f"there are {MAX_SECTIONS} sections, which is the limit; take one away before {section!r}")
        turns = (*(old.turns if append and old is not None else ()), CALLER if via is None else via)
        change = tx.state.next_change(conversation)
        note = Note(section=section, text=text, change=change, turns=turns, at=self.clock())
        tx.state.put_note(conversation, note)
        tx.raise_version(conversation)
        return note

    def _said_at(self, tx: Transaction, conversation: str, turn: int | None, valid_from: datetime | None) -> datetime:
        """When a value became true: as told, else when its turn was said, else now."""
        if tx.conversation(conversation) is None:
            raise no_conversation(conversation)
        if turn is not None and type(turn) is not int:
            raise InputError(f"turn={turn!r:.80} is no turn number; give a whole number")
        said = find_turn(tx, conversation, turn) if turn is not None else None
        if said is not None and said.status is Status.ERASED:
            raise NotFoundError(f"turn {turn} was erased; nothing can be said to come from it")
        if valid_from is not None:
            if not isinstance(valid_from, datetime) or valid_from.tzinfo is None:
                raise InputError(f"valid_from={valid_from!r:.80} has no time zone; give an aware datetime")
            return valid_from.astimezone(UTC)
        return said.said_at if said is not None and said.said_at is not None else self.clock()


def _is_newer(old: Fact, new: Fact) -> bool:
    """Whether the value in force was said after another: by turns within a conversation, else by time."""
    if old.conversation == new.conversation and old.turn is not None and new.turn is not None:
        return old.turn > new.turn
    return old.valid_from > new.valid_from


def _named(kind: Any, value: object) -> Any:
    try:
        return kind(value)
    except ValueError:
        names = ", ".join(repr(str(k)) for k in kind)
        raise FactError(f"{value!r} is unknown; use one of {names}") from None


def _quote(key: str, quote: str | None) -> str | None:
    if quote is not None and (not isinstance(quote, str) or not jsontext.is_sendable(quote)):
        raise FactError(f"the quote for fact {key!r} must be plain text, not {quote!r:.80}")
    return quote
