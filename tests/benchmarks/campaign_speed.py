#!/usr/bin/env python3
"""How long `fourscore status`, `run` and jobs take with a campaign of many points, and how well a job uses its time.

Usage: campaign_speed.py [--points N] [--programs FOLDER] [--repetitions N] [--json]

Prints each number with its target, which holds for 10,000 points on two cores that do nothing else:

- status: of a campaign of N points, half of them archived and the others in 100 jobs, with one query of the scheduler;
- resume: from the start of `fourscore run` until the first launch begins, with N records archived and one missing;
- resume in a job: the same of the job's `fourscore run`;
- use: how much of a job's time is within programs that measure for 10 s (real launches on a Slurm of its own, as root).

Slurm and fft_bench are stand-ins (tests/support) in all but the last. Exit code 1 when a number misses its target. No
test does this: what a test asserts must hold on a busy machine.
"""

from __future__ import annotations

import json
import os
import pathlib
import sys
import tempfile
import time
from collections.abc import Callable

from timing import options_of, tell

TARGETS = {"status_s": 2.0, "resume_s": 3.0, "resume_in_a_job_s": 3.0}
LEAST_USE = 0.9


def suite_of(cluster, points: int) -> pathlib.Path:
    """Points of one launch each, on two nodes."""
    shapes = ", ".join(f'"{1 + i}x4x4"' for i in range(points))
    return cluster.suite(
        f'name = "many"\nlaunches = 1\nrepetitions = 3\nseed = 7\ntime_limit_s = 30\n'
        f'[[sweep]]\nvariant = "good"\nshape = [{shapes}]\nnodes = 2\nranks_per_node = 1\n'
    )


def write_records(cluster, campaign: dict, schedule: list) -> None:
    """Writes the records of these launches as the fake bench would."""
    from fourscore_command import signed

    points = {entry["point_id"]: entry["point"] for entry in campaign["points"]}
    folder = cluster.archive / "records" / campaign["id"]
    folder.mkdir(parents=True, exist_ok=True)
    times = [0.001, 0.002, 0.003]
    for order, (point_id, launch) in enumerate(schedule):
        record = {
            "schema": "fourscore.run-record",
            "schema_version": 1,
            "record_id": f"{order:032x}",
            "point_id": point_id,
            "point": points[point_id],
            "campaign": {"id": campaign["id"], "suite": campaign["suite"], "launch": launch, "order": order},
            "sampling": {"repetitions": 3},
            "verdict": {"status": "ok", "reason": "", "exit_status": 0, "signal": 0, "stderr_tail": ""},
            "samples": {"time_s": times, "rank_total_s": [times] * points[point_id]["ranks"]},
            "harness": {"measure_s": 0.1},
            "credited_flops": 1.0,
            "flags": [],
        }
        (folder / f"{point_id}-{launch:03}.json").write_text(signed(record))


def campaign_of(cluster) -> dict:
    (file,) = cluster.archive.glob("campaigns/*/campaign.json")
    return json.loads(file.read_text())


