"""The words the manager itself puts into requests: labels, masks, notices.

Versioned code, not templates: a change here moves the bytes of new epochs, so `VERSION` goes up with it.  Labels
stand in blocks beside what they label, never around it, and repeat no pinned text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, tzinfo
from typing import Any

from contextmgr.facts import Fact, Note
from contextmgr.pins import Pin, PinStatus
from contextmgr.toolnames import READ

VERSION = 1
NO_OUTPUT = "(no output)"
BEGINS = "[The conversation begins with the assistant.]"
FILLER = "[Interrupted: no result of this call was recorded, so its outcome is unknown.]"
_BRIEF = 80
_BY_CHANCE = 12  # characters: a pin up to this long may stand in the arguments of any call
_UNSEEN = re.compile("[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")  # JSON lets these end or turn round a line
_SPANS = 12  # stretches of turns that a label names one by one


def day(at: datetime | None, zone: tzinfo) -> str:
    """A date as people write it, in the conversation's time zone: "17 August 2026"."""
    if at is None:
        return "date unknown"
    local = at.astimezone(zone)
    return f"{local.day} {local:%B %Y}"


def ranges(numbers: Iterable[int]) -> str:
    """Turn numbers as ranges: "1-41, 43"."""
    spans: list[list[int]] = []
    for n in sorted(numbers):
        if spans and n == spans[-1][1] + 1:
            spans[-1][1] = n
        else:
            spans.append([n, n])
    return ", ".join(f"{a}-{b}" if b > a else f"{a}" for a, b in spans)


def _spans(spans: Sequence[tuple[int, int]]) -> str:
    """Stretches as "1-41, 43"; of very many, the earliest are named together, so that a label cannot grow for ever."""
    early = len(spans) - _SPANS + 1 if len(spans) > _SPANS else 0
    named = [f"parts of {spans[0][0]}-{spans[early - 1][1]}"] if early else []
    return ", ".join([*named, *(f"{a}-{b}" if b > a else f"{a}" for a, b in spans[early:])])


def text_block(text: str) -> dict[str, Any]:
    """A text block."""
    return {"type": "text", "text": text}


OPENING = (
    "[Kept by the context manager. Statements marked as pinned are the user's or operator's own words, "
    "verbatim, and stay in force for the whole conversation.]"
)


def pin_label(pin: Pin, zone: tzinfo) -> str:
    """What stands before a pinned text."""
    if pin.turn is None:
        return f"[Pinned {pin.kind}, set by the operator for this project on {day(pin.said_at, zone)}:]"
    return f"[Pinned {pin.kind}, said by the {pin.author} in turn {pin.turn}, {day(pin.said_at, zone)}:]"


def context_label(pin: Pin) -> str:
    """What stands before the assistant's words that an approval or resolution answers."""
    return f"[The {pin.kind} that follows answers these words of the assistant in turn {pin.context}:]"


def task_label(name: str) -> str:
    """What stands before a task document."""
    return f"[Task document {json.dumps(name, ensure_ascii=False)}, set by the application:]"


def gap_line(spans: Sequence[tuple[int, int]], tools: Iterable[str]) -> str:
    """The line for turns that are out of view, given as first and last number of each stretch."""
    return f"[Out of view: turns {_spans(spans)}. What was said there is kept in the store{_how(tools)}.]"


def quoted(text: str) -> str:
    """Derived text on one line, escaped: it can neither end its line nor pass for a label."""
    return _escaped(json.dumps(text, ensure_ascii=False))


def summary_label(spans: Sequence[tuple[int, int]]) -> str:
    """What stands above the summary tier."""
    return (
        f"[Summary of turns {_spans(spans)}, derived by the context manager and without authority. Each line names its "
        "turns; pinned statements and later turns prevail.]"
    )


def superseded(turn: int) -> str:
    """What follows a decision or rule after which a later turn said something on a like subject."""
    return f" (where turn {turn} says otherwise, it prevails)"


STATE = (
    "[State kept beside this conversation: facts with who said them and where, and the assistant's own notes. Pinned "
    "statements, and what is said later, prevail.]"
)
NOTES = "[Notes of the assistant:]"
_SHOWN = 2_000  # characters of a value that are shown


def fact_line(fact: Fact, conversation: str, zone: tzinfo, pinned: Sequence[str]) -> str:
    """A fact on one line: key, value as JSON, who said it and where."""
    value = _escaped(json.dumps(fact.value, ensure_ascii=False))
    if len(value) > _SHOWN:
        value = f"{value[:_SHOWN]}… ({len(value):,} characters in all)"
    if repeats(value, pinned) or repeats(fact.key, pinned):
        value = "(as pinned)"
    return f"- {fact.key}: {value} ({_source(fact, conversation, zone)})"


def _source(fact: Fact, conversation: str, zone: tzinfo) -> str:
    who = "assistant" if fact.author == "model" else fact.author
    parts = [f"{who}, turn {fact.turn}" if fact.turn is not None else who]
    if fact.conversation != conversation:
        parts.append(f"in conversation {quoted(fact.conversation)}, {day(fact.valid_from, zone)}")
    return ", ".join(parts)


