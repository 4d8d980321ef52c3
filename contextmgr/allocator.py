"""The budget allocator: what of a candidate window stays in view, in which form, and what gives way first.

Law 3, history is the most expendable tier.  What gives way, in this order, each only as far as needed:

    1  old tool outputs are masked: first those that a later call repeats, then oldest first
    2  turns before the recent window leave, oldest first
    3  evidence shrinks, weakest first
    4  results in the recent window are cut, biggest first
    5  state shrinks to its floor
    6  the recent window shrinks towards the tail

Steps 1 and 2 aim at ``goal``, which leaves room to grow; the others only run while even ``room`` is exceeded.
More budget never removes content: every step is taken from one fixed list, and more budget stops earlier in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from contextmgr.features import ZERO, Features, total
from contextmgr.forms import MIN_CUT
from contextmgr.views import Form

HEADROOM = 0.1  # of room: once the recent window has to give way, it gives way this far, not at every call again
SHORT_EXCHANGE = 8  # turns: an exchange up to this long stays or leaves as a whole
MIN_MASK_GAIN = 40  # tokens: masking less than this buys nothing

Key = tuple[int, int]
Size = Callable[[Features], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultSize:
    """One tool result of a candidate: its call number and what it weighs in each form.

    ``repeated`` says that a later call has the same tool, the same input and the same result.
    """

    call: int
    whole: Features
    masked: Features
    repeated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One turn of the candidate window.  ``own`` weighs everything but the results; no view begins at a turn that is
    ``torn`` from a summary that is ready.
    """

    number: int
    is_user: bool
    own: Features
    results: tuple[ResultSize, ...] = ()
    torn: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What an allocation has to keep.  Sizes in tokens; ``size`` turns features into tokens, erring high.

    ``goal`` is where masking and moving stop, ``room`` what no request may exceed, ``result_cap`` the largest
    result shown whole (in unweighted tokens); ``recent`` turns at the end are kept as long as anything else gives;
    ``mask_all`` masks every old output whether needed or not.
    """

    goal: int
    room: int
    recent: int
    result_cap: int
    size: Size
    mask_all: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixed:
    """What stands beside the turns.  ``preface(first)`` weighs what must be said when the view starts at a turn;
    ``evidence`` weighs each piece, strongest first; ``state`` and ``state_floor`` the state at full size and least.
    """

    preface: Callable[[int], Features]
    head: Features = ZERO
    evidence: tuple[Features, ...] = ()
    state: Features = ZERO
    state_floor: Features = ZERO


@dataclass(frozen=True, slots=True, kw_only=True)
class Allocation:
    """The outcome.  ``forms`` names the results that are not whole, ``caps`` how far each cut one may go, in
    unweighted tokens; ``tokens`` is the whole request's size and ``fits`` whether it is within ``room``.
    """

    first: int
    forms: Mapping[Key, Form]
    caps: Mapping[Key, int]
    evidence: int
    state_at_floor: bool
    tokens: int
    fits: bool


@dataclass(slots=True)
class _View:
    """The view while it gives way; ``weights`` are the candidates' features in their present form, ``shown`` the sum
    of those from ``start`` on, kept up to date so that every step costs the same however many turns there are.
    """

    candidates: Sequence[Candidate]
    fixed: Fixed
    limits: Limits
    weights: list[Features]
    shown: Features
    evidence: int
    start: int = 0
    forms: dict[Key, Form] = field(default_factory=dict)
    caps: dict[Key, int] = field(default_factory=dict)
    state_at_floor: bool = False

    def size(self) -> int:
        """Tokens of the request as the view stands."""
        return self._size(self.start, self.shown)

    def _size(self, start: int, shown: Features) -> int:
        state = self.fixed.state_floor if self.state_at_floor else self.fixed.state
        preface = self.fixed.preface(self.candidates[start].number)
        return self.limits.size(total((self.fixed.head, preface, state, shown, *self.fixed.evidence[: self.evidence])))

    def move(self, borders: Sequence[int], goal: int) -> None:
        """Start at the first border (in rising order) from which the request fits ``goal``, or at the last one."""
        for index in borders:
            for gone in self.weights[self.start : index]:
                self.shown = self.shown.minus(gone)
            self.start = index
            if self.size() <= goal:
                return

    def reform(self, index: int, result: ResultSize, form: Form, cap: int | None = None) -> None:
        """Put one result of a shown turn into another form; ``cap`` goes with ``Form.CUT``."""
        key = (self.candidates[index].number, result.call)
        before = self._weight(key, result)
        self.forms[key] = form
        if cap is not None:
            self.caps[key] = cap
        change = self._weight(key, result).minus(before)
        self.weights[index] = self.weights[index].plus(change)
        self.shown = self.shown.plus(change)

    def _weight(self, key: Key, result: ResultSize) -> Features:
        form = self.forms.get(key)
        if form is Form.MASKED:
            return result.masked
        return scaled(result.whole, self.caps[key]) if form is Form.CUT else result.whole


def scaled(whole: Features, cap: int) -> Features:
    """What a result weighs when cut to ``cap`` unweighted tokens; never less than its share, rounded up."""
    size = max(1, sum(whole))
    return whole if size <= cap else Features(*(-(-part * cap // size) for part in whole))


def allocate(candidates: Sequence[Candidate], fixed: Fixed, limits: Limits) -> Allocation:
    """Decide what stays.  ``candidates`` are consecutive turns, at least one; the last one is the tail.

    Never raises for lack of room: ``fits`` is False where even the smallest view exceeds it.
    """
    weights = [c.own.plus(total(r.whole for r in c.results)) for c in candidates]
    view = _View(candidates, fixed, limits, weights, total(weights), evidence=len(fixed.evidence))
    recent = max(0, len(candidates) - max(1, limits.recent))
    for index, candidate in enumerate(candidates):
        for result in candidate.results:
            if sum(result.whole) > limits.result_cap:
                view.reform(index, result, Form.CUT, limits.result_cap)
    _mask_old(view, recent)
    _move(view, range(recent + 1), limits.goal)
    while view.evidence and view.size() > limits.room:
        view.evidence -= 1
    _cut_recent(view, recent)
    if view.size() > limits.room:
        view.state_at_floor = True
    _move(view, range(max(view.start, recent), len(candidates)), limits.room, whole_exchanges=False)
    tokens = view.size()
    return Allocation(
        first=candidates[view.start].number,
        forms=view.forms,
        caps=view.caps,
        evidence=view.evidence,
        state_at_floor=view.state_at_floor,
        tokens=tokens,
        fits=tokens <= limits.room,
    )


def _mask_old(view: _View, recent: int) -> None:
    """Mask old outputs: first those that a later call repeats, then the others, oldest first."""
    for repeated in (True, False):
        for index in range(recent):
            if not view.limits.mask_all and view.size() <= view.limits.goal:
                return
            for result in view.candidates[index].results:
                gain = sum(result.whole) - sum(result.masked)
                if result.repeated is repeated and gain >= MIN_MASK_GAIN:
                    view.reform(index, result, Form.MASKED)


def _move(view: _View, starts: range, goal: int, *, whole_exchanges: bool = True) -> None:
    """Move the view's start to the first border from which it fits ``goal``, or to the last border there is."""
    if not starts or view.size() <= goal:
        return
    allowed = _borders(view.candidates) if whole_exchanges else set(starts)
    view.move([i for i in starts if i > view.start and (i in allowed or i == starts[-1])], goal)


