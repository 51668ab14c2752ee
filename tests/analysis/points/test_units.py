"""Numbers as people read them: three digits, and the unit in which they read best."""

from __future__ import annotations

import math

import pytest
from fourscore_analysis.points import units


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (1234.0, "1230"),
        (123.45, "123"),
        (12.345, "12.3"),
        (-1.2345, "-1.23"),
        (0.0012345, "0.00123"),
        (9.999, "10.0"),
        (99.96, "100"),
        (0.9996, "1.00"),
        (1e-6, "0.00000100"),
        (9.994e-7, "9.99e-07"),
        (9.99e11, "999000000000"),
        (999_999_999_999.5, "1000000000000"),
        (1e12, "1.00e+12"),
        (math.nan, "–"),
        (math.inf, "–"),
    ],
)
def test_a_number_has_three_digits(value, text):
    assert units.digits(value) == text


def test_as_many_digits_as_are_asked_for():
    assert [units.digits(math.pi * 100, count) for count in (1, 2, 4, 5)] == ["300", "310", "314.2", "314.16"]
    assert units.digits(1.2345e-9, 2) == "1.2e-09"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, "–"),
        (math.inf, "–"),
        (0.0, "0 ns"),
        (12.34, "12.3 s"),
        (0.9995, "1.00 s"),  # as 1000 ms would read
        (0.9994, "999 ms"),
        (1.5e-3, "1.50 ms"),
        (2e-6, "2.00 µs"),
        (3e-9, "3.00 ns"),
        (3e-12, "0.00300 ns"),
        (9e-13, "9.00e-13 s"),
        (-2e-3, "-2.00 ms"),
    ],
)
def test_a_time_is_in_its_unit(seconds, text):
    assert units.time_text(seconds) == text


def test_both_ends_of_a_range_are_in_the_unit_of_the_larger():
    assert units.range_text(0.5e-3, 1.5) == "0.000500–1.50 s"
    assert units.range_text(0.9e-3, 1.2e-3) == "0.900–1.20 ms"
    assert units.range_text(1.0, math.inf) == "–"


@pytest.mark.parametrize(
    ("rate", "text"),
    [
        (None, "–"),
        (5.0, "5.00 B/s"),
        (999.4, "999 B/s"),
        (999.5, "1.00 kB/s"),
        (999_400.0, "999 kB/s"),
        (999_500.0, "1.00 MB/s"),
        (8.123e9, "8.12 GB/s"),
        (2e12, "2.00 TB/s"),
        (3e15, "3.00 PB/s"),
        (4e18, "4.00 EB/s"),
    ],
)
def test_a_rate_is_in_powers_of_a_thousand(rate, text):
    assert units.rate_text(rate, "B/s") == text


@pytest.mark.parametrize("power", range(1, 7))
def test_each_prefix_is_a_thousand_times_the_one_before(power):
    size, name = units.rate_unit(1000.0**power, "FLOP/s")
    assert size == pytest.approx(1000.0**power, rel=1e-12)
    assert name == f"{'kMGTPE'[power - 1]}FLOP/s"


@pytest.mark.parametrize(
    ("count", "text", "whole"),
    [
        (0, "0 B", "0 B"),
        (1023, "1023 B", "1023 B"),
        (1024, "1.00 KiB", "1 KiB"),
        (1.5 * 2**20, "1.50 MiB", "1.5 MiB"),
        (64 * 2**30, "64.0 GiB", "64 GiB"),
        (2**40, "1.00 TiB", "1 TiB"),
    ],
)
def test_bytes_are_in_powers_of_1024(count, text, whole):
    assert (units.bytes_text(count), units.whole_bytes_text(count)) == (text, whole)
    assert units.bytes_text(None) == "–"


def test_shapes_ranks_ratios_and_shares():
    assert [units.shape_text(shape) for shape in ((64,), (8, 8), (8, 8, 8), (8, 8, 9))] == ["64", "8×8", "8³", "8×8×9"]
    assert [units.ranks_text(ranks) for ranks in (1, 2)] == ["1 rank", "2 ranks"]
    assert [units.ratio_text(ratio) for ratio in (0.876, 9.994, 9.996, 123.4)] == ["0.88", "9.99", "10.0", "123"]
    assert [units.percent_text(share) for share in (None, math.nan, 0.256, 1.0)] == ["–", "–", "26 %", "100 %"]
    assert [units.part_title("a", 1, count) for count in (1, 3)] == ["a", "a (1 of 3)"]
