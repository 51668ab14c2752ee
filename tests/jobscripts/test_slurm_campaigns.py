"""Campaigns on a real Slurm of four nodes. Whatever happens to jobs, daemons and disks, `fourscore submit` again brings
the campaign to its end, and every point is measured exactly as often as asked."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import random
import signal
import subprocess
import time
from collections.abc import Iterator

import pytest
from slurm_campaign import RigCampaigns
from slurm_rig import SlurmRig, temporary_folder, unavailable

if no_rig := unavailable():
    pytest.skip(no_rig, allow_module_level=True)

# A node that stops is seen soon, a program that asks a slurmctld which is away comes back soon, and jobs are kept.
SETTINGS = """\
MinJobAge=3600
SlurmdTimeout=10
MessageTimeout=10
EnforcePartLimits=ANY
PreemptType=preempt/partition_prio
PreemptMode=CANCEL
PartitionName=high Nodes=ALL PriorityTier=10 MaxTime=INFINITE State=UP
"""


@pytest.fixture(scope="module")
def rig() -> Iterator[SlurmRig]:
    with temporary_folder() as folder:
        made = SlurmRig(folder, settings=SETTINGS)
        small = made.folder / "small"  # an archive's disk, which is mounted before nodes have namespaces of their own
        small.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", small], check=True)
        try:
            with made:
                yield made
        finally:
            subprocess.run(["umount", "--lazy", small], check=True)


@pytest.fixture(scope="module")
def campaigns(rig: SlurmRig) -> RigCampaigns:
    """With the fake bench: launches take a moment."""
    return RigCampaigns(rig)


def suite_of_late(late: RigCampaigns):
    """Slurm looks after limits every half minute, and less often while it is busy: ours must not come first."""
    return late.slow_suite("late", 1, 2, time_limit_s=300)


@pytest.fixture(scope="module")
def late(rig: SlurmRig) -> tuple[RigCampaigns, dict]:
    """A job that passes its time limit, which Slurm counts in minutes, while other tests run on the other nodes."""
    late = RigCampaigns(rig)
    late.machine("--nodelist=n4", "--signal=B:URG@1")  # a warning that nobody hears
    late.slow(3600)
    (job,) = late.submit(suite_of_late(late))["jobs"]
    late.wait_for_launch(job, late.campaign("late"))
    changed = rig.run(["scontrol", "update", f"JobId={job['id']}", "TimeLimit=1"])
    assert changed.returncode == 0, changed.stderr
    return late, job


pytestmark = pytest.mark.usefixtures("late")


def test_a_refusal_of_slurm_is_reported_in_its_own_words(campaigns):
    suite = campaigns.slow_suite("refused", 2, 1)
    campaigns.machine(partition="nowhere")
    assert "Invalid partition name specified" in campaigns("submit", suite, code=2).stderr
    campaigns.machine("--account=nobody", "--time=999-00:00:00", "--nodes=9")
    error = campaigns("submit", suite, code=2).stderr
    assert "Slurm refuses" in error
    campaigns.machine()


def test_an_archive_that_the_nodes_do_not_see_is_reported(campaigns, tmp_path):
    error = campaigns("submit", campaigns.slow_suite("unseen", 1, 1), "--archive", tmp_path / "archive", code=2).stderr
    assert "compute nodes do not see the archive" in error


def test_two_who_submit_at_once_submit_each_launch_once(campaigns):
    suite = campaigns.slow_suite("two", 2, 6)
    both = [campaigns.start("submit", suite, "--json") for _ in range(2)]
    said = [process.communicate(timeout=120) for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    assert sorted(len(json.loads(out)["jobs"]) for out, _ in said) == [0, 1]
    campaigns.finish(suite)
    campaigns.check_complete(campaigns.campaign("two"), points=1, launches=6)


def test_cancelled_in_the_middle(campaigns):
    suite, job, campaign = campaigns.begun("cancelled", 4, 60)
    campaigns("cancel", campaign)
    campaigns.ends(job, campaign, "CANCELLED")
    campaigns.see_through(suite, campaign, 4)


def test_preempted_by_a_job_that_comes_first(campaigns, rig):
    suite, job, campaign = campaigns.begun("preempted", 3, 60, more="retries = { preempted = 1 }")
    first = rig.run(["srun", "--partition=high", "--nodes=3", "--overcommit", "true"])
    assert first.returncode == 0, first.stderr
    campaigns.ends(job, campaign, "PREEMPTED")
    campaigns.see_through(suite, campaign, 3)


def test_a_job_steps_processes_killed_at_random_moments(campaigns):
    seed = int(os.environ.get("FOURSCORE_KILL_SEED", time.time_ns() % 10**6))
    print(f"FOURSCORE_KILL_SEED={seed}")
    chance = random.Random(seed)
    campaigns.slow(0.3)
    suite = campaigns.slow_suite("killed", 2, 40, more="retries = { failed = 3 }")
    said = campaigns.submit(suite)
    campaign = said["campaign"]
    killed: list[str] = []
    deadline = time.monotonic() + 200
    # A launch has many processes, and the job's own is but one.
    wanted = [chance.random() < 0.3 for _ in range(20)]
    while len(killed) < len(wanted):
        assert time.monotonic() < deadline, killed
        time.sleep(chance.uniform(0, 0.3))
        processes = {pid: name for pid, name in campaigns.processes_of(campaign).items() if name != "bash"}
        if not processes:
            campaigns.submit(suite, "--retry", "failed")
            continue
        are_the_jobs_own = wanted[len(killed)]
        chosen = sorted(pid for pid, name in processes.items() if (name == "fourscore") == are_the_jobs_own)
        if not chosen:
            continue  # between two launches
        pid = chance.choice(chosen)
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
            killed.append(processes[pid])
    campaigns.see_through(suite, campaign, 40, "--retry", "failed", rounds=12)
    assert len(set(killed)) > 1, killed


def test_a_full_disk_under_the_archive(campaigns, rig):
    small = RigCampaigns(rig, archive=rig.folder / "small" / "archive")
    suite, job, campaign = small.begun("full", 3, 2)
    filler = rig.folder / "small" / "filler"
    with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
        for _ in range(1000):  # 4 MiB, of which there is no room for half
            file.write(bytes(4096))
    small.ends(job, campaign, "FAILED")
    before = {file: file.read_bytes() for file in small.archive.glob("records/*/*.json")}
    assert len(before) < 3
    filler.unlink()
    small.see_through(suite, campaign, 3)
    assert all(file.read_bytes() == content for file, content in before.items())


def test_slurmctld_is_restarted_while_jobs_run(campaigns, rig):
    suite, _, campaign = campaigns.begun("restarted", 4, 1)
    rig.slurmctld.stop()
    silent = campaigns("submit", suite, environment={"FOURSCORE_SCHEDULER_PATIENCE": "0"}, code=3).stderr
    assert "does not answer" in silent
    assert "nothing was submitted" in silent
    submitter = campaigns.start("submit", suite, "--json")  # which waits
    assert "asking again in" in submitter.stderr.readline()
    rig.slurmctld.start()
    out, error = submitter.communicate(timeout=90)
    assert submitter.returncode == 0, error
    assert json.loads(out)["jobs"] == []
    campaigns.finish(suite)
    campaigns.check_complete(campaign, points=1, launches=4)


def test_a_node_that_fails_and_comes_back(campaigns, rig):
    suite, job, campaign = campaigns.begun("lost", 2, 60, more="retries = { node_failure = 1 }")
    time.sleep(1)  # all ranks have begun
    nodes = rig.run(["squeue", "--noheader", f"--jobs={job['id']}", "--format=%N"]).stdout.strip()
    last = int(nodes.rstrip("]")[-1])
    rig.node(last).stop()
    ended = campaigns.wait_for_jobs([job["id"]])
    rig.node(last).start()
    assert ended == {job["id"]: "NODE_FAIL"}, campaigns.about(job, campaign)
    campaigns.slow(0.05)
    campaigns.finish(suite)
    rig.wait_until_idle()
    campaigns.check_complete(campaign, points=1, launches=2)
    status = json.loads(campaigns("status", campaign, "--json").stdout)[0]
    assert status["jobs"][0]["end"] == "node failure"


SCALING = """\
name = "{name}"
launches = 2
repetitions = 2
seed = 3
time_limit_s = 60
check = "spots"

