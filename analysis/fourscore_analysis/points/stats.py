"""Statistics over launches. The unit of replication is the launch: its iterations share one process, one set of buffers
and one plan, so they are not independent (Kalibera and Jones, Rigorous Benchmarking in Reasonable Time, ISMM 2013)."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

INTERVAL_FROM = 5  # launches
RESAMPLES = 999  # in the bootstrap
EXACT_PAIRS = 3000  # beyond so many pairs the rank sum is normal enough
NORMAL = statistics.NormalDist()  # scipy.special has its functions, and takes longer to load than most commands run
Block = tuple[Sequence[float], Sequence[float]]  # values of the one kind, and of the other


@dataclass(frozen=True, slots=True)
class Spread:
    """Centre and spread of one value a launch."""

    count: int
    median: float
    low: float
    high: float
    interval: tuple[float, float] | None  # around the median, where there are at least INTERVAL_FROM launches
    coverage: float | None  # the probability with which the interval holds the median


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


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value, and the interval that holds it with the confidence asked for; None where there are too few values."""

    value: float
    interval: tuple[float, float] | None


def median_estimate(values: Sequence[float], confidence: float) -> Estimate:
    """The median of `values`, and its interval by order statistics as interval_rank. Raises ValueError without
    values."""
    ordered = sorted(values)
    index, coverage = interval_rank(len(ordered), confidence)
    interval = (ordered[index], ordered[len(ordered) - 1 - index]) if coverage >= confidence else None
    return Estimate(statistics.median(values), interval)


def resampled_medians(values: Sequence[float], seed: int) -> np.ndarray:
    """Medians of RESAMPLES draws of as many values as there are, with replacement (Efron, Ann. Stat. 7, 1979). Raises
    ValueError without values."""
    draws = np.random.default_rng(seed).integers(len(values), size=(RESAMPLES, len(values)))
    return np.median(np.asarray(values)[draws], axis=1)


def shift_estimate(blocks: Sequence[Block], confidence: float) -> Estimate:
    """By how much the first values of the blocks lie above the second ones of the same block: the median of all
    differences within blocks (Hodges and Lehmann, Ann. Math. Stat. 34, 1963). The interval holds what the rank sums of
    Mann and Whitney, added over the blocks (van Elteren, 1960), do not refuse: no distribution is assumed, and blocks
    may lie anywhere. Raises ValueError where no block has values of both kinds."""
    blocks = [block for block in blocks if len(block[0]) and len(block[1])]
    if not blocks:
        raise ValueError("a shift between no values")
    pairs = [np.subtract.outer(np.asarray(first), np.asarray(second)).ravel() for first, second in blocks]
    differences = np.sort(np.concatenate(pairs))
    begin = _least_rank_sum([(len(first), len(second)) for first, second in blocks], (1 - confidence) / 2)
    interval = (float(differences[begin - 1]), float(differences[-begin])) if begin else None
    return Estimate(float(np.median(differences)), interval)


def _least_rank_sum(sizes: Sequence[tuple[int, int]], tail: float) -> int:
    """The least sum over blocks of Mann and Whitney's U that is not in the lower `tail`, where both kinds of a block
    have the same distribution. An interval begins at that difference, counted from 1; 0: there are too few."""
    pairs = sum(first * second for first, second in sizes)
    if pairs > EXACT_PAIRS:
        variance = sum(first * second * (first + second + 1) / 12 for first, second in sizes)
        return max(0, math.floor(pairs / 2 + NORMAL.inv_cdf(tail) * math.sqrt(variance)))
    chances = np.ones(1)
    for first, second in sizes:
        chances = np.convolve(chances, rank_sum_chances(min(first, second), max(first, second)))
    return int(np.searchsorted(np.cumsum(chances), tail, side="right"))


@lru_cache(maxsize=1024)
def rank_sum_chances(few: int, many: int) -> np.ndarray:
    """Chances of U = 0 ... few * many: the coefficients of Gauss's binomial (few + many over few), over their sum."""
    counts = [1]
    for index in range(1, few + 1):
        longer = counts + [0] * (many + index)
        for at in range(len(longer) - 1, many + index - 1, -1):
            longer[at] -= longer[at - many - index]
        for at in range(index, len(longer)):
            longer[at] += longer[at - index]
        counts = longer[: index * many + 1]
    total = sum(counts)
    return np.array([count / total for count in counts])
