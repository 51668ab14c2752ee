"""Intervals without an assumed distribution: what they leave out is counted, and they hold the truth so often."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.stats
from fourscore_analysis.points import stats
from fourscore_analysis.points.stats import Estimate, median_estimate, shift_estimate


def test_the_shift_of_two_samples_is_the_middle_of_their_differences():
    found = shift_estimate([([1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0])], 0.95)
    assert found == Estimate(-5.0, (-8.0, -2.0))  # the 3rd smallest and largest: P(U <= 2) = 4 / 252


def test_an_interval_of_the_shift_holds_what_the_test_of_mann_and_whitney_does_not_refuse():
    drawn = np.random.default_rng(3)
    for few, many in ((4, 5), (6, 6), (5, 9)):
        first, second = drawn.normal(1, 1, few), drawn.normal(0, 1, many)
        low, high = shift_estimate([(first, second)], 0.9).interval
        for shift, inside in ((low + 1e-9, True), (high - 1e-9, True), (low - 1e-9, False), (high + 1e-9, False)):
            p = scipy.stats.mannwhitneyu(first - shift, second, method="exact").pvalue
            assert (p > 0.1) == inside


def test_ranks_are_counted_within_blocks():
    """Two blocks that lie far apart: what one of them shifts by is not drowned by what lies between them."""
    blocks = [([101.0, 102.0, 103.0], [91.0, 92.0, 93.0]), ([11.0, 12.0, 13.0], [1.0, 2.0, 3.0])]
    found = shift_estimate(blocks, 0.95)
    assert found.value == 10.0
    assert found.interval == (9.0, 11.0)
    sums = [0] * 19  # [U], over both blocks, by counting every order of three and three
    for one in itertools.product(itertools.combinations(range(6), 3), repeat=2):
        sums[sum(sum(places) - 3 for places in one)] += 1
    chances = np.cumsum(sums) / 400
    begin = int(np.searchsorted(chances, 0.025, side="right"))
    differences = np.sort([a - b for first, second in blocks for a in first for b in second])
    assert found.interval == (differences[begin - 1], differences[-begin])


def test_too_few_values_have_no_interval():
    assert shift_estimate([([1.0, 2.0, 3.0], [4.0, 5.0, 6.0])], 0.95) == Estimate(-3.0, None)  # 2 / 20 = 10 %
    assert median_estimate([1.0, 2.0, 3.0, 4.0, 5.0], 0.95).interval is None  # 2 / 32 = 6 %
    assert median_estimate([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 0.95) == Estimate(3.5, (1.0, 6.0))
    for blocks in ([], [([1.0], [])]):
        with pytest.raises(ValueError, match="no values"):
            shift_estimate(blocks, 0.95)


@pytest.mark.parametrize("exact_pairs", [stats.EXACT_PAIRS, 0])
def test_the_interval_of_a_shift_holds_the_truth_as_often_as_it_says(monkeypatch, exact_pairs):
    """With heavy tails, and blocks anywhere; counted exactly, and by the normal distribution where pairs are many."""
    monkeypatch.setattr(stats, "EXACT_PAIRS", exact_pairs)
    drawn, held, tries = np.random.default_rng(5), 0, 1500
    for _ in range(tries):
        centres = 10 * drawn.normal(size=6)
        blocks = [(at + 0.5 + drawn.standard_t(3, 4), at + drawn.standard_t(3, 3)) for at in centres]
        low, high = shift_estimate(blocks, 0.9).interval
        held += low <= 0.5 <= high
    assert 0.88 <= held / tries <= 0.935