def timed_status(cluster, points: int, repetitions: int) -> list[float]:
    # Jobs of about a hundredth of the points each.
    suite = suite_of(cluster, points)
    cluster("submit", suite, "--time-limit", 30 * max(1, points // 200) + 90, "--only", "ranks=2")
    campaign = campaign_of(cluster)
    write_records(cluster, campaign, campaign["schedule"][: points // 2])
    cluster("status", campaign["id"])  # the index is made once
    times_s = []
    for _ in range(repetitions):
        cluster.let_ask_again()
        before = len(cluster.calls("squeue"))
        begin = time.monotonic()
        said = json.loads(cluster("status", campaign["id"], "--json").stdout)[0]
        times_s.append(time.monotonic() - begin)
        assert len(cluster.calls("squeue")) == before + 1
        assert (said["records"], said["queued"]) == (points // 2, points - points // 2)
    return times_s


def complete(cluster) -> None:
    """Writes what the campaign still lacks."""
    campaign = campaign_of(cluster)
    there = {file.stem for file in cluster.archive.glob("records/*/*.json")}
    write_records(cluster, campaign, [one for one in campaign["schedule"] if f"{one[0]}-{one[1]:03}" not in there])
    cluster("status", campaign["id"])


def times_until_a_launch(cluster, points: int, repetitions: int, prepare: Callable, start: Callable) -> list[float]:
    """From the call of `start` with what `prepare` returned, where one record of all is missing."""
    complete(cluster)
    times_s = []
    for _ in range(repetitions):
        sorted(cluster.archive.glob("records/*/*.json"))[points // 2].unlink()
        prepared = prepare()
        begin = time.time()
        start(prepared)
        times_s.append(cluster.started()[-1] - begin)
    return times_s


def timed_resume(cluster, points: int, repetitions: int) -> list[float]:
    """Until a launch of `fourscore run` outside jobs begins."""
    suite = suite_of(cluster, points)
    name = {"environment": {"SLURM_JOB_ID": "1", "SLURM_JOB_NODELIST": "n[1-2]"}}

    def start(_: object = None) -> None:
        cluster("run", suite, "--max-launches", 1, "--quiet", **name)

    start()
    return times_until_a_launch(cluster, points, repetitions, lambda: None, start)


def timed_job(cluster, points: int, repetitions: int) -> list[float]:
    """Until a launch of a job begins."""
    suite = suite_of(cluster, points)
    cluster("submit", suite, "--only", "shape=1x4x4")
    cluster.run_all()

    def prepare() -> str:
        (job,) = cluster.submit(suite)["jobs"]
        return job["id"]

    return times_until_a_launch(cluster, points, repetitions, prepare, cluster.run)


def use_of_a_job(programs: pathlib.Path) -> dict[str, float] | str:
    """The shares of a job's wall time in launches and in the programs that they start, or why they are not known."""
    from slurm_campaign import RigCampaigns
    from slurm_rig import SlurmRig, temporary_folder, unavailable

    if reason := unavailable():
        return reason
    with temporary_folder() as folder, SlurmRig(folder, nodes=2) as rig:
        real = RigCampaigns(rig)
        real.use_real_bench()
        suite = real.suite(
            'name = "use"\nlaunches = 4\nrepetitions = 100000\nmax_time_s = 10\ntime_limit_s = 100\n'
            '[[sweep]]\nvariant = "slab"\nshape = "32x32x32"\nnodes = 2\nranks_per_node = 1\nplanner = "estimate"\n'
        )
        (job,) = real.submit(suite)["jobs"]
        real.wait_for_jobs([job["id"]], 300)
        lines = rig.run(["scontrol", "show", "job", job["id"]], env={"SLURM_TIME_FORMAT": "%s"}).stdout
        said = dict(word.split("=", 1) for word in lines.split() if "=" in word)
        wall_s = float(said["EndTime"]) - float(said["StartTime"])
        (status,) = json.loads(real("status", "--json").stdout)
        records = [json.loads(file.read_text()) for file in real.archive.glob("records/*/*.json")]
        assert len(records) == 4, real.said_by(job, real.campaign("use"))
        in_programs_s = sum(sum(record["harness"].values()) - record["harness"]["launch_s"] for record in records)
        return {
            "wall_s": wall_s,
            "launches": status["jobs"][0]["launches_s"] / wall_s,
            "programs": in_programs_s / wall_s,
        }


def main() -> int:
    options = options_of(__doc__, {"points": (10000, 1)}, "programs")
    os.environ["FOURSCORE_BIN"] = options.programs
    from pretended_slurm import Campaign

    times_s = {}
    measures = {"status_s": timed_status, "resume_s": timed_resume, "resume_in_a_job_s": timed_job}
    for name, measure in measures.items():
        with tempfile.TemporaryDirectory() as folder:
            times_s[name] = measure(Campaign(pathlib.Path(folder)), options.points, options.repetitions)
    use = use_of_a_job(pathlib.Path(options.programs))
    missed = tell({"points": options.points, "use of a job's time": use}, TARGETS, options.json, times_s)
    return int(missed or (isinstance(use, dict) and use["programs"] < LEAST_USE))


if __name__ == "__main__":
    sys.exit(main())
