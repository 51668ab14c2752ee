"""The rates of error that docs/gate.md states, on fewer campaigns than tests/benchmarks/gate_simulation.py draws."""

import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from fourscore_analysis.gate.modes import bimodal, in_two_groups
from fourscore_analysis.gate.rules import RULES, least_pairs, looks_slower, pairs_needed, settled_noise
from fourscore_analysis.points.shifts import paired_shift

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from gate_simulation import KINDS, SERIES, SLOWED, Noise, campaign

RNG = np.random.default_rng


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_that_is_equal_is_red_and_what_is_slower_is_found(kind):
    slowed = np.arange(SERIES) % (SERIES // SLOWED) == 1
    found = fair = 0
    for seed in range(4):
        assert not campaign(Noise(kind, RNG([seed, 5]), []), np.zeros(SERIES, dtype=bool)).red.any()
        noise = Noise(kind, RNG([seed, 6]), [])
        outcome = campaign(noise, slowed)
        one_group = slowed & ~noise.two_groups
        found, fair = found + outcome.red[one_group].sum(), fair + one_group.sum()
        assert not outcome.red[~slowed].any()
    assert found >= 0.9 * fair


def test_the_screen_misses_a_slowdown_as_seldom_as_it_says():
    for noise in (0.005, 0.02, 0.05):
        pairs = RNG(1).normal(np.log1p(RULES.effect), noise, (4000, 8))
        assert np.mean(~looks_slower(paired_shift(pairs))) <= RULES.screen_miss + 0.007


def test_the_screen_of_a_quiet_machine_chooses_few():
    pairs = RNG(2).normal(0, 0.01, (4000, 8))
    assert np.mean(looks_slower(paired_shift(pairs))) < 0.02


def test_pairs_suffice_for_what_they_are_meant_to_find():
    for noise in (0.01, 0.03, 0.06):
        count = int(pairs_needed(np.array(noise), 30))
        shift = paired_shift(RNG(3).normal(np.log1p(RULES.effect), noise, (600, count)))
        low, _ = shift.interval(RULES.confidence)
        found = (shift.p_above() <= RULES.error / 30) & (low > np.log1p(RULES.margin))
        assert found.mean() >= 0.94
    assert pairs_needed(np.array(1.0), 30) == RULES.most_pairs


@pytest.mark.parametrize("tests", [1, 30, 300])
def test_too_few_pairs_show_nothing(tests):
    least = least_pairs(tests)
    assert 2.0**-least <= RULES.error / tests < 2.0 ** (1 - least) or least == 6
    assert pairs_needed(np.array(0.0), tests) > least


def test_noise_of_few_pairs_is_drawn_to_the_middle_of_all():
    alike = paired_shift(RNG(4).normal(0, 0.02, (300, 8))).standard_error * np.sqrt(8)
    assert np.std(np.log(settled_noise(alike, np.full(300, 8)))) < 0.4 * np.std(np.log(alike))
    apart = np.array([0.001, 0.1] * 20)
    assert settled_noise(apart, np.full(40, 8)) == pytest.approx(apart, rel=0.2)
    assert settled_noise(np.array([0.02]), np.array([8])) == 0.02


@pytest.mark.parametrize("draw", ["normal", "uniform", "exponential", "standard_t"])
@pytest.mark.parametrize("count", [12, 20, 60])
def test_launches_in_one_group_are_not_called_two(draw, count):
    arguments = (3,) if draw == "standard_t" else ()
    values = getattr(RNG(5), draw)(*arguments, size=(4000, count))
    assert np.mean(in_two_groups(values)) < 0.005


@pytest.mark.parametrize(("count", "told"), [(11, False), (12, True)])
def test_groups_take_twelve_launches_and_two_percent_between_them(count, told):
    two = np.arange(count) % 2
    noise = 1e-4 * np.sin(np.arange(count))
    assert bool(in_two_groups(0.5 * two + noise)) is told
    assert not in_two_groups(0.019 * two + noise)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not in_two_groups(np.ones(count))  # and no warning of a division by nothing


@pytest.mark.parametrize(("count", "least"), [(14, 0.7), (20, 0.85), (40, 0.95)])
def test_launches_in_two_groups_are_found(count, least):
    rng = RNG(6)
    sides = rng.normal(0, 0.02, (2, 500, count)) + 0.14 * (rng.random((2, 500, count)) < 0.5)
    shift = paired_shift(sides[1] - sides[0]).estimate
    assert np.mean(bimodal(sides[0], sides[1], shift, True)) > least


@pytest.mark.parametrize(("noise", "most"), [(0.01, 0.0), (0.03, 0.15)])
def test_a_step_of_the_machine_is_not_two_groups(noise, most):
    """A pair falls apart where its launches differ by more than half of the step: with 3 % of noise, one in 55 does."""
    rng = RNG(7)
    sides = rng.normal(0, noise, (2, 200, 20)) + 0.2 * (np.arange(20) > 9)
    shift = paired_shift(sides[1] - sides[0]).estimate
    assert np.mean(bimodal(sides[0], sides[1], shift, True)) <= most
    assert np.mean(bimodal(sides[0], sides[1], shift, False)) >= 0.99
