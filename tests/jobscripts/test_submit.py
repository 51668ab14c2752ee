"""`fourscore submit`: what a suite lacks, as jobs. The scheduler is a stand-in (tests/support/fake_slurm)."""

from __future__ import annotations

import json
import pathlib
import re
import signal
import subprocess

import pytest
from fake_identity import machine_hash
from processes import wait_for


def test_jobs_are_of_one_number_of_nodes_each_and_ask_for_whole_minutes(cluster):
    said = cluster.submit(cluster.nodes_suite(launches=2, more="time_limit_s = 50"))
    assert [(job["nodes"], job["launches"]) for job in said["jobs"]] == [(1, 2), (2, 2), (4, 2)]
    # Two launches of 50 s, and 90 s beside them.
    assert [job["time"] for job in cluster.jobs().values()] == ["00:04:00"] * 3
    assert [job["nodes"] for job in cluster.jobs().values()] == ["1", "2", "4"]


def test_what_does_not_fit_the_time_limit_of_a_job_is_in_the_next(cluster):
    suite = cluster.nodes_suite("2", launches=10, more="time_limit_s = 60")
    said = cluster.submit(suite, "--time-limit", "00:05:00")
    # 90 s of each job are not for launches.
    assert [job["launches"] for job in said["jobs"]] == [3, 3, 3, 1]
    assert [job["time"] for job in cluster.jobs().values()] == ["00:05:00"] * 3 + ["00:03:00"]


def test_what_launches_took_is_known_when_the_rest_is_cut_into_jobs(cluster):
    suite = cluster.nodes_suite("1", launches=20, more="time_limit_s = 600")
    cluster.submit(suite, "--launches", 1)
    cluster.run_all()
    assert [job["launches"] for job in cluster.submit(suite, "--time-limit", 660)["jobs"]] == [19]
    assert cluster.jobs()["3"]["time"] == "00:03:00"


def test_a_campaign_comes_to_its_end(cluster):
    suite = cluster.nodes_suite(launches=3)
    cluster.submit(suite)
    cluster.run_all()
    assert cluster.measured() == {"1 good": 3, "2 good": 3, "4 good": 3}
    assert len(cluster.finished()) == 9
    assert cluster.submit(suite)["jobs"] == []
    assert "all as they should be" in cluster("verify").stdout
    status = cluster.status()
    assert (status["records"], status["expected"], status["missing"]) == (9, 9, 0)
    assert status["points_done"] == {"of": 3, "done": 3, "failed": 0}
    assert len(cluster.index()) == 9, "the index is made by whoever reads"
    assert not list(cluster.archive.glob("campaigns/*/staging/*/*"))


def test_leftovers_of_killed_jobs_go_once_no_job_lives(cluster):
    suite = cluster.nodes_suite("1", launches=2)
    said = cluster.submit(suite)
    left = cluster.archive / "records" / said["campaign"] / ".half.json.Ab3xYz.tmp"
    left.parent.mkdir(parents=True, exist_ok=True)
    left.write_text("{")
    assert cluster.submit(suite)["in_jobs"] == 2
    assert left.exists(), "a job that lives may be writing it"
    cluster.run_all()
    assert cluster.submit(suite)["jobs"] == []
    assert not left.exists()
    assert "all as they should be" in cluster("verify").stdout


def test_dry_run_shows_scripts_and_writes_nothing(cluster):
    said = cluster("submit", cluster.nodes_suite(), "--dry-run").stdout
    assert said.count("#!/bin/bash") == 3 and "#SBATCH --nodes=4" in said and "Nothing was written" in said
    assert "No compute node was asked" in said
    assert not cluster.archive.exists() and not cluster.calls("sbatch")
    plan = cluster.submit(cluster.nodes_suite(), "--dry-run")
    assert [job["nodes"] for job in plan["jobs"]] == [1, 2, 4]
    assert not cluster.archive.exists()