[[sweep]]
variant = "slab"
shape = "{shape}"
nodes = "1..nodes"
ranks_per_node = "cores"
planner = "estimate"
"""


def test_a_strong_and_a_weak_campaign_over_one_to_four_nodes(rig):
    real = RigCampaigns(rig)
    real.use_real_bench()
    suites = {
        name: real.suite(SCALING.format(name=name, shape=shape), f"{name}.toml")
        for name, shape in (("strong", "24x16x8"), ("weak", "8*nodes x 16 x 8"))
    }
    for suite in suites.values():
        assert [job["nodes"] for job in real.submit(suite)["jobs"]] == [1, 2, 4]
    for name, suite in suites.items():
        real.finish(suite)
        campaign = real.campaign(name)
        real.check_complete(campaign, points=3, launches=2)
        for file in real.archive.glob(f"records/{campaign}/*.json"):
            record = json.loads(file.read_text())
            nodes = record["point"]["nodes"]
            assert record["point"]["ranks"] == 2 * nodes
            assert record["point"]["shape"][0] == (24 if name == "strong" else 8 * nodes)
            launch = record["provenance"]["identity"]["launch"]
            assert launch["launcher"] == "srun"
            assert launch["nodes"] == nodes


def test_a_job_beyond_its_time_limit(late):
    late, job = late
    campaign = late.campaign("late")
    late.ends(job, campaign, "TIMEOUT", 150)
    late.see_through(suite_of_late(late), campaign, 2)
    status = json.loads(late("status", campaign, "--json").stdout)[0]
    assert [one["end"] for one in status["jobs"]] == ["timeout", "completed"]
    assert pathlib.Path(late.folder_of(job, campaign) / "end.json").exists()
