"""Reading turns of one chat word for word, as many as fit, with how to read on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from contextmgr.reading import is_visible
from contextmgr.recall.access import Access, Asking, no_chat, readable, stamp
from contextmgr.recall.answers import Draft, Item, as_text
from contextmgr.recall.arguments import ArgumentError, Arguments
from contextmgr.recall.caps import MAX_TURNS
from contextmgr.recall.titles import title_of
from contextmgr.recall.wording import whole_text
from contextmgr.scope import Scope
from contextmgr.store import ConversationRecord, Transaction
from contextmgr.tokens import Count
from contextmgr.toolnames import READ
from contextmgr.turns import Turn

FIELDS = ("chat_id", "first", "last", "offset", "project_id")
_PER_TOKEN = 8  # characters of a text that are looked at for each token there is room for
_WORTH = 60  # tokens: less of a turn is not begun


def read(access: Access, asking: Asking, given: object) -> Draft:
    """The answer to a request for turns."""
    arguments = Arguments(READ, given, FIELDS)
    chat_id = arguments.optional_text("chat_id") or asking.conversation
    if chat_id is None:
        raise ArgumentError(f"{READ} needs the field 'chat_id'")
    first = arguments.whole("first", least=1)
    last = arguments.whole("last", least=first, most=first + MAX_TURNS - 1, default=first)
    offset = arguments.whole("offset", least=0, default=0)
    project = arguments.optional_text("project_id")
    for scope in access.scopes(project):
        with access.store.reading(scope) as tx:
            record = readable(tx, chat_id, asking.conversation if scope == access.scope else None)
            if record is not None:
                return _draft(access, asking, tx, scope, record, (first, last, offset), arguments.notes)
    raise no_chat(chat_id)


def _draft(
    access: Access,
    asking: Asking,
    tx: Transaction,
    scope: Scope,
    record: ConversationRecord,
    asked: tuple[int, int, int],
    notes: Sequence[str],
) -> Draft:
    first, last, offset = asked
    if first > record.last_turn:
        raise ArgumentError(f"first={first} is after the chat's last turn, {record.last_turn}")
    last = min(last, record.last_turn)
    turns = tx.turns(record.id, first, last)
    shown = [t for t in turns if is_visible(t)]
    gone = [t.number for t in turns if not is_visible(t)]
    texts = _texts(shown, first, offset, _PER_TOKEN * access.caps.call)
    page = _Page(access.count, texts, tuple(t.number for t in shown), first, last, offset)
    head: dict[str, Any] = {
        "chat_id": record.id,
        **access.elsewhere(scope),
        "title": title_of(tx, record),
        "last_turn": record.last_turn,
        "url": access.url(record.id, first),
    }
    items = [page.item(t, stamp(t.said_at, asking.zone)) for t in shown if t.number in texts]
    found = {"chat_id": record.id, **access.elsewhere(scope)}
    told = (*notes, *([f"withdrawn or erased, so not shown: {', '.join(map(str, gone))}"] if gone else []))
    return Draft(
        head=head,
        name="turns",
        items=items,
        found=[{**found, "turns": [t.number]} for t in shown],
        notes=told,
        more=page.rest,
        cut=page.cut,
    )


def _texts(turns: Sequence[Turn], first: int, offset: int, room: int) -> dict[int, str]:
    """What each turn says from ``offset`` on (of the first), as long as there may be room for it."""
    texts: dict[int, str] = {}
    for turn in turns:
        if room <= 0:
            break
        text, skipped = whole_text(turn), offset if turn.number == first else 0
        if skipped and skipped >= len(text):
            raise ArgumentError(f"offset={skipped} is past the end of turn {first}, which has {len(text):,} characters")
        texts[turn.number] = text[skipped:]
        room -= len(text) - skipped
    return texts


@dataclass(frozen=True, slots=True)
class _Page:
    """Items of one answer: ``texts`` are those of the turns that were read, ``visible`` the turns asked for that can
    be, from ``first`` to ``last``; ``offset`` characters were skipped of the first.
    """

    count: Count
    texts: dict[int, str]
    visible: tuple[int, ...]
    first: int
    last: int
    offset: int

    def item(self, turn: Turn, at: str | None) -> Item:
        """A turn as it is shown."""
        return {"turn": turn.number, "role": turn.role, "timestamp": at, "text": self.texts[turn.number]}

    def cut(self, item: Item, room: int) -> Item | None:
        """The beginning of a turn within ``room`` tokens."""
        characters = _PER_TOKEN * room if room >= _WORTH else 0
        while characters > 0:
            part = {**item, "text": item["text"][:characters], "cut": True}
            if self.count(as_text(part)) < room:
                return part
            characters = characters * 9 // 10
        return None

    def rest(self, kept: Sequence[Item]) -> dict[str, Any]:
        """Where to read on; nothing where all was shown."""
        if kept and kept[-1].get("cut"):
            number = kept[-1]["turn"]
            begun = self.offset if number == self.first else 0
            return {"read_on": {"first": number, "last": self.last, "offset": begun + len(kept[-1]["text"])}}
        shown = kept[-1]["turn"] if kept else 0
        missing = next((n for n in self.visible if n > shown), None)
        return {"read_on": {"first": missing, "last": self.last}} if missing is not None else {}
