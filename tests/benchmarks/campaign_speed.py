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

import argparse
import json
import os
import pathlib
import statistics
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))

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


def timed_resume(cluster, points: int, repetitions: int) -> list[float]:
    """Until a launch of `fourscore run` outside jobs begins."""
    suite = suite_of(cluster, points)
    name = {"environment": {"SLURM_JOB_ID": "1", "SLURM_JOB_NODELIST": "n[1-2]"}}
    cluster("run", suite, "--max-launches", 1, "--quiet", **name)
    campaign = campaign_of(cluster)
    there = {file.stem for file in cluster.archive.glob("records/*/*.json")}
    write_records(cluster, campaign, [one for one in campaign["schedule"] if f"{one[0]}-{one[1]:03}" not in there])
    cluster("status", campaign["id"])
    times_s = []
    for _ in range(repetitions):
        sorted(cluster.archive.glob("records/*/*.json"))[points // 2].unlink()
        begin = time.time()
        cluster("run", suite, "--max-launches", 1, "--quiet", **name)
        times_s.append(cluster.started()[-1] - begin)
    return times_s


def timed_job(cluster, points: int, repetitions: int) -> list[float]:
    """Until a launch of a job begins."""
    suite = suite_of(cluster, points)
    cluster("submit", suite, "--only", "shape=1x4x4")
    cluster.run_all()
    campaign = campaign_of(cluster)
    there = {file.stem for file in cluster.archive.glob("records/*/*.json")}
    write_records(cluster, campaign, [one for one in campaign["schedule"] if f"{one[0]}-{one[1]:03}" not in there])
    cluster("status", campaign["id"])
    times_s = []
    for _ in range(repetitions):
        sorted(cluster.archive.glob("records/*/*.json"))[points // 2].unlink()
        (job,) = cluster.submit(suite)["jobs"]
        begin = time.time()
        cluster.run(job["id"])
        times_s.append(cluster.started()[-1] - begin)
    return times_s


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
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--points", type=int, default=10000, help="how many (default: 10000, for which the targets are)"
    )
    default = str(ROOT / "build/release/bin")
    parser.add_argument("--programs", default=default, metavar="FOLDER", help=f"(default: {default})")
    parser.add_argument("--repetitions", type=int, default=3, help="of each command (default: 3)")
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON")
    options = parser.parse_args()
    os.environ["FOURSCORE_BIN"] = options.programs
    from pretended_slurm import Campaign

    times_s = {}
    measures = {"status_s": timed_status, "resume_s": timed_resume, "resume_in_a_job_s": timed_job}
    for name, measure in measures.items():
        with tempfile.TemporaryDirectory() as folder:
            times_s[name] = measure(Campaign(pathlib.Path(folder)), options.points, options.repetitions)
    use = use_of_a_job(pathlib.Path(options.programs))
    medians = {name: statistics.median(times) for name, times in times_s.items()}
    if options.json:
        print(json.dumps({"points": options.points, "times_s": times_s, "targets_s": TARGETS, "use": use}))
    else:
        print(f"{options.points} points; load of the last minute {os.getloadavg()[0]:.1f}")
        for name, times in times_s.items():
            shown = ", ".join(f"{value:.2f}" for value in times)
            print(f"{name:20} median {medians[name]:.2f} s ({shown}), target {TARGETS[name]:.0f} s")
        print(f"use of a job's time: {use}, target {LEAST_USE}")
    return int(
        any(medians[name] > TARGETS[name] for name in medians)
        or (isinstance(use, dict) and use["programs"] < LEAST_USE)
    )


if __name__ == "__main__":
    sys.exit(main())
