"""What is particular to Slurm, with stand-ins for its programs."""

from __future__ import annotations

import os
import pathlib
import time

import pytest
from schedulers import FakeScheduler, fails

REQUEST = {
    "name": "strong, 4 nodes",
    "nodes": 4,
    "ranks_per_node": 8,
    "threads": 2,
    "time_limit_s": 5400,
    "folder": "/project/of mine",
    "log": "/project/of mine/100%.log",
    "commands": ["echo begins", "exec fourscore run"],
}
MACHINE = {
    "name": "cluster",
    "cores": 64,
    "partition": "batch",
    "account": "fft",
    "qos": "normal",
    "constraint": "cpu&ib",
    "directives": ["--exclusive", "--mem=0"],
    "modules": ["openmpi"],
    "environment": [["OMP_PROC_BIND", "close"]],
    "setup": ["ulimit -c 0"],
}
SCRIPT = """\
#!/bin/bash -l
# strong, 4 nodes, on machine cluster. By hand: sbatch THIS_FILE
#SBATCH --job-name="strong, 4 nodes"
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=8
#SBATCH --cpus-per-task=2
#SBATCH --time=01:30:00
#SBATCH --partition=batch
#SBATCH --account=fft
#SBATCH --qos=normal
#SBATCH --constraint="cpu&ib"
#SBATCH --chdir="/project/of mine"
#SBATCH --output="/project/of mine/100%%.log"
#SBATCH --signal=B:TERM@20
#SBATCH --no-requeue
#SBATCH --exclusive
#SBATCH --mem=0

# The environment of machine cluster
module load openmpi || exit 3
export OMP_PROC_BIND=close
ulimit -c 0

echo begins
exec fourscore run
"""


@pytest.fixture
def slurm(tmp_path) -> FakeScheduler:
    scheduler = FakeScheduler("slurm", tmp_path / "fake")
    scheduler.answers("squeue", ("", "", 0))
    scheduler.answers("sbatch", ("7\n", "", 0))
    scheduler.answers("scancel", ("", "", 0))
    return scheduler


def script_of(tmp_path: pathlib.Path, *directives: str) -> pathlib.Path:
    file = tmp_path / "job.sh"
    file.write_text("\n".join(["#!/bin/bash", *(f"#SBATCH {directive}" for directive in directives), "true", ""]))
    return file


def test_a_script_is_what_a_person_would_write(slurm):
    assert slurm.script(MACHINE, **REQUEST) == SCRIPT


def test_what_the_machines_directives_set_is_written_once(slurm):
    machine = {"directives": ["--requeue --time=10", "--signal=USR1@60", "--ntasks-per-node=1"]}
    text = slurm.script(machine, **REQUEST)
    for option in ("--time", "--signal", "--ntasks-per-node", "requeue"):
        assert text.count(option) == 1, option


@pytest.mark.parametrize("directive", ["--array=1-4", "--wait", "-M other", "--clusters=other", "-a 1-4"])
def test_directives_that_make_a_job_something_else_are_refused(slurm, directive):
    with fails(2, f"directive '{directive.replace('=', ' ').split()[0]}' of machine 'cluster'"):
        slurm.script({"name": "cluster", "directives": ["--exclusive", directive]})


@pytest.mark.parametrize(
    ("commands", "time_limit_s", "warned"),
    [(["exec fourscore run"], 180, True), (["exec fourscore run"], 179, False), (["fourscore run"], 3600, False)],
)
def test_only_a_program_that_can_hear_the_warning_is_warned_and_only_in_jobs_that_are_long(
    slurm, commands, time_limit_s, warned
):
    assert ("--signal" in slurm.script(commands=commands, time_limit_s=time_limit_s)) is warned


def test_a_log_that_slurm_would_name_otherwise_is_refused(slurm):
    with fails(2, "expected a path without a backslash"):
        slurm.script(log="/a\\b.log")


def test_a_variable_of_sbatch_does_not_win_over_what_the_script_says(slurm, tmp_path):
    mine = {"SBATCH_PARTITION": "a", "SBATCH_TIMELIMIT": "1", "SBATCH_ACCOUNT": "b", "SBATCH_WAIT": "1"}
    slurm.submit(script_of(tmp_path, "--partition=batch", "--time=10"), **mine)
    (call,) = slurm.calls("sbatch")
    assert {name for name in call["environment"] if name.startswith("SBATCH_")} == {"SBATCH_ACCOUNT"}
    assert call["argv"] == ["--parsable", str(tmp_path / "job.sh")]


