"""A conversation in short for whoever continues it: what was decided, what holds, what is open, and where it was said.

Laws: no model is asked and nothing is written; pins stand word for word with their ids; everything else names its
turns and has no authority; the same state gives the same text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from contextmgr import labels
from contextmgr.checks import checked
from contextmgr.compaction import merge
from contextmgr.extractive import extract
from contextmgr.facts import Fact, Note
from contextmgr.pins import Pin, PinKind
from contextmgr.reading import is_visible
from contextmgr.recording import no_conversation
from contextmgr.state import shown_name
from contextmgr.store import ConversationRecord, Transaction
from contextmgr.summaries import Item, ItemKind, SegmentStatus
from contextmgr.tokens import Count

MOST = 4_000
"""Unweighted tokens of items that are not pins."""
PIECE = 96  # turns that are read together where no summary covers them
PIECES = 24  # such pieces that are read, the newest; those before them are named
FACTS = 256  # facts said here that are handed on, the newest
_LEAST = 120  # tokens for one piece
_IN_FORCE = (SegmentStatus.ACTIVE, SegmentStatus.READY)


@dataclass(frozen=True, slots=True, kw_only=True)
class HandoffItem:
    """One statement with the turns it comes from.  ``pin`` is the id of the pin whose words, exactly, it is; ``author``
    who said them.  A pin of the project has no turn.
    """

    text: str
    turns: tuple[int, ...] = ()
    pin: str | None = None
    author: str | None = None

    def to_json(self) -> dict[str, Any]:
        """As JSON values; what is not there is left out."""
        pinned = {"pin": self.pin, "author": self.author} if self.pin is not None else {}
        return {"text": self.text, "turns": list(self.turns), **pinned}


@dataclass(frozen=True, slots=True, kw_only=True)
class Handoff:
    """What a conversation hands on; ``turns`` is how many it has, ``unread`` the stretches that nothing here tells of.

    Items are in the order in which they were said, pins first; ``facts`` are in force, by key; ``notes`` by section.
    """

    conversation: str
    title: str | None = None
    turns: int = 0
    decisions: tuple[HandoffItem, ...] = ()
    constraints: tuple[HandoffItem, ...] = ()
    open_questions: tuple[HandoffItem, ...] = ()
    next_steps: tuple[HandoffItem, ...] = ()
    resolved: tuple[HandoffItem, ...] = ()
    ruled_out: tuple[HandoffItem, ...] = ()
    artifacts: tuple[HandoffItem, ...] = ()
    results: tuple[HandoffItem, ...] = ()
    facts: tuple[Fact, ...] = ()
    notes: tuple[Note, ...] = ()
    unread: tuple[tuple[int, int], ...] = ()

    def sections(self) -> Iterator[tuple[str, tuple[HandoffItem, ...]]]:
        """Heading and items of each kind, in the order of `text`."""
        yield "Constraints", self.constraints
        yield "Decisions", self.decisions
        yield "Open questions", self.open_questions
        yield "Next steps", self.next_steps
        yield "Resolved", self.resolved
        yield "Ruled out", self.ruled_out
        yield "Files and other artifacts", self.artifacts
        yield "Results", self.results

    def text(self) -> str:
        """All of it as Markdown, to be read by a person or a model; empty sections are left out."""
        title = f" ({labels.quoted(self.title)})" if self.title else ""
        lines = [f"# Handoff of conversation {labels.quoted(self.conversation)}{title}, {self.turns} turns"]
        lines.append("Pinned statements hold word for word. The rest is derived: later turns prevail.")
        for heading, items in self.sections():
            lines += ["", f"## {heading}", *map(_line, items)] if items else []
        if self.facts:
            lines += ["", "## Facts in force", *map(_fact_line, self.facts)]
        if self.notes:
            lines += ["", "## Notes of the assistant", *map(_note_lines, self.notes)]
        if self.unread:
            spans = labels.ranges(n for a, b in self.unread for n in range(a, b + 1))
            lines += ["", f"Not told of here: turns {spans}."]
        return "\n".join(lines) + "\n"

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "conversation": self.conversation,
            "title": self.title,
            "turns": self.turns,
            **{heading.lower().replace(" ", "_"): [i.to_json() for i in items] for heading, items in self.sections()},
            "facts": [_fact_json(f) for f in self.facts],
            "notes": [{"section": n.section, "text": n.text, "turns": list(n.turns)} for n in self.notes],
            "unread": [list(span) for span in self.unread],
        }


def handoff(tx: Transaction, conversation: str, count: Count) -> Handoff:
    """The handoff of a conversation, from its summaries, pins, facts and notes; turns that no summary covers are read.

    Raises `NotFoundError`.
    """
    record = tx.conversation(conversation)
    if record is None:
        raise no_conversation(conversation)
    pins = [p for p in (*tx.project_pins(), *tx.pins(conversation)) if p.is_active]
    items, unread = _items(tx, record, count)
    told = _by_kind(_without_pinned(items, pins))
    said = {f.id: f for f in (*tx.state.said(conversation, FACTS), *tx.state.recalled(conversation))}
    kinds = {kind: tuple(map(_from_pin, (p for p in pins if p.kind in of))) for kind, of in _PINNED.items()}
    return Handoff(
        conversation=conversation,
        title=record.title,
        turns=record.last_turn,
        decisions=kinds[ItemKind.DECISION] + told(ItemKind.DECISION),
        constraints=kinds[ItemKind.CONSTRAINT] + told(ItemKind.CONSTRAINT),
        open_questions=tuple(i for i in told(ItemKind.OPEN) if _is_question(i)),
        next_steps=tuple(i for i in told(ItemKind.OPEN) if not _is_question(i)),
        resolved=kinds[ItemKind.RESOLVED] + told(ItemKind.RESOLVED),
        ruled_out=told(ItemKind.RULED_OUT),
        artifacts=told(ItemKind.ARTIFACT),
        results=told(ItemKind.RESULT),
        facts=tuple(sorted(said.values(), key=lambda f: (f.key, f.scope, f.id))),
        notes=tuple(n for n in tx.state.notes(conversation) if n.text),
        unread=unread,
    )


_PINNED = {
    ItemKind.CONSTRAINT: (PinKind.CONSTRAINT,),
    ItemKind.DECISION: (PinKind.DECISION, PinKind.APPROVAL),
    ItemKind.RESOLVED: (PinKind.RESOLUTION,),
}


def _items(tx: Transaction, record: ConversationRecord, count: Count) -> tuple[list[Item], tuple[tuple[int, int], ...]]:
    """Items of the summaries in force, and sentences of the turns that none covers; and what is not looked at."""
    segments = [s for s in tx.segments(record.id) if s.status in _IN_FORCE]
    items = [i for s in segments for i in s.items]
    open_turns = _uncovered([r for s in segments for r in s.ranges], record.last_turn)
    pieces = [(a, min(a + PIECE - 1, b)) for start, b in open_turns for a in range(start, b + 1, PIECE)]
    read, unread = pieces[-PIECES:], tuple(pieces[:-PIECES])
    budget = max(_LEAST, MOST // max(1, len(read) + len(segments)))
    for first, last in read:
        turns = [t for t in tx.turns(record.id, first, last) if is_visible(t) and not t.is_open]
        found = extract(turns, budget=budget, count=count)
        items += checked(found, {t.number: t for t in turns}).items
    kept, _ = merge(sorted(items, key=lambda i: i.turns), budget=MOST, count=count)
    return sorted(kept, key=lambda i: i.turns), unread


def _uncovered(ranges: Iterable[tuple[int, int]], last: int) -> list[tuple[int, int]]:
    """The stretches of turns 1 to ``last`` that lie in none of these ranges."""
    found, at = [], 1
    for first, end in sorted(ranges):
        if first > at:
            found.append((at, first - 1))
        at = max(at, end + 1)
    return [*found, (at, last)] if at <= last else found


def _without_pinned(items: Sequence[Item], pins: Sequence[Pin]) -> list[Item]:
    """Items that say more than a pin does: that stands beside them word for word."""
    texts = [" ".join(p.text.split()) for p in pins]
    return [i for i in items if not any(" ".join(i.text.split()) in text for text in texts)]


def _by_kind(items: Sequence[Item]) -> Callable[[ItemKind], tuple[HandoffItem, ...]]:
    def of(kind: ItemKind) -> tuple[HandoffItem, ...]:
        return tuple(HandoffItem(text=i.text, turns=i.turns) for i in items if i.kind is kind)

    return of


def _from_pin(pin: Pin) -> HandoffItem:
    turns = () if pin.turn is None else (pin.turn,)
    return HandoffItem(text=pin.text, turns=turns, pin=pin.id, author=pin.author)


def _is_question(item: HandoffItem) -> bool:
    return item.text.rstrip("\"'”’)*_ ").endswith(("?", "？", "؟"))


def _line(item: HandoffItem) -> str:
    where = f"turn {labels.ranges(item.turns)}" if item.turns else "this project"
    if item.pin is not None:
        return f"- [pinned by the {item.author}, {where}, {item.pin}]\n{_fenced(item.text)}"
    return f"- {labels.quoted(item.text)} ({where})"


def _fenced(text: str) -> str:
    """A pinned text, byte for byte, between marks that it does not hold."""
    mark = "```"
    while mark in text:
        mark += "`"
    return f"{mark}\n{text}\n{mark}"


def _note_lines(note: Note) -> str:
    return labels.note_lines(replace(note, section=shown_name(note.section)), ())


def _fact_line(fact: Fact) -> str:
    value = labels.quoted(fact.value) if isinstance(fact.value, str) else json.dumps(fact.value, ensure_ascii=False)
    where = f"{fact.author}, turn {fact.turn}" if fact.turn is not None else fact.author
    return f"- {shown_name(fact.key)}: {value} ({where}, in {labels.quoted(fact.conversation)})"


def _fact_json(fact: Fact) -> dict[str, Any]:
    return {
        "key": fact.key,
        "value": fact.value,
        "kind": fact.kind.value,
        "author": fact.author,
        "conversation": fact.conversation,
        "turn": fact.turn,
        "quote": fact.quote,
    }
