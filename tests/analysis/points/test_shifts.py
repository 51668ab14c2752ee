"""Tests of a shift: against SciPy, against every flip of signs, and that test and interval never contradict."""

import itertools

import numpy as np
import pytest
from fourscore_analysis.points.shifts import (
    holm,
    paired_p_above,
    paired_shift,
    rank_sum_tail,
    sample_shift,
    signed_rank_tail,
)
from scipy import stats

SIDES = (("greater", "p_above"), ("less", "p_below"), ("two-sided", "p_two_sided"))
RNG = np.random.default_rng


@pytest.mark.parametrize("count", [2, 3, 6, 13, 20, 37, 60])
@pytest.mark.parametrize("shift", [0.0, 0.4])
def test_the_paired_test_is_that_of_scipy(count, shift):
    values = RNG(count).normal(0.3, 1.0, count)
    found = paired_shift(values)
    for side, method in SIDES:
        expected = stats.wilcoxon(values - shift, alternative=side, method="exact").pvalue
        assert getattr(found, method)(shift) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("count", [2, 5, 9, 12])
def test_the_paired_test_is_a_test_by_flipped_signs(count):
    values = RNG(count).normal(0.5, 1.0, count)

    def signed_ranks(sample, axis):
        return np.sum(np.sign(sample) * stats.rankdata(np.abs(sample), axis=axis), axis=axis)

    for side, method in SIDES:
        expected = stats.permutation_test(
            (values,), signed_ranks, permutation_type="samples", n_resamples=np.inf, alternative=side, vectorized=True
        )
        assert getattr(paired_shift(values), method)() == pytest.approx(expected.pvalue, rel=1e-9)


@pytest.mark.parametrize(("first", "second"), [(2, 2), (3, 7), (9, 4), (20, 20)])
def test_the_test_of_two_samples_is_that_of_scipy(first, second):
    rng = RNG(first)
    one, other = rng.normal(0.5, 1, first), rng.normal(0, 1, second)
    for side, method in SIDES:
        expected = stats.mannwhitneyu(one, other, alternative=side, method="exact").pvalue
        assert getattr(sample_shift(one, other), method)() == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("values", [(1, 1, 1, 1, 1, 1), (0, 0, 0, 1, 2), (1, 1, 2, 2, 3), (0, 1, 1, 4, 4, 4), (0,) * 7])
def test_ties_and_zeros_never_raise_the_false_alarm_rate(values):
    """Over all flips of signs, so exactly."""
    flips = np.array(list(itertools.product((-1, 1), repeat=len(values)))) * np.array(values)
    for method in ("p_above", "p_below", "p_two_sided"):
        p_values = getattr(paired_shift(flips), method)()
        for level in np.unique(p_values):
            assert np.mean(p_values <= level) <= level + 1e-12


def test_all_values_equal_is_no_evidence_and_a_common_shift_is():
    nothing = paired_shift([0.0] * 10)
    assert nothing.p_two_sided() == 1
    assert nothing.standard_error == 0
    assert nothing.interval(0.95) == (0, 0)
    assert paired_shift([0.05] * 10).p_above() == paired_shift([-0.05] * 10).p_below() == 2**-10
    assert paired_shift([0.05] * 10).p_below() == paired_shift([-0.05] * 10).p_above() == 1


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("paired", [False, True])
def test_the_interval_holds_what_the_test_does_not_refuse(paired, ties):
    rng = RNG(7)
    for count in range(2, 16):
        values, others = rng.normal(0.4, 1, count), rng.normal(0, 1, count + 1)
        if ties:
            values, others = np.round(values, 1), np.round(others, 1)
        found = paired_shift(values) if paired else sample_shift(values, others)
        for confidence in (0.5, 0.8, 0.95, 0.99):
            low, high = found.interval(confidence)
            for shift in (*found.candidates, *(found.candidates + 1e-7), *(found.candidates - 1e-7), -9, 9):
                refused = found.p_two_sided(shift) <= (1 - confidence) * (1 + 1e-12)
                assert refused == (not low <= shift <= high)


def test_too_few_pairs_bound_nothing():
    assert paired_shift([0.1] * 5).interval(0.95) == (-np.inf, np.inf)  # 2 / 2^5 > 5 %
    assert np.isfinite(paired_shift([0.1] * 6).interval(0.95)).all()
    for values in ([], [0.1]):
        with pytest.raises(ValueError, match="takes 2"):
            paired_shift(values)
        with pytest.raises(ValueError, match="takes 2"):
            sample_shift(values, [1, 2])


def test_intervals_hold_the_true_shift_as_often_as_they_say():
    differences = RNG(1).standard_t(3, (4000, 12)) + 0.7
    low, high = paired_shift(differences).interval(0.95)
    assert 0.945 < np.mean((low <= 0.7) & (high >= 0.7)) < 0.97


@pytest.mark.parametrize("noise", ["normal", "heavy"])
def test_the_standard_error_is_the_spread_of_the_estimate(noise):
    rng = RNG(2)
    draws = rng.normal(size=(3000, 30)) if noise == "normal" else rng.standard_t(2, (3000, 30))
    found = paired_shift(draws)
    assert np.median(found.standard_error) == pytest.approx(np.std(found.estimate), rel=0.12)


@pytest.mark.parametrize("count", [2, 9, 40])
def test_the_quick_test_without_candidates_is_the_same(count):
    draws = RNG(count).normal(0.2, 1.0, (200, count))
    assert paired_p_above(draws) == pytest.approx(paired_shift(draws).p_above(), rel=1e-12)


def test_a_series_of_many_is_as_alone():
    draws = RNG(3).normal(size=(5, 9))
    together = paired_shift(draws)
    for number, row in enumerate(draws):
        alone = paired_shift(row)
        assert together.p_above(0.1)[number] == alone.p_above(0.1)
        assert together.estimate[number] == alone.estimate
        assert together.interval(0.9)[0][number] == alone.interval(0.9)[0]


@pytest.mark.parametrize("count", [100, 101, 140])
def test_large_samples_go_over_into_the_normal_distribution(count):
    largest = count * (count + 1) // 2
    tail = signed_rank_tail(count)
    expected = stats.norm.sf(np.arange(largest + 1) - 0.5, largest / 2, np.sqrt(largest * (2 * count + 1) / 12))
    assert tail == pytest.approx(expected, abs=1e-3)
    assert rank_sum_tail(60, 60)[1800 + 1] == pytest.approx(0.5, abs=0.01)


def test_chances_of_rank_sums_are_never_above_one_and_normal_where_there_are_many():
    tails = [rank_sum_tail(first, second) for first in range(2, 20) for second in range(first, 20)]
    assert all(tail.max() <= 1 for tail in tails)
    assert [tail[0] for tail in tails] == pytest.approx([1.0] * len(tails))
    tail = rank_sum_tail(60, 70)
    assert len(tail) == 60 * 70 + 1
    expected = stats.norm.sf(np.arange(4201) - 0.5, 2100, np.sqrt(60 * 70 * 131 / 12))
    assert tail == pytest.approx(expected, rel=1e-9)


def test_holm_is_that_of_its_paper():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []
