"""Replay outcomes for people: one row per conversation, a row of totals, and what the figures mean."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from rich import box
from rich.table import Table

from contextmgr.replay import STAND_IN_TOKENS, Compactions, Outcome, PolicyOutcome
from contextmgr.transcripts.recorded_file import stem

_POLICIES = ("send_everything", "slide_every_call")


def outcome_table(outcomes: Sequence[Outcome]) -> Table:
    """One row per conversation and one of totals."""
    table = Table(box=box.SIMPLE_HEAD, show_footer=len(outcomes) > 1, pad_edge=False)
    table.add_column("session", f"all {len(outcomes)}", overflow="fold", min_width=14)
    for title, cell in _columns():
        table.add_column(title, cell(outcomes), justify="right", no_wrap=True)
    table.add_column("rollovers", _counted(_added(outcomes, lambda o: o.rollovers)), min_width=9)
    table.add_column("trouble", trouble(outcomes), min_width=7)
    for one in outcomes:
        cells = [cell([one]) for _, cell in _columns()]
        table.add_row(f"{stem(one.file)} \\[{one.index}]", *cells, _counted(one.rollovers), trouble([one]))
    return table


def merged(parts: Sequence[PolicyOutcome]) -> PolicyOutcome:
    """One policy over several conversations: sums, and means over all calls."""
    calls, sent = sum(p.calls for p in parts), sum(p.tokens_sent for p in parts)
    return PolicyOutcome(
        calls=calls,
        invalid=sum(p.invalid for p in parts),
        tokens_sent=sent,
        mean_tokens=sent / max(1, calls),
        words_in_view=sum(p.words_in_view * p.calls for p in parts) / max(1, calls),
        cache_read_share=sum(p.cache_read_share * p.tokens_sent for p in parts) / max(1, sent),
        cost=sum(p.cost for p in parts),
    )


def trouble(outcomes: Sequence[Outcome]) -> str:
    """What was refused, invalid, over budget, unproven or not replayed to its end; a dash where nothing was."""
    refusals = _added(outcomes, lambda o: o.refusals)
    found = [f"{n} refused ({name})" for name, n in refusals.items()]
    for what, count in (
        ("invalid", sum(o.sent.invalid for o in outcomes)),
        ("over budget", sum(o.over_budget for o in outcomes)),
        ("pins unproven", sum(o.pins_expected - o.pins_proven for o in outcomes)),
        ("not pinned", sum(o.pin_refused is not None for o in outcomes)),
        ("stopped", sum(o.error is not None for o in outcomes)),
    ):
        found += [f"{count} {what}"] if count else []
    return "\n".join(found) or "-"


def footnotes(outcomes: Sequence[Outcome]) -> list[str]:
    """What the table does not say itself."""
    if not outcomes:
        return []
    first, ours = outcomes[0], merged([o.sent for o in outcomes])
    lines = [
        f"model {first.model}, profile {first.profile}, budget {first.budget:,} tokens",
        "each policy: cost of the input (the answers are the same for all), words in view, tokens per call",
    ]
    lines += [_compared(ours, name, merged([o.policies[name] for o in outcomes])) for name in _POLICIES]
    stood_in = sum(o.stand_in for o in outcomes)
    if stood_in:
        lines.append(
            f"stand-in: {stood_in} of {len(outcomes)} without a recorded system prompt; {STAND_IN_TOKENS:,} tokens of "
            "prompt and tools stand in for it"
        )
    lines += _gave_way([o.compactions for o in outcomes])
    compactions, skipped = sum(o.client_compactions for o in outcomes), sum(o.skipped for o in outcomes)
    if compactions or skipped:
        lines.append(f"recorded: {compactions} compactions by the client, {skipped} parts not understood or not kept")
    lines += [f"not pinned in {stem(o.file)} [{o.index}]: {o.pin_refused}" for o in outcomes if o.pin_refused]
    return lines + [f"stopped in {stem(o.file)} [{o.index}]: {o.error}" for o in outcomes if o.error]


def _gave_way(parts: Sequence[Compactions]) -> list[str]:
    """What rollovers masked, cut and summarised."""
    sums = {name: sum(getattr(p, name) for p in parts) for name in Compactions.__dataclass_fields__}
    lines = [f"tool results: {sums['masked']:,} masked, {sums['cut']:,} cut"] if sums["masked"] or sums["cut"] else []
    if sums["summaries"]:
        largest = max(p.summary_tokens_max for p in parts)
        lines.append(
            f"summaries: {sums['summaries']:,}; items: {sums['items_kept']:,} as written, {sums['items_replaced']:,} "
            f"replaced by a sentence, {sums['items_dropped']:,} dropped; largest summary tier {largest:,} tokens"
        )
    return lines


def _compared(ours: PolicyOutcome, name: str, other: PolicyOutcome) -> str:
    share = f"{ours.cost / other.cost:.0%}" if other.cost else "0%"
    words = f"{ours.words_in_view:.0%} of the words in view against {other.words_in_view:.0%}"
    tokens = f"{ours.mean_tokens:,.0f} tokens per call against {other.mean_tokens:,.0f}"
    return f"{share} of the cost of {name.replace('_', ' ')}, with {words} and {tokens}"


def _columns() -> list[tuple[str, Callable[[Sequence[Outcome]], str]]]:
    return [
        ("calls", lambda outs: f"{sum(o.calls for o in outs):,}"),
        ("contextmgr", lambda outs: _policy(merged([o.sent for o in outs]))),
        ("send everything", lambda outs: _policy(merged([o.policies[_POLICIES[0]] for o in outs]))),
        ("slide every call", lambda outs: _policy(merged([o.policies[_POLICIES[1]] for o in outs]))),
        ("peak", lambda outs: f"{max((o.peak_tokens for o in outs), default=0):,}"),
        ("cached", lambda outs: f"{merged([o.sent for o in outs]).cache_read_share:.0%}"),
        ("pins", lambda outs: f"{sum(o.pins_proven for o in outs):,}/{sum(o.pins_expected for o in outs):,}"),
    ]


def _policy(one: PolicyOutcome) -> str:
    invalid = f"\n{one.invalid} invalid" if one.invalid else ""
    return f"${one.cost:.4f}\n{one.words_in_view:.0%}, {one.mean_tokens:,.0f}{invalid}"


def _added(outcomes: Sequence[Outcome], counts: Callable[[Outcome], Mapping[str, int]]) -> Counter[str]:
    added: Counter[str] = Counter()
    for one in outcomes:
        added.update(counts(one))
    return added


def _counted(counts: Mapping[str, int]) -> str:
    return "\n".join(f"{n} {name}" for name, n in counts.items())
