"""What a comparison in pairs will be able to see, before its first launch: from how much the launches of its points
differed when they were measured before on this machine, as the archive's index has them."""

from __future__ import annotations

import math
import sqlite3
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from fourscore_analysis.gate.rules import RULES, Rules, pairs_needed, settled_noise, visible_in_pairs
from fourscore_analysis.points.units import percent_text
from fourscore_analysis.records.index import open_index

FEWEST = 4  # launches of one build in one campaign that say something of noise
ROBUST = 1.4826  # standard deviation over median absolute deviation, for normal noise
POWER = 0.8
_CHUNK = 500  # points in one question


def beforehand(
    archive: Path, points: Sequence[str], machine_hash: str, most_pairs: int, rules: Rules = RULES
) -> dict[str, Any]:
    """`noise`: of one pair, by point; `visible`: the smallest slowdown that `most_pairs` fresh pairs show with POWER
    where all points are tested; `pairs_needed`: for rules.effect. Points without earlier launches are in none."""
    rules = replace(rules, most_pairs=most_pairs)
    found = {point: _noise(groups) for point, groups in _launches(archive, points, machine_hash).items()}
    noise = {point: value for point, (value, _) in found.items() if value > 0}
    counts = np.array([found[point][1] for point in noise], dtype=float)
    settled = dict(zip(noise, settled_noise(np.array(list(noise.values())), counts), strict=True)) if noise else {}
    tests = max(1, len(points))
    visible = {
        point: float(visible_in_pairs(value, most_pairs, tests, POWER, rules)) for point, value in settled.items()
    }
    needed = {point: int(pairs_needed(value, tests, rules)) for point, value in settled.items()}
    return {
        "schema": "fourscore.gate-beforehand",
        "schema_version": 1,
        "noise": {point: float(value) for point, value in settled.items()},
        "visible": visible,
        "pairs_needed": needed,
        "text": _text(len(points), settled, visible, needed, most_pairs, rules),
    }


def _launches(archive: Path, points: Sequence[str], machine_hash: str) -> dict[str, list[list[float]]]:
    """Logarithms of the times of the launches of each point, a list for each campaign and build. Without an index that
    can be read nothing is known."""
    groups: dict[str, dict[tuple[str, str], list[float]]] = defaultdict(lambda: defaultdict(list))
    try:
        with open_index(archive) as database:
            for start in range(0, len(points), _CHUNK):
                chunk = list(points[start : start + _CHUNK])
                rows = database.execute(
                    "SELECT point_id, campaign, code_hash, median_s FROM records WHERE status = 'ok'"
                    " AND machine_hash = ? AND flags NOT LIKE '%slowed%'"
                    f" AND point_id IN ({','.join('?' * len(chunk))})",
                    [machine_hash, *chunk],
                )
                for point, campaign, code, median_s in rows:
                    if median_s and median_s > 0:
                        groups[point][campaign, code].append(math.log(median_s))
    except (OSError, sqlite3.Error):
        return {}
    return {point: [group for group in of_point.values() if len(group) >= FEWEST] for point, of_point in groups.items()}


def _noise(groups: Sequence[Sequence[float]]) -> tuple[float, int]:
    """Standard deviation of the logarithm of a pair's ratio, and how many launches say so: the middle of the groups'
    own, each robust against single disturbed launches."""
    spreads = []
    for group in groups:
        logs = np.array(group)
        spreads.append(ROBUST * float(np.median(np.abs(logs - np.median(logs)))))
    return (math.sqrt(2) * float(np.median(spreads)), sum(map(len, groups))) if spreads else (0.0, 0)


def _text(
    points: int,
    noise: dict[str, float],
    visible: dict[str, float],
    needed: dict[str, int],
    most_pairs: int,
    rules: Rules,
) -> str:
    if not noise:
        return (
            "what it can detect: not known before the screen; no series was measured here before in 4 launches or more"
        )
    ends = [percent_text(end) for end in (min(visible.values()), max(visible.values()))]
    span = ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"
    enough = sum(count < most_pairs for count in needed.values())
    text = (
        f"what it can detect: slowdowns of {span} with up to {most_pairs} pairs ({percent_text(POWER)}); "
        f"{percent_text(rules.effect)} in {enough} of {points} series, by the noise of earlier launches"
    )
    unknown = points - len(noise)
    return text + (f"; of {unknown} nothing is known yet" if unknown else "")