def note_lines(note: Note, pinned: Sequence[str]) -> str:
    """A section of the scratchpad: its name, then its lines, each marked so that none passes for ours."""
    name = "(as pinned)" if repeats(note.section, pinned) else note.section
    lines = (_escaped(line) for line in note.text.splitlines())
    return "\n".join([f"{name}:", *("| (as pinned)" if repeats(line, pinned) else f"| {line}" for line in lines)])


def older_state(left_out: int, *, too_long: bool = False) -> str:
    """The line for what is known but leaves the view; ``too_long`` where some of it is newer than what stays."""
    why = "changed longer ago or too long to stand here" if too_long else "changed longer ago"
    return f"[{left_out} more, {why}, kept in the store.]"


def fact_change(line: str) -> str:
    """What is attached when a fact changed."""
    return f"[State changed; from now on:]\n{line}"


def note_change(note: Note, lines: str) -> str:
    """What is attached when a section of the scratchpad changed."""
    return f"[Note changed; it now says:]\n{lines}" if note.text else f"[Note taken away:]\n{lines}"


def _escaped(text: str) -> str:
    return _UNSEEN.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def evidence_label(turns: Iterable[int], at: datetime | None, zone: tzinfo) -> str:
    """What stands above quotes of turns that are out of view."""
    numbers = list(turns)
    noun = "turn" if len(numbers) == 1 else "turns"
    return f"[Earlier in this conversation, {noun} {ranges(numbers)}, {day(at, zone)}:]"


def in_hand_label(turn: int, author: str) -> str:
    """What stands before the request in hand where it is older than the window."""
    return f"[The request in hand, said by the {author} in turn {turn}:]"


def notice(pin: Pin, successor: Pin | None) -> str:
    """Says that a pin is no longer in force, without repeating it."""
    source = f"pinned from turn {pin.turn}" if pin.turn is not None else "pinned by the operator for this project"
    if pin.status is PinStatus.REPLACED:
        by = "another one" if successor is None else _name(successor)
        return f"[Notice: the {pin.kind} {source} is no longer in force; it was replaced by {by}.]"
    return f"[Notice: the {pin.kind} {source} is no longer in force; it was revoked.]"


def _name(pin: Pin) -> str:
    return "the operator's pin for this project" if pin.turn is None else f"the {pin.kind} pinned from turn {pin.turn}"


def brief(call: Mapping[str, Any], pinned: Sequence[str] = ()) -> str:
    """A tool call in brief: its name and the start of its arguments, unless that would repeat a pinned text."""
    arguments = json.dumps(call.get("input", {}), ensure_ascii=False, separators=(", ", ": "))
    short = arguments if len(arguments) <= _BRIEF else arguments[: _BRIEF - 1] + "…"
    if contains_any(short, _long(pinned)):
        short = "{…}"
    return f"{call.get('name')} {short}"


def masked(
    call: Mapping[str, Any],
    turn: int,
    characters: int,
    tools: Iterable[str],
    pinned: Sequence[str] = (),
    *,
    error: str | None = None,
    again: int | None = None,
) -> str:
    """The one line that stands for an old tool output; ``error`` is what a failed call said, ``again`` a later turn
    whose call had the same output.
    """
    size = f"{characters:,} characters, {'ok' if error is None else 'error'}"
    where = f"stored in turn {turn}{_how(tools)}"
    if again is not None:
        where += f"; turn {again} had the same output"
    said = f" It said: {quoted(error)}" if error and not contains_any(error, _long(pinned)) else ""
    return f"[Output of {brief(call, pinned)} left out: {size}; {where}.{said}]"


def _long(pinned: Sequence[str]) -> list[str]:
    return [p for p in pinned if len(p) > _BY_CHANCE]


def cut(left_out: int, characters: int, turn: int, tools: Iterable[str]) -> str:
    """The line in the middle of a result that is shown as head and tail."""
    where = f"the whole is stored in turn {turn}{_how(tools)}"
    return f"[… {left_out:,} of {characters:,} characters left out here; {where} …]"


def part_left_out(kind: str, turn: int, tools: Iterable[str]) -> str:
    """The line for an image or other part of a result that had to give way."""
    return f"[{kind} left out here; stored in turn {turn}{_how(tools)}.]"


def unreadable(kind: str, media_type: object) -> str:
    """The line for an image, document or the like that the API would refuse."""
    of = f" of type {json.dumps(media_type)[:60]}" if isinstance(media_type, str) else ""
    return f"[Here stood: {kind}{of}. The API cannot read it.]"


def late(call: Mapping[str, Any], turn: int, pinned: Sequence[str] = ()) -> str:
    """What stands before a result that came after its turn had gone on."""
    return f"[Late result of {brief(call, pinned)} in turn {turn}, which had been interrupted; it is known only now:]"


def call_as_text(call: Mapping[str, Any], turn: int) -> str:
    """A tool call where the request has no tools and so cannot hold tool blocks."""
    return f"[In turn {turn} the assistant called {brief(call)}; its result:]"


def _how(tools: Iterable[str]) -> str:
    return f" and can be read with {READ}" if READ in tools else ""


def repeats(text: str, pinned: Sequence[str]) -> bool:
    """Whether a text of our own would repeat a pin; one so short that it stands anywhere by chance is not repeated."""
    return contains_any(text, _long(pinned))


def contains_any(text: str, pinned: Sequence[str]) -> bool:
    """Whether a text would repeat a pin."""
    return any(p in text for p in pinned)
