"""Exact tests of a shift, and the estimate and interval that belong to them, for many series at once.

Paired values: the signed-rank test (Wilcoxon, Biometrics Bulletin 1, 1945) of their differences, whose signs are
flipped. Two samples: the rank sum (Mann and Whitney, Ann. Math. Stat. 18, 1947). Both have the same form. There are
candidates for the shift, the means of all pairs of differences (Walsh averages) or all differences between the samples.
The statistic is how many candidates lie above the shift that is tested, and how often chance brings so many is known
exactly. So the estimate is the median candidate (Hodges and Lehmann, Ann. Math. Stat. 34, 1963), and the interval
consists of candidates: it holds exactly the shifts that the test does not refuse. Test and interval never contradict.

Ties. A candidate that equals the tested shift counts for chance, on either side. That keeps the error rate: move each
value by a little noise of its own, and there are no ties, the statistic can only grow, and its distribution is the
exact one. Equal values make the test careful, never wrong."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from fourscore_analysis.points.stats import EXACT_PAIRS, NORMAL, rank_sum_chances

EXACT_DIFFERENCES = 100  # beyond so many, the signed-rank sum is normal enough
OF_ERROR = 0.8  # confidence of the interval whose length is the standard error; of 0.9, tails reach into it at 8 pairs


@dataclass(frozen=True)
class Shift:
    """The shift of one series, or of several of one size: `candidates` has one row a series, each sorted."""

    candidates: np.ndarray  # [...][candidate]
    tail: np.ndarray  # probability by chance of s candidates or more above the shift, s = 0 ... all

    @property
    def estimate(self) -> np.ndarray:
        """The median candidate, [...]."""
        count = self.candidates.shape[-1]
        return (self.candidates[..., (count - 1) // 2] + self.candidates[..., count // 2]) / 2

    def p_above(self, shift: float | np.ndarray = 0.0) -> np.ndarray:
        """Probability, were the true shift `shift` or less, that chance alone brings values as far above."""
        return self.tail[np.sum(self.candidates > np.asarray(shift)[..., None], axis=-1)]

    def p_below(self, shift: float | np.ndarray = 0.0) -> np.ndarray:
        """As p_above, below."""
        return self.tail[np.sum(self.candidates < np.asarray(shift)[..., None], axis=-1)]

    def p_two_sided(self, shift: float | np.ndarray = 0.0) -> np.ndarray:
        return np.minimum(1.0, 2 * np.minimum(self.p_above(shift), self.p_below(shift)))

    def interval(self, confidence: float) -> tuple[np.ndarray, np.ndarray]:
        """The shifts that a two-sided test at 1 - `confidence` does not refuse; without bounds where there are too few
        values for any to be refused."""
        first = self._first((1 - confidence) / 2)
        if first == 0:
            nothing = np.full(self.candidates.shape[:-1], np.inf)
            return -nothing, nothing
        return self.candidates[..., first - 1], self.candidates[..., -first]

    def _first(self, tail: float) -> int:
        """Number, from 1, of the candidate at which the interval begins that leaves `tail` on each side; 0: none."""
        return int(np.searchsorted(self.tail[::-1], tail * (1 + 1e-12), side="right"))

    @property
    def least_p(self) -> float:
        """The smallest one-sided p that so many values can have."""
        return float(self.tail[-1])

    @cached_property
    def standard_error(self) -> np.ndarray:
        """The estimate's: half the length of an interval over the normal quantile of its confidence. No outlier
        and no tail moves it far, and for large samples it is right for any distribution (Lehmann, Ann. Math. Stat. 34,
        1963)."""
        first = max(1, self._first((1 - OF_ERROR) / 2))
        quantile = -NORMAL.inv_cdf(self.tail[self.candidates.shape[-1] - first + 1])
        return (self.candidates[..., -first] - self.candidates[..., first - 1]) / (2 * quantile)


def paired_shift(differences: np.ndarray | Sequence[float]) -> Shift:
    """The shift of differences within pairs, [...][pair]. Raises ValueError with fewer than two."""
    values = np.asarray(differences, dtype=float)
    count = values.shape[-1]
    if count < 2:
        raise ValueError(f"{count} pairs, a shift takes 2")
    first, second = _pairs_of(count)
    averages = (values[..., first] + values[..., second]) / 2
    return Shift(np.sort(averages, axis=-1), signed_rank_tail(count))


def paired_p_above(differences: np.ndarray) -> np.ndarray:
    """p_above() of paired_shift() where no two differences have the same size and none is 0, without the candidates:
    for many series of many pairs."""
    values = np.asarray(differences, dtype=float)
    order = np.argsort(np.abs(values), axis=-1)
    positive = np.take_along_axis(values, order, axis=-1) > 0
    return signed_rank_tail(values.shape[-1])[positive @ np.arange(1, values.shape[-1] + 1)]


@lru_cache(maxsize=64)
def _pairs_of(count: int) -> tuple[np.ndarray, np.ndarray]:
    return np.triu_indices(count)


def sample_shift(values: np.ndarray | Sequence[float], others: np.ndarray | Sequence[float]) -> Shift:
    """By how much `values`, [...][launch], lie above `others`. Raises ValueError with fewer than two of either."""
    above, below = np.asarray(values, dtype=float), np.asarray(others, dtype=float)
    if min(above.shape[-1], below.shape[-1]) < 2:
        raise ValueError(f"samples of {above.shape[-1]} and {below.shape[-1]}, a shift takes 2 of each")
    differences = above[..., :, None] - below[..., None, :]
    flat = differences.reshape(*differences.shape[:-2], -1)
    return Shift(np.sort(flat, axis=-1), rank_sum_tail(above.shape[-1], below.shape[-1]))


@lru_cache(maxsize=256)
def signed_rank_tail(count: int) -> np.ndarray:
    """P(W >= s), s = 0 ... count (count + 1) / 2, of the signed-rank sum of `count` differences."""
    largest = count * (count + 1) // 2
    if count > EXACT_DIFFERENCES:
        variance = count * (count + 1) * (2 * count + 1) / 24
        return _normal_tail(largest, variance)
    chances = np.zeros(largest + 1)
    chances[0] = 1.0
    for rank in range(1, count + 1):  # each rank is in the sum or not
        moved = np.zeros_like(chances)
        moved[rank:] = chances[: largest + 1 - rank]
        chances = (chances + moved) / 2
    return _tail(chances)


@lru_cache(maxsize=1024)
def rank_sum_tail(first: int, second: int) -> np.ndarray:
    """P(U >= s), s = 0 ... first * second, of the count of Mann and Whitney."""
    few, many = min(first, second), max(first, second)
    if few * many > EXACT_PAIRS:
        return _normal_tail(few * many, few * many * (few + many + 1) / 12)
    return _tail(rank_sum_chances(few, many))


def _tail(chances: np.ndarray) -> np.ndarray:
    """Sums from the end on: small probabilities keep their digits."""
    return np.minimum(1.0, np.cumsum(chances[::-1])[::-1])


def _normal_tail(largest: int, variance: float) -> np.ndarray:
    from scipy.special import ndtr  # slow to load, and wanted for many launches alone

    return ndtr((largest / 2 - np.arange(largest + 1) + 0.5) / math.sqrt(variance))


def holm(p_values: Sequence[float]) -> list[float]:
    """Each corrected for how many there are: at or below a, the chance that any such is an error is at most a, however
    they depend on each other (Holm, Scand. J. Stat. 6, 1979)."""
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    corrected, largest = [1.0] * len(p_values), 0.0
    for place, index in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - place) * p_values[index]))
        corrected[index] = largest
    return corrected
