"""Estimates from features, and what answered requests teach."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextmgr.calibration import LEARNED_FLOOR, MAX_SAMPLES, MIN_SAMPLES, PRIOR_MARGIN, PRIORS, Calibration
from contextmgr.features import ZERO, Features

SIZES = st.integers(-(10**12), 10**30) | st.integers(0, 5000)
FEATURES = st.builds(Features, *[SIZES] * 6)
PART = Features(prose=300, code=150, numeric=500, nonlatin=0, runs=0, fixed=60)


def taught(*samples: tuple[Features, int, Features, int]) -> Calibration:
    calibration = Calibration.prior("v4")
    for sample in samples:
        calibration = calibration.learn(*sample)
    return calibration


def grown(factor: float, times: int, family: str = "v4") -> Calibration:
    """A conversation whose true sizes are ``factor`` times what the prior says."""
    calibration, plain = Calibration.prior(family), sum(w * n for w, n in zip(PRIORS[family], PART, strict=True))
    whole, true = ZERO, 0
    for _ in range(times):
        whole, true = whole.plus(PART), true + round(plain * factor)
        calibration = calibration.learn(PART, round(plain * factor), whole, true)
    return calibration


CALIBRATIONS = st.builds(taught, *[st.tuples(FEATURES, SIZES, FEATURES, SIZES)] * 4)


@given(CALIBRATIONS, FEATURES, FEATURES)
def test_more_features_are_never_fewer_tokens(calibration: Calibration, some: Features, more: Features) -> None:
    both = some.plus(Features(*(max(0, n) for n in more)))
    assert 0 <= calibration.tokens(some) <= calibration.tokens(both)


@given(CALIBRATIONS)
def test_nothing_pulls_a_weight_out_of_its_band(calibration: Calibration) -> None:
    for weight, prior in zip(calibration.weights, PRIORS["v4"], strict=True):
        assert 0.59 * prior <= weight <= 1.61 * prior
    assert 1 <= calibration.margin <= 1.6


@given(CALIBRATIONS)
def test_the_text_form_is_exact(calibration: Calibration) -> None:
    assert Calibration.from_text(calibration.to_text()) == calibration


@given(CALIBRATIONS, FEATURES)
def test_estimates_survive_the_text_form(calibration: Calibration, features: Features) -> None:
    assert Calibration.from_text(calibration.to_text()).tokens(features) == calibration.tokens(features)


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{", "null", '{"weights":[1,2]}', '{"family":7,"weights":"x","spread":[[1]],"ratios":[null,"a",-1]}'],
)
def test_an_unreadable_text_gives_the_prior(text: str) -> None:
    assert Calibration.from_text(text) == Calibration.prior("v4")


@given(st.recursive(st.none() | st.floats() | st.integers() | st.text(), lambda s: st.lists(s, max_size=6)))
def test_a_spoilt_text_still_estimates(spoilt: object) -> None:
    raw = json.loads(Calibration.prior("v3").to_text())
    for key in raw:
        text = json.dumps({**raw, key: spoilt})
        assert 0 <= Calibration.from_text(text).learn(PART, 1500, PART, 1500).tokens(PART) < 10**6


def test_families() -> None:
    assert Calibration.prior("claude-3") == Calibration.prior("v3")
    assert Calibration.prior("next-year") == Calibration.prior("v4")
    assert Calibration.prior("v4").tokens(PART) > Calibration.prior("v3").tokens(PART)


def test_the_text_form_is_small() -> None:
    assert len(grown(1.1, 40).to_text()) < 1000


@pytest.mark.parametrize("family", ["v3", "v4"])
@pytest.mark.parametrize("factor", [0.85, 1.0, 1.2])
def test_it_learns_what_content_costs(family: str, factor: float) -> None:
    plain = sum(w * n for w, n in zip(PRIORS[family], PART, strict=True))
    assert grown(factor, 60, family).tokens(PART) == pytest.approx(plain * factor, rel=0.06)


def test_margin_falls_once_samples_agree() -> None:
    assert grown(1.0, MIN_SAMPLES - 1).margin == PRIOR_MARGIN
    assert grown(1.0, MIN_SAMPLES).margin == LEARNED_FLOOR


def test_margin_rises_with_samples_above_the_estimate() -> None:
    whole = PART.plus(Features(fixed=20_000))
    calibration = Calibration.prior("v4")
    for _ in range(MIN_SAMPLES):
        calibration = calibration.learn(PART, 1500, whole, 26_000)
    assert calibration.margin > 1.1


def test_safety_is_on_top() -> None:
    careful = Calibration.prior("v4", safety=1.2)
    assert careful.margin == pytest.approx(1.2 * PRIOR_MARGIN)
    assert Calibration.from_text(careful.to_text()).safety == 1.2


def test_only_the_last_samples_are_kept() -> None:
    assert len(grown(1.0, MAX_SAMPLES + 9).ratios) == MAX_SAMPLES


def test_hidden_content_moves_little() -> None:
    """A client slips 5,000 tokens past us once: the next estimates stay within a tenth."""
    before = grown(1.0, 10)
    after = before.learn(PART, 6500, Features(fixed=90_000), 95_000)
    assert after.tokens(PART) == pytest.approx(before.tokens(PART), rel=0.1)


@pytest.mark.parametrize("true_added", [0, -5000])
def test_a_shrunken_request_teaches_no_weights(true_added: int) -> None:
    assert Calibration.prior("v4").learn(PART, true_added, PART, 1600).weights == PRIORS["v4"]


def test_the_first_request_of_an_epoch_teaches_by_its_whole() -> None:
    heavy = Calibration.prior("v4").learn(ZERO, 0, Features(prose=9000, code=4000, numeric=20_000), 60_000)
    assert heavy.weights.prose > PRIORS["v4"].prose