def test_a_job_that_submits_another_does_not_pass_its_own_size_on(slurm, tmp_path):
    job = {"SLURM_JOB_ID": "3", "SLURM_NTASKS": "64", "SLURM_CONF": "/etc/slurm.conf", "SLURM_PMIX_FENCE": "ring"}
    slurm.submit(script_of(tmp_path), **job)
    (call,) = slurm.calls("sbatch")
    assert {n for n in call["environment"] if n.startswith("SLURM_")} == {"SLURM_CONF", "SLURM_PMIX_FENCE"}


def test_outside_a_job_variables_of_slurm_reach_sbatch(slurm, tmp_path):
    slurm.submit(script_of(tmp_path), SLURM_HINT="nomultithread")
    assert slurm.calls("sbatch")[0]["environment"]["SLURM_HINT"] == "nomultithread"


def test_a_job_whose_submission_was_answered_too_late_is_found_and_not_submitted_twice(slurm, tmp_path):
    file = script_of(tmp_path)
    slurm.answers(
        "sbatch", ("", "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation\n", 1)
    )
    now = int(time.time())
    slurm.answers("squeue", (f"5|{now - 500}|{file}\n6|{now}|{file}.other\n8|{now}|{file}\n", "", 0))
    assert slurm.submit(file) == "8"
    assert len(slurm.calls("sbatch")) == 1
    assert slurm.calls("squeue")[0]["environment"]["SLURM_TIME_FORMAT"] == "%s"


def test_a_job_of_another_submission_is_not_taken_for_ones_own(slurm, tmp_path):
    file = script_of(tmp_path)
    slurm.answers("sbatch", ("", "Socket timed out on send/recv operation\n", 1), ("9\n", "", 0))
    slurm.answers("squeue", (f"5|{int(time.time()) - 500}|{file}\n", "", 0))
    assert slurm.submit(file) == "9"
    assert len(slurm.calls("sbatch")) == 2


def test_an_answer_without_an_id_is_a_failure_that_says_the_job_may_be_there(slurm, tmp_path):
    slurm.answers("sbatch", ("Submitted, have a nice day\n", "", 0))
    with fails(3, "printed no job's id: Submitted, have a nice day"):
        slurm.submit(script_of(tmp_path))


def test_a_script_that_is_not_there_is_named(slurm, tmp_path):
    with fails(2, "nosuch.sh cannot be read"):
        slurm.submit(tmp_path / "nosuch.sh")


@pytest.mark.parametrize(
    ("job", "partition", "why"),
    [
        ("9|1:00|all|PartitionConfig", "4|1-infinite|infinite", "it asks for 9 nodes, and partition 'all' has 4"),
        ("3|1:00|short|PartitionNodeLimit", "4|1-2|10:00", "3 nodes, and a job of partition 'short' may have 2"),
        (
            "2|20:00|short|PartitionTimeLimit",
            "4|1-2|10:00",
            "time limit is 00:20:00, and that of partition 'short' is 00:10:00",
        ),
    ],
)
def test_a_job_that_slurm_takes_and_never_starts_is_cancelled_and_refused(slurm, tmp_path, job, partition, why):
    slurm.answers("squeue", (job + "\n", "", 0))
    slurm.answers("sinfo", (partition + "\n", "", 0))
    with fails(2, why):
        slurm.submit(script_of(tmp_path))
    assert [call["argv"] for call in slurm.calls("scancel")] == [["7"]]


@pytest.mark.parametrize(
    "job",
    [
        "4|1:00|all|ReqNodeNotAvail, UnavailableNodes:n4",
        "4|1:00|all|Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions",
        "4|1:00|all|PartitionConfig",
        "2|UNLIMITED|all|PartitionTimeLimit",
        "2|1:00|all|Priority",
    ],
)
def test_a_job_that_waits_for_nodes_to_come_back_is_accepted(slurm, tmp_path, job):
    slurm.answers("squeue", (job + "\n", "", 0))
    slurm.answers("sinfo", ("4|1-infinite|infinite\n", "", 0))
    assert slurm.submit(script_of(tmp_path)) == "7"
    assert slurm.calls("scancel") == []


