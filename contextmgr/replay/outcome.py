"""What a replay found: one frozen value per conversation, with the same figures for every policy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from contextmgr.replay.compacting import Compactions

ALLOWED_REFUSAL = "BudgetError"


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyOutcome:
    """One policy over one conversation.

    ``calls`` were priced, ``invalid`` of them broke a rule of the API.  ``tokens_sent`` and ``mean_tokens`` (per call)
    are input tokens by the meter's count, ``cost`` their dollars, ``cache_read_share`` the share read from the cache.
    ``words_in_view`` is the share of all user and assistant words so far that stand verbatim in the request, the mean
    over calls.
    """

    calls: int
    invalid: int
    tokens_sent: int
    mean_tokens: float
    words_in_view: float
    cache_read_share: float
    cost: float

    def to_json(self) -> dict[str, Any]:
        """The values by their names, rounded."""
        return asdict(self) | {
            "mean_tokens": round(self.mean_tokens, 1),
            "words_in_view": round(self.words_in_view, 4),
            "cache_read_share": round(self.cache_read_share, 4),
            "cost": round(self.cost, 6),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One conversation replayed.

    ``calls`` are the recorded model calls; ``refusals`` counts those we refused, by error class; ``sent`` holds the
    figures of the requests issued, ``policies`` those of other policies for the same calls.  ``over_budget`` requests
    exceed ``budget`` (tokens) by our own count, ``peak_tokens`` is the largest by that count.  ``pins_expected`` sums
    the active pins over the requests, ``pins_proven`` those whose bytes were found at their place.
    ``pin_refused`` says why the wanted pin could not be made, if so.  ``rollovers`` counts new epochs by reason,
    ``compactions`` says what gave way in them, ``seconds`` is the time all of it took.  ``stand_in``: the recording has
    no system prompt, ours stood in.  ``error`` is what ended the replay before the conversation did, if anything.
    """

    file: str
    format: str
    index: int
    model: str
    profile: str
    budget: int
    calls: int
    refusals: Mapping[str, int]
    over_budget: int
    pins_expected: int
    pins_proven: int
    pin_refused: str | None
    peak_tokens: int
    sent: PolicyOutcome
    policies: Mapping[str, PolicyOutcome]
    rollovers: Mapping[str, int]
    compactions: Compactions
    seconds: float
    client_compactions: int
    skipped: int
    stand_in: bool
    error: str | None = None

    @property
    def refused(self) -> int:
        """Calls for which no request was issued."""
        return sum(self.refusals.values())

    @property
    def is_clean(self) -> bool:
        """Whether all of it was replayed, every request valid, inside the budget and proven, and only budgets made us
        refuse.
        """
        allowed = all(name == ALLOWED_REFUSAL for name in self.refusals) and self.error is None
        return allowed and not self.sent.invalid and not self.over_budget and self.pins_proven == self.pins_expected

    def to_json(self) -> dict[str, Any]:
        """The figures as one flat JSON object; only ``rollovers``, ``refusals`` and ``policies`` are nested."""
        sent = self.sent.to_json()
        del sent["calls"]
        return {
            "file": self.file,
            "format": self.format,
            "index": self.index,
            "model": self.model,
            "profile": self.profile,
            "budget": self.budget,
            "calls": self.calls,
            "refused": self.refused,
            "refusals": dict(self.refusals),
            "over_budget": self.over_budget,
            "pins_expected": self.pins_expected,
            "pins_proven": self.pins_proven,
            "pin_refused": self.pin_refused,
            "peak_tokens": self.peak_tokens,
            **sent,
            "rollovers": dict(self.rollovers),
            **asdict(self.compactions),
            "seconds": round(self.seconds, 3),
            "client_compactions": self.client_compactions,
            "skipped": self.skipped,
            "stand_in": self.stand_in,
            "error": self.error,
            "policies": {name: policy.to_json() for name, policy in self.policies.items()},
        }
