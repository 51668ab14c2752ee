"""What is said of each series of a comparison. The rules are in rules.py; here they are applied, and what cannot be
judged is told apart by its reason."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from fourscore_analysis.gate.blame import PhaseChange, blame
from fourscore_analysis.gate.modes import bimodal
from fourscore_analysis.gate.rules import (
    RULES,
    Rules,
    alike_within,
    detectable,
    is_alike,
    is_faster,
    is_slower,
    least_pairs,
    margin_of,
    of_look,
    pairs_needed,
    screen_detectable,
    shares_of,
)
from fourscore_analysis.gate.series import Series, logs_of
from fourscore_analysis.points.shifts import Shift, holm, paired_shift, sample_shift

WRONG, REGRESSION, MISSING, NOT_COMPARABLE = "wrong", "regression", "missing", "not comparable"
UNDECIDED, BIMODAL, IMPROVEMENT, NO_CHANGE = "undecided", "bimodal", "improvement", "no change"
COUNTED, SKIPPED = "counted", "skipped"  # without times on either side: simulated; solved by neither
WORST_FIRST = (
    WRONG,
    REGRESSION,
    MISSING,
    NOT_COMPARABLE,
    BIMODAL,
    UNDECIDED,
    IMPROVEMENT,
    NO_CHANGE,
    COUNTED,
    SKIPPED,
)
BLOCKING = (WRONG, REGRESSION)
DECIDED = (WRONG, REGRESSION, IMPROVEMENT, COUNTED, SKIPPED)
LEAST_LAUNCHES = 2


@dataclass(frozen=True)
class Change:
    """The change of a time: candidate over base. `interval` is None where there are too few launches for one. The times
    are those of a typical pair: their ratio is the estimate."""

    ratio: float
    interval: tuple[float, float] | None
    p: float  # one-sided, of a slowdown
    corrected_p: float
    margin: float  # as a share of the time
    alike_within: float
    base_s: float
    candidate_s: float
    launches: tuple[int, int]


@dataclass
class Verdict:
    series: Series
    word: str
    reason: str = ""
    change: Change | None = None
    detectable: float | None = None  # share of the time; infinite: so few launches can show nothing
    pairs_needed: int | None = None  # to show the effect of the rules
    phases: list[PhaseChange] = field(default_factory=list)

    @property
    def blocks(self) -> bool:
        return self.word in BLOCKING

    def could_hide(self, by_power: bool = False) -> float:
        """The largest slowdown, as a share of the time, that may be there unseen: by what the interval excludes or by
        what such launches would have shown with 80 %; `by_power` by the latter alone. Infinite where nothing is known
        of the candidate, 0 where the verdict says all, or there is nothing to become slower."""
        if self.word in DECIDED or (self.word == MISSING and not self.series.base.runs):
            return 0.0
        if self.word not in (NO_CHANGE, UNDECIDED) or self.change is None or self.detectable is None:
            return math.inf
        excluded = math.inf if by_power or not self.change.interval else max(0.0, self.change.interval[1] - 1)
        return min(self.detectable, excluded)

    @property
    def order(self) -> tuple:
        """Worst first."""
        size = abs(math.log(self.change.ratio)) if self.change else 0.0
        return (WORST_FIRST.index(self.word), -size, self.series.title)


@dataclass
class _Measured:
    """A series that can be tested."""

    series: Series
    shift: Shift
    base: np.ndarray
    candidate: np.ndarray
    looks: list[tuple[float, Shift]]  # the last included, each with its share of the error
    corrected_slower: float = 1.0
    corrected_faster: float = 1.0

    @property
    def share(self) -> float:
        return self.looks[-1][0]

    @property
    def p_above(self) -> float:
        """The p of all looks together."""
        return min(1.0, min(float(shift.p_above()) / share for share, shift in self.looks))

    @property
    def p_below(self) -> float:
        return min(1.0, min(float(shift.p_below()) / share for share, shift in self.looks))

    @property
    def noise(self) -> float:
        """The standard error of one pair."""
        first, second = len(self.base), len(self.candidate)
        pairs = first if self.series.paired else 2 * first * second / (first + second)
        return float(self.shift.standard_error) * math.sqrt(pairs)


def judge(series: Sequence[Series], two_stages: bool, rules: Rules = RULES) -> list[Verdict]:
    """A verdict for each series, worst first. With `two_stages` the chosen ones alone are tested."""
    verdicts, measured = [], []
    for one in series:
        if found := _without_a_test(one, rules):
            verdicts.append(found)
        else:
            measured.append(_measured(one, rules))
    tested = [one for one in measured if one.series.chosen or not two_stages]
    for one, slower, faster in zip(
        tested,
        holm([one.p_above for one in tested]),
        holm([one.p_below for one in tested]),
        strict=True,
    ):
        one.corrected_slower, one.corrected_faster = slower, faster
    for one in measured:
        if two_stages and not one.series.chosen:
            verdicts.append(_screened(one, rules))
        else:
            verdicts.append(_tested(one, len(tested), rules))
    return sorted(verdicts, key=lambda verdict: verdict.order)


def measure(series: Series, rules: Rules = RULES) -> _Measured | None:
    """The shift between the sides; None where there are too few launches."""
    base, candidate = series.launches()
    return _measured(series, rules) if min(len(base), len(candidate)) >= LEAST_LAUNCHES else None


def _measured(series: Series, rules: Rules) -> _Measured:
    base, candidate = (logs_of(side) for side in series.launches())
    shift = paired_shift(candidate - base) if series.paired else sample_shift(candidate, base)
    looks = looks_at(series, rules)
    return _Measured(series, shift, base, candidate, [*looks[:-1], (looks[-1][0], shift)] if looks else [(1.0, shift)])


def looks_at(series: Series, rules: Rules = RULES) -> list[tuple[float, Shift]]:
    """At a chosen series, as far as it was measured: the share of the error of each, and what it saw."""
    planned, found = series.confirmation, []
    if planned is None:
        return []
    for look, share in shares_of(planned.looks, planned.pairs, rules).items():
        base, candidate = (logs_of(side) for side in series.pairs_at(look))
        if look <= planned.reached and len(base) >= LEAST_LAUNCHES:
            found.append((share, paired_shift(candidate - base)))
    return found


def _without_a_test(series: Series, rules: Rules) -> Verdict | None:
    """None where there is something to test."""
    if wrong := series.candidate.trouble("wrong"):
        return Verdict(series, WRONG, f"candidate: {wrong}")
    if not series.has_times:
        return _timeless(series)
    if series.launch_differences:
        return Verdict(series, NOT_COMPARABLE, f"launched differently: {'; '.join(series.launch_differences)}")
    base, candidate = series.launches()
    few = min(len(base), len(candidate))
    if few >= LEAST_LAUNCHES:
        return None
    if series.chosen and few == 0:
        return Verdict(series, UNDECIDED, "chosen by the screen, and not measured again")
    what = "pairs of launches" if series.paired else "launches of each side"
    reason = f"{few} {what}; it takes {least_pairs(1, rules)} at least, more where many series are tested"
    return Verdict(series, UNDECIDED, _with_troubles(series, reason), detectable=math.inf)


def _timeless(series: Series) -> Verdict:
    if series.base.counted and series.candidate.counted:
        return Verdict(series, COUNTED, "simulated: its counts are compared, it has no times")
    sides = {"base": series.base, "candidate": series.candidate}
    if all(side.runs and set(side.statuses) == {"skipped"} and not side.counted for side in sides.values()):
        return Verdict(series, SKIPPED, series.candidate.trouble("skipped"))
    reasons = []
    for name, side in sides.items():
        if not side.runs:
            reasons.append(f"{name}: no launch")
        elif not side.timed:
            reasons.append(f"{name}: {_troubles(side) or 'no time'}")
    return Verdict(series, MISSING, "; ".join(reasons))


def _troubles(side) -> str:
    return ", ".join(filter(None, (side.trouble(status) for status in side.statuses)))


def _with_troubles(series: Series, reason: str) -> str:
    """Launches that have no time are said, whatever the verdict is."""
    sides = {"base": series.base, "candidate": series.candidate}
    said = [f"{name}: {text}" for name, side in sides.items() if (text := _troubles(side))]
    return "; ".join([*([reason] if reason else []), *said])


def _change(one: _Measured, rules: Rules) -> Change:
    estimate = float(one.shift.estimate)
    middle = middle_of(one, estimate)
    low, high = (float(end) for end in one.shift.interval(rules.confidence))
    return Change(
        ratio=math.exp(estimate),
        interval=(math.exp(low), math.exp(high)) if math.isfinite(low) else None,
        p=one.p_above,
        corrected_p=one.corrected_slower,
        margin=math.expm1(float(margin_of(one.shift, rules))),
        alike_within=math.expm1(float(alike_within(one.shift, rules))),
        base_s=math.exp(middle - estimate / 2),
        candidate_s=math.exp(middle + estimate / 2),
        launches=(len(one.base), len(one.candidate)),
    )


def middle_of(one: _Measured, estimate: float) -> float:
    """The logarithm halfway between the times of a typical pair. The medians of the two sides are from different pairs
    where the machine changed meanwhile, and may contradict the estimate."""
    if one.series.paired:
        return statistics.median((one.base + one.candidate) / 2)
    return statistics.median([*(one.base + estimate / 2), *(one.candidate - estimate / 2)])


def _screened(one: _Measured, rules: Rules) -> Verdict:
    word = NO_CHANGE if is_alike(one.shift, rules) else UNDECIDED
    verdict = Verdict(one.series, word, _with_troubles(one.series, ""), _change(one, rules))
    verdict.detectable = float(screen_detectable(one.shift, rules=rules))
    verdict.pairs_needed = int(pairs_needed(one.noise, 1, rules))
    return verdict


def _tested(one: _Measured, tests: int, rules: Rules) -> Verdict:
    at_look = of_look(rules, one.share)
    rules = replace(at_look, error=rules.error)  # p has its share in it
    if bimodal(one.base, one.candidate, one.shift.estimate, one.series.paired):
        word = BIMODAL
    elif is_slower(one.shift, one.corrected_slower, rules):
        word = REGRESSION
    elif is_faster(one.shift, one.corrected_faster, rules):
        word = IMPROVEMENT
    else:
        word = NO_CHANGE if is_alike(one.shift, rules) else UNDECIDED
    reason = "launches fall into two groups" if word == BIMODAL else ""
    change = _change(one, rules)
    verdict = Verdict(one.series, word, _with_troubles(one.series, reason), change)
    verdict.detectable = float(detectable(one.shift, tests, rules=at_look))
    verdict.pairs_needed = int(pairs_needed(one.noise, tests, at_look))
    if word in (REGRESSION, IMPROVEMENT):
        verdict.phases = blame(one.series, (change.base_s, change.candidate_s), rules)
    return verdict
