"""What the wall time of a campaign went to, as text."""

from __future__ import annotations

import statistics
from collections import defaultdict
from datetime import datetime
from itertools import pairwise

from fourscore_analysis.points.units import percent_text, time_text
from fourscore_analysis.records.basics import HARNESS_STAGES, Run
from fourscore_analysis.records.transforms import Launch
from fourscore_analysis.tables.row import Texts

WALL_KINDS = {
    "measuring": ("measure_s", "timeline_s", "isolate_s", "count_s"),
    "planning": ("tune_s", "plan_s"),
    "checking": ("verify_s",),
    "launching": ("launch_s", "init_s"),
    "writing": ("write_s",),
}
BETWEEN = "between launches"
BEFORE_START = ("launch_s", "init_s")  # stages that are over when a record's time of start is taken
PAUSE_S = 60.0  # a longer gap is no part of the campaign: it was interrupted, or waited for its turn


def harness_rows(launches: list[Run]) -> list[Texts]:
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
        Texts(
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


def wall_time(launches: list[Run]) -> Texts | None:
    """All stages of all launches that say how long they took, in the order of WALL_KINDS, and what lay between them;
    simulated ones are left out, as in harness_rows. Waiting in a queue is no part of it. `untold`: how many launches
    did not come back to say how long they took."""
    timed = [launch for launch in launches if not launch.simulated and launch.status != "skipped"]
    told = [launch for launch in timed if launch.harness]
    seconds = {
        kind: sum(launch.harness.get(stage, 0.0) for launch in told for stage in stages)
        for kind, stages in WALL_KINDS.items()
    }
    if not sum(seconds.values()):
        return None
    seconds[BETWEEN] = between_s(timed)
    total = sum(seconds.values())
    parts = [
        Texts(name=kind, time=time_text(spent), share=percent_text(spent / total), fraction=spent / total)
        for kind, spent in seconds.items()
        if spent
    ]
    return Texts(
        total=time_text(total),
        launches=len(told),
        parts=parts,
        untold=len(timed) - len(told),
        reused=_reused(told),
    )


def _reused(launches: list[Run]) -> str:
    """40 of 45 launches reused their plans."""
    told = [launch for launch in launches if isinstance(launch, Launch) and launch.plan_reused is not None]
    reused = sum(launch.plan_reused is True for launch in told)
    return f"{reused} of {len(told)} launches reused their plans." if told else ""


def between_s(launches: list[Run]) -> float:
    """Seconds from the end of a program to the start of the next one of the same job, summed; without those before and
    after a launch that does not say how long it took, and without pauses."""
    by_job: dict[tuple[str, str], list[tuple[datetime, Run]]] = defaultdict(list)
    for launch in launches:
        if started := _started(launch):
            by_job[launch.suite, str(launch.volatile.get("job_id", ""))].append((started, launch))
    gaps = []
    for of_job in by_job.values():
        ordered = sorted(of_job, key=lambda one: one[0])
        for (start, launch), (next_start, following) in pairwise(ordered):
            if launch.harness and following.harness:
                before_next = sum(following.harness.get(stage, 0.0) for stage in BEFORE_START)
                inside = sum(time for stage, time in launch.harness.items() if stage not in BEFORE_START)
                gaps.append((next_start - start).total_seconds() - before_next - inside)
    return sum(gap for gap in gaps if 0 < gap <= PAUSE_S)


def _started(launch: Run) -> datetime | None:
    try:
        return datetime.strptime(str(launch.volatile.get("started_at", "")), "%Y-%m-%dT%H:%M:%S.%fZ")
    except ValueError:
        return None
