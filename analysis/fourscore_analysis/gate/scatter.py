"""The pairs of a series one by one, or its launches: what the outputs show of them, and as a line of text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fourscore_analysis.gate.series import Timed
from fourscore_analysis.gate.verdict import Verdict
from fourscore_analysis.points.units import time_text

WIDTH = 60  # characters of a line of marks
MARKS = " .:*#"  # by how many fall on one place
LEAST_SPAN = math.log(1.02)  # length of the axis


@dataclass(frozen=True)
class Pair:
    base: Timed
    candidate: Timed

    @property
    def ratio(self) -> float:
        return self.candidate.time_s / self.base.time_s

    def text(self) -> str:
        """pair 12: 1.02 ms to 1.07 ms, +4.9 %"""
        times = f"{time_text(self.base.time_s)} to {time_text(self.candidate.time_s)}"
        return f"pair {self.base.number}: {times}, {signed_percent(self.ratio)}"


def signed_percent(ratio: float) -> str:
    """+4.9 %"""
    value = round(100 * (ratio - 1), 1) + 0.0
    return f"{value:+.1f} %" if value else "0.0 %"


def pairs_of(one: Verdict) -> list[Pair]:
    """The pairs that the verdict rests on, as they were measured; empty where they are not paired."""
    if not one.series.paired:
        return []
    return [Pair(base, candidate) for base, candidate in zip(*one.series.launches(), strict=True)]


def named_pairs(one: Verdict) -> list[tuple[str, Pair]]:
    """The ones whose records a reader wants first: the pair nearest to the estimate, and the two that are farthest."""
    pairs = pairs_of(one)
    if not (pairs and one.change):
        return []
    estimate = one.change.ratio
    typical = min(pairs, key=lambda pair: abs(math.log(pair.ratio / estimate)))
    found = [
        ("typical pair", typical),
        ("largest ratio", max(pairs, key=lambda pair: pair.ratio)),
        ("smallest ratio", min(pairs, key=lambda pair: pair.ratio)),
    ]
    return found[: 1 if len(pairs) == 1 else 3]


def scatter_lines(one: Verdict) -> list[str]:
    """Each pair as a mark on an axis of ratios, or each launch of both sides on an axis of times."""
    if pairs := pairs_of(one):
        logs = [math.log(pair.ratio) for pair in pairs]
        low, high = _ends([*logs, 0.0])
        below = {0.0: "0"} | ({math.log(one.change.ratio): "^"} if one.change else {})
        ends = signed_percent(math.exp(low)), signed_percent(math.exp(high))
        said = "candidate over base, a mark for each pair (. one, : two, * three, # more); ^ is the estimate"
        return [said, *_lines([("", logs)], low, high, ends, below)]
    base, candidate = ([math.log(launch.time_s) for launch in side] for side in one.series.launches())
    if not (base and candidate):
        return []
    low, high = _ends([*base, *candidate])
    ends = time_text(math.exp(low)), time_text(math.exp(high))
    said = "times of launches, a mark for each (. one, : two, * three, # more)"
    return [said, *_lines([("base", base), ("candidate", candidate)], low, high, ends, {})]


def _ends(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    room = max(0.0, LEAST_SPAN - (high - low)) / 2
    return low - room, high + room


def _lines(
    rows: Sequence[tuple[str, Sequence[float]]],
    low: float,
    high: float,
    ends: tuple[str, str],
    below: dict[float, str],
) -> list[str]:
    def place(value: float) -> int:
        return round((value - low) / (high - low) * (WIDTH - 1))

    names = max(len(name) for name, _ in rows)
    first, last = (end.rjust(9) for end in ends)
    lines = []
    for name, values in rows:
        counts = np.bincount([place(value) for value in values], minlength=WIDTH)
        marks = "".join(MARKS[min(int(count), len(MARKS) - 1)] for count in counts)
        lines.append(f"{name:<{names}} {first} |{marks}| {last.strip()}")
    if below:
        axis = [" "] * WIDTH
        for value, mark in below.items():
            axis[place(value)] = mark
        lines.append(f"{' ' * names} {' ' * len(first)}  {''.join(axis)}".rstrip())
    return lines