def test_the_script_of_a_job_can_be_submitted_by_hand(cluster):
    suite = cluster.nodes_suite("2", launches=2)
    cluster.submit(suite)
    (script,) = cluster.archive.glob("campaigns/*/jobs/*/job.sh")
    assert "By hand: sbatch" in script.read_text()
    cluster("cancel", script.parents[2].name)
    by_hand = subprocess.run(
        [cluster.programs / "sbatch", script], env=cluster.environment, capture_output=True, text=True, check=True
    )
    cluster.run(by_hand.stdout.strip())
    assert cluster.measured() == {"2 good": 2}


def test_the_same_command_submits_what_is_missing_and_nothing_else(cluster):
    suite = cluster.nodes_suite(launches=2)
    cluster.submit(suite)
    again = cluster.submit(suite)
    assert again["jobs"] == [] and again["in_jobs"] == 6 and len(cluster.jobs()) == 3
    cluster.run("2")
    cluster.set("3", "CANCELLED")
    again = cluster.submit(suite)
    assert [(job["nodes"], job["launches"]) for job in again["jobs"]] == [(2, 2)] and again["in_jobs"] == 2
    assert "4 launches in jobs already" in cluster("submit", suite).stdout
    cluster.run_all()
    assert cluster.measured() == {"1 good": 2, "2 good": 2, "4 good": 2} and len(cluster.finished()) == 6


