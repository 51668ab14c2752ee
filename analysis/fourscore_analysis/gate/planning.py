"""What the second stage measures: the series that the screen chose, and how many pairs each needs."""

from __future__ import annotations

import math
from typing import Any

from fourscore_analysis.gate.rules import RULES, Rules, looks_faster, looks_slower, pairs_needed, screen_detectable
from fourscore_analysis.gate.sides import Compared
from fourscore_analysis.gate.verdict import WRONG, Verdict, judge, measure

SAFETY = 1.3  # the noise of few pairs is itself known badly: too little of it costs a regression, too much launches


def plan_of(compared: Compared, rules: Rules = RULES) -> dict[str, Any]:
    """By point, as a launch measures all series of its point. `pairs_needed` is for the points that were flagged;
    `smallest_visible` is the slowdown that this stage would have flagged with 80 %, of every point."""
    flagged: dict[str, float] = {}
    visible: dict[str, float] = {}
    why: dict[str, str] = {}
    for series in compared.series:
        measured = measure(series)
        if measured is None:
            continue
        shift, point = measured.shift, series.point_id
        visible[point] = max(visible.get(point, 0.0), float(screen_detectable(shift, rules=rules)))
        if (slower := bool(looks_slower(shift, rules))) or looks_faster(shift, rules):
            flagged[point] = max(flagged.get(point, 0.0), measured.noise)
            why.setdefault(point, "looks slower" if slower else "looks faster")
    wrong: list[Verdict] = [one for one in judge(compared.series, False, rules) if one.word == WRONG]
    needed = {point: int(pairs_needed(noise * SAFETY, len(flagged), rules)) for point, noise in flagged.items()}
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
