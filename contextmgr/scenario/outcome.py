"""What a scenario showed: every request of every policy, what was expected of ours, and whether it held."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from contextmgr.scenario.checking import Kept

if TYPE_CHECKING:
    from rich.table import Table

OURS = "contextmgr"


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """One request: in which exchange and for which of its assistant turns (from 1), and its size by our estimate.

    ``kept`` is how the compared texts stand in it; ``proved`` says that each is proved at exactly one place, ``pins``
    how many pins are proved, ``why`` the reason of a rollover or ``extended``: all None where a policy has no such
    thing.  ``findings`` are the rules of the API it breaks.
    """

    exchange: int
    call: int
    tokens: int
    within: bool
    findings: tuple[str, ...]
    kept: Kept
    proved: bool | None = None
    pins: int | None = None
    epoch: int | None = None
    why: str | None = None

    @property
    def valid(self) -> bool:
        """Whether the API would take it."""
        return not self.findings


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One expectation, held against every request it speaks of.  ``failures`` name the requests where it failed."""

    what: str
    requests: int
    failures: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether it was checked at all and never failed."""
        return self.requests > 0 and not self.failures


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioOutcome:
    """The result of ``run_scenario``.  ``policies`` maps each policy to its requests, in order; ours is first."""

    name: str
    title: str
    budget: int
    model: str
    exchanges: int
    turns: int
    texts: tuple[str, ...]
    at: tuple[int, ...]
    policies: Mapping[str, Sequence[Made]]
    checks: Sequence[Check]

    @property
    def passed(self) -> bool:
        """Whether every expectation held and every request of ours is valid and within the budget."""
        ours = self.policies[OURS]
        return all(c.passed for c in self.checks) and all(m.valid and m.within for m in ours)

    def kept(self, policy: str, exchange: int) -> Kept:
        """The worst of how the texts stand in a policy's requests of one exchange."""
        states = [m.kept for m in self.policies[policy] if m.exchange == exchange]
        return max(states, key=list(Kept).index)

    def to_json(self) -> dict[str, Any]:
        """Everything, as JSON values."""
        return {
            "scenario": self.name,
            "title": self.title,
            "budget": self.budget,
            "model": self.model,
            "exchanges": self.exchanges,
            "turns": self.turns,
            "texts": list(self.texts),
            "passed": self.passed,
            "kept": {p: {str(n): str(self.kept(p, n)) for n in self.at} for p in self.policies},
            "checks": [{**asdict(c), "failures": list(c.failures), "passed": c.passed} for c in self.checks],
            "policies": {p: [_made(m) for m in made] for p, made in self.policies.items()},
        }

    def table(self) -> Table:
        """Who still holds the texts, and at what size: a table for the terminal (needs rich)."""
        from rich.table import Table

        calls = len(self.policies[OURS])
        size = f"{self.exchanges} exchanges, {calls} requests, {self.budget:,} tokens each"
        table = Table(title=f"{self.name}: {size}", show_lines=True)
        table.add_column("policy", no_wrap=True)
        for number in self.at:
            table.add_column(f"exchange {number}", no_wrap=True)
        for column in ("largest", "invalid", "over"):
            table.add_column(column, justify="right", no_wrap=True)
        for policy, made in self.policies.items():
            table.add_row(policy, *self._cells(policy, made))
        return table

    def _cells(self, policy: str, made: Sequence[Made]) -> list[str]:
        cells = []
        for number in self.at:
            here = [m for m in made if m.exchange == number]
            proved = all(m.proved for m in here)
            cells.append(f"{self.kept(policy, number)}{', proved' if proved else ''}\n{here[0].tokens:,} tokens")
        invalid, over = sum(not m.valid for m in made), sum(not m.within for m in made)
        return [*cells, f"{max(m.tokens for m in made):,}", str(invalid), str(over)]


def _made(made: Made) -> dict[str, Any]:
    return {**asdict(made), "findings": list(made.findings), "kept": str(made.kept), "valid": made.valid}