def test_states_take_one_query_where_slurm_knows_all_jobs(slurm):
    slurm.answers("squeue", ("1|RUNNING|n[1-2]|None\n2|PENDING||Resources\n99|RUNNING|n3|None\n", "", 0))
    states = slurm.states("1", "2", SQUEUE_STATES="CANCELLED", SQUEUE_PARTITION="other", SLURM_CLUSTERS="other")
    assert states == {
        "1": {"phase": "running", "end": "", "word": "RUNNING", "reason": "", "nodes": "n[1-2]"},
        "2": {"phase": "queued", "end": "", "word": "PENDING", "reason": "Resources", "nodes": ""},
    }
    (call,) = slurm.calls()
    assert {"--me", "--states=all"} <= set(call["argv"])
    assert not [name for name in call["environment"] if name.startswith("SQUEUE_") or name == "SLURM_CLUSTERS"]


def test_forgotten_jobs_take_one_more_query_of_the_accounting(slurm):
    slurm.answers("squeue", ("3|RUNNING|n1|None\n", "", 0))
    slurm.answers("sacct", ("1|TIMEOUT|0:0|someone|n[1-4]\n2|FAILED|3:0|someone|n1\n", "", 0))
    states = slurm.states("1", "2", "3", "4")
    assert [states[job]["end"] for job in "1234"] == ["timeout", "failed", "", "unknown"]
    assert states["2"]["reason"] == "exit status 3"
    (call,) = slurm.calls("sacct")
    assert "--jobs=1,2,4" in call["argv"]
    assert len(slurm.calls()) == 2


@pytest.mark.parametrize(
    "why",
    [
        "Slurm accounting storage is disabled",
        "sacct: error: Problem talking to the database: Connection refused",
    ],
)
def test_forgotten_jobs_have_an_unknown_end_without_accounting(slurm, why):
    slurm.answers("sacct", ("", why + "\n", 1))
    state = slurm.states("1")["1"]
    assert (state["phase"], state["end"]) == ("ended", "unknown")
    assert state["reason"] == f"Slurm has forgotten it, and sacct says: {why}"


def test_only_slurmctld_is_asked_without_sacct(slurm):
    (slurm.programs / "sacct").unlink()
    assert slurm.states("1")["1"]["reason"] == "Slurm has forgotten it"
    assert [call["program"] for call in slurm.calls()] == ["squeue"]


def test_a_refusal_of_squeue_is_a_failure_at_once(slurm):
    slurm.answers("squeue", ("", "squeue: error: Invalid user: root\n", 1))
    with fails(3, "Invalid user"):
        slurm.states("1")
    assert len(slurm.calls()) == 1


def test_the_allocation_is_read_from_the_environment(slurm):
    end = int(time.time()) + 1000
    job = {"SLURM_JOB_ID": "12", "SLURM_JOB_NODELIST": "n[1-3],login"}
    allocation = slurm.allocation(**job, SLURM_JOB_END_TIME=str(end))
    assert (allocation["job"], allocation["hosts"]) == ("12", ["n1", "n2", "n3", "login"])
    assert 900 < allocation["left_s"] <= 1000
    assert slurm.calls() == []


def test_the_time_left_is_asked_for_where_the_environment_does_not_say_it(slurm):
    job = {"SLURM_JOB_ID": "12", "SLURM_JOB_NODELIST": "n1"}
    slurm.answers("squeue", (f"{int(time.time()) + 1000}\n", "", 0))
    assert 900 < slurm.allocation(**job)["left_s"] <= 1000
    slurm.answers("squeue", ("N/A\n", "", 0))  # no time limit
    assert "left_s" not in slurm.allocation(**job)
    slurm.answers("squeue", ("", "slurm_load_jobs error: Unable to contact slurm controller\n", 1))
    assert "left_s" not in slurm.allocation(**job)


def test_a_slurm_without_configuration_is_unavailable_in_its_own_words(slurm):
    if not pathlib.Path("/usr/bin/sbatch").exists() or pathlib.Path("/etc/slurm/slurm.conf").exists():
        pytest.skip("takes Slurm's programs without a configuration")
    path = f"{os.environ['PATH']}:/usr/bin"
    slurm.environment = {k: v for k, v in os.environ.items() if k != "SLURM_CONF"} | {"PATH": path}
    assert "Could not establish a configuration source" in slurm.reason()
    assert "SLURM_CONF" in slurm.reason()