def _borders(candidates: Sequence[Candidate]) -> set[int]:
    """Where a view may begin: at a user turn, or anywhere in an exchange too long to leave as a whole.

    The rule looks at the turns alone, never at sizes: otherwise more budget could choose a later start.
    """
    starts = [i for i, c in enumerate(candidates) if c.is_user or i == 0]
    borders = set(starts)
    torn = {i for i, c in enumerate(candidates) if c.torn}
    for start, end in pairwise([*starts, len(candidates)]):
        if end - start > SHORT_EXCHANGE:
            borders.update(range(start, end))
    return borders - torn


def _cut_recent(view: _View, recent: int) -> None:
    if view.size() <= view.limits.room:
        return
    while view.size() > view.limits.room * (1 - HEADROOM):
        biggest = max(_cuttable(view, recent), key=lambda c: c[2], default=None)
        if biggest is None:
            return
        index, result, size = biggest
        view.reform(index, result, Form.CUT, max(MIN_CUT, size // 2))


def _cuttable(view: _View, recent: int) -> list[tuple[int, ResultSize, int]]:
    """Results of the recent window that can still give way: candidate index, result, present size."""
    found = []
    for index in range(max(recent, view.start), len(view.candidates)):
        for result in view.candidates[index].results:
            key = (view.candidates[index].number, result.call)
            size = min(sum(result.whole), view.caps.get(key, sum(result.whole)))
            if size > MIN_CUT:
                found.append((index, result, size))
    return found
