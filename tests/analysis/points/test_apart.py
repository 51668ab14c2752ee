"""Launches of two points: when one is shown to be slower, and how often equal ones are."""

import math
from dataclasses import replace

import numpy as np
import pytest
from fourscore_analysis.points.apart import ERROR, shift_between, shown_slower
from fourscore_analysis.points.shifts import paired_shift, sample_shift
from fourscore_analysis.records.transforms import parse_record
from synthetic import Maker, canonical, make_point


def launches(seconds, campaign="a"):
    one = parse_record(canonical(Maker(isolate=False).timed(make_point(), 0, 1.0)), f"records/{campaign}/0.json")
    return [replace(one, median_s=value, launch=number) for number, value in enumerate(seconds)]


FAST, SLOW = [1.0, 1.1, 1.2, 1.3, 1.4, 1.5], [2.0, 2.1, 2.2, 2.3, 2.4, 2.5]


@pytest.mark.parametrize("count", range(7))
def test_three_launches_show_nothing_and_four_or_more_can(count):
    assert shown_slower(launches(SLOW[:count]), launches(FAST[:count])) == (count >= 4)
    assert not shown_slower(launches(FAST[:count]), launches(SLOW[:count]))


def test_one_launch_on_a_simulated_network_shows_it():
    fast, slow = ([replace(one, flags=("simulated",)) for one in launches(times)] for times in ([1.0], [1.1]))
    assert shown_slower(slow, fast)
    assert not shown_slower(fast, slow)
    assert not shown_slower(fast, fast)
    assert not shown_slower(slow, launches([1.0]))  # a real one has noise


def test_rounds_take_out_what_the_machine_did():
    """Each round is 30 % slower than the one before; the second method takes 2 % longer in each."""
    first = [1.3**number for number in range(8)]
    second = [1.02 * value for value in first]
    assert shown_slower(launches(second), launches(first))
    assert not shown_slower(launches(second, "b"), launches(first))  # other campaigns have no rounds in common
    assert math.exp(shift_between(launches(second), launches(first)).estimate) == pytest.approx(1.02)


def test_a_launch_measured_again_stands_in_its_round():
    first, second = launches(FAST), launches([1.02 * value for value in FAST])
    second[3] = replace(second[3], launch=9, retry_of=3)
    assert shift_between(second, first).candidates.size == 21


@pytest.mark.parametrize("rounds", [4, 5, 6, 8, 12])
@pytest.mark.parametrize("methods", [2, 5])
def test_one_of_equally_fast_methods_is_called_fastest_in_at_most_5_percent(rounds, methods):
    """As claims are made: the lowest median, shown to be faster than each of the others."""
    logs = np.random.default_rng(rounds).normal(0, 0.05, (6000, methods, rounds))
    best = np.median(logs, axis=-1).argmin(axis=-1)
    fastest = logs[np.arange(len(logs)), best]
    fine = np.ones(len(logs), dtype=bool)
    for method in range(methods):
        others = logs[:, method]
        shift = paired_shift(others - fastest) if rounds >= 6 else sample_shift(others, fastest)
        fine &= (shift.p_above() <= ERROR / 2) | (best == method)
    assert fine.mean() <= ERROR + 0.005
