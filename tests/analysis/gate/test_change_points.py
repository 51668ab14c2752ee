"""Change points: found where they are, hardly ever where there are none, and the same as by the reference."""

from __future__ import annotations

import numpy as np
import pytest
from fourscore_analysis.gate.change_points import LEAST_SIDE, block_length, energy_statistic, level, segment

NOISE, STEP = 0.02, np.log(1.05)

# Results of Apache Otava 0.8.0 (change_point_divisive, numpy 2.4) for these values: Q of the splits that reach to the
# end, and the change points of its permutation test (0.01, 199 permutations). Its package pins versions of numpy, and
# so is not installed with the tests.
OTAVA_VALUES = [
    *(10.0, 10.06, 9.95, 9.82, 9.91, 9.8, 10.01, 10.27, 9.9, 9.88, 10.1, 10.07, 10.02, 9.81, 9.99, 10.14, 9.73, 9.91),
    *(9.62, 9.74, 10.63, 10.95, 10.75, 11.05, 11.03, 10.96, 10.5, 10.89, 10.99, 11.02, 10.69, 10.9, 10.8, 10.84, 11.21),
    *(10.14, 10.29, 10.48, 10.18, 10.28, 10.32, 10.31, 10.05, 10.32, 10.57, 9.99, 10.47, 10.32, 10.17, 10.7, 10.45),
    *(10.06, 10.31, 10.42, 10.26, 10.44, 10.29, 10.43, 10.59, 10.16),
]
OTAVA_Q = {
    2: 0.521708,
    10: 3.254902,
    20: 8.520335,
    30: 2.105701,
    35: 2.288861,
    36: 2.20757,
    50: 0.749967,
    58: -0.255988,
}
OTAVA_CHANGES = [20, 35]


def indices(values, seed: int = 0) -> list[int]:
    return [change.index for change in segment(values, seed).changes]


def with_steps(generator: np.random.Generator, length: int = 500) -> tuple[np.ndarray, np.ndarray]:
    """Noise with one to four steps up or down, ten values or more apart and from the ends."""
    while True:
        places = np.sort(generator.choice(np.arange(10, length - 9), generator.integers(1, 5), replace=False))
        if np.all(np.diff(np.concatenate([[0], places, [length]])) >= 10):
            break
    values = generator.normal(0, NOISE, length)
    for place in places:
        values[place:] += STEP * generator.choice([-1, 1])
    return values, places


def test_the_statistic_and_the_changes_are_those_of_otava():
    statistics = energy_statistic(np.array(OTAVA_VALUES))
    assert {at: statistics[at] for at in OTAVA_Q} == pytest.approx(OTAVA_Q, abs=1e-6)
    assert indices(OTAVA_VALUES) == OTAVA_CHANGES


def test_the_statistic_is_the_formula_of_matteson_and_james():
    values = np.random.default_rng(3).standard_t(2, 15)
    statistics = energy_statistic(values)

    def mean_distance(one: np.ndarray, other: np.ndarray, pairs: float) -> float:
        return np.abs(one[:, None] - other[None, :]).sum() / pairs

    for k in range(2, 14):
        left, right = values[:k], values[k:]
        n, m = len(left), len(right)
        between = 2 * mean_distance(left, right, n * m)
        within = mean_distance(left, left, n * (n - 1)) + mean_distance(right, right, m * (m - 1))
        assert statistics[k] == pytest.approx(n * m / (n + m) * (between - within))


def test_steps_of_5_percent_at_2_percent_noise_are_found_within_3_points():
    generator, found, there = np.random.default_rng(11), 0, 0
    for seed in range(40):
        values, places = with_steps(generator)
        changes = np.array([*indices(values, seed), -100])
        found += sum(np.min(np.abs(changes - place)) <= 3 for place in places)
        there += len(places)
    assert there > 80
    assert found / there >= 0.95


@pytest.mark.parametrize(("length", "histories"), [(500, 40), (60, 200), (12, 1000)])
@pytest.mark.parametrize("tails", ["normal", "heavy"])
def test_at_most_one_false_point_in_1000(length, histories, tails):
    generator, false = np.random.default_rng(5), 0
    for seed in range(histories):
        noise = generator.normal(0, NOISE, length) if tails == "normal" else NOISE * generator.standard_t(2, length)
        false += len(indices(noise, seed))
    assert false <= histories * length / 1000


