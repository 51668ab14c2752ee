"""Which phase of a slower transform became slower: the same test for each phase, corrected for how many there are."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass

import numpy as np

from fourscore_analysis.gate.rules import RULES, Rules, alike_within
from fourscore_analysis.gate.series import Series, Timed
from fourscore_analysis.points.shifts import Shift, holm, paired_shift, sample_shift

LEAST_SHARE = 0.01  # of the transform's time on either side; smaller phases explain nothing
ERROR = 0.05  # of a message that blames any phase that did not change
SLOWER, FASTER, UNCHANGED, UNTOLD = "slower", "faster", "unchanged", "cannot tell"


@dataclass(frozen=True)
class PhaseChange:
    """`ratio` and `interval` are None where a side does not have the phase."""

    phase: str
    word: str
    ratio: float | None
    interval: tuple[float, float] | None
    corrected_p: float
    base_s: float
    candidate_s: float

    @property
    def seconds(self) -> float:
        """What it added to the time."""
        return self.candidate_s - self.base_s


def blame(series: Series, rules: Rules = RULES) -> list[PhaseChange]:
    """Those that explain most of the change first. Empty where records have no phases, as those of components. A time
    of a phase is the slowest rank's of each repetition, median over repetitions: who waits for a slower rank waits in
    the exchange, so a slower phase may show there too."""
    base, candidate = series.launches()
    names = _large_phases(base) | _large_phases(candidate)
    gone, shifts = [], {}
    for name in sorted(names):
        sides = [[launch.phase_s.get(name, 0.0) for launch in side] for side in (base, candidate)]
        middle = [statistics.median(side) for side in sides]
        if min(min(side) for side in sides) <= 0:
            word = UNTOLD if min(middle) > 0 else SLOWER if middle[1] > middle[0] else FASTER
            gone.append(PhaseChange(name, word, None, None, 1.0, *middle))
        else:
            logs = [np.log(side) for side in sides]
            shift = paired_shift(logs[1] - logs[0]) if series.paired else sample_shift(logs[1], logs[0])
            shifts[name] = (shift, middle)
    corrected = holm([float(shift.p_two_sided()) for shift, _ in shifts.values()])
    found = [
        _phase_change(name, shift, middle, p, rules)
        for (name, (shift, middle)), p in zip(shifts.items(), corrected, strict=True)
    ]
    return sorted([*gone, *found], key=lambda one: -abs(one.seconds))


def _large_phases(launches: list[Timed]) -> set[str]:
    names = {name for launch in launches for name in launch.phase_s}
    return {
        name
        for name in names
        if statistics.median(launch.phase_s.get(name, 0.0) / launch.time_s for launch in launches) >= LEAST_SHARE
    }


def _phase_change(name: str, shift: Shift, middle: list[float], p: float, rules: Rules) -> PhaseChange:
    low, high = (float(end) for end in shift.interval(rules.confidence))
    within = float(alike_within(shift, rules))
    estimate = float(shift.estimate)
    if -within <= low and high <= within:
        word = UNCHANGED
    elif p <= ERROR and (low > 0 or high < 0):
        word = SLOWER if estimate > 0 else FASTER
    else:
        word = UNTOLD
    interval = (math.exp(low), math.exp(high)) if math.isfinite(low) else None
    return PhaseChange(name, word, math.exp(estimate), interval, p, *middle)
