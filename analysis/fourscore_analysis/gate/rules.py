"""When a series is flagged, confirmed, red, or the same as before: the decisions themselves, on shifts of logarithms of
times, for one series or for many at once. docs/gate.md says it to people, and tests/benchmarks/gate_simulation.py
measures with these very functions how often they err.

Two stages. The screen only chooses what is measured again, so it may err often: it costs launches, no false alarm. The
verdict of what it chose rests on fresh launches alone, which know nothing of why they were made. So the correction by
Holm is over the series that were confirmed, not over all.

Looks. The second stage looks at a series a few times before its last pair, so that a large effect does not take all of
them. How many pairs each look has is fixed before the first of them. Each look may spend a share of the error, and the
shares are 1 together (Lan and DeMets, Biometrika 70, 1983; little at the first looks, as Haybittle, Brit. J. Radiol.
44, 1971, has it). The p-value of a series is the least of p / share over its looks: were nothing changed, each is below
a with a probability of share * a at most, and so one of them with a at most, however the looks depend on each other and
whenever it stops. Intervals are repeated ones (Jennison and Turnbull, J. R. Statist. Soc. B 51, 1989): that of a look
leaves out share * 5 %.

The margin is max(2 %, twice the noise). Noise is that of the *estimate*: its standard error over the launches. Taken
from single launches it would be 5 % and more on a small noisy machine, however many there are, and a slowdown of 5 %
could never be found. So taken, more launches buy a finer gate, and a series with too few launches is never red for a
difference that its own noise could bring."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from fourscore_analysis.points.shifts import EXACT_DIFFERENCES, Shift, signed_rank_tail
from fourscore_analysis.points.stats import NORMAL

NOISE_FACTOR = 2.0  # a margin is at least so many standard errors
WORTH_A_LOOK = 0.8  # share of a series' pairs that a look before the last may have


@dataclass(frozen=True)
class Rules:
    margin: float = 0.02  # a change that nobody needs to look at
    effect: float = 0.05  # a slowdown that must be found
    error: float = 0.01  # chance that a comparison is red though nothing changed
    confidence: float = 0.95  # level of each interval
    power: float = 0.98  # chance that the second stage finds `effect`
    screen_miss: float = 0.015  # chance that the screen does not choose a slowdown of `effect`
    screen_p: float = 0.8  # one-sided, above which the candidate is rather faster
    better_p: float = 0.05  # one-sided, of an improvement that is worth confirming
    disturbed: float = 0.1  # share of disturbed pairs that the second stage must bear
    safety: float = 1.5  # on the noise of the screen: too little of it costs a regression, too much costs launches
    most_pairs: int = 160  # in the second stage
    interim_error: float = 0.1  # share of the error that the looks before the last may spend
    interim_looks: int = 2


RULES = Rules()


def margin_of(shift: Shift, rules: Rules = RULES) -> np.ndarray:
    """In logarithms: a ratio of 1 + max(2 %, twice the noise of the estimate)."""
    return np.log1p(np.maximum(rules.margin, NOISE_FACTOR * shift.standard_error))


def alike_within(shift: Shift, rules: Rules = RULES) -> np.ndarray:
    """The margin within which an interval says "no change": never wider than the effect that must be found, so that a
    noisy series is not called unchanged for its noise."""
    return np.minimum(margin_of(shift, rules), math.log1p(rules.effect))


def looks_slower(shift: Shift, rules: Rules = RULES) -> np.ndarray:
    """Whether the screen has this series measured again: unless its launches refute a slowdown of `rules.effect`, or
    rather speak for a faster candidate. So whatever the noise, the screen misses such a slowdown with at most
    `rules.screen_miss`, and with 1 - `rules.screen_p` where noise hides even its sign."""
    refuted = shift.p_below(math.log1p(rules.effect)) <= rules.screen_miss
    return ~refuted & (shift.p_above() <= rules.screen_p)


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


def least_looks(tests: int, rules: Rules = RULES) -> tuple[int, ...]:
    """Pairs at the looks before the last: the first as soon as the largest effect can pass, each other twice the one
    before it. The same for all series of the second stage."""
    first = least_pairs(tests, of_look(rules, rules.interim_error / rules.interim_looks))
    return tuple(first * 2**number for number in range(rules.interim_looks))


def of_look(rules: Rules, share: float) -> Rules:
    """The rules of a look that may spend this share of the error."""
    return replace(rules, error=rules.error * share, confidence=1 - (1 - rules.confidence) * share)


def shares_of(looks: Sequence[int], pairs: int, rules: Rules = RULES) -> dict[int, float]:
    """By how many pairs a look has: the share of the error that it may spend, of a series that is to be measured in
    `pairs`. Looks that would save less than a fifth of these are left out; what they do not spend, none does."""
    interim = [look for look in looks if look <= WORTH_A_LOOK * pairs]
    spent = rules.interim_error / rules.interim_looks
    return dict.fromkeys(interim, spent) | {pairs: 1 - rules.interim_error if interim else 1.0}


def is_decided(shift: Shift, share: float, tests: int, rules: Rules = RULES) -> bool:
    """Whether a look can end a series: it is slower or faster whatever the other `tests` - 1 turn out to be."""
    at_look = of_look(rules, share)
    least = min(1.0, tests * float(np.minimum(shift.p_above(), shift.p_below())))
    return bool(is_slower(shift, least, at_look) | is_faster(shift, least, at_look))


def _least_shift(standard_error: np.ndarray, p_limit: float, power: float, rules: Rules) -> np.ndarray:
    """The shift that is called red with `power`: far enough from 0 for p, and its interval from the margin."""
    z_power, z_p = NORMAL.inv_cdf(power), -NORMAL.inv_cdf(p_limit)
    z_interval = NORMAL.inv_cdf((1 + rules.confidence) / 2)
    margin = np.log1p(np.maximum(rules.margin, NOISE_FACTOR * standard_error))
    return np.maximum((z_p + z_power) * standard_error, margin + (z_interval + z_power) * standard_error)


def detectable(shift: Shift, tests: int, power: float = 0.8, rules: Rules = RULES) -> np.ndarray:
    """The smallest slowdown, as a share of the time, that so many launches of such noise show with `power` where
    `tests` series are tested; infinite where so few can show none."""
    limit = rules.error / max(1, tests)
    found = np.expm1(_least_shift(shift.standard_error, limit, power, rules))
    bounded = np.isfinite(shift.interval(rules.confidence)[0])
    return np.where(bounded & (shift.least_p <= limit), found, np.inf)


def visible_in_pairs(noise: np.ndarray, pairs: int, tests: int, power: float, rules: Rules = RULES) -> np.ndarray:
    """The smallest slowdown that so many pairs of such noise, the standard error of one pair, show with `power` where
    `tests` series are tested, before any is measured."""
    error = np.asarray(noise, dtype=float) / math.sqrt(pairs)
    return np.expm1(_least_shift(error, rules.error / max(1, tests), power, rules))


def screen_detectable(shift: Shift, power: float = 0.8, rules: Rules = RULES) -> np.ndarray:
    """The smallest slowdown that the screen would have chosen for the second stage with `power`: its upper limit less
    what chance adds. At least what the second stage finds, `rules.effect`, where it is that much."""
    z_power = NORMAL.inv_cdf(power)
    return np.maximum(rules.effect, np.expm1(z_power * shift.standard_error))


def least_pairs(tests: int, rules: Rules = RULES) -> int:
    """Pairs without which nothing can be red, however large, where `tests` series are tested."""
    by_interval = math.ceil(math.log2(2 / (1 - rules.confidence)) - 1e-9)
    return max(by_interval, math.ceil(math.log2(max(1, tests) / rules.error) - 1e-9))


@lru_cache(maxsize=256)
def sturdy_pairs(tests: int, rules: Rules = RULES) -> int:
    """Pairs that show a slowdown although one of ten (rules.disturbed) is disturbed so much that it speaks against it
    more than any other does for it: the signed ranks without these still pass. A few quiet pairs of a screen say
    nothing of how often a launch is disturbed."""
    limit = rules.error / max(1, tests)
    for count in range(least_pairs(tests, rules) + 1, EXACT_DIFFERENCES):
        against = math.ceil(rules.disturbed * count)
        tail = signed_rank_tail(count)
        if tail[len(tail) - 1 - sum(range(count - against + 1, count + 1))] <= limit:
            return count
    return EXACT_DIFFERENCES


def settled_noise(noise: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """The noise of single pairs, [series], better known: that of a few pairs is itself noisy, so each is drawn to the
    middle of all, the more the less they differ beyond what so few pairs explain (empirical Bayes, on logarithms; the
    logarithm of a standard error of n pairs has a spread of about 1.1 / sqrt(n))."""
    values = np.asarray(noise, dtype=float)
    usable = values > 0
    if usable.sum() < 2:
        return values
    logs = np.log(values[usable])
    chance = 1.2 / np.asarray(pairs, dtype=float)[usable]
    real = max(0.0, float(np.var(logs, ddof=1)) - float(np.mean(chance)))
    weight = real / (real + chance)
    settled = values.copy()
    settled[usable] = np.exp(np.median(logs) + weight * (logs - np.median(logs)))
    return settled


def pairs_needed(noise: np.ndarray, tests: int, rules: Rules = RULES) -> np.ndarray:
    """Pairs that show `rules.effect` with `rules.power`; `noise` is the standard error of one pair. At least what
    disturbed launches ask for, at most `rules.most_pairs`."""
    least = sturdy_pairs(tests, rules)
    counts = np.arange(least, max(least, rules.most_pairs) + 1)
    errors = np.asarray(noise, dtype=float)[..., None] / np.sqrt(counts)
    enough = _least_shift(errors, rules.error / max(1, tests), rules.power, rules) <= math.log1p(rules.effect)
    return np.where(enough.any(axis=-1), counts[enough.argmax(axis=-1)], counts[-1])
