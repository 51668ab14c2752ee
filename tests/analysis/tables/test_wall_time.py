"""Where the wall time of a campaign went: every stage is counted once, and the parts add up to what the clock says."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from fourscore_analysis.points.units import time_text
from fourscore_analysis.records.basics import HARNESS_STAGES
from fourscore_analysis.records.transforms import parse_record
from fourscore_analysis.tables.wall_time import BETWEEN, WALL_KINDS, between_s, harness_rows, wall_time
from synthetic import Maker, canonical, make_point

START = datetime(2026, 11, 22, 8, tzinfo=timezone.utc)
STAGES = {stage: 0.5 * number for number, stage in enumerate(HARNESS_STAGES, 1)}  # 27.5 s together
WITHIN = sum(STAGES.values())


def launched(after_s: float, job: str = "", status: str = "ok", number: int = 0):
    """A launch whose command was given so many seconds after START; its record's clock is read when MPI runs."""
    maker, point = Maker(isolate=False, job=job), make_point()
    record = maker.ok(point, number) if status == "ok" else maker.ended(point, number, status, "it broke")
    started = START + timedelta(seconds=after_s + STAGES["launch_s"] + STAGES["init_s"])
    record["provenance"]["volatile"]["started_at"] = started.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
    if status == "ok":
        record["harness"] = STAGES
    return parse_record(canonical(record), f"{number}.json")


def parts_of(launches) -> dict[str, float]:
    return {part.name: part.fraction for part in wall_time(launches).parts}


def test_every_stage_belongs_to_one_part_and_planning_is_called_planning():
    assert sorted(stage for stages in WALL_KINDS.values() for stage in stages) == sorted(HARNESS_STAGES)
    assert WALL_KINDS["planning"] == ("tune_s", "plan_s")
    assert "plan_s" not in WALL_KINDS["measuring"]
    [row] = [row for row in harness_rows([launched(0)]) if row.stage == "plan"]
    assert (row.kind, row.total) == ("planning", "2.00 s")


def test_the_parts_add_up_to_the_time_from_the_first_launch_to_the_last():
    launches = [launched(number * (WITHIN + 2.5), number=number) for number in range(4)]
    parts = parts_of(launches)
    assert sum(parts.values()) == pytest.approx(1)
    total = 3 * (WITHIN + 2.5) + WITHIN  # as a clock beside them would have it
    assert wall_time(launches).total == time_text(total)
    assert parts[BETWEEN] == pytest.approx(3 * 2.5 / total)
    assert parts["planning"] == pytest.approx(4 * (STAGES["tune_s"] + STAGES["plan_s"]) / total)


def test_time_between_launches_is_counted_by_job_and_without_pauses():
    two_jobs = [launched(0, "1"), launched(1, "2"), launched(WITHIN + 3, "1"), launched(WITHIN + 6, "2")]
    assert between_s(two_jobs) == pytest.approx(3 + 5)
    assert between_s([launched(0), launched(WITHIN + 3600)]) == 0  # interrupted, and gone on with later
    assert between_s([launched(0), launched(WITHIN - 1)]) == 0


def test_launches_that_did_not_come_back_are_counted_and_not_guessed():
    launches = [launched(0), launched(30, status="timeout", number=1), launched(200, number=2)]
    skipped = launched(0, status="skipped", number=3)
    wall = wall_time([*launches, skipped])
    assert (wall.launches, wall.untold) == (2, 1)
    assert wall.total == "55.0 s"
    assert wall_time([launches[1]]) is None
