"""Ticks of logarithmic axes: any range can be read."""

import pytest
from fourscore_analysis.plots.shared.ticks import log_ticks


@pytest.mark.parametrize(
    ("low", "high"), [(19.3, 29), (0.36, 0.83), (7e-16, 3e-15), (2e-16, 1e-7), (1, 1e6), (3.1, 4.2), (0.9, 1.1)]
)
def test_an_axis_has_two_ticks_at_least_and_seven_at_most_within_it(low, high):
    ticks = log_ticks(low, high)
    assert 2 <= len(ticks) <= 7
    assert all(low <= tick <= high for tick in ticks)
    assert ticks == sorted(set(ticks))


def test_ticks_of_small_numbers_are_powers_of_ten():
    assert log_ticks(2e-16, 1e-9) == [10.0**exponent for exponent in range(-15, -8)]
