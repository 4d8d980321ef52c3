"""Records of what a request shows: epochs, their prefaces, and the rows added to turns while an epoch lasts.

Law: nothing already sent changes until a rollover.  So forms and attachments are stored as they were rendered and
read back; none is ever decided twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from contextmgr.features import ZERO, Features
from contextmgr.heads import Head
from contextmgr.turns import Block


class Why(StrEnum):
    """Why an epoch began."""

    FIRST = "first"
    FULL = "full"
    COLD = "cold"
    HEAD = "head"
    BROKEN = "broken"
    EACH_USER_TURN = "each user turn"


class RowKind(StrEnum):
    """What a row of a view is: the form of one tool result, or an attachment at the end of a turn."""

    FORM = "form"
    LABEL = "label"
    PIN = "pin"
    NOTICE = "notice"
    LATE = "late"
    STATE = "state"
    EVIDENCE = "evidence"


EVIDENCE_REF = "turns:"
"""What stands before the turns that a row of evidence quotes, in its ``ref``."""


class Form(StrEnum):
    """How a tool result stands in an epoch; whole results have no row."""

    CUT = "cut"
    MASKED = "masked"
    FILLER = "filler"


class Part(StrEnum):
    """What a block of the preface is."""

    LABEL = "label"
    PIN = "pin"
    CONTEXT = "context"
    NOTICE = "notice"
    TASK = "task"
    STATE = "state"
    SUMMARY = "summary"
    GAP = "gap"
    IN_HAND = "in hand"


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefaceBlock:
    """One block of the preface.  ``pin`` and ``turn`` say what it came from; ``index`` its place in that turn."""

    part: Part
    block: Block
    pin: str | None = None
    turn: int | None = None
    index: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewRow:
    """One thing added to a turn in an epoch, as rendered.

    ``order`` numbers the rows of the epoch from 0; a request uses a prefix of them.  A form row replaces the
    result of call number ``call``; ``form`` says which form, ``block`` is the tool_result as sent (its id is set
    by the layout).  ``ref`` is the id of the pin, or another key, that the row is about.
    """

    order: int
    turn: int
    kind: RowKind
    block: Block
    call: int | None = None
    form: Form | None = None
    ref: str | None = None
    features: Features = ZERO


@dataclass(frozen=True, slots=True, kw_only=True)
class Epoch:
    """A stretch of calls during which requests only grow at their end.

    ``first`` is the first turn shown, ``opened_at`` the last turn when it began: thinking up to there is gone for
    good.  ``tiers`` weighs head and preface by tier.  ``hidden`` are
    turns from ``first`` on that are left out (withdrawn); ``kept`` are ranges that stay in the view, before ``first``
    as well, because a summary of them was undone.  ``ttl`` is the lifetime asked for in cache marks; ``keeps_round``
    the model's demand for the thinking of the tool round that was open.  ``broken`` names what ended it; ``state`` is
    the last change of the conversation's state when it began.
    """

    number: int
    first: int
    opened_at: int
    head: Head
    why: Why
    preface: tuple[PrefaceBlock, ...] = ()
    tiers: Mapping[str, Features] = field(default_factory=dict)
    hidden: frozenset[int] = frozenset()
    kept: tuple[tuple[int, int], ...] = ()
    ttl: str = "5m"
    keeps_round: bool = False
    broken: str | None = None
    at: datetime | None = None
    state: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """The last answered request of an epoch whose true input is known, in tokens."""

    request: int
    true_input: int
    features: Features


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestRecord:
    """One issued request.  With its epoch, turns ``first..tail`` and the first ``rows`` rows it gives its bytes again.

    ``features`` and ``tokens`` weigh the whole input; ``previous_tail`` and ``previous_rows`` say where the request
    before it in the epoch ended (0 turns: none); ``true_input`` is what the API counted, once it answered;
    ``anchor`` is the answered request its size was reckoned from; ``report`` and ``proof`` are JSON as recorded.
    """

    number: int
    epoch: int
    tail: int
    rows: int
    max_tokens: int
    tokens: int
    features: Features
    previous_tail: int = 0
    previous_rows: int = 0
    true_input: int | None = None
    anchor: Anchor | None = None
    report: Mapping[str, Any] = field(default_factory=dict)
    proof: tuple[Mapping[str, Any], ...] = ()
    at: datetime | None = None
