"""What the wall time of a campaign went to, as text."""

from __future__ import annotations

import statistics
from collections import defaultdict
from dataclasses import dataclass

from fourscore_analysis.points.units import percent_text, time_text
from fourscore_analysis.records.basics import HARNESS_STAGES, Run

WALL_KINDS = {
    "measuring": ("measure_s", "timeline_s", "isolate_s", "count_s"),
    "planning": ("plan_s",),
    "checking": ("verify_s",),
    "launching": ("launch_s", "init_s"),
    "writing": ("write_s",),
}


@dataclass
class WallPart:
    name: str
    time: str
    share: str
    fraction: float


@dataclass
class WallTime:
    """What the wall time of a campaign went to, in the order of WALL_KINDS."""

    total: str
    launches: int
    parts: list[WallPart]


@dataclass
class HarnessRow:
    stage: str
    kind: str
    median: str
    largest: str
    total: str
    share: str


def harness_rows(launches: list[Run]) -> list[HarnessRow]:
    """What measuring cost, by stage: median and largest of a launch, sum over the campaign and its share. Simulated
    launches are left out: what they cost is the simulator's."""
    values: dict[str, list[float]] = defaultdict(list)
    for launch in launches:
        if launch.simulated:
            continue
        for stage, seconds in launch.harness.items():
            values[stage].append(seconds)
    total = sum(sum(times) for times in values.values())
    return [
        HarnessRow(
            stage=stage.removesuffix("_s"),
            kind=next(kind for kind, stages in WALL_KINDS.items() if stage in stages),
            median=time_text(statistics.median(values[stage])),
            largest=time_text(max(values[stage])),
            total=time_text(sum(values[stage])),
            share=percent_text(sum(values[stage]) / total if total else None),
        )
        for stage in HARNESS_STAGES
        if stage in values
    ]


def wall_time(launches: list[Run]) -> WallTime | None:
    """All stages of all launches that say how long they took; simulated ones are left out, as in harness_rows."""
    told = [launch for launch in launches if launch.harness and not launch.simulated]
    seconds = {
        kind: sum(launch.harness.get(stage, 0.0) for launch in told for stage in stages)
        for kind, stages in WALL_KINDS.items()
    }
    total = sum(seconds.values())
    if not total:
        return None
    parts = [
        WallPart(kind, time_text(spent), percent_text(spent / total), spent / total)
        for kind, spent in seconds.items()
        if spent
    ]
    return WallTime(time_text(total), len(told), parts)
