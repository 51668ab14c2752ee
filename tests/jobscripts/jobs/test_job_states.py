"""What `fourscore status`, `submit` and `cancel` make of how jobs stand and how they end."""

from __future__ import annotations

import json
import pathlib

import pytest


def state_of_the_job(cluster) -> dict:
    (job,) = cluster.status()["jobs"]
    return job


def check_status(cluster, word: str, phase: str, end: str) -> None:
    """A campaign has one job with two launches; from now on Slurm says `word` about the job."""
    cluster.set("2", word, "Resources", nodelist="n[1-2]")
    status = cluster.status()
    (job,) = status["jobs"]
    assert (job["phase"], job["end"], job["state"], job["reason"]) == (phase, end, word, "Resources")
    assert (job["id"], job["nodes"], job["job_nodes"], job["launches"]) == ("2", "n[1-2]", 2, 2)
    lives = phase != "ended"
    assert (status["queued"], status["missing"]) == ((2, 0) if lives else (0, 2))
    (campaign,) = cluster.archive.glob("campaigns/*")
    shown = cluster("status", campaign.name).stdout
    assert f"{word} (Resources)" in shown and ("2 queued" if lives else "2 missing") in shown


def test_status_shows_each_state_of_a_job_that_lives_and_what_it_holds(cluster):
    cluster.submit(cluster.nodes_suite("2", launches=2))
    for word in ("PENDING", "REQUEUED"):
        check_status(cluster, word, "queued", "")
    for word in ("CONFIGURING", "RUNNING", "COMPLETING", "SUSPENDED"):
        check_status(cluster, word, "running", "")


@pytest.mark.parametrize(
    ("word", "end"),
    [
        ("COMPLETED", "completed"),
        ("FAILED", "failed"),
        ("TIMEOUT", "timeout"),
        ("NODE_FAIL", "node failure"),
        ("OUT_OF_MEMORY", "out of memory"),
        ("PREEMPTED", "preempted"),
        ("CANCELLED", "cancelled"),
    ],
)
def test_status_shows_how_a_job_ended_and_what_it_leaves(cluster, word, end):
    cluster.submit(cluster.nodes_suite("2", launches=2))
    check_status(cluster, word, "ended", end)


def test_a_launch_under_way_counts_as_running(cluster):
    cluster.submit(cluster.nodes_suite("2", launches=2, variants='"slow"'))
    cluster.break_off("2", "RUNNING")
    status = cluster.status()
    assert (status["running"], status["queued"], status["missing"]) == (1, 1, 0)


def test_the_scheduler_is_asked_once_in_half_a_minute_for_all_campaigns(cluster):
    for name in ("a", "b"):
        cluster.submit(cluster.nodes_suite(), "--campaign", name)
    cluster.let_ask_again()
    before = len(cluster.calls("squeue"))
    for _ in range(3):
        cluster("status")
        cluster("status", "a", "--json")
    assert len(cluster.calls("squeue")) == before + 1
    cluster.let_ask_again()
    cluster("status", "b")
    assert len(cluster.calls("squeue")) == before + 2


def test_ended_jobs_are_never_asked_for_again(cluster):
    cluster.submit(cluster.nodes_suite(launches=1))
    cluster.run_all()
    cluster("status")
    before = len(cluster.calls("squeue"))
    cluster.let_ask_again()
    cluster("status")
    assert len(cluster.calls("squeue")) == before


@pytest.mark.parametrize("accounted", [True, False], ids=["with accounting", "without accounting"])
def test_a_job_that_slurm_has_forgotten(cluster, accounted):
    suite = cluster.nodes_suite("2", launches=1)
    cluster.submit(suite)
    if accounted:
        said = {"JobIDRaw": "2", "State": "NODE_FAIL", "ExitCode": "1:0", "User": "me", "NodeList": "n[1-2]"}
        (cluster.slurm / "accounting").write_text(json.dumps([said]))
    (cluster.slurm / "jobs" / "2.json").unlink()
    cluster.let_ask_again()
    job = state_of_the_job(cluster)
    assert job["end"] == ("node failure" if accounted else "unknown")
    assert len(cluster.submit(suite)["jobs"]) == 1


