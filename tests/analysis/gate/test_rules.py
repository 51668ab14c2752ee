"""The decisions of the gate on shifts with numbers worked out by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from fourscore_analysis.gate import rules as gate
from fourscore_analysis.gate.rules import RULES
from fourscore_analysis.points.shifts import paired_shift

# Quantiles of the normal distribution: of 80 %, 90 %, 98 %, 99 %, 97.5 % and 99.9 %.
Z80, Z90, Z98, Z99, Z975, Z999 = 0.841621, 1.281552, 2.053749, 2.326348, 1.959964, 3.090232


def noisy(standard_error: float, least_p: float = 1e-6, bounded: bool = True):
    ends = (-standard_error, standard_error) if bounded else (-math.inf, math.inf)
    return SimpleNamespace(
        standard_error=np.array(standard_error), least_p=least_p, interval=lambda confidence: tuple(map(np.array, ends))
    )


@pytest.mark.parametrize(
    ("standard_error", "margin", "alike"), [(0.0, 0.02, 0.02), (0.01, 0.02, 0.02), (0.02, 0.04, 0.04), (0.1, 0.2, 0.05)]
)
def test_the_margin_is_two_percent_or_twice_the_noise_and_alike_never_wider_than_the_effect(
    standard_error, margin, alike
):
    assert float(gate.margin_of(noisy(standard_error))) == pytest.approx(math.log1p(margin))
    assert float(gate.alike_within(noisy(standard_error))) == pytest.approx(math.log1p(alike))


@pytest.mark.parametrize(("tests", "z"), [(0, Z99), (1, Z99), (10, Z999)])
@pytest.mark.parametrize("standard_error", [0.001, 0.01, 0.05])
def test_what_can_be_seen_is_far_enough_from_zero_and_from_the_margin(standard_error, tests, z):
    margin = math.log1p(max(0.02, 2 * standard_error))
    expected = math.expm1(max((z + Z80) * standard_error, margin + (Z975 + Z80) * standard_error))
    assert float(gate.detectable(noisy(standard_error), tests)) == pytest.approx(expected, rel=1e-4)
    pairs = gate.visible_in_pairs(np.array(4 * standard_error), 16, tests, 0.8)
    assert float(pairs) == pytest.approx(expected, rel=1e-4)


def test_a_strict_error_counts_where_the_margin_does_not():
    strict = replace(RULES, margin=0.0, error=1e-3)
    found = float(gate.visible_in_pairs(np.array(0.01), 1, 1, 0.9, replace(strict, confidence=0.0)))
    assert found == pytest.approx(math.expm1(max((Z999 + Z90) * 0.01, math.log1p(0.02) + Z90 * 0.01)), rel=1e-4)


def test_so_few_launches_show_nothing():
    assert math.isinf(gate.detectable(noisy(0.01, least_p=0.011), 1))
    assert math.isfinite(gate.detectable(noisy(0.01, least_p=0.01), 1))
    assert math.isinf(gate.detectable(noisy(0.01, least_p=0.01), 2))
    assert math.isinf(gate.detectable(noisy(0.01, bounded=False), 1))


def test_the_screen_would_have_chosen_what_lies_beyond_chance_and_no_less_than_the_effect():
    assert float(gate.screen_detectable(noisy(0.01))) == pytest.approx(0.05)
    assert float(gate.screen_detectable(noisy(0.1))) == pytest.approx(math.expm1(Z80 * 0.1), rel=1e-4)


@pytest.mark.parametrize(
    ("tests", "error", "confidence", "pairs"),
    [
        (1, 0.01, 0.95, 7),  # 2^-7 is the first below 1 %
        (30, 0.01, 0.95, 12),
        (0, 0.01, 0.95, 7),
        (1, 0.25, 0.95, 6),  # 2 * 2^-6 is the first below 5 %
        (1, 0.25, 0.9375, 5),
        (1, 0.01, 0.999, 11),
        (1, 2.0**-9, 0.95, 9),
    ],
)
def test_so_many_pairs_are_needed_for_any_verdict(tests, error, confidence, pairs):
    assert gate.least_pairs(tests, replace(RULES, error=error, confidence=confidence)) == pairs
    if tests:
        assert 2.0**-pairs <= error / tests or 2.0 ** (1 - pairs) <= 1 - confidence


def test_a_look_spends_its_share_of_the_error_and_of_what_an_interval_leaves_out():
    at_look = gate.of_look(RULES, 0.2)
    assert (at_look.error, at_look.confidence) == pytest.approx((0.002, 0.99))
    assert replace(at_look, error=RULES.error, confidence=RULES.confidence) == RULES


@pytest.mark.parametrize(("pairs", "shares"), [(19, {19: 1.0}), (20, {16: 0.05, 20: 0.9}), (39, {16: 0.05, 39: 0.9})])
def test_a_look_that_saves_less_than_a_fifth_is_left_out(pairs, shares):
    assert gate.shares_of((16, 32), pairs) == pytest.approx(shares)


@pytest.mark.parametrize(("change", "faster"), [(-0.1, True), (-0.021, True), (-0.01, False), (0.01, False)])
def test_only_a_clear_improvement_beyond_the_margin_is_worth_a_confirmation(change, faster):
    assert bool(gate.looks_faster(paired_shift([change] * 8))) is faster


@pytest.mark.parametrize(("change", "slower"), [(0.1, True), (0.0, False), (-0.1, False), (0.06, True)])
def test_the_screen_chooses_what_its_launches_do_not_refute(change, slower):
    assert bool(gate.looks_slower(paired_shift([change] * 8))) is slower


@pytest.mark.parametrize(
    ("change", "corrected_p", "word"),
    [
        (0.1, 0.001, "slower"),
        (0.1, 0.011, ""),
        (0.015, 0.001, "alike"),
        (-0.015, 0.001, "alike"),
        (-0.1, 0.001, "faster"),
        (-0.1, 0.011, ""),
    ],
)
def test_a_verdict_takes_the_corrected_p_and_the_whole_interval(change, corrected_p, word):
    shift = paired_shift([change] * 10)
    found = {
        "slower": gate.is_slower(shift, corrected_p),
        "faster": gate.is_faster(shift, corrected_p),
        "alike": gate.is_alike(shift),
    }
    assert [name for name, holds in found.items() if holds] == ([word] if word else [])


def test_noise_of_single_pairs_is_drawn_by_how_much_chance_explains():
    """Logarithms 0 and 2 have a variance of 2; of 1.2 pairs chance explains 1, so half of the distance stays."""
    settled = gate.settled_noise(np.exp([0.0, 2.0]), np.array([1.2, 1.2]))
    assert np.log(settled) == pytest.approx([0.5, 1.5])
    assert gate.settled_noise(np.array([0.0, 1.0]), np.array([8, 8])).tolist() == [0.0, 1.0]


def test_pairs_for_an_effect_are_the_fewest_that_see_it():
    for noise in (0.06, 0.08):
        pairs = int(gate.pairs_needed(np.array(noise), 30))
        seen = [
            float(gate.visible_in_pairs(np.array(noise), count, 30, RULES.power)) <= RULES.effect
            for count in (pairs - 1, pairs)
        ]
        assert seen == [False, True]
    assert int(gate.pairs_needed(np.array(0.0), 1)) == gate.sturdy_pairs(1)


def test_a_tenth_of_disturbed_pairs_is_borne():
    """So many pairs, of which a tenth speak against a slowdown more than all others for it, still pass; one fewer do
    not."""
    for tests in (1, 30):
        count = gate.sturdy_pairs(tests)
        passes = []
        for pairs in (count - 1, count):
            sizes = np.arange(1.0, pairs + 1)
            sizes[-math.ceil(pairs / 10) :] *= -1
            passes.append(float(paired_shift(sizes).p_above()) <= RULES.error / tests)
        assert passes == [False, True]
