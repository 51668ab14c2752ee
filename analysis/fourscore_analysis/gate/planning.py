"""What the second stage measures: the series that the screen chose, and how many pairs each needs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fourscore_analysis.gate.rules import (
    RULES,
    Rules,
    looks_faster,
    looks_slower,
    pairs_needed,
    screen_detectable,
    settled_noise,
)
from fourscore_analysis.gate.sides import Compared
from fourscore_analysis.gate.verdict import WRONG, Verdict, judge, measure


def plan_of(compared: Compared, rules: Rules = RULES) -> dict[str, Any]:
    """By point, as a launch measures all series of its point. `pairs_needed` is for the points that were flagged;
    `smallest_visible` is the slowdown that this stage would have flagged with 80 %, of every point."""
    measured = [one for series in compared.series if (one := measure(series)) is not None]
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
    needed = {point: int(pairs_needed(noise * rules.safety, len(flagged), rules)) for point, noise in flagged.items()}
    return {
        "schema": "fourscore.gate-plan",
        "schema_version": 1,
        "flagged": list(flagged),
        "pairs_needed": needed,
        "why": why,
        "smallest_visible": {point: value for point, value in visible.items() if math.isfinite(value)},
        "wrong": sorted({one.series.point_id for one in wrong}),
        "series": len(compared.series),
    }
