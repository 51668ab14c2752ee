"""When a series is flagged, confirmed, red, or the same as before: the decisions themselves, on shifts of logarithms of
times, for one series or for many at once. docs/gate.md says it to people, and tests/benchmarks/gate_simulation.py
measures with these very functions how often they err.

Two stages. The screen only chooses what is measured again, so it may err often: it costs launches, no false alarm. The
verdict of what it chose rests on fresh launches alone, which know nothing of why they were made. So the correction by
Holm is over the series that were confirmed, not over all.

The margin is max(2 %, twice the noise). Noise is that of the *estimate*: its standard error over the launches. Taken
from single launches it would be 5 % and more on a small noisy machine, however many there are, and a slowdown of 5 %
could never be found. So taken, more launches buy a finer gate, and a series with too few launches is never red for a
difference that its own noise could bring."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from fourscore_analysis.points.shifts import Shift

NOISE_FACTOR = 2.0  # of the margin


@dataclass(frozen=True)
class Rules:
    margin: float = 0.02  # a change that nobody needs to look at
    effect: float = 0.05  # a slowdown that must be found
    error: float = 0.01  # of a comparison that is red though nothing changed
    confidence: float = 0.95  # of each interval
    power: float = 0.98  # with which the second stage is to find `effect`
    screen_p: float = 0.3  # one-sided
    screen_share: float = 0.25  # of the margin, that an estimate must be beyond to be flagged
    better_p: float = 0.05  # one-sided, of an improvement that is worth confirming
    most_pairs: int = 100  # of the second stage


RULES = Rules()


def margin_of(shift: Shift, rules: Rules = RULES) -> np.ndarray:
    """In logarithms: a ratio of 1 + max(2 %, twice the noise of the estimate)."""
    return np.log1p(np.maximum(rules.margin, NOISE_FACTOR * shift.standard_error))


def alike_within(shift: Shift, rules: Rules = RULES) -> np.ndarray:
    """The margin within which an interval says "no change": never wider than the effect that must be found, so that a
    noisy series is not called unchanged for its noise."""
    return np.minimum(margin_of(shift, rules), math.log1p(rules.effect))


def looks_slower(shift: Shift, rules: Rules = RULES) -> np.ndarray:
    """Whether the screen has this series measured again. A series may be missed here for good, so it takes little."""
    least = rules.screen_share * math.log1p(rules.margin)
    return (shift.p_above() <= rules.screen_p) & (shift.estimate > least)


def looks_faster(shift: Shift, rules: Rules = RULES) -> np.ndarray:
    """Improvements block nothing: only clear ones are worth the launches."""
    return (shift.p_below() <= rules.better_p) & (shift.estimate < -math.log1p(rules.margin))


def is_slower(shift: Shift, corrected_p: np.ndarray, rules: Rules = RULES) -> np.ndarray:
    """Red: the corrected p passes, and the whole interval lies beyond the margin."""
    low, _ = shift.interval(rules.confidence)
    return (np.asarray(corrected_p) <= rules.error) & (low > margin_of(shift, rules))


def is_faster(shift: Shift, corrected_p: np.ndarray, rules: Rules = RULES) -> np.ndarray:
    _, high = shift.interval(rules.confidence)
    return (np.asarray(corrected_p) <= rules.error) & (high < -margin_of(shift, rules))


def is_alike(shift: Shift, rules: Rules = RULES) -> np.ndarray:
    """The whole interval lies within the margin."""
    low, high = shift.interval(rules.confidence)
    within = alike_within(shift, rules)
    return (low >= -within) & (high <= within)


def _least_shift(standard_error: np.ndarray, p_limit: float, power: float, rules: Rules) -> np.ndarray:
    """The shift that is called red with `power`: far enough from 0 for p, and its interval from the margin."""
    z_power, z_p = float(ndtri(power)), -float(ndtri(p_limit))
    z_interval = float(ndtri((1 + rules.confidence) / 2))
    margin = np.log1p(np.maximum(rules.margin, NOISE_FACTOR * standard_error))
    return np.maximum((z_p + z_power) * standard_error, margin + (z_interval + z_power) * standard_error)


def detectable(shift: Shift, tests: int, power: float = 0.8, rules: Rules = RULES) -> np.ndarray:
    """The smallest slowdown, as a share of the time, that so many launches of such noise show with `power` where
    `tests` series are tested; infinite where so few can show none."""
    limit = rules.error / max(1, tests)
    found = np.expm1(_least_shift(shift.standard_error, limit, power, rules))
    bounded = np.isfinite(shift.interval(rules.confidence)[0])
    return np.where(bounded & (shift.least_p <= limit), found, np.inf)


def screen_detectable(shift: Shift, power: float = 0.8, rules: Rules = RULES) -> np.ndarray:
    """The smallest slowdown that the screen would have chosen for the second stage with `power`."""
    z_power, z_p = float(ndtri(power)), -float(ndtri(rules.screen_p))
    least = rules.screen_share * math.log1p(rules.margin)
    return np.expm1(np.maximum(z_p * shift.standard_error, least) + z_power * shift.standard_error)


def least_pairs(tests: int, rules: Rules = RULES) -> int:
    """Pairs without which nothing can be red, however large, where `tests` series are tested."""
    by_interval = math.ceil(math.log2(2 / (1 - rules.confidence)) - 1e-9)
    return max(by_interval, math.ceil(math.log2(max(1, tests) / rules.error) - 1e-9))


def pairs_needed(noise: np.ndarray, tests: int, rules: Rules = RULES) -> np.ndarray:
    """Pairs that show `rules.effect` with `rules.power`; `noise` is the standard error of one pair. At most
    `rules.most_pairs`, or what makes anything at all visible."""
    least = least_pairs(tests, rules) + 1
    counts = np.arange(least, max(least, rules.most_pairs) + 1)
    errors = np.asarray(noise, dtype=float)[..., None] / np.sqrt(counts)
    enough = _least_shift(errors, rules.error / max(1, tests), rules.power, rules) <= math.log1p(rules.effect)
    return np.where(enough.any(axis=-1), counts[enough.argmax(axis=-1)], counts[-1])