def test_noise_that_lasts_is_no_change():
    """Each value remembers half of the one before."""
    false, generator = 0, np.random.default_rng(6)
    for seed in range(20):
        values = generator.normal(0, NOISE, 500)
        for at in range(1, len(values)):
            values[at] += 0.5 * values[at - 1]
        false += len(indices(values, seed))
    assert false <= 10


def test_so_many_neighbours_stay_together_as_carlstein_has_it():
    """20 (2 m / (1 - m^2))^(2/3) of 8,000 values with memory m, which is taken to be 0.9 at most."""

    def block(memory: float, seed: int) -> int:
        values = np.random.default_rng(seed).normal(0, NOISE, 8000)
        for at in range(1, len(values)):
            values[at] += memory * values[at - 1]
        return block_length(values)

    assert np.median([block(0.8, seed) for seed in range(5)]) == pytest.approx(54.06, rel=0.1)
    assert block(1.0, 0) == 90
    assert block(0.0, 0) == 1


def test_steps_are_not_taken_for_noise_that_lasts():
    all_found = 0
    for seed in range(20):
        values = np.random.default_rng(seed).normal(0, NOISE, 60)
        for place in (15, 30, 45):
            values[place:] += 2 * STEP
        all_found += len(indices(values, seed)) == 3
    assert all_found >= 18


def test_a_change_that_passes_is_found_at_both_ends():
    values = np.random.default_rng(8).normal(0, NOISE, 500)
    values[240:265] += STEP
    assert indices(values) == pytest.approx([240, 265], abs=3)


def test_a_change_is_found_once_three_values_follow_it():
    values = np.random.default_rng(9).normal(0, 0.01, 40)
    values[-3:] += 0.2
    assert indices(values) == [37]
    assert indices(values[:-2]) == []


def test_a_slow_drift_is_one_drift_and_no_staircase():
    values = np.random.default_rng(2).normal(0, NOISE, 300) + np.linspace(0, 0.2, 300)
    found = segment(values)
    assert found.changes == ()
    [drift] = found.drifts
    assert (drift.begin, drift.end) == (0, 300)
    assert drift.total == pytest.approx(0.2, rel=0.15)
    assert drift.p < 1e-6


def test_a_step_is_one_change_and_no_drift():
    one_change = 0
    for seed in range(60):
        values = np.random.default_rng(seed).normal(0, NOISE, 60)
        values[30:] += STEP
        found = segment(values, seed)
        near = [change.index for change in found.changes if abs(change.index - 30) <= 3]
        one_change += len(near) == len(found.changes) == 1 and all(drift.p > 1e-4 for drift in found.drifts)
    assert one_change >= 54


def test_the_p_of_a_clear_step_is_the_least_there_is():
    """The level of 40 values is 2 %, and p is four times finer: one of 200 orders, the observed one."""
    [change] = segment(
        [1.0 + 0.001 * (at % 3) for at in range(20)] + [2.0 + 0.001 * (at % 3) for at in range(20)]
    ).changes
    assert (change.index, change.p) == (20, 1 / 200)


def test_steps_up_and_down_are_no_drift_and_a_staircase_is_one():
    drawn = np.random.default_rng(3)
    levels = np.repeat(np.arange(8), 25)
    staircase = 0.05 * levels + drawn.normal(0, 0.03, 200)
    found = segment(staircase)
    assert (found.changes, [(one.begin, one.end) for one in found.drifts]) == ((), [(0, 200)])
    up_and_down = 0.2 * (levels % 2) + drawn.normal(0, 0.01, 200)
    assert indices(up_and_down) == [25, 50, 75, 100, 125, 150, 175]


# A climb of several steps: the first division finds 21 and 29, and 29 moves once 21 is known.
CLIMB = [
    *(-26, -7, 26, 8, -3, 18, -1, -18, -7, -19, 5, -17, 9, 6, 31, 32, -29, 1, -4, -7, 48, 96, 132, 121, 153, 135, 166),
    *(197, 195, 235, 249, 254, 262, 228, 257, 248, 226, 261, 245, 241),
]


def test_a_change_is_placed_anew_between_its_neighbours_until_nothing_moves():
    found = segment(CLIMB)
    assert found.drifts == ()
    assert found.bounds == (0, 21, 27, 40)
    for begin, index, end in zip(found.bounds, found.bounds[1:], found.bounds[2:], strict=False):
        inside = energy_statistic(np.array(CLIMB[begin:end], dtype=float))
        best = int(np.argmax(inside[LEAST_SIDE : end - begin - LEAST_SIDE + 1])) + LEAST_SIDE
        assert begin + best == index


