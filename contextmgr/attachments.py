"""Rows that are added to turns: the forms of their results, and what is attached at the tail.

Law: rows are rendered once and recorded; what cannot be sent as it is carries U+FFFD, as everywhere in requests.
At the tail, in order: due pins, notices, late results, changes of the state, evidence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import tzinfo

from contextmgr import forms, jsontext, labels
from contextmgr.evidence import Evidence, in_order
from contextmgr.features import Features
from contextmgr.pins import Pin
from contextmgr.tokens import Count, block_features
from contextmgr.turns import Block, ToolResult, Turn
from contextmgr.views import Form, RowKind, ViewRow


@dataclass(frozen=True, slots=True, kw_only=True)
class LateNote:
    """A late result to be shown: the turn of its call, its order among that turn's results, the result."""

    turn: Turn
    order: int
    result: ToolResult

    @property
    def ref(self) -> str:
        """What the row is found by, for showing once and for erasing."""
        return f"late:{self.turn.number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachments:
    """What is due at the tail.  ``named`` are pins by id, for notices that name a successor; ``changes`` are of the
    state, with what each row is found by.
    """

    pins: Sequence[Pin] = ()
    notices: Sequence[Pin] = ()
    late: Sequence[LateNote] = ()
    changes: Sequence[tuple[str, Block]] = ()
    evidence: Sequence[Evidence] = ()
    named: Mapping[str, Pin] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """How rows are rendered: the request's tool names, the zone of dates, the largest late result in unweighted
    tokens, the counter, the pinned texts, which no label may repeat, and for results that a later call repeats
    the turn of that call.
    """

    tools: frozenset[str]
    zone: tzinfo
    result_cap: int
    count: Count
    pinned: Sequence[str] = ()
    repeats: Mapping[tuple[int, int], int] = field(default_factory=dict)


def form_rows(
    turns: Iterable[Turn],
    chosen: Mapping[tuple[int, int], Form],
    caps: Mapping[tuple[int, int], int],
    setting: Setting,
    start: int,
) -> tuple[ViewRow, ...]:
    """Rows for every result that is not whole: cut, masked, or a filler where none came; numbered from ``start``."""
    rows: list[ViewRow] = []
    for turn in turns:
        have = turn.in_place
        for call in range(len(turn.calls)):
            result, form = have.get(call), chosen.get((turn.number, call))
            if result is None:
                block, form = forms.filler(), Form.FILLER
            elif form is Form.MASKED:
                again = setting.repeats.get((turn.number, call))
                block = forms.masked(turn, result, setting.tools, setting.pinned, again)
            elif form is Form.CUT:
                cap = caps[turn.number, call]
                block = forms.cut(turn, result, cap, setting.tools, setting.count, setting.pinned)
            else:
                continue
            rows.append(_row(start + len(rows), turn.number, RowKind.FORM, block, setting, call=call, form=form))
    return tuple(rows)


def tail_rows(tail: int, attached: Attachments, setting: Setting, start: int) -> tuple[ViewRow, ...]:
    """Rows for what is attached at the end of turn ``tail``; numbered from ``start``."""
    named = attached.named or {}
    made: list[tuple[RowKind, Block, str | None]] = []
    for pin in attached.pins:
        made.append((RowKind.LABEL, labels.text_block(labels.pin_label(pin, setting.zone)), pin.id))
        made.append((RowKind.PIN, labels.text_block(pin.text), pin.id))
    for pin in attached.notices:
        line = labels.notice(pin, named.get(pin.replaced_by or ""))
        made.append((RowKind.NOTICE, labels.text_block(line), pin.id))
    cap = max(forms.MIN_CUT, setting.result_cap // max(1, len(attached.late)))  # together no larger than one result
    for note in attached.late:
        made += [(RowKind.LATE, block, note.ref) for block in _late(note, setting, cap)]
    made += [(RowKind.STATE, block, ref) for ref, block in attached.changes]
    made += [(RowKind.EVIDENCE, e.render(setting.zone), e.ref) for e in in_order(attached.evidence)]
    return tuple(_row(start + i, tail, kind, block, setting, ref=ref) for i, (kind, block, ref) in enumerate(made))


def _late(note: LateNote, setting: Setting, cap: int) -> list[Block]:
    body = note.result.body
    if sum(note.result.features) > cap:
        body = forms.cut(note.turn, note.result, cap, setting.tools, setting.count, setting.pinned)
    content = forms.as_sent(body).get("content")
    parts = [labels.text_block(content)] if isinstance(content, str) else [dict(p) for p in content or ()]
    label = labels.text_block(labels.late(note.turn.calls[note.result.call], note.turn.number, setting.pinned))
    return [label, *parts]


def _row(
    order: int,
    turn: int,
    kind: RowKind,
    block: Block,
    setting: Setting,
    *,
    call: int | None = None,
    form: Form | None = None,
    ref: str | None = None,
) -> ViewRow:
    sent: Block = jsontext.sendable_value(block)
    weight: Features = block_features(sent, setting.count)
    return ViewRow(order=order, turn=turn, kind=kind, block=sent, call=call, form=form, ref=ref, features=weight)
