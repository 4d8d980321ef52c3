"""Descriptions over the seam: the values of the prompt, the schema of its answer, and what is in one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from contextmgr import jsontext

DESCRIPTION_CHARACTERS = 600
MEANING_CHARACTERS = 200
MAX_REFERENCES = 16

_TURNS: Final[dict[str, Any]] = {"type": "array", "items": {"type": "integer"}}
DESCRIBE_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "description": {"type": "string"},
        "turns": _TURNS,
        "references": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "turn": {"type": "integer"},
                    "phrase": {"type": "string"},
                    "meaning": {"type": "string"},
                    "turns": _TURNS,
                },
                "required": ["turn", "phrase", "meaning", "turns"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["description", "turns", "references"],
    "additionalProperties": False,
}
"""What the describe prompt asks for."""


class Resolved(NamedTuple):
    """An expression of a turn, what it refers to, and the turns that say so."""

    turn: int
    phrase: str
    meaning: str
    turns: tuple[int, ...]


class Described(NamedTuple):
    """An answer: one line, the turns it rests on, and resolved expressions."""

    text: str
    turns: tuple[int, ...]
    references: tuple[Resolved, ...]


def describe_values(
    *,
    first: int,
    last: int,
    turns: Sequence[Mapping[str, Any]],
    before: Sequence[Mapping[str, Any]] = (),
    date: str | None = None,
) -> dict[str, Any]:
    """Values for the prompt ``describe``.

    A turn is ``{"turn": int, "role": "user" | "assistant" | "tool", "text": str}``, without thinking and base64;
    ``before`` are some of those just before ``first``, ``date`` is the day on which the stretch began.
    """
    said, earlier = [dict(t) for t in turns], [dict(t) for t in before]
    return {"first": first, "last": last, "turns": said, "before": earlier, "date": date}


def described(answer: Mapping[str, Any]) -> Described | None:
    """What an answer to the prompt ``describe`` says; None where it describes nothing or cites no turn.

    References that are blank, too long or cite nothing are left out; whether turns exist, and say what is told of
    them, is for the checks.
    """
    text, turns = _line(answer.get("description"), DESCRIPTION_CHARACTERS), _numbers(answer.get("turns"))
    given = answer.get("references")
    found = [_reference(r) for r in given[:MAX_REFERENCES]] if isinstance(given, list) else []
    return Described(text, turns, tuple(r for r in found if r is not None)) if text and turns else None


def _reference(value: object) -> Resolved | None:
    if not isinstance(value, Mapping):
        return None
    phrase, meaning = value.get("phrase"), _line(value.get("meaning"), MEANING_CHARACTERS)
    turn, turns = _numbers([value.get("turn")]), _numbers(value.get("turns"))
    if not (turn and turns and meaning and isinstance(phrase, str) and 0 < len(phrase.strip()) <= MEANING_CHARACTERS):
        return None
    return Resolved(turn[0], jsontext.sendable(phrase), meaning, turns)


def _line(value: object, most: int) -> str:
    line = " ".join(value.split()) if isinstance(value, str) else ""
    return jsontext.sendable(line) if len(line) <= most else ""


def _numbers(value: object) -> tuple[int, ...]:
    if not isinstance(value, (list, tuple)) or not all(type(n) is int and n > 0 for n in value):
        return ()
    return tuple(sorted(set(value)))