# Three rises, a fall and a rise, each after 30 values: the drift up ends before the fall.
RISES_AND_A_FALL = [
    *(-8, -5, -6, -14, -3, 7, 2, -2, -12, 15, -12, 9, -7, 1, 1, -7, -5, -13, -8, -1, 0, 5, 11, -16, -2, -2, 17, -3, 3),
    *(7, 10, 4, 9, 14, 9, 1, 18, 6, 16, 6, 28, 14, 5, 15, 13, -4, 2, 16, -7, 22, 19, 14, 18, 7, 4, 11, 20, 10, -1, 6),
    *(25, 3, 35, 18, 27, 34, 22, 14, 21, 18, 19, 29, 23, 20, 26, 25, 16, 28, 5, 11, 20, 11, 14, 16, 19, 21, 15, 13, 18),
    *(34, 23, 31, 11, 28, 25, 22, 38, 30, 28, 25, 24, 24, 37, 38, 17, 32, 39, 28, 23, 30, 37, 24, 23, 39, 29, 16, 21),
    *(22, 37, 37, 21, 30, 20, 26, 36, 14, 16, 35, 28, 35, 18, 10, 34, 20, 14, 16, 36, 32, 2, 26, 34, 29, 21, 17, 33),
    *(34, 15, 15, 31, 22, 43, 43, 34, 27, 33, 21, 28, 29, 32, 45, 29, 32, 36, 37, 35, 22, 46, 32, 23, 26, 28, 36, 25),
    *(34, 35, 50, 34, 19, 36, 20),
]


def test_a_drift_ends_where_the_values_fall():
    assert len(RISES_AND_A_FALL) == 180
    found = segment(RISES_AND_A_FALL)
    assert [(one.begin, one.end) for one in found.drifts] == [(0, 78)]
    assert [change.index for change in found.changes] == [78, 89]


@pytest.mark.parametrize(("count", "drifts"), [(7, []), (8, [(0, 8)])])
def test_a_trend_takes_eight_values(count, drifts):
    assert [(one.begin, one.end) for one in segment(list(range(count))).drifts] == drifts


def test_a_step_that_a_t_test_sees_is_seen():
    """20 values on each side, 1.5 times the noise apart: t is 4.7 in the middle."""
    found = 0
    for seed in range(40):
        values = np.random.default_rng(seed).normal(0, NOISE, 40)
        values[20:] += 1.5 * NOISE
        found += bool(indices(values))
    assert found >= 30  # where it is not taken for a drift


@pytest.mark.parametrize(("jump", "changes"), [(12.25, []), (12.5, [10])])
def test_steps_explain_more_than_a_line_where_schwarz_says_so(jump, changes):
    """A ramp of 20 values with a jump: steps leave 50. They have three parameters (two medians and a place), a line
    two, so they must leave less than 20^(-1/40) = 0.93 of what a line leaves, which is 4.353 times the jump."""
    values = np.arange(20.0) + jump * (np.arange(20) >= 10)
    assert (20 ** (-1 / 40) * 4.353 * jump > 50) == bool(changes)
    assert indices(values) == changes


def test_the_same_values_have_the_same_changes_in_any_unit():
    values, _ = with_steps(np.random.default_rng(4), 120)
    found = segment(values)
    assert found.changes
    assert segment(values) == found
    assert indices(values * 4096 + 2**20) == [change.index for change in found.changes]


def test_constant_and_short_histories_have_no_change():
    assert segment([]).changes == ()
    assert segment([1.0] * 50).changes == ()
    assert segment([1.0, 2.0, 3.0, 4.0, 5.0]).changes == ()
    assert segment([1.0] * LEAST_SIDE + [2.0] * LEAST_SIDE).changes == ()  # one order in ten is as extreme


def test_two_values_that_alternate_are_no_change():
    assert indices([1.0, 1.1] * 100) == []


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_values_that_are_not_finite_are_refused(bad):
    with pytest.raises(ValueError, match="not finite"):
        segment([1.0] * 20 + [bad])


def test_the_level_of_a_test_is_that_of_its_length():
    assert level(12) == pytest.approx(12 / 2000)
    assert level(500) == 0.02
