"""Campaigns by the name of their suite, in full counts, from several jobs at once; and those that come to nothing."""

from __future__ import annotations

import json
import os

import pytest
from processes import wait_for

REFUSED = 8  # nodes of a job, more than the stand-in of Slurm has


def jobs_shown(cluster, campaign: str) -> list[str]:
    return [job["state"] for job in cluster.json("status", campaign)[0]["jobs"]]


@pytest.mark.parametrize("words", [["status"], ["verify"], ["export", "--format", "csv"], ["cancel"]], ids=" ".join)
def test_a_suite_stands_for_its_newest_campaign(fourscore, words):
    suite = fourscore.points(points=1, launches=1)
    for campaign in ("b", "a"):
        fourscore("run", suite, "--campaign", campaign, "--quiet")
    folders = fourscore.archive / "records"
    os.utime(folders / "b", (1, 1))
    os.utime(fourscore.archive / "campaigns/b/campaign.json", (1, 1))
    names = ["--campaign", "s"] if words[0] == "export" else ["s"]
    by_name = ["--campaign", "a"] if words[0] == "export" else ["a"]
    said = fourscore(*words, *names).stdout
    assert said == fourscore(*words, *by_name).stdout and said
    names[-1] = "sa"
    assert "no campaign or suite 'sa'" in fourscore(*words, *names, code=2).stderr


def test_launches_beyond_the_schedule_are_counted_apart(fourscore):
    suite = fourscore.points(points=2, launches=2, more="precision = 0.000001\nmost_launches = 6")
    fourscore("run", suite, "--campaign", "c", "--quiet", environment={"FAKE_FACTOR": "1.0"})
    (status,) = fourscore.json("status")
    assert (status["records"], status["expected"], status["further"]) == (12, 4, 8)
    assert fourscore("status").stdout.startswith("c: 4 of 4 records and 8 further, 12 ok")


def test_what_cannot_be_read_is_measured_again(measured):
    first, second, *_ = sorted(measured.archive.glob("records/c/*.json"))
    first.write_text("{")
    second.write_text("")
    suite = measured.folder / "s.toml"
    measured("run", suite, "--campaign", "c", "--quiet")
    assert "6 of 6 records, 4 ok, 2 unreadable" in measured("status").stdout
    assert "launch 2" in measured("run", suite, "--campaign", "c", "--retry", "unreadable", "--dry-run").stdout
    measured("run", suite, "--campaign", "c", "--retry", "unreadable", "--quiet")
    records = [json.loads(file.read_text()) for file in measured.archive.glob("records/c/*-00[23].json")]
    assert sorted(record["campaign"]["retry_of"] for record in records) == [0, 1]
    status = measured("status").stdout
    assert "6 ok, 2 superseded" in status and "unreadable" not in status
    assert first.read_text() == "{", "records are never overwritten"
    measured("run", suite, "--campaign", "c", "--retry", "unreadable", "--quiet")
    assert len(list(measured.archive.glob("records/c/*.json"))) == 8
    assert first.name in measured("verify", code=1).stdout


def test_the_scheduler_is_asked_anew_after_cancel(cluster):
    campaign = cluster.submit(cluster.nodes_suite())["campaign"]
    assert jobs_shown(cluster, campaign) == ["PENDING"] * 3
    cluster("cancel", "s")
    assert jobs_shown(cluster, campaign) == ["CANCELLED"] * 3
    assert cluster.status()["missing"] == 6


@pytest.mark.parametrize("more", [[], ["--fresh"]], ids=["new", "fresh"])
def test_a_submission_that_is_refused_leaves_no_campaign(cluster, more):
    cluster.machine(count=REFUSED)
    suite = cluster.nodes_suite(f"{REFUSED}")
    if more:  # beside one that has begun
        cluster.submit(cluster.nodes_suite("[2]"), "--campaign", "c")
    before = sorted(cluster.archive.glob("campaigns/*")) + sorted(cluster.archive.glob("records/*"))
    suite = cluster.nodes_suite(f"{REFUSED}")
    error = cluster("submit", suite, "--campaign", "c" if not more else "d", *more, code=2).stderr
    assert "not available" in error
    assert sorted(cluster.archive.glob("campaigns/*")) + sorted(cluster.archive.glob("records/*")) == before


def test_a_refused_submission_leaves_a_campaign_as_it_was(cluster):
    cluster.machine(count=REFUSED)
    suite = cluster.nodes_suite(f"[2, {REFUSED}]")
    cluster.submit(suite, "--campaign", "c", "--only", "nodes=2")
    before = sorted(cluster.archive.glob("campaigns/c/jobs/*"))
    assert len(before) == 1
    cluster("submit", suite, "--campaign", "c", code=2)
    assert sorted(cluster.archive.glob("campaigns/c/jobs/*")) == before


def test_runs_in_jobs_on_different_hosts_share_a_campaign(fourscore):
    """As the tasks of an array, which begin at once."""
    suite = fourscore.points('"slow"', points=3, launches=2)
    tasks = [
        fourscore.start(
            "run", suite, "--campaign", "c", "--only", f"shape={task}x4x4", "--quiet",
            environment={"SLURM_JOB_ID": f"{task}", "SLURM_JOB_NODELIST": f"n{task}", "FAKE_SLOW_S": "0.3"},
        )
        for task in (1, 2, 3)
    ]  # fmt: skip
    said = [task.communicate(timeout=120) for task in tasks]
    assert [task.returncode for task in tasks] == [0, 0, 0], said
    assert len(fourscore.records()) == len(fourscore.finished()) == 6
    assert {record["campaign"]["seed"] for record in fourscore.records().values()} == {7}
    assert "6 of 6 records, 6 ok" in fourscore("status").stdout
    assert "all as they should be" in fourscore("verify").stdout


def test_a_run_beside_a_job_on_the_same_host_or_outside_jobs_is_refused(fourscore):
    suite = fourscore.points('"hangs"', points=1, launches=1)
    job = {"SLURM_JOB_ID": "1", "SLURM_JOB_NODELIST": "n[1-2]"}
    first = fourscore.start("run", suite, "--campaign", "c", "--launcher", "srun", environment=job)
    first.communicate(timeout=60)  # without a Slurm here, srun is refused: nothing is left
    assert first.returncode != 0 and not list(fourscore.archive.glob("campaigns/*"))
    job["SLURM_JOB_NODELIST"] = "n1"
    first = fourscore.start("run", suite, "--campaign", "c", environment=job)
    assert wait_for(fourscore.pids.exists)
    for other in (job | {"SLURM_JOB_ID": "2"}, {}):
        error = fourscore("run", suite, "--campaign", "c", environment=other, code=2).stderr
        assert f"is being run by process {first.pid}" in error
    first.terminate()
    first.communicate(timeout=60)
