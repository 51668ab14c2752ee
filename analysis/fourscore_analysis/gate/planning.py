"""What the second stage measures: the series that the screen chose, and how many pairs each needs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fourscore_analysis.gate.modes import bimodal
from fourscore_analysis.gate.rules import (
    RULES,
    Rules,
    is_decided,
    least_looks,
    looks_faster,
    looks_slower,
    of_look,
    pairs_needed,
    screen_detectable,
    settled_noise,
    shares_of,
)
from fourscore_analysis.gate.series import Series, logs_of
from fourscore_analysis.gate.sides import Compared
from fourscore_analysis.gate.verdict import LEAST_LAUNCHES, WRONG, Verdict, judge, measure
from fourscore_analysis.points.shifts import paired_shift


def decided(compared: Compared, rules: Rules = RULES) -> dict[str, int]:
    """Points of the second stage that a look can end, with its number of pairs: all their series are slower or faster,
    whatever the others turn out to be. A series in two groups goes on: its pairs say little yet."""
    chosen = [series for series in compared.series if series.confirmation]
    ended: dict[str, int] = {}
    open_points: set[str] = set()
    for series in chosen:
        if look := _first_look(series, len(chosen), rules):
            ended[series.point_id] = max(look, ended.get(series.point_id, 0))
        else:
            open_points.add(series.point_id)
    return {point: look for point, look in ended.items() if point not in open_points}


def _first_look(series: Series, tests: int, rules: Rules) -> int | None:
    planned = series.confirmation
    for look, share in shares_of(planned.looks, planned.pairs, rules).items() if planned else ():
        base, candidate = (logs_of(side) for side in series.pairs_at(look))
        if look == planned.pairs or len(base) < LEAST_LAUNCHES:
            continue
        shift = paired_shift(candidate - base)
        if is_decided(shift, share, tests, rules) and not bimodal(base, candidate, shift.estimate, True):
            return look
    return None


def plan_of(compared: Compared, rules: Rules = RULES) -> dict[str, Any]:
    """By point, as a launch measures all series of its point. `pairs_needed` is for the points that were flagged, and
    `looks` the pairs at which the second stage looks at them before; `smallest_visible` is the slowdown that this stage
    would have flagged with 80 %, of every point. `decided` is of a second stage that has begun."""
    measured = [one for series in compared.series if (one := measure(series, rules)) is not None]
    noises = settled_noise(np.array([one.noise for one in measured]), np.array([len(one.base) for one in measured]))
    flagged: dict[str, float] = {}
    visible: dict[str, float] = {}
    why: dict[str, str] = {}
    for one, noise in zip(measured, noises, strict=True):
        shift, point = one.shift, one.series.point_id
        visible[point] = max(visible.get(point, 0.0), float(screen_detectable(shift, rules=rules)))
        if (slower := bool(looks_slower(shift, rules))) or looks_faster(shift, rules):
            flagged[point] = max(flagged.get(point, 0.0), float(noise))
            why.setdefault(point, "may be slower" if slower else "looks faster")
    wrong: list[Verdict] = [one for one in judge(compared.series, False, rules) if one.word == WRONG]
    at_last = of_look(rules, 1 - rules.interim_error)
    needed = {point: int(pairs_needed(noise * rules.safety, len(flagged), at_last)) for point, noise in flagged.items()}
    return {
        "schema": "fourscore.gate-plan",
        "schema_version": 1,
        "flagged": list(flagged),
        "pairs_needed": needed,
        "looks": list(least_looks(len(flagged), rules)),
        "decided": decided(compared, rules),
        "why": why,
        "smallest_visible": {point: value for point, value in visible.items() if math.isfinite(value)},
        "wrong": sorted({one.series.point_id for one in wrong}),
        "series": len(compared.series),
    }
