"""Figures of one policy, request by request: sizes, costs, validity, words; one count of tokens for all policies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from contextmgr.calibration import Calibration
from contextmgr.counters import TokenCounter
from contextmgr.heads import Head
from contextmgr.meter import Meter, content_key
from contextmgr.models import ModelEntry
from contextmgr.replay.outcome import PolicyOutcome
from contextmgr.replay.words import Words
from contextmgr.tokens import block_features, head_features
from contextmgr.validity import validate

Part = Mapping[str, Any]


class RememberingCounter:
    """Counts each distinct text once: stored turns, requests of all policies and figures share their texts."""

    def __init__(self, inner: TokenCounter) -> None:
        self.name = inner.name
        self._inner = inner
        self._known: dict[str, int] = {}

    def count(self, text: str) -> int:
        """Number of tokens of a text."""
        known = self._known.get(text)
        if known is None:
            known = self._known[text] = self._inner.count(text)
        return known


class Weigher:
    """Tokens of one block for a model that nothing has been learned about; each content is weighed once."""

    def __init__(self, model: ModelEntry, count: Callable[[str], int]) -> None:
        self._calibration = Calibration.prior(model.family)
        self._count = count
        self._known: dict[bytes, int] = {}

    def __call__(self, part: Part) -> int:
        """Tokens of a content block, a system block or a tool."""
        key = content_key(part)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._weigh(part)
        return known

    def head(self, head: Head) -> int:
        """Tokens of system prompt and tools together."""
        return self._calibration.tokens(head_features(list(head.system), head.tools, self._count))

    def _weigh(self, part: Part) -> int:
        if "type" in part and "input_schema" not in part:
            return self._calibration.tokens(block_features(part, self._count))
        one, two = (head_features(None, [part] * n, self._count) for n in (1, 2))  # the rest is paid once per request
        return self._calibration.tokens(two.minus(one))


@dataclass(slots=True)
class Tally:
    """The running figures of one policy."""

    meter: Meter
    words: Words
    calls: int = 0
    invalid: int = 0
    sent: int = 0
    read: int = 0
    cost: float = 0.0
    in_view: float = 0.0

    def add(self, params: Part, at: datetime, *, paused: bool) -> None:
        """Account for one request as sent at a time; ``paused``: it ends on an answer the API had paused."""
        charge = self.meter.charge(params, at.timestamp())
        self.calls += 1
        self.invalid += bool(validate(params, paused_tail=paused))
        self.sent += charge.total
        self.read += charge.read
        self.cost += charge.cost
        self.in_view += self.words.share_in(params)

    def outcome(self) -> PolicyOutcome:
        """The figures so far."""
        calls = max(1, self.calls)
        return PolicyOutcome(
            calls=self.calls,
            invalid=self.invalid,
            tokens_sent=self.sent,
            mean_tokens=self.sent / calls,
            words_in_view=self.in_view / calls,
            cache_read_share=self.read / max(1, self.sent),
            cost=self.cost,
        )