def test_a_forgotten_job_that_came_to_its_end_is_completed(cluster):
    cluster.submit(cluster.nodes_suite("2", launches=1))
    cluster.run("2")
    (cluster.slurm / "jobs" / "2.json").unlink()
    job = state_of_the_job(cluster)
    assert (job["end"], job["done"]) == ("completed", 1)


def test_a_silent_scheduler_leaves_the_last_known_states_and_says_so(cluster):
    cluster.submit(cluster.nodes_suite("2", launches=1))
    cluster.set("2", "RUNNING")
    cluster("status")
    cluster.let_ask_again()
    (cluster.slurm / "away").touch()
    said = cluster("status", "--json")
    assert "Unable to contact slurm controller" in said.stderr and "states are those of" in said.stderr
    assert json.loads(said.stdout)[0]["jobs"][0]["state"] == "RUNNING"


def test_cancel_takes_a_campaigns_jobs_from_the_queue_and_no_others(cluster):
    for name in ("a", "b"):
        cluster.submit(cluster.nodes_suite(launches=1), "--campaign", name)
    cluster.run("2")
    assert "a: 2 jobs cancelled" in cluster("cancel", "a").stdout
    assert [job["state"] for job in cluster.jobs().values()] == ["COMPLETED"] + ["CANCELLED"] * 2 + ["PENDING"] * 3
    assert cluster.measured() == {"1 good": 1}, "what was measured stays"
    assert "a: 0 jobs cancelled" in cluster("cancel", "a").stdout
    assert "nothing" in cluster("cancel", "nothing", code=2).stderr
    said = cluster.json("cancel", "b")
    assert [job["job"] for job in said] == ["5", "6", "7"]


def test_a_cancelled_job_says_nothing_against_its_launch(cluster):
    suite = cluster.nodes_suite("2", launches=1, variants='"slow"', more="retries = { failed = 0, unknown = 0 }")
    cluster.submit(suite)
    for job in ("2", "3", "4"):
        cluster.break_off(job, "CANCELLED")
        said = cluster.submit(suite)
        assert said["settled"] == 0 and len(said["jobs"]) == 1
    cluster.run_all()
    assert cluster.measured() == {"2 slow": 1}


CAUSES = {
    "node_failure": ("NODE_FAIL", "node failure", "failed"),
    "preempted": ("PREEMPTED", "preempted", "failed"),
    "timeout": ("TIMEOUT", "timeout", "timeout"),
    "out_of_memory": ("OUT_OF_MEMORY", "out of memory", "failed"),
    "failed": ("FAILED", "failed", "failed"),
}


@pytest.mark.parametrize("cause", CAUSES)
def test_a_launch_is_tried_again_as_often_as_the_suite_says_and_then_archived_with_the_reason(cluster, cause):
    word, end, status = CAUSES[cause]
    suite = cluster.nodes_suite("2", launches=1, variants='"slow"', more=f"retries = {{ {cause} = 1 }}")
    cluster.submit(suite)
    cluster.break_off("2", word)
    said = cluster.submit(suite)
    assert (said["settled"], len(said["jobs"])) == (0, 1)
    cluster.break_off("3", word)
    said = cluster.submit(suite)
    assert (said["settled"], len(said["jobs"])) == (1, 0)
    (record,) = cluster.records().values()
    verdict = record["verdict"]
    assert verdict["status"] == status
    assert verdict["reason"].startswith(f"{end}: job 3 (0002-2-nodes) ended so while it ran")
    assert f"retries.{cause} is 1" in verdict["reason"]
    assert "all as they should be" in cluster("verify").stdout
    # What was given up can be asked for once more.
    assert len(cluster.submit(suite, "--retry", status)["jobs"]) == 1
    cluster.run_all()
    assert cluster.measured() == {"2 slow": 1} and cluster.status()["counts"] == {"ok": 1, "superseded": 1}


def test_a_job_that_slurm_forgot_in_the_middle_is_tried_again_as_unknown(cluster):
    suite = cluster.nodes_suite("2", launches=1, variants='"slow"', more="retries = { unknown = 0 }")
    cluster.submit(suite)
    cluster.break_off("2", "RUNNING")
    (cluster.slurm / "jobs" / "2.json").unlink()
    assert cluster.submit(suite)["settled"] == 1
    (record,) = cluster.records().values()
    assert "unknown: job 2" in record["verdict"]["reason"]


