"""From features to tokens of a model: priors per tokenizer family, learned per conversation and model.

Laws: an estimate is never negative, and more features never give fewer tokens; a calibration is a value, and
learning returns a new one; whatever is learned from stays inside a band around the prior, so that wrong
numbers (hidden content, a changed head, nonsense) can pull an estimate only so far.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from contextmgr.features import Features


class Weights(NamedTuple):
    """Model tokens per unit of each feature."""

    prose: float
    code: float
    numeric: float
    nonlatin: float
    runs: float
    fixed: float


PRIORS = {
    "v3": Weights(prose=1.14, code=2.45, numeric=0.955, nonlatin=1.2, runs=1.0, fixed=1.0),
    "v4": Weights(prose=2.43, code=2.83, numeric=0.935, nonlatin=1.2, runs=1.0, fixed=1.0),
}
"""``v3``: models up to Opus and Sonnet 4.6 and Haiku 4.5.  ``v4``: the current tokenizer, and any unknown one."""
ALIASES = {"claude-3": "v3", "v4.8": "v4"}
"""Other names of the families."""
PRIOR_MARGIN = 1.06
"""Factor on every estimate until `MIN_SAMPLES` whole requests have been seen."""
LEARNED_FLOOR = 1.03
"""What is left of the factor when all samples agree: content changes when an epoch begins."""
MAX_MARGIN = 1.5
MIN_SAMPLES = 5
MAX_SAMPLES = 30

_LEARNED = (0, 1, 2, 3)  # runs are an allowance, and fixed is in model tokens already
_PRIOR_SPREAD = 0.15
_NOISE_SHARE = 0.06
_NOISE_FLOOR = 40.0
_OUTLIER = 2.0
_BAND = (0.6, 1.6)
_HUGE = 10**9

Matrix = tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class Calibration:
    """How features become tokens for one conversation and model: weights and what they were learned from.

    ``spread`` is the covariance of the learned weights, ``ratios`` the last true/estimated sizes of whole
    requests, ``safety`` a factor the caller asks for on top of the margin.
    """

    family: str
    weights: Weights
    spread: Matrix
    ratios: tuple[float, ...] = ()
    safety: float = 1.0

    @classmethod
    def prior(cls, family: str, *, safety: float = 1.0) -> Calibration:
        """Nothing learned yet.  An unknown family is taken for the current one, which needs more tokens."""
        known = ALIASES.get(family, family)
        weights = PRIORS.get(known, PRIORS["v4"])
        sides = [_PRIOR_SPREAD * weights[i] for i in _LEARNED]
        spread = tuple(tuple(_short(a * a) if i == j else 0.0 for j in range(len(sides))) for i, a in enumerate(sides))
        return cls(known if known in PRIORS else "v4", weights, spread, safety=_clamp(safety, 0.1, 10.0))

    @property
    def margin(self) -> float:
        """Factor by which estimates are raised: `PRIOR_MARGIN` at first, then what the samples ask for."""
        if len(self.ratios) < MIN_SAMPLES:
            return PRIOR_MARGIN * self.safety
        return _clamp(_upper(self.ratios), LEARNED_FLOOR, MAX_MARGIN) * self.safety

    def tokens(self, features: Features) -> int:
        """Estimate in model tokens, margin included, erring high.  Negative features count as zero."""
        return math.ceil(self._plain(features) * self.margin)

    def learn(self, added: Features, true_added: int, whole: Features, true_whole: int) -> Calibration:
        """What one answered request teaches.

        ``added`` is what came in since the answered request before it in the same epoch, ``true_added`` the
        difference of the two true inputs in tokens; with nothing added the whole request is the sample.
        ``whole`` and ``true_whole`` are the request itself.  Samples that cannot be are ignored.
        """
        sample, truth = (added, true_added) if any(n > 0 for n in added) else (whole, true_whole)
        learned = self._weigh(sample, truth) if truth > 0 and any(n > 0 for n in sample) else self
        estimate = learned._plain(whole)
        if estimate < 1 or true_whole <= 0:
            return learned
        ratio = _clamp(min(true_whole, _HUGE) / estimate, *_BAND)
        return replace(learned, ratios=(*learned.ratios, round(ratio, 4))[-MAX_SAMPLES:])

    def to_text(self) -> str:
        """The calibration as JSON text of about half a kilobyte."""
        return json.dumps(
            {
                "family": self.family,
                "weights": self.weights,
                "spread": self.spread,
                "ratios": self.ratios,
                "safety": self.safety,
            },
            separators=(",", ":"),
        )

    @classmethod
    def from_text(cls, text: str) -> Calibration:
        """Read `to_text` back; what is missing, of another form, or out of bounds falls back to the prior."""
        try:
            raw = json.loads(text)
        except ValueError:
            raw = None
        if not isinstance(raw, Mapping):
            return cls.prior("v4")
        start = cls.prior(str(raw.get("family")), safety=_number(raw.get("safety"), 1.0))
        weights, spread = _numbers(raw.get("weights"), len(Weights._fields)), _square(raw.get("spread"))
        ratios = [_clamp(r, *_BAND) for r in map(_number, _items(raw.get("ratios"))) if r > 0]
        if weights is None or spread is None:
            return replace(start, ratios=tuple(ratios[-MAX_SAMPLES:]))
        bound = Weights(*(_clamp(w, p * _BAND[0], p * _BAND[1]) for w, p in zip(weights, start.weights, strict=True)))
        return replace(start, weights=bound, spread=spread, ratios=tuple(ratios[-MAX_SAMPLES:]))

    def _plain(self, features: Features) -> float:
        return sum(w * max(0, n) for w, n in zip(self.weights, features, strict=True))

    def _weigh(self, sample: Features, truth: int) -> Calibration:
        """One step of recursive least squares; what an outlier says is cut to what a large error would say."""
        x = [float(min(max(0, sample[i]), _HUGE)) for i in _LEARNED]
        estimate = self._plain(Features(*(min(n, _HUGE) for n in sample)))
        px = [sum(p * v for p, v in zip(row, x, strict=True)) for row in self.spread]
        noise = (_NOISE_FLOOR + _NOISE_SHARE * estimate) ** 2
        variance = max(0.0, sum(v * p for v, p in zip(x, px, strict=True))) + noise
        limit = _OUTLIER * math.sqrt(variance)
        error = _clamp(min(truth, _HUGE) - estimate, -limit, limit)
        weights = list(self.weights)
        for i, gain in zip(_LEARNED, px, strict=True):
            prior = PRIORS[self.family][i]
            weights[i] = _short(_clamp(weights[i] + gain * error / variance, prior * _BAND[0], prior * _BAND[1]))
        spread = tuple(
            tuple(_short(p - a * b / variance) for p, b in zip(row, px, strict=True))
            for row, a in zip(self.spread, px, strict=True)
        )
        return replace(self, weights=Weights(*weights), spread=spread)


def _upper(ratios: tuple[float, ...]) -> float:
    """The 95th percentile, the maximum of few."""
    return sorted(ratios)[min(len(ratios) - 1, math.ceil(0.95 * len(ratios)) - 1)]


def _clamp(value: float, low: float, high: float) -> float:
    return min(max(value, low), high) if value == value else low  # a NaN equals nothing


def _short(value: float) -> float:
    """Six digits are kept, so that the text form is exact and small."""
    return float(f"{_clamp(value, -_HUGE, _HUGE):.6g}")


def _items(raw: Any) -> list[Any]:
    return raw if isinstance(raw, list) else []


def _number(raw: Any, default: float = 0.0) -> float:
    fits = isinstance(raw, int | float) and not isinstance(raw, bool) and abs(raw) <= _HUGE
    return float(raw) if fits else default


def _numbers(raw: Any, length: int) -> list[float] | None:
    numbers = [_number(v, math.nan) for v in _items(raw)]
    return numbers if len(numbers) == length and not any(map(math.isnan, numbers)) else None


def _square(raw: Any) -> Matrix | None:
    rows = [_numbers(row, len(_LEARNED)) for row in _items(raw)]
    good = [tuple(row) for row in rows if row is not None]
    return tuple(good) if len(good) == len(rows) == len(_LEARNED) else None
