"""What a request holds and why: tokens per tier, the disposition of every turn, and what it should cost.

Law: the tiers add up to the request's size exactly; a report holds numbers and names, never content.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any

from contextmgr.compaction import uncovered
from contextmgr.epochs import Decision, Snapshot, Terms, turn_parts
from contextmgr.evidence import quoted_turns, turns_of
from contextmgr.features import ZERO, Features, total
from contextmgr.summaries import Segment, SegmentStatus, joined
from contextmgr.views import Form, Part, RowKind, ViewRow, Why

_KIND_TIER = {
    RowKind.PIN: "pinned",
    RowKind.LABEL: "pinned",
    RowKind.NOTICE: "pinned",
    RowKind.LATE: "recent",
    RowKind.STATE: "state",
    RowKind.EVIDENCE: "retrieved",
}
TIERS = ("system", "pinned", "task", "state", "summary", "gap", "in hand", "retrieved", "middle", "recent")
_WIDTH = 28


class Disposition(StrEnum):
    """How a turn stands in a request."""

    VERBATIM = "verbatim"
    CUT = "cut"
    MASKED = "masked"
    PINNED = "pinned"
    RETRIEVED = "retrieved"
    SUMMARISED = "summarised"
    WITHDRAWN = "withdrawn"
    OUT = "out"


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A stretch of turns that stand alike, and the reason."""

    first: int
    last: int
    disposition: Disposition
    reason: str

    def to_json(self) -> dict[str, Any]:
        """As recorded with the request."""
        return {"first": self.first, "last": self.last, "disposition": self.disposition, "reason": self.reason}


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A piece of evidence that was attached: the turns quoted, the one that was found first.  ``score`` only orders the
    pieces of one request.
    """

    turns: Sequence[int]
    score: float
    reason: str

    def to_json(self) -> dict[str, Any]:
        """As recorded with the request."""
        return {"turns": list(self.turns), "score": self.score, "reason": self.reason}


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """One request, accounted for.  Sizes are in tokens, ``cost`` in dollars for the input alone.

    ``why`` is the reason of the rollover, or ``extended``.  ``anchored`` says that the size is reckoned from a
    call's true input; else it is an estimate that errs high.  ``cached`` is what the prompt cache should give back.
    ``repaired`` lists turns that carry U+FFFD for what cannot be sent.
    """

    number: int
    model: str
    epoch: int
    why: str
    budget: int
    tokens: int
    max_tokens: int
    anchored: bool
    tiers: Mapping[str, int]
    turns: Sequence[Span]
    pins: int
    cached: int
    cost: float
    repaired: Sequence[int] = field(default_factory=tuple)
    evidence: Sequence[Found] = field(default_factory=tuple)

    def to_json(self) -> dict[str, Any]:
        """As recorded with the request."""
        nested = {"turns": [s.to_json() for s in self.turns], "evidence": [e.to_json() for e in self.evidence]}
        return {f.name: getattr(self, f.name) for f in fields(self)} | nested

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Report:
        """The report that `to_json` wrote."""
        spans = tuple(Span(**{**s, "disposition": Disposition(s["disposition"])}) for s in value["turns"])
        found = tuple(Found(**{**e, "turns": tuple(e["turns"])}) for e in value.get("evidence", ()))
        return cls(**{**value, "turns": spans, "repaired": tuple(value["repaired"]), "evidence": found})

    def disposition(self, turn: int) -> Disposition:
        """How a turn stands.  Raises `LookupError` for a turn that did not exist yet."""
        for span in self.turns:
            if span.first <= turn <= span.last:
                return span.disposition
        raise LookupError(f"turn {turn} is not in request {self.number}")

    def __str__(self) -> str:
        basis = "from the last true input" if self.anchored else "estimated, erring high"
        head = (
            f"request {self.number} · {self.model} · epoch {self.epoch} ({self.why})\n"
            f"{self.tokens:,} of {self.budget:,} tokens ({basis}) · max_tokens {self.max_tokens:,} · "
            f"{self.pins} pin{'' if self.pins == 1 else 's'} proved"
        )
        tiers = [f"  {n:<10}{t:>9,}  {_bar(t, self.budget)}".rstrip() for n, t in self.tiers.items()]
        turns = [
            f"  {f'{s.first}-{s.last}' if s.last > s.first else s.first!s:<10}{s.disposition:>11}  {s.reason}"
            for s in self.turns
        ]
        cost = f"input about ${self.cost:.4f}, {self.cached:,} tokens from cache"
        notes = [f"U+FFFD stands for what cannot be sent in turns {list(self.repaired)}"] if self.repaired else []
        found = [f"  {_numbers(e.turns):<10}{e.score:>11.2f}  {e.reason}" for e in self.evidence]
        shown = ["evidence", *found] if found else []
        return "\n".join([head, "tokens per tier", *tiers, "turns", *turns, *shown, cost, *notes])


def _numbers(turns: Sequence[int]) -> str:
    first, last = min(turns), max(turns)
    return f"{first}-{last}" if last > first else f"{first}"


def _bar(tokens: int, budget: int) -> str:
    return "█" * round(_WIDTH * tokens / max(1, budget))


def make_report(snapshot: Snapshot, decision: Decision, terms: Terms, *, number: int, max_tokens: int) -> Report:
    """Account for a decision."""
    cached = _cached(snapshot, decision, terms)
    prices = terms.model.prices(decision.tokens)
    write = prices.write_1h_price if terms.profile.cache_ttl == "1h" else prices.write_5m_price
    cost = (cached * prices.read_price + (decision.tokens - cached) * write) / 1e6
    return Report(
        number=number,
        model=terms.head.model,
        epoch=decision.epoch.number,
        why=str(decision.epoch.why) if decision.opens else "extended",
        budget=terms.room,
        tokens=decision.tokens,
        max_tokens=max_tokens,
        anchored=decision.anchor is not None,
        tiers=_tiers(decision, terms),
        turns=_spans(snapshot, decision, terms),
        pins=len(snapshot.pins),
        cached=cached,
        cost=round(cost, 6),
        repaired=tuple(t.number for t in decision.turns if not (t.sendable and all(r.sendable for r in t.results))),
        evidence=_evidence(snapshot, decision),
    )


def _cached(snapshot: Snapshot, decision: Decision, terms: Terms) -> int:
    last = snapshot.last
    if last is None or last.at is None or terms.now - last.at > terms.ttl:
        return 0
    if not decision.opens:
        return last.true_input or last.tokens
    if snapshot.epoch is not None and snapshot.epoch.head == terms.head:
        return min(terms.calibration.tokens(terms.head_weight), decision.tokens)
    return 0


def _tiers(decision: Decision, terms: Terms) -> dict[str, int]:
    """Tokens per tier; shares of the whole, so they add up to it whatever the anchor was."""
    weights: dict[str, list[Features]] = {name: [f] for name, f in decision.epoch.tiers.items()}
    recent = {t.number for t in decision.turns[-terms.profile.recent.min_turns :]}
    forms: dict[int, list[ViewRow]] = {}
    for row in decision.rows:
        forms.setdefault(row.turn, []).append(row)
    for turn in decision.turns:
        own = turn_parts(turn, forms.get(turn.number, ()), thinks=turn.number > decision.epoch.opened_at)
        weights.setdefault("recent" if turn.number in recent else "middle", []).extend(own)
    for row in decision.rows:
        form_tier = "recent" if row.turn in recent else "middle"
        weights.setdefault(_KIND_TIER.get(row.kind, form_tier), []).append(row.features)
    sums = {name: total(parts) for name, parts in weights.items()}
    sizes = {n: terms.calibration.tokens(f) for n, f in sums.items() if f != ZERO}
    return apportion({n: sizes[n] for n in TIERS if n in sizes}, decision.tokens)


def apportion(sizes: Mapping[str, int], whole: int) -> dict[str, int]:
    """Scale sizes so that they add up to ``whole`` exactly: largest remainders are rounded up."""
    reckoned = sum(sizes.values())
    if reckoned <= 0:
        return {}
    exact = {n: s * whole / reckoned for n, s in sizes.items()}
    shares = {n: int(e) for n, e in exact.items()}
    rest = sorted(exact, key=lambda n: shares[n] - exact[n])
    for name in rest[: whole - sum(shares.values())]:
        shares[name] += 1
    return shares


def _evidence(snapshot: Snapshot, decision: Decision) -> tuple[Found, ...]:
    """What this request attaches, strongest first."""
    attached = {turns[0]: turns for r in decision.added if r.kind is RowKind.EVIDENCE and (turns := turns_of(r))}
    found = [(attached[e.turn], e) for e in snapshot.evidence if e.turn in attached]
    return tuple(Found(turns=turns, score=e.score, reason=e.reason) for turns, e in found)


def _spans(snapshot: Snapshot, decision: Decision, terms: Terms) -> tuple[Span, ...]:
    first, last = decision.epoch.first, decision.turns[-1].number
    recent = {t.number for t in decision.turns[-terms.profile.recent.min_turns :]}
    forms = {r.turn: r.form for r in decision.rows if r.form in (Form.CUT, Form.MASKED)}
    shown = {t.number for t in decision.turns}
    held = {p.turn: p.part for p in decision.epoch.preface if p.turn is not None and p.part in (Part.PIN, Part.IN_HAND)}
    quoted = quoted_turns(decision.rows)
    rows: list[tuple[int, Disposition, str]] = []
    for n in sorted({*(t for t in {*held, *shown, *quoted} if t < first), *range(first, last + 1)}):
        if n in shown:
            kept = n in snapshot.kept and n not in recent
            rows.append((n, *_shown(forms.get(n), n in recent, decision.epoch.why, kept=kept)))
        elif n in held:
            pinned = held[n] is Part.PIN
            reason = "in the preface, verbatim" if pinned else "the request in hand, in the preface"
            rows.append((n, Disposition.PINNED if pinned else Disposition.VERBATIM, reason))
        elif n in quoted:
            rows.append((n, Disposition.RETRIEVED, "quoted as evidence"))
        elif n in snapshot.hidden:
            rows.append((n, Disposition.WITHDRAWN, "withdrawn or erased"))
    return tuple(_with_gaps(_merge(rows), first, decision.epoch.why, _summarised(snapshot, decision)))


def _summarised(snapshot: Snapshot, decision: Decision) -> list[Segment]:
    """The segments whose items the epoch's summary shows."""
    active = [s for s in snapshot.segments if s.status is SegmentStatus.ACTIVE]
    return [s for s in (decision.shown if decision.opens else active) if s.items]


