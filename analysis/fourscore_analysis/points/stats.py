"""Statistics over launches. The unit of replication is the launch: its iterations share one process, one set of buffers
and one plan, so they are not independent (Kalibera and Jones, Rigorous Benchmarking in Reasonable Time, ISMM 2013)."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

INTERVAL_FROM = 5  # launches


@dataclass(frozen=True, slots=True)
class Spread:
    """Centre and spread of one value a launch."""

    count: int
    median: float
    low: float
    high: float
    interval: tuple[float, float] | None  # of the median, where there are at least INTERVAL_FROM launches
    coverage: float | None  # the probability with which the interval holds the median

    def overlaps(self, other: Spread) -> bool:
        """Whether the ranges over launches meet: then neither is shown to be faster."""
        return self.low <= other.high and other.low <= self.high


def spread(values: Sequence[float]) -> Spread:
    """Median, minimum and maximum over launches, with an interval of the median from INTERVAL_FROM launches on.
    Raises ValueError without values."""
    ordered = sorted(values)
    if not ordered:
        raise ValueError("a spread of no values")
    interval = coverage = None
    if len(ordered) >= INTERVAL_FROM:
        low, coverage = interval_rank(len(ordered))
        interval = (ordered[low], ordered[len(ordered) - 1 - low])
    return Spread(len(ordered), statistics.median(ordered), ordered[0], ordered[-1], interval, coverage)


def interval_rank(count: int, confidence: float = 0.95) -> tuple[int, float]:
    """The index i for which the i-th smallest and i-th largest of `count` values enclose the median with at least
    `confidence`, and the probability that they do. With too few values (five give 94 %) it is the whole range and its
    probability. No distribution is assumed: the number of values below the median is binomial. Hoefler and Belli,
    Scientific Benchmarking of Parallel Computing Systems, SC 2015, section 3.1.3."""
    best, below = (0, 1 - 2 * 0.5**count), 0.0
    for index in range(count // 2):
        below += math.comb(count, index) * 0.5**count
        if 1 - 2 * below < confidence:
            break
        best = (index, 1 - 2 * below)
    return best