def test_causes_are_counted_one_by_one(cluster):
    suite = cluster.nodes_suite(
        "2", launches=1, variants='"slow"', more="retries = { node_failure = 1, preempted = 1, out_of_memory = 0 }"
    )
    cluster.submit(suite)
    cluster.break_off("2", "NODE_FAIL")
    cluster.submit(suite)
    cluster.break_off("3", "PREEMPTED")
    assert len(cluster.submit(suite)["jobs"]) == 1
    cluster.break_off("4", "OUT_OF_MEMORY")
    assert cluster.submit(suite)["settled"] == 1


def test_the_default_tries_nothing_again_that_ran_out_of_memory(cluster):
    suite = cluster.nodes_suite("2", launches=2, variants='"slow"')
    cluster.submit(suite)
    cluster.break_off("2", "OUT_OF_MEMORY")
    said = cluster.submit(suite)
    assert said["settled"] == 1 and [job["launches"] for job in said["jobs"]] == [1], "the other launch goes on"


def test_a_failure_of_the_program_is_archived_and_not_blamed_on_the_job(cluster):
    suite = cluster.nodes_suite("2", launches=2, variants='"good", "aborts"')
    cluster.submit(suite)
    cluster.run_all()
    assert cluster.status()["counts"] == {"ok": 2, "failed": 2}
    assert state_of_the_job(cluster)["end"] == "completed"
    assert cluster.submit(suite)["jobs"] == []
    said = cluster.submit(suite, "--retry", "failed")
    assert [job["launches"] for job in said["jobs"]] == [2]
    assert cluster.submit(suite, "--retry", "failed")["in_jobs"] == 2


def test_a_launcher_that_starts_nothing_is_reported_in_the_jobs_log(cluster):
    suite = cluster.nodes_suite("2", launches=4, variants='"dies-early"')
    cluster.submit(suite)
    said = cluster.run("2")
    assert "did not start and nothing of them is archived" in said and not cluster.records()
    assert state_of_the_job(cluster)["end"] == "failed"
    assert [job["launches"] for job in cluster.submit(suite)["jobs"]] == [4]


def test_launches_go_on_until_the_median_is_as_precise_as_asked(cluster):
    suite = cluster.nodes_suite("2", launches=3, more="precision = 0.05")
    cluster.submit(suite)
    cluster.run_all()
    # The fake's launches all have the same median: six of them tell that it is precise.
    assert [job["launches"] for job in cluster.submit(suite)["jobs"]] == [3]
    cluster.run_all()
    assert cluster.submit(suite)["jobs"] == [] and cluster.measured() == {"2 good": 6}


def test_precision_stops_at_the_most_launches_that_the_suite_allows(cluster):
    suite = cluster.nodes_suite("2", launches=3, more="precision = 0.05\nmost_launches = 4")
    cluster.submit(suite)
    cluster.run_all()
    assert [job["launches"] for job in cluster.submit(suite)["jobs"]] == [1]
    cluster.run_all()
    assert cluster.submit(suite)["jobs"] == [] and cluster.measured() == {"2 good": 4}


def test_a_job_notes_how_much_of_its_time_launches_took(cluster):
    cluster.submit(cluster.nodes_suite("2", launches=2, variants='"slow"'))
    cluster.run("2", FAKE_SLOW_S="1")
    job = state_of_the_job(cluster)
    assert job["done"] == 2 and job["launches_s"] >= 2
    (campaign,) = cluster.archive.glob("campaigns/*")
    assert (
        "% of" in cluster("status", campaign.name).stdout and "in launches" in cluster("status", campaign.name).stdout
    )


def test_a_job_folder_that_was_damaged_is_named(cluster):
    suite = cluster.nodes_suite("2", launches=1)
    cluster.submit(suite)
    (file,) = cluster.archive.glob("campaigns/*/jobs/*/job.json")
    pathlib.Path(file).write_text("{")
    error = cluster("status", code=3).stderr
    assert str(file) in error and "is no description of a job" in error
