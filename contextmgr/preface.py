"""The preface of an epoch: what must be said before the turns, because it stands outside the window.

In order: the pins said outside the window, notices about pins no longer in force, task documents, state, summary,
the gap line, and the request in hand where it is older than the window.  A pin stands in a block of its own, exactly;
labels stand beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import tzinfo

from contextmgr import jsontext, labels
from contextmgr.compaction import SummaryTier, uncovered
from contextmgr.features import ZERO, Features, total
from contextmgr.forms import legal_part
from contextmgr.pins import Pin
from contextmgr.tasks import TaskDocument
from contextmgr.tokens import Count, blocks_features
from contextmgr.turns import Block, Turn, is_blank
from contextmgr.views import Part, PrefaceBlock

_TIER = {
    Part.LABEL: "pinned",
    Part.PIN: "pinned",
    Part.CONTEXT: "pinned",
    Part.NOTICE: "pinned",
    Part.TASK: "task",
    Part.STATE: "state",
    Part.SUMMARY: "summary",
    Part.GAP: "gap",
    Part.IN_HAND: "in hand",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """What a preface may have to say.  ``pins`` are active, ``retired`` no longer; ``contexts`` are the assistant
    turns that approvals answer; ``in_hand`` is the newest user turn; ``shown`` are the visible turns by number, of
    which those in ``kept`` stand in the view wherever the window begins.
    """

    pins: Sequence[Pin] = ()
    retired: Sequence[Pin] = ()
    contexts: Mapping[int, Turn] = field(default_factory=dict)
    tasks: Sequence[TaskDocument] = ()
    in_hand: Turn | None = None
    shown: Mapping[int, Turn] = field(default_factory=dict)
    kept: frozenset[int] = frozenset()
    state: Sequence[Block] = ()
    summary: SummaryTier | None = None
    tools: frozenset[str] = frozenset()
    zone: tzinfo


def preface(material: Material, first: int) -> tuple[PrefaceBlock, ...]:
    """The preface of an epoch whose window begins at turn ``first``; empty where nothing needs saying.

    A pin that the request in hand said is proved there, and so gets no block of its own.
    """
    held = _in_hand(material, first)
    inside = {p.turn for p in held if p.part is Part.IN_HAND}
    blocks: list[PrefaceBlock] = []
    for pin in material.pins:
        if not said_in_view(pin, material.shown, first, material.kept) and pin.turn not in inside:
            blocks += _pin(material, pin, first)
    blocks += _notices(material, first)
    for task in material.tasks:
        blocks += [_label(labels.task_label(task.name), Part.TASK), _part(Part.TASK, labels.text_block(task.text))]
    blocks += [_part(Part.STATE, b) for b in material.state]
    if material.summary is not None:
        blocks += [_part(Part.SUMMARY, b) for b in material.summary.blocks(first)]
    blocks += _gap(material, first)
    blocks += held
    if any(b.part is Part.PIN for b in blocks):
        blocks.insert(0, _label(labels.OPENING))
    if not blocks and not _starts_with_user(material, first):
        blocks.append(_label(labels.BEGINS))
    return tuple(blocks)


def said_in_view(pin: Pin, shown: Mapping[int, Turn], first: int, kept: frozenset[int] = frozenset()) -> bool:
    """Whether the turn that said a pin stands in the view in a form that proves it."""
    turn = shown.get(pin.turn) if pin.turn is not None else None
    return turn is not None and (turn.number >= first or turn.number in kept) and turn.sendable


def tiers(blocks: Sequence[PrefaceBlock], count: Count) -> dict[str, Features]:
    """What a preface weighs, by tier."""
    sums: dict[str, Features] = {}
    for block in blocks:
        tier = _TIER[block.part]
        sums[tier] = sums.get(tier, ZERO).plus(blocks_features((block.block,), count))
    return sums


@dataclass(slots=True)
class Weigher:
    """Weighs the preface for many candidate starts; each distinct block is counted once."""

    material: Material
    count: Count
    _known: dict[str, Features] = field(default_factory=dict)

    def __call__(self, first: int) -> Features:
        """Features of the preface of a window that begins at turn ``first``."""
        return total(self._weigh(b.block) for b in preface(self.material, first))

    def _weigh(self, block: Block) -> Features:
        text = block.get("text")
        if not isinstance(text, str):
            return blocks_features((block,), self.count)
        if text not in self._known:
            self._known[text] = blocks_features((block,), self.count)
        return self._known[text]


def _part(part: Part, block: Block) -> PrefaceBlock:
    return PrefaceBlock(part=part, block=block)


def _label(text: str, part: Part = Part.LABEL) -> PrefaceBlock:
    return _part(part, labels.text_block(text))


def _pin(material: Material, pin: Pin, first: int) -> list[PrefaceBlock]:
    label = PrefaceBlock(part=Part.LABEL, block=labels.text_block(labels.pin_label(pin, material.zone)), turn=pin.turn)
    own = PrefaceBlock(part=Part.PIN, block=labels.text_block(pin.text), pin=pin.id, turn=pin.turn, index=pin.block)
    return [*_context(material, pin, first), label, own]


def _context(material: Material, pin: Pin, first: int) -> list[PrefaceBlock]:
    turn = material.contexts.get(pin.context) if pin.context is not None else None
    if turn is None or (turn.number in material.shown and (turn.number >= first or turn.number in material.kept)):
        return []
    pinned = [p.text for p in material.pins]
    texts = [jsontext.sendable(t) for t in [turn.text] if t.strip() and not labels.contains_any(t, pinned)]
    if not texts:
        return []
    said = [PrefaceBlock(part=Part.CONTEXT, block=labels.text_block(t), turn=turn.number) for t in texts]
    label = PrefaceBlock(part=Part.LABEL, block=labels.text_block(labels.context_label(pin)), turn=turn.number)
    return [label, *said]


def _notices(material: Material, first: int) -> list[PrefaceBlock]:
    by_id = {p.id: p for p in (*material.pins, *material.retired)}
    return [
        PrefaceBlock(
            part=Part.NOTICE,
            block=labels.text_block(labels.notice(p, by_id.get(p.replaced_by or ""))),
            pin=p.id,
            turn=p.turn,
        )
        for p in material.retired
        if said_in_view(p, material.shown, first, material.kept)
    ]


def _gap(material: Material, first: int) -> list[PrefaceBlock]:
    """The turns before the window that neither stand in the view nor are summarised."""
    shown = set(material.kept)
    if material.in_hand is not None:
        shown.add(material.in_hand.number)
    segments = material.summary.at(first).shown if material.summary is not None else ()
    spans = uncovered(1, first - 1, [s for s in segments if s.items], shown)
    return [_label(labels.gap_line(spans, material.tools), Part.GAP)] if spans else []


def _in_hand(material: Material, first: int) -> list[PrefaceBlock]:
    turn = material.in_hand
    if turn is None or turn.number >= first or turn.number in material.kept:
        return []
    label = _label(labels.in_hand_label(turn.number, turn.author))
    if not turn.sendable:  # what U+FFFD stands in for cannot prove a pin, so the pin keeps a block of its own
        pinned = [p.text for p in material.pins if p.turn == turn.number]
        texts = [jsontext.sendable_value(b) for b in turn.blocks if not labels.contains_any(str(b.get("text")), pinned)]
        return [label, *(PrefaceBlock(part=Part.CONTEXT, block=b, turn=turn.number) for b in texts)]
    said = [
        PrefaceBlock(part=Part.IN_HAND, block=legal_part(b), turn=turn.number, index=i)
        for i, b in enumerate(turn.blocks)
        if not is_blank(b)
    ]
    return [label, *said]


def _starts_with_user(material: Material, first: int) -> bool:
    turn = material.shown.get(first)
    return turn is not None and turn.role == "user"
