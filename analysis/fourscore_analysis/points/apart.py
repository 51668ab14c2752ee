"""Whether the launches of two points tell them apart: the exact tests of shifts.py, which `fourscore compare` uses too.

Launches of a campaign go in rounds: launch k of every point is measured before launch k + 1 of any, in random order. So
launches of one round pair, which takes out what the machine did from round to round. With fewer than LEAST_ROUNDS
rounds no pairing can show anything (the smallest p of five is 2 / 2^5 = 6 %); then all launches of the one are compared
with all of the other, for which five of each are enough (2 / C(10, 5) = 0.8 %)."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from pathlib import PurePath

from fourscore_analysis.points.shifts import Shift, paired_shift, sample_shift
from fourscore_analysis.points.stats import INTERVAL_FROM, Estimate
from fourscore_analysis.records.basics import Run
from fourscore_analysis.records.transforms import Launch

ERROR = 0.05  # chance that two equally fast methods are told apart
LEAST_ROUNDS = 6
RATIO_CONFIDENCE = 0.95


def _rounds(launches: Sequence[Launch]) -> dict[tuple[str, int], float]:
    """Logarithms of times by campaign and round. A launch that was measured again stands in its round."""
    return {_round(launch): math.log(launch.median_s) for launch in launches}


def _round(run: Run) -> tuple[str, int]:
    return str(PurePath(run.file).parent), run.launch if run.retry_of is None else run.retry_of


def shift_between(first: Sequence[Launch], second: Sequence[Launch]) -> Shift | None:
    """How much longer `first` take, in logarithms; None where either has fewer than two launches."""
    if min(len(first), len(second)) < 2:
        return None
    ones, others = _rounds(first), _rounds(second)
    common = [key for key in ones if key in others]
    if len(common) >= LEAST_ROUNDS:
        return paired_shift([ones[key] - others[key] for key in common])
    return sample_shift(*([math.log(launch.median_s) for launch in launches] for launches in (first, second)))


def shown_slower(first: Sequence[Launch], second: Sequence[Launch]) -> bool:
    """Whether `first` are shown to take longer than `second`. The chance that one of two equally fast points is shown
    to be slower is at most ERROR. Launches on a simulated network have the same time each time, so one shows it."""
    if first and second and all("simulated" in launch.flags for launch in (*first, *second)):
        return first[0].median_s > second[0].median_s
    shift = shift_between(first, second)
    return shift is not None and float(shift.p_above()) <= ERROR / 2


def ratio_between(first: Sequence[Launch], second: Sequence[Launch]) -> Estimate:
    """The time of `first` over that of `second`, by the estimate of the test that tells them apart; that of the medians
    where either has one launch. An interval from INTERVAL_FROM launches of both on."""
    sides = (first, second)
    shift = shift_between(*sides)
    if shift is None:
        above, below = (statistics.median(launch.median_s for launch in launches) for launches in sides)
        return Estimate(above / below, None)
    low, high = (float(end) for end in shift.interval(RATIO_CONFIDENCE))
    bounded = math.isfinite(low) and min(map(len, sides)) >= INTERVAL_FROM
    return Estimate(math.exp(float(shift.estimate)), (math.exp(low), math.exp(high)) if bounded else None)
