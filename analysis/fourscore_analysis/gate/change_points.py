"""Change points of one series: where the distribution of its values changed, and how sure that is.

E-divisive (Matteson and James, JASA 109, 2014): the split of a segment that has the largest energy statistic between
its two sides, tested by permutations of the segment's values; both sides again, until no split is significant. Five
choices are ours:

- A segment's right side always reaches to its end, as in MongoDB's use of the method (Daly et al., ICPE 2020). So that
  a passing change is found too, a longer segment is also searched in overlapping windows.
- The level of a test grows with the length of the segment, so that a quiet history has at most about one false change
  point in 2,000 values, whatever its length.
- When all are found, each is placed anew between its neighbours and tested once more there.
- Where each value remembers something of the one before, permutations keep blocks of neighbours together: single values
  would make a slow wave of the machine look like changes.
- What a straight line explains better than steps do is a drift, and no change point.

Permutations come from fixed seeds: the same values have the same change points.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

LEAST_SIDE = 3  # values on each side of a change
WINDOW = 64
FALSE_POINTS_PER_VALUE = 1 / 2000
HIGHEST_LEVEL = 0.02
PERMUTATIONS_PER_LEVEL = 4  # p-values are this many times finer than the level
LEVELS = 64  # more values are rounded to one of these for the test
FIRST_PERMUTATIONS = 25  # where they tell, no more are drawn
TREND_VALUES = 8  # fewer show no trend
LEAST_REMEMBERING = 50  # values; the memory of fewer cannot be told from chance
MEMORY_BY_CHANCE = 4.0  # over the square root of the number of values
MOST_MEMORY = 0.9


@dataclass(frozen=True, slots=True)
class ChangePoint:
    """`index` is the first value after the change; `p` the share of permutations that have as large a statistic."""

    index: int
    statistic: float
    p: float


@dataclass(frozen=True, slots=True)
class Drift:
    """A trend of the values `begin` to `end` (behind the last): Theil and Sen's slope a value, Mann and Kendall's p."""

    begin: int
    end: int
    slope: float
    p: float

    @property
    def total(self) -> float:
        return self.slope * (self.end - self.begin - 1)


@dataclass(frozen=True, slots=True)
class Segmentation:
    """What a series is made of; `bounds` are those of the segments between its changes, 0 and its length included."""

    changes: tuple[ChangePoint, ...]
    drifts: tuple[Drift, ...]
    bounds: tuple[int, ...]


def segment(values: Sequence[float], seed: int = 0) -> Segmentation:
    """Change points and drifts of `values`, in time order. Raises ValueError for values that are not finite."""
    series = _finite(values)
    if not len(series):
        return Segmentation((), (), (0, 0))
    found = _changes(series, _Noise(seed, 1))
    if (block := block_length(series, [one.index for one in found])) > 1:
        found = _changes(series, _Noise(seed, block))
    drifts, replaced = _drifts(np.asarray(values, dtype=float), [one.index for one in found])
    changes = tuple(one for one in found if one.index not in replaced)
    return Segmentation(changes, drifts, (0, *(one.index for one in changes), len(series)))


def energy_statistic(values: np.ndarray) -> np.ndarray:
    """Q of each split of `values` (n,): result[k] is that of the first k values against the others, for k from 2 to
    n - 2, and -inf elsewhere. Equation 6 of Matteson and James with exponent 1."""
    levels = np.unique(values)
    return _statistics(np.searchsorted(levels, values)[None, :], np.diff(levels))[0]


def block_length(values: np.ndarray, changes: Sequence[int] = ()) -> int:
    """How many neighbours a permutation keeps together: 1, or more where each value remembers something of the one
    before. The memory of an autoregressive process of order 1 follows from the spread of differences over one and over
    two steps, none of them across `changes`; the length is that of Carlstein (Ann. Stat. 14, 1986)."""
    count = len(values)
    if count < LEAST_REMEMBERING:
        return 1
    parts = np.split(values, list(changes))
    one_step, two_steps = (_spread(np.concatenate([part[lag:] - part[:-lag] for part in parts])) for lag in (1, 2))
    memory = min(MOST_MEMORY, (two_steps / one_step) ** 2 - 1) if one_step > 0 else 0.0
    if memory < MEMORY_BY_CHANCE / math.sqrt(count):
        return 1
    return math.ceil(count ** (1 / 3) * (2 * memory / (1 - memory**2)) ** (2 / 3))


def _spread(values: np.ndarray) -> float:
    """Standard deviation, where what lies beyond the 5 % and 95 % quantiles is drawn in to these."""
    return float(np.std(np.clip(values, *np.quantile(values, [0.05, 0.95]))))


def level(length: int) -> float:
    """The level of the test of a segment of so many values."""
    share = 0.5 if length > WINDOW else 1.0  # the other half is for its windows
    return min(HIGHEST_LEVEL, length * FALSE_POINTS_PER_VALUE * share)


def _finite(values: Sequence[float]) -> np.ndarray:
    series = np.asarray(values, dtype=float)
    if not np.all(np.isfinite(series)):
        raise ValueError("a history of values that are not finite")
    return series


@dataclass(frozen=True, slots=True)
class _Rounded:
    """Values as numbers of levels, and the distances between consecutive levels: all of up to LEVELS distinct values,
    else as many of their quantiles. Then the sum over pairs |x - y| is that over gaps of the gap times how many of the
    values lie below it times how many lie above: no table of all pairs is needed."""

    codes: np.ndarray  # (n,)
    gaps: np.ndarray  # (levels - 1,)


def _rounded(values: np.ndarray) -> _Rounded:
    levels = np.unique(values)
    if len(levels) > LEVELS:
        edges = np.quantile(values, np.linspace(0, 1, LEVELS + 1)[1:-1])
        codes = np.searchsorted(edges, values)
        _, codes = np.unique(codes, return_inverse=True)
        levels = np.bincount(codes, weights=values) / np.bincount(codes)
    else:
        codes = np.searchsorted(levels, values)
    gaps = np.diff(levels)
    return _Rounded(codes.astype(np.int16), gaps / gaps.sum() if len(gaps) else gaps)


def _statistics(rows: np.ndarray, gaps: np.ndarray) -> np.ndarray:
    """energy_statistic of each of `rows` (r, n), codes of the same values in other orders."""
    count, length = rows.shape
    result = np.full((count, length), -np.inf)
    if length < 4 or not len(gaps):
        return result
    counts_below = np.cumsum(np.bincount(rows[0], minlength=len(gaps) + 1))[:-1].astype(float)  # among all values
    sizes = np.arange(1, length + 1, dtype=float)
    linear, mixed = (
        np.cumsum(np.append(np.cumsum(weights[::-1])[::-1], 0)[rows], axis=1) for weights in (gaps, gaps * counts_below)
    )
    square = _squares_of_counts(rows, gaps)
    within_left = sizes * linear - square
    within_right = (length - sizes) * (counts_below @ gaps - linear) - (counts_below**2 @ gaps - 2 * mixed + square)
    crossing = within_left[:, -1:] - within_left - within_right
    left = np.arange(2, length - 1, dtype=float)
    right = length - left
    at = slice(1, length - 2)
    result[:, 2:-1] = (2 / length) * (
        crossing[:, at] - right / (left - 1) * within_left[:, at] - left / (right - 1) * within_right[:, at]
    )
    return result


def _squares_of_counts(rows: np.ndarray, gaps: np.ndarray) -> np.ndarray:
    """[r, k]: the sum over gaps of the gap times the square of how many of the first k + 1 values lie below it. One
    step a value for all rows at once: numpy's cumulative sums over three axes take ten times longer."""
    result = np.empty(rows.shape)
    levels = np.arange(len(gaps), dtype=rows.dtype)
    counts = np.zeros((len(rows), len(gaps)))
    squares, lies_below = np.empty_like(counts), np.empty(counts.shape, dtype=bool)
    for at in range(rows.shape[1]):
        np.less_equal(rows[:, at, None], levels, out=lies_below)
        np.add(counts, lies_below, out=counts)
        np.multiply(counts, counts, out=squares)
        result[:, at] = squares @ gaps
    return result