def _shown(form: Form | None, recent: bool, why: Why, *, kept: bool) -> tuple[Disposition, str]:
    if form is Form.MASKED:
        return Disposition.MASKED, f"old tool output ({why})"
    if form is Form.CUT:
        return Disposition.CUT, "tool output over its cap: head and tail"
    if kept:
        return Disposition.VERBATIM, "kept, since a summary of it was undone"
    return Disposition.VERBATIM, "recent window" if recent else "fits the budget"


def _merge(rows: Iterable[tuple[int, Disposition, str]]) -> list[Span]:
    spans: list[Span] = []
    for n, disposition, reason in rows:
        last = spans[-1] if spans else None
        if last is not None and (last.last + 1, last.disposition, last.reason) == (n, disposition, reason):
            spans[-1] = Span(first=last.first, last=n, disposition=disposition, reason=reason)
        else:
            spans.append(Span(first=n, last=n, disposition=disposition, reason=reason))
    return spans


def _with_gaps(spans: Sequence[Span], first: int, why: Why, summarised: Sequence[Segment]) -> list[Span]:
    out: list[Span] = []
    at = 1
    for span in spans:
        if at < min(span.first, first):
            out += _left(at, min(span.first, first) - 1, why, summarised)
        out.append(span)
        at = span.last + 1
    return out


def _left(at: int, end: int, why: Why, summarised: Sequence[Segment]) -> list[Span]:
    """Turns ``at..end``, which left the view: those in the summary, and those that are out of sight."""
    out = [(a, b, Disposition.OUT) for a, b in uncovered(at, end, summarised)]
    told = [(a, b) for s in summarised for a, b in s.ranges]
    both = [(max(a, at), min(b, end), Disposition.SUMMARISED) for a, b in joined(told) if a <= end and b >= at]
    return [Span(first=a, last=b, disposition=d, reason=f"left the view ({why})") for a, b, d in sorted(out + both)]
