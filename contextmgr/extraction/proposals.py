"""Facts as they are proposed, by a writer or by rule, and the prompt and schema a writer is asked with.

Law: a proposal is only a claim; nothing is stored before it was checked against the turn it names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from contextmgr import jsontext
from contextmgr.facts import Fact, FactKind

MAX_ANSWER = 50
"""Proposals of one answer that are looked at."""

EXTRACT_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "facts": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "key": {"type": "string"},
                    "value": {"type": "string"},
                    "kind": {"type": "string", "enum": [kind.value for kind in FactKind]},
                    "turn": {"type": "integer"},
                    "quote": {"type": "string"},
                },
                "required": ["key", "value", "kind", "turn", "quote"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["facts"],
    "additionalProperties": False,
}
"""What the extract prompt asks for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """One fact that a user turn is said to state.

    ``quote`` is the part of turn ``turn`` that states it.  ``corrects`` is the value it takes the place of, where the
    user named that and not the matter.
    """

    key: str
    value: str
    kind: FactKind
    turn: int
    quote: str
    corrects: str | None = None


def extract_values(
    *, lines: Sequence[Mapping[str, Any]], known: Sequence[Fact], language: str | None, conversation: str
) -> dict[str, Any]:
    """Values for the prompt ``extract``.

    A line is ``{"turn": int, "role": "user" | "operator" | "assistant", "day": str | None, "text": str}``.  The
    ``boundary`` that encloses the material is made from its hash, so that no text can hold the one it stands in.
    """
    said = [dict(line) for line in lines]
    facts = [
        {"key": f.key, "value": f.value, "turn": f.turn if f.conversation == conversation else None} for f in known
    ]
    return {
        "first": min(line["turn"] for line in said),
        "last": max(line["turn"] for line in said),
        "turns": said,
        "known": facts,
        "language": language,
        "boundary": jsontext.sha256(jsontext.canonical([said, facts]))[:16],
    }


def proposals_of(answer: Mapping[str, Any]) -> list[Proposal]:
    """The well-formed proposals of an answer, in turn order, at most `MAX_ANSWER`."""
    given = answer.get("facts")
    found = [_proposal(value) for value in given[:MAX_ANSWER]] if isinstance(given, list) else []
    return sorted((p for p in found if p is not None), key=lambda p: p.turn)


def _proposal(value: object) -> Proposal | None:
    if not isinstance(value, Mapping):
        return None
    texts = [value.get(name) for name in ("key", "value", "quote")]
    kind, turn = value.get("kind"), value.get("turn")
    if not all(isinstance(t, str) and t.strip() for t in texts) or type(turn) is not int or kind not in set(FactKind):
        return None
    key, told, quote = (jsontext.sendable(str(t).strip()) for t in texts)
    return Proposal(key=key, value=told, kind=FactKind(str(kind)), turn=turn, quote=quote)