def _best_split(statistics: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each row: the index of the largest statistic with LEAST_SIDE values on each side, and that statistic."""
    inside = statistics[:, LEAST_SIDE : statistics.shape[1] - LEAST_SIDE + 1]
    index = np.argmax(inside, axis=1)
    return index + LEAST_SIDE, inside[np.arange(len(inside)), index]


@dataclass(frozen=True, slots=True)
class _Noise:
    """How permutations are drawn."""

    seed: int
    block: int  # neighbours that stay together

    def rows(self, generator: np.random.Generator, codes: np.ndarray, count: int) -> np.ndarray:
        """`count` permutations of `codes`."""
        length = len(codes)
        if self.block == 1 or length <= 2 * self.block:
            return generator.permuted(np.broadcast_to(codes, (count, length)), axis=1)
        blocks = np.arange(-(-length // self.block))
        order = generator.permuted(np.broadcast_to(blocks, (count, len(blocks))), axis=1)
        places = (order[:, :, None] * self.block + np.arange(self.block)).reshape(count, -1)
        places = places[places < length].reshape(count, length)
        return codes[(places + generator.integers(0, length, (count, 1))) % length]


def _tested(series: np.ndarray, begin: int, end: int, at_level: float, noise: _Noise) -> ChangePoint | None:
    """The best split of series[begin:end], where it is significant at `at_level`."""
    values = series[begin:end]
    if len(values) < 2 * LEAST_SIDE or np.ptp(values) == 0:
        return None
    rounded = _rounded(values)
    index, observed = (float(one[0]) for one in _best_split(_statistics(rounded.codes[None, :], rounded.gaps)))
    permutations = math.ceil(PERMUTATIONS_PER_LEVEL / at_level) - 1
    most = math.floor(at_level * (permutations + 1)) - 1  # permutations that may reach what was observed
    generator = np.random.default_rng((noise.seed, begin, end))
    reached, done = 0, 0
    while done < permutations:
        count = min(max(FIRST_PERMUTATIONS, 2 * done), permutations - done)
        rows = noise.rows(generator, rounded.codes, count)
        reached += int(np.sum(_best_split(_statistics(rows, rounded.gaps))[1] >= observed * (1 - 1e-9)))
        done += count
        if reached > most:
            return None
    return ChangePoint(begin + int(index), observed, (reached + 1) / (permutations + 1))


def _changes(series: np.ndarray, noise: _Noise) -> list[ChangePoint]:
    return _refined(series, sorted(_divided(series, noise)), noise)


def _divided(series: np.ndarray, noise: _Noise) -> list[int]:
    """Indices of the changes of `series`."""
    pending, found = [(0, len(series))], []
    while pending:
        first, last = pending.pop()
        change = _tested(series, first, last, level(last - first), noise) or _in_windows(series, first, last, noise)
        if change is not None:
            found.append(change.index)
            pending += [(first, change.index), (change.index, last)]
    return found


def _in_windows(series: np.ndarray, begin: int, end: int, noise: _Noise) -> ChangePoint | None:
    """The most significant change in windows that overlap by half; None where there is none."""
    if end - begin <= WINDOW:
        return None
    starts = [*range(begin, end - WINDOW, WINDOW // 2), end - WINDOW]
    at_level = WINDOW / 2 * FALSE_POINTS_PER_VALUE / 2
    tested = (_tested(series, start, start + WINDOW, at_level, noise) for start in starts)
    return max((one for one in tested if one is not None), key=lambda one: one.statistic, default=None)


def _refined(series: np.ndarray, indices: list[int], noise: _Noise) -> list[ChangePoint]:
    """Each change between its neighbours: placed anew, and dropped where it is not significant there; again until
    nothing moves."""
    tested: list[ChangePoint | None] = []
    for _ in range(2 * len(indices) + 2):
        bounds = [0, *indices, len(series)]
        around = zip(bounds, bounds[2:], strict=False)
        tested = [_tested(series, first, last, level(last - first), noise) for first, last in around]
        placed = sorted({one.index for one in tested if one is not None})
        if placed == indices:
            break
        indices = placed
    by_index = {one.index: one for one in tested if one is not None}  # neighbours may have met, or passed, at the end
    return [by_index[index] for index in sorted(by_index)]


def _drifts(values: np.ndarray, indices: list[int]) -> tuple[tuple[Drift, ...], set[int]]:
    """Trends, and the changes that they replace: of consecutive changes in one direction those that a line explains
    better, the longest runs first; and of every segment in which nothing changed."""
    bounds = [0, *indices, len(values)]
    drifts, replaced = [], set()
    for first, last in _runs(values, bounds):
        inside = indices[first:last]
        if replaced.isdisjoint(inside) and _is_line(values, bounds[first : last + 2]):
            drift = _trend(values, bounds[first], bounds[last + 1])
            if drift is not None:
                drifts.append(drift)
                replaced |= set(inside)
    kept = [0, *(index for index in indices if index not in replaced), len(values)]
    covered = [(one.begin, one.end) for one in drifts]
    for begin, end in pairwise(kept):
        if (begin, end) not in covered and (drift := _trend(values, begin, end)) is not None:
            drifts.append(drift)
    return tuple(sorted(drifts, key=lambda one: one.begin)), replaced


def _runs(values: np.ndarray, bounds: list[int]) -> list[tuple[int, int]]:
    """Ranges (first, last + 1) of changes that go in one direction, the longest first."""
    middles = [float(np.median(values[a:b])) for a, b in pairwise(bounds)]
    signs = [b > a for a, b in pairwise(middles)]
    ranges = [
        (first, last)
        for first in range(len(signs))
        for last in range(first + 1, len(signs) + 1)
        if len(set(signs[first:last])) == 1
    ]
    return sorted(ranges, key=lambda one: (one[0] - one[1], one[0]))


def _is_line(values: np.ndarray, bounds: list[int]) -> bool:
    """Whether a line explains values[bounds[0]:bounds[-1]] better than one median between each two bounds: the smaller
    of Schwarz's criteria (BIC) of both, with absolute residuals."""
    from scipy.stats import theilslopes  # slow to load

    inside = values[bounds[0] : bounds[-1]]
    steps = sum(
        float(np.sum(np.abs(part - np.median(part)))) for part in np.split(inside, np.array(bounds[1:-1]) - bounds[0])
    )
    at = np.arange(len(inside))
    slope, intercept, *_ = theilslopes(inside, at)
    line = float(np.sum(np.abs(inside - intercept - slope * at)))
    parameters_of_steps, parameters_of_line = 2 * (len(bounds) - 1) - 1, 2
    return _criterion(line, parameters_of_line, len(inside)) < _criterion(steps, parameters_of_steps, len(inside))


def _criterion(residuals: float, parameters: int, count: int) -> float:
    return 2 * count * math.log(max(residuals, 1e-300) / count) + parameters * math.log(count)


def _trend(values: np.ndarray, begin: int, end: int) -> Drift | None:
    inside = values[begin:end]
    if len(inside) < TREND_VALUES or np.ptp(inside) == 0:
        return None
    from scipy.stats import kendalltau, theilslopes

    at = np.arange(len(inside))
    p = float(kendalltau(at, inside).pvalue)
    if not p <= level(len(inside)):
        return None
    return Drift(begin, end, float(theilslopes(inside, at).slope), p)