def test_two_who_submit_at_once_submit_each_launch_once(cluster):
    suite = cluster.nodes_suite(launches=4)
    cluster.submit(suite, "--dry-run")
    both = [cluster.start("submit", suite, "--campaign", "c", "--json") for _ in range(2)]
    said = [json.loads(process.communicate(timeout=120)[0]) for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert sorted(len(one["jobs"]) for one in said) == [0, 3]
    cluster.run_all()
    assert len(cluster.finished()) == 12 and set(cluster.measured().values()) == {4}


@pytest.mark.parametrize("starts", [True, False], ids=["its job starts", "its job waits"])
def test_a_submitter_killed_before_it_knew_the_id_leaves_no_launch_measured_twice(cluster, starts):
    suite = cluster.nodes_suite("2", launches=2)
    cluster.submit(suite, "--only", "nodes=2", "--launches", 1)
    cluster.run_all()  # the probe is done, and the campaign is there
    held = cluster.slurm / "held"
    held.touch()
    submitter = cluster.start("submit", suite)
    assert wait_for(lambda: len(cluster.jobs()) == 2)
    submitter.kill()
    submitter.communicate()
    held.unlink()
    orphan = list(cluster.jobs())[-1]
    if starts:  # it says its id itself, and holds its launch
        cluster.run(orphan)
        assert cluster.submit(suite)["jobs"] == []
    else:  # it is given up, and does nothing when it starts
        assert [job["launches"] for job in cluster.submit(suite)["jobs"]] == [1]
        assert "given up" in cluster.run(orphan)
        cluster.run_all()
    assert cluster.measured() == {"2 good": 2} and len(cluster.finished()) == 2


def test_no_more_jobs_are_queued_than_the_machine_file_allows(cluster):
    cluster.machine(queue="most_jobs = 2")
    suite = cluster.nodes_suite(launches=1)
    said = cluster.submit(suite)
    assert len(said["jobs"]) == 2 and said["held_back"] == 1
    assert cluster.submit(suite)["jobs"] == []
    cluster.run(cluster.pending()[0])
    said = cluster.submit(suite)
    assert [job["nodes"] for job in said["jobs"]] == [4] and said["held_back"] == 0


def test_a_time_limit_shorter_than_the_longest_launch_names_the_point(cluster):
    suite = cluster.nodes_suite("4", more="time_limit_s = 300")
    error = cluster("submit", suite, "--time-limit", "00:05:00", code=2).stderr
    assert "good none 8x8x8, 4 ranks" in error and "the suite's time_limit_s" in error and "--time-limit" in error
    assert not cluster.jobs()
    error = cluster("submit", suite, "--time-limit", "five", code=2).stderr
    assert "--time-limit 'five'" in error and "02:00:00" in error


def test_nothing_is_written_without_sbatch(cluster):
    (cluster.programs / "sbatch").unlink()
    error = cluster("submit", cluster.nodes_suite(), code=3).stderr
    assert "no sbatch in PATH" in error and "login node" in error and not cluster.archive.exists()


def test_a_scheduler_that_does_not_answer_is_waited_for(cluster):
    suite = cluster.nodes_suite("1", launches=1)
    (cluster.slurm / "away").write_text("2")
    said = cluster("submit", suite, environment={"FOURSCORE_SCHEDULER_PATIENCE": "60"})
    assert said.stderr.count("Slurm does not answer") == 2 and "asking again in" in said.stderr
    cluster.run_all()
    assert cluster.measured() == {"1 good": 1}


def test_a_scheduler_that_never_answers_costs_nothing(cluster):
    suite = cluster.nodes_suite(launches=1)
    cluster.submit(suite, "--only", "nodes=1")
    (cluster.slurm / "away").touch()
    error = cluster("submit", suite, code=3).stderr
    assert "Unable to contact slurm controller" in error and "The same command goes on" in error.replace("\n", " ")
    status = cluster("status", campaign_of(cluster))
    assert "does not answer" in status.stderr and "1 queued" in status.stdout
    (cluster.slurm / "away").unlink()
    assert [job["nodes"] for job in cluster.submit(suite)["jobs"]] == [2, 4]
    cluster.run_all()
    assert set(cluster.measured().values()) == {1} and len(cluster.finished()) == 3


def campaign_of(cluster) -> str:
    (folder,) = cluster.archive.glob("campaigns/*")
    return folder.name


def test_an_answer_lost_within_a_submission_loses_nothing(cluster):
    suite = cluster.nodes_suite(launches=1)
    cluster.submit(suite, "--only", "nodes=1")
    (cluster.slurm / "held").touch()  # the second job is taken, and then slurmctld goes away
    submitter = cluster.start("submit", suite)
    assert wait_for(lambda: len(cluster.jobs()) == 2)
    (cluster.slurm / "away").touch()
    (cluster.slurm / "held").unlink()
    _, error = submitter.communicate(timeout=60)
    assert submitter.returncode == 3 and "the same command goes on with the rest" in error
    (cluster.slurm / "away").unlink()
    cluster.submit(suite)
    cluster.run_all()
    assert set(cluster.measured().values()) == {1} and len(cluster.finished()) == 3


def test_a_partition_that_does_not_exist_is_refused_in_the_schedulers_words(cluster):
    cluster.machine(partition="nowhere")
    error = cluster("submit", cluster.nodes_suite(), code=2).stderr
    assert "Invalid partition name specified" in error


def test_more_nodes_than_the_machine_has_are_skipped_and_than_its_partition_has_refused(cluster):
    said = cluster("submit", cluster.nodes_suite("8"), "--dry-run").stdout
    assert "it needs 8 nodes, and the machine has 4 (key 'count' of [nodes]); --repack takes fewer" in said
    repacked = cluster.json("submit", cluster.nodes_suite("8"), "--repack", "--dry-run")
    assert {job["nodes"] for job in repacked["jobs"]} == {2}  # 8 ranks, 4 cores a node
    cluster.machine(count=8)
    error = cluster("submit", cluster.nodes_suite("8"), code=2).stderr
    assert "Requested node configuration is not available" in error
    assert not cluster.jobs()


def test_an_archive_that_compute_nodes_do_not_see_is_reported(cluster):
    (cluster.slurm / "blind").touch()
    error = cluster("submit", cluster.nodes_suite(), code=2).stderr
    assert "compute nodes do not see the archive" in error and "[files] of the machine file" in error
    (cluster.slurm / "blind").unlink()
    assert len(cluster.submit(cluster.nodes_suite())["jobs"]) == 3, "the next command asks anew"


def test_the_campaign_is_of_the_machine_that_compute_nodes_say_they_are(cluster):
    suite = cluster.nodes_suite("1", launches=1)
    cluster.submit(suite)
    (campaign,) = cluster.archive.glob("campaigns/*/campaign.json")
    assert json.loads(campaign.read_text())["machine_hash"] == machine_hash()
    # The login node is another machine, which changes nothing.
    said = cluster.submit(suite, environment={"FAKE_MACHINE": "l" * 16})
    assert said["in_jobs"] == 1 and len(list(cluster.archive.glob("campaigns/*"))) == 1
    assert len([call for call in cluster.calls("sbatch") if "probe" in call[-1]]) == 1, "it is asked once"


def test_a_run_beside_jobs_is_refused_while_they_live(cluster):
    suite = cluster.nodes_suite("1", launches=1)
    cluster.submit(suite)
    name = campaign_of(cluster)
    environment = {"SLURM_JOB_ID": "77", "SLURM_JOB_NODELIST": "n1"}
    error = cluster("run", suite, "--campaign", name, environment=environment, code=2).stderr
    assert "has job 2" in error and f"fourscore cancel {name}" in error and not cluster.records()
    cluster("cancel", name)
    cluster("run", suite, "--campaign", name, "--quiet", environment=environment)
    assert cluster.measured() == {"1 good": 1}


def test_only_the_launches_that_are_selected_are_submitted(cluster):
    suite = cluster.nodes_suite(launches=3, variants='"good", "slow"')
    said = cluster.submit(suite, "--only", "variant=good,nodes=1,nodes=4", "--launches", 2)
    assert [(job["nodes"], job["launches"]) for job in said["jobs"]] == [(1, 2), (4, 2)]
    cluster.run_all()
    assert cluster.measured() == {"1 good": 2, "4 good": 2}
    assert cluster.status()["missing"] == 14
    error = cluster("submit", suite, "--only", "variant=moves", code=2).stderr
    assert "--only takes no point of s" in error


def test_a_job_leaves_what_does_not_fit_its_time_to_the_next(cluster):
    suite = cluster.nodes_suite("2", launches=4, more="time_limit_s = 60")
    cluster.submit(suite)
    process = cluster.begin("2", minutes=1.2)  # 55 s of it are for coming to an end
    process.wait(60)
    assert "4 launches are left for another job" in pathlib.Path(cluster.jobs()["2"]["output"]).read_text()
    cluster.set("2", "COMPLETED")
    assert [job["launches"] for job in cluster.submit(suite)["jobs"]] == [4]
    cluster.run_all()
    assert cluster.measured() == {"2 good": 4}


def test_a_job_that_is_told_to_end_archives_nothing_half_and_the_next_goes_on(cluster):
    suite = cluster.nodes_suite("2", launches=2, variants='"slow"')
    cluster.submit(suite)
    process = cluster.begin("2", FAKE_SLOW_S="60")
    journal = next(cluster.archive.glob("campaigns/*/jobs/*")) / "journal.jsonl"
    assert wait_for(lambda: journal.exists() and '"launch"' in journal.read_text())
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 130
    cluster.set("2", "PREEMPTED")
    assert not cluster.records()
    cluster.submit(suite)
    cluster.run_all()
    assert cluster.measured() == {"2 slow": 2}
    assert re.search(r"2 of 2 records, 2 ok", cluster("status").stdout)


def test_waiting_stops_when_jobs_measure_nothing(cluster):
    suite = cluster.nodes_suite("2", launches=4, variants='"dies-early"')
    waiting = cluster.start("submit", suite, "--wait")
    assert wait_for(cluster.jobs)
    cluster.run("2")
    _, error = waiting.communicate(timeout=120)
    assert waiting.returncode == 3
    assert "all 1 jobs ended and measured nothing" in error
    assert "cannot even start" in error
    assert list(cluster.jobs()) == ["2"]


def test_waiting_sees_the_campaign_through(cluster):
    suite = cluster.nodes_suite("2", launches=2, variants='"slow"')
    waiting = cluster.start("submit", suite, "--wait")
    assert wait_for(cluster.jobs)
    cluster.break_off("2", "NODE_FAIL")
    assert wait_for(lambda: len(cluster.jobs()) == 2)
    cluster.run("3")
    assert waiting.wait(90) == 0
    assert cluster.measured() == {"2 slow": 2}
