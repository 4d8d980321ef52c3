"""Proof by place: for each active pin the one place in the request where exactly its bytes stand.

Not a search: what users, models and tools happen to say is not counted.  Law: one place per pin, its text equal to
the pin's character for character, its digest equal to the one taken when it was pinned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from contextmgr import jsontext
from contextmgr.errors import ProofError
from contextmgr.pins import Pin


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A stretch of one block's text: message and block index, character start and end.

    ``where`` is ``preface``, ``attached`` or ``turn``.
    """

    where: str
    message: int
    block: int
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PinProof:
    """One pin proved: its id, its place, and the SHA-256 of the UTF-8 bytes found there."""

    pin: str
    place: Place
    sha256: str

    def to_json(self) -> dict[str, Any]:
        """As recorded with the request."""
        p = self.place
        path = [p.message, p.block, p.start, p.end]
        return {"pin": self.pin, "where": p.where, "at": path, "sha256": self.sha256}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> PinProof:
        """The proof that `to_json` wrote."""
        message, block, start, end = value["at"]
        place = Place(where=value["where"], message=message, block=block, start=start, end=end)
        return cls(pin=value["pin"], place=place, sha256=value["sha256"])


@dataclass(frozen=True, slots=True)
class Proof:
    """The proof of one request: one entry per active pin, in the order of the pins."""

    pins: tuple[PinProof, ...] = ()

    def __len__(self) -> int:
        return len(self.pins)

    def check(self, params: Mapping[str, Any]) -> None:
        """Check the proof against a request, byte for byte.  Raises `ProofError` where a place does not hold."""
        for entry in self.pins:
            text = text_at(params, entry.place)
            if text is None or jsontext.sha256(text) != entry.sha256:
                raise ProofError(
                    f"pin {entry.pin} is not at {_path(entry.place)}: the request was changed after assembly"
                )


def prove(params: Mapping[str, Any], pins: Sequence[Pin], places: Mapping[str, Sequence[Place]]) -> Proof:
    """Prove every active pin.  Raises `ProofError` where one has no place, several, or other bytes there."""
    return Proof(tuple(_prove(params, pin, places.get(pin.id, ())) for pin in pins))


def _prove(params: Mapping[str, Any], pin: Pin, places: Sequence[Place]) -> PinProof:
    if len(places) != 1:
        where = ", ".join(map(_path, places)) or "nowhere"
        raise ProofError(f"pin {pin.id} must stand at exactly one place, it stands at {len(places)}: {where}")
    text = text_at(params, places[0])
    if text is None or text != pin.text or jsontext.sha256(text) != pin.sha256:
        raise ProofError(f"pin {pin.id} is not what stands at {_path(places[0])}")
    return PinProof(pin=pin.id, place=places[0], sha256=pin.sha256)


def text_at(params: Mapping[str, Any], place: Place) -> str | None:
    """The text at a place, or None where there is none."""
    try:
        block = params["messages"][place.message]["content"][place.block]
        text = block["text"]
    except (KeyError, IndexError, TypeError):
        return None
    return str(text)[place.start : place.end]


def _path(place: Place) -> str:
    return f"messages[{place.message}].content[{place.block}][{place.start}:{place.end}] ({place.where})"
