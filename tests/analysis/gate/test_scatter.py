"""Pairs one by one, as a line of text: where each stands, and how many stand at one place."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from fourscore_analysis.gate.scatter import WIDTH, named_pairs, pairs_of, scatter_lines, signed_percent


def verdict(ratios: list[float], estimate: float | None = None, paired: bool = True):
    sides = [
        [SimpleNamespace(number=number, time_s=1e-3 * ratio) for number, ratio in enumerate(times)]
        for times in ([1.0] * len(ratios), ratios)
    ]
    change = SimpleNamespace(ratio=estimate) if estimate else None
    return SimpleNamespace(series=SimpleNamespace(paired=paired, launches=lambda: sides), change=change)


@pytest.mark.parametrize(
    ("ratio", "text"), [(1.049, "+4.9 %"), (0.5, "-50.0 %"), (1.0, "0.0 %"), (1.0004, "0.0 %"), (0.9996, "0.0 %")]
)
def test_a_ratio_is_a_percentage_with_its_sign(ratio, text):
    assert signed_percent(ratio) == text


def test_each_pair_is_a_mark_and_more_than_three_at_one_place_are_a_grating():
    one = verdict([1.0] + [1.1**0.25] * 2 + [1.1**0.5] * 3 + [1.1**0.75] * 4 + [1.1] * 9, 1.1**0.5)
    said, marks, axis = scatter_lines(one)
    assert said.startswith("candidate over base, a mark for each pair (. one, : two, * three, # more)")
    low, line, high = marks.split("|")
    assert (low.strip(), high.strip(), len(line)) == ("0.0 %", "+10.0 %", WIDTH)
    assert {place: mark for place, mark in enumerate(line) if mark != " "} == {
        0: ".",
        15: ":",
        30: "*",
        44: "#",
        59: "#",
    }
    below = axis[marks.index("|") + 1 :]
    assert (below.index("0"), below.index("^"), below.strip().count(" ")) == (0, 30, 29)


def test_launches_that_are_not_paired_are_a_line_for_each_side():
    said, base, candidate = scatter_lines(verdict([1.0, 1.5, 2.0], paired=False))
    assert said == "times of launches, a mark for each (. one, : two, * three, # more)"
    assert base.split("|")[1] == "*" + " " * 59
    assert candidate.split("|")[1] == "." + " " * 34 + "." + " " * 23 + "."
    assert [line.split("|")[0].split()[0] for line in (base, candidate)] == ["base", "candidate"]
    assert (base.split("|")[0].strip().endswith("1.00 ms"), base.split("|")[2].strip()) == (True, "2.00 ms")
    assert pairs_of(verdict([1.0], paired=False)) == []


def test_an_axis_is_never_narrower_than_two_percent():
    _, marks, _ = scatter_lines(verdict([1.001, 1.002], 1.0015))
    assert (marks.split("|")[0].strip(), marks.split("|")[2].strip()) == ("-0.9 %", "+1.1 %")


def test_the_pair_at_the_estimate_and_the_farthest_are_named():
    found = named_pairs(verdict([1.0, 1.3, 1.1, 0.8], 1.12))
    assert [(name, pair.text()) for name, pair in found] == [
        ("typical pair", "pair 2: 1.00 ms to 1.10 ms, +10.0 %"),
        ("largest ratio", "pair 1: 1.00 ms to 1.30 ms, +30.0 %"),
        ("smallest ratio", "pair 3: 1.00 ms to 800 µs, -20.0 %"),
    ]
    assert [name for name, _ in named_pairs(verdict([1.1], 1.1))] == ["typical pair"]
    assert named_pairs(verdict([1.1])) == []
