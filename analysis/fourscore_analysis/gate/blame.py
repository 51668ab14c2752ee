"""Which phase of a slower transform became slower: the same test for each phase, corrected for how many there are."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass

import numpy as np

from fourscore_analysis.gate.rules import RULES, Rules, alike_within
from fourscore_analysis.gate.series import Series, Timed
from fourscore_analysis.points.shifts import Shift, holm, paired_shift, sample_shift
from fourscore_analysis.records.transforms import Launch

LEAST_SHARE = 0.01  # share of the transform's time on either side; smaller phases explain nothing
ERROR = 0.05  # chance that a message blames any phase that did not change
SLOWER, FASTER, UNCHANGED, UNTOLD = "slower", "faster", "unchanged", "cannot tell"
REST, UNTESTED = "the rest", "not tested"  # phases of less than LEAST_SHARE together


@dataclass(frozen=True)
class PhaseChange:
    """`ratio` and `interval`, of the rank that was slowest in the phase, are None where a side does not have it. The
    seconds are parts of the time of the transform, of the rank that was slowest in that: those of all phases add up
    to it. A rank that waits for another does so in the exchange, so the two may differ."""

    phase: str
    word: str
    ratio: float | None
    interval: tuple[float, float] | None
    corrected_p: float
    grew_s: float  # how much longer the slowest rank takes in the phase, between the medians of the sides
    base_s: float
    candidate_s: float


def blame(series: Series, times_s: tuple[float, float], rules: Rules = RULES) -> list[PhaseChange]:
    """The phases that explain most of the change first; `times_s` are the transform's on both sides. Empty where
    records have no phases, as those of components. A tested time of a phase is the slowest rank's of each repetition,
    median over repetitions: who waits for a slower rank waits in the exchange, so a slower phase may show there
    too."""
    base, candidate = series.launches()
    names = _large_phases(base) | _large_phases(candidate)
    parts = [_parts(side, time_s) for side, time_s in zip((base, candidate), times_s, strict=True)]
    gone, shifts = [], {}
    for name in sorted(names):
        sides = [[launch.phase_s.get(name, 0.0) for launch in side] for side in (base, candidate)]
        middle = [statistics.median(side) for side in sides]
        if min(min(side) for side in sides) <= 0:
            word = UNTOLD if min(middle) > 0 else SLOWER if middle[1] > middle[0] else FASTER
            gone.append(PhaseChange(name, word, None, None, 1.0, middle[1] - middle[0], *_of(name, parts)))
        else:
            logs = [np.log(side) for side in sides]
            shift = paired_shift(logs[1] - logs[0]) if series.paired else sample_shift(logs[1], logs[0])
            shifts[name] = (shift, middle[1] - middle[0])
    corrected = holm([float(shift.p_two_sided()) for shift, _ in shifts.values()])
    found = [
        _phase_change(name, shift, p, grew_s, _of(name, parts), rules)
        for (name, (shift, grew_s)), p in zip(shifts.items(), corrected, strict=True)
    ]
    small = {name for part in parts for name in part} - names
    rest = [sum(part.get(name, 0.0) for name in small) for part in parts]
    ordered = sorted([*gone, *found], key=lambda one: -abs(one.grew_s))
    return [*ordered, PhaseChange(REST, UNTESTED, None, None, 1.0, 0.0, *rest)] if any(rest) else ordered


def _parts(launches: list[Timed], time_s: float) -> dict[str, float]:
    """Seconds by phase that add up to `time_s`: the mean share of each in the launches."""
    shares: dict[str, float] = {}
    for launch in launches:
        of_rank = launch.run.phase_s if isinstance(launch.run, Launch) else {}
        total = sum(of_rank.values())
        for name, seconds in of_rank.items() if total > 0 else ():
            shares[name] = shares.get(name, 0.0) + seconds / total
    whole = sum(shares.values())
    return {name: time_s * share / whole for name, share in shares.items()}


def _of(name: str, parts: list[dict[str, float]]) -> tuple[float, float]:
    return parts[0].get(name, 0.0), parts[1].get(name, 0.0)


def _large_phases(launches: list[Timed]) -> set[str]:
    names = {name for launch in launches for name in launch.phase_s}
    return {
        name
        for name in names
        if statistics.median(launch.phase_s.get(name, 0.0) / launch.time_s for launch in launches) >= LEAST_SHARE
    }


def _phase_change(
    name: str, shift: Shift, p: float, grew_s: float, seconds: tuple[float, float], rules: Rules
) -> PhaseChange:
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
    return PhaseChange(name, word, math.exp(estimate), interval, p, grew_s, *seconds)
