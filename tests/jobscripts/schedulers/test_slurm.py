"""fourscore's jobs on a real Slurm of four nodes, without accounting."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Iterator

import pytest
from schedulers import RealSlurm, fails
from slurm_rig import SlurmRig, temporary_folder, unavailable

if no_rig := unavailable():
    pytest.skip(no_rig, allow_module_level=True)

# A node that stops is seen soon, a program that asks a slurmctld which is away comes back soon, and jobs of partition
# high take nodes from others. EnforcePartLimits is NO, as it is by default.
SETTINGS = """\
SlurmdTimeout=10
MessageTimeout=10
PreemptType=preempt/partition_prio
PreemptMode=CANCEL
PartitionName=short Nodes=ALL MaxTime=10 MaxNodes=2 State=UP
PartitionName=high Nodes=ALL PriorityTier=10 MaxTime=INFINITE State=UP
"""
HEARS = "import signal; signal.sigwait([signal.SIGTERM]); print('told to stop', flush=True)"


@pytest.fixture(scope="module")
def slurm() -> Iterator[RealSlurm]:
    with temporary_folder() as folder, SlurmRig(folder, settings=SETTINGS) as rig:
        yield RealSlurm(rig)


@pytest.fixture(scope="module")
def long_jobs(slurm: RealSlurm) -> dict[str, str]:
    """Jobs that pass their time limit, which Slurm counts in minutes, while other tests run on the other nodes."""
    blocked = "import signal; signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM]); "
    warned = slurm.write(f'exec python3 -c "{blocked}{HEARS}"', ("--nodelist=n2", "--signal=B:TERM@20"))
    return {"beyond": slurm.run("sleep 300", "--nodelist=n1"), "warned": slurm.submit(warned)}


pytestmark = pytest.mark.usefixtures("long_jobs")


def test_it_can_be_used_with_a_configuration(slurm):
    assert slurm.reason() == ""


def test_a_job_runs_where_it_was_asked_to_and_as(slurm):
    folder = slurm.folder / 'it\'s a "folder" of 100% #1'
    folder.mkdir()
    log = folder / "the log 5%.txt"
    job = slurm.run(
        "pwd; echo $SLURM_JOB_NAME; srun --overcommit hostname | sort | uniq -c",
        name='a "name", it\'s',
        nodes=2,
        ranks_per_node=2,
        folder=str(folder),
        log=str(log),
    )
    assert slurm.wait_for_end(job)["end"] == "completed", log.read_text()
    where, name, *hosts = log.read_text().splitlines()
    assert (where, name) == (str(folder), 'a "name", it\'s')
    assert [host.split()[0] for host in hosts] == ["2", "2"]


def test_a_job_knows_its_allocation(slurm):
    job = slurm.run(f"exec {slurm.probe} slurm allocation", nodes=2, time_limit_s=600)
    state = slurm.wait_for_end(job)
    allocation = json.loads(slurm.log_of(job))
    assert allocation["job"] == job
    assert allocation["hosts"] == slurm.rig.run(["scontrol", "show", "hostnames", state["nodes"]]).stdout.split()
    assert len(allocation["hosts"]) == 2
    assert 500 < allocation["left_s"] <= 600


def test_a_job_is_queued_then_running_then_completed(slurm):
    held = slurm.run("sleep 3", "--hold")
    state = slurm.state(held)
    assert (state["phase"], state["word"], state["reason"]) == ("queued", "PENDING", "JobHeldUser")
    slurm.rig.run(["scontrol", "release", held])
    state = slurm.wait_for_word(held, "RUNNING")
    assert (state["phase"], state["end"]) == ("running", "")
    assert state["nodes"] in ("n3", "n4")
    state = slurm.wait_for_end(held)
    assert (state["end"], state["word"]) == ("completed", "COMPLETED")


def test_a_job_that_fails_is_told_from_one_that_is_cancelled(slurm):
    fails, waits, runs = slurm.run("exit 3"), slurm.run("true", "--hold"), slurm.run("sleep 300")
    slurm.wait_for_word(runs, "RUNNING")
    slurm.wait_for_end(fails)
    slurm.cancel(fails, waits, runs, "99999")
    slurm.wait_for_end(runs)
    states = slurm.states(fails, waits, runs)
    assert [states[job]["end"] for job in (fails, waits, runs)] == ["failed", "cancelled", "cancelled"]
    slurm.cancel(fails, waits, runs)


def test_a_job_that_slurm_has_never_seen_has_an_unknown_end(slurm):
    state = slurm.state("99999")
    assert (state["phase"], state["end"]) == ("ended", "unknown")
    assert "Slurm accounting storage is disabled" in state["reason"]


def test_a_suspended_job_and_one_that_is_held_after_its_requeue_have_not_ended(slurm):
    job = slurm.run("sleep 300", "--requeue")
    slurm.wait_for_word(job, "RUNNING")
    slurm.rig.run(["scontrol", "suspend", job])
    assert slurm.wait_for_word(job, "SUSPENDED")["phase"] == "running"
    slurm.rig.run(["scontrol", "resume", job])
    slurm.wait_for_word(job, "RUNNING")
    slurm.rig.run(["scontrol", "requeuehold", job])
    state = slurm.wait(job, lambda state: state["word"] not in ("RUNNING", "COMPLETING"))
    assert state["phase"] == "queued", state
    slurm.cancel(job)
    assert slurm.wait_for_end(job)["end"] == "cancelled"


def test_slurm_does_not_start_a_job_again_by_itself(slurm):
    job = slurm.run("sleep 300")
    slurm.wait_for_word(job, "RUNNING")
    assert slurm.rig.run(["scontrol", "requeue", job]).returncode != 0
    slurm.cancel(job)
    slurm.wait_for_end(job)


@pytest.mark.parametrize(
    ("machine", "job", "words"),
    [
        ({"partition": "nosuch"}, {}, "Invalid partition name specified"),
        ({"constraint": "nosuch"}, {}, "Invalid feature specification"),
        ({"directives": ["--gres=gpu:1"]}, {}, "Invalid generic resource"),
        ({"directives": ["--nosuch=1"]}, {}, "unrecognized option"),
        ({}, {"nodes": 9}, "it asks for 9 nodes, and partition 'all' has 4"),
        ({"partition": "short"}, {"nodes": 3}, "it asks for 3 nodes, and a job of partition 'short' may have 2"),
        ({"partition": "short"}, {"time_limit_s": 1200}, "is 00:20:00, and that of partition 'short' is 00:10:00"),
    ],
)
def test_a_job_that_can_never_run_is_refused_with_the_reason_and_leaves_no_job(slurm, machine, job, words):
    script = slurm.write("true", machine=machine, **job)
    with fails(2, words):
        slurm.submit(script)
    assert str(script) not in slurm.rig.run(["squeue", "--noheader", "--format=%o"]).stdout


def test_a_job_is_preempted_by_one_of_a_higher_partition(slurm):
    low = slurm.run("sleep 300", "--nodelist=n4")
    slurm.wait_for_word(low, "RUNNING")
    high = slurm.run("true", "--nodelist=n4", machine={"partition": "high"})
    assert slurm.wait_for_end(low)["end"] == "preempted"
    assert slurm.wait_for_end(high)["end"] == "completed"


def test_a_job_that_lost_its_node_is_reported(slurm):
    job = slurm.run("sleep 300", "--nodelist=n4")
    slurm.wait_for_word(job, "RUNNING")
    slurm.rig.node(4).stop()
    state = slurm.wait_for_end(job, timeout=120)
    assert (state["end"], state["word"]) == ("node failure", "NODE_FAIL")
    waits = slurm.run("true", nodes=4)  # its nodes may come back: it is accepted
    assert slurm.state(waits)["phase"] == "queued"
    slurm.cancel(waits)
    slurm.rig.node(4).start()


def test_the_first_process_of_a_job_is_warned_before_the_time_limit(slurm, long_jobs):
    state = slurm.wait_for_end(long_jobs["warned"], timeout=120)
    assert slurm.log_of(long_jobs["warned"]).splitlines().count("told to stop") == 1
    assert state["end"] == "completed"


def test_a_job_beyond_its_time_limit_is_reported(slurm, long_jobs):
    state = slurm.wait_for_end(long_jobs["beyond"], timeout=120)
    assert (state["end"], state["word"]) == ("timeout", "TIMEOUT")


def test_states_are_waited_for_while_slurmctld_is_away(slurm):
    job = slurm.run("sleep 15")
    slurm.wait_for_word(job, "RUNNING")
    slurm.rig.slurmctld.stop()
    asking = slurm.start("states", job)
    said = asking.stderr.readline()
    assert "Slurm does not answer" in said
    assert "Unable to contact slurm controller" in said
    slurm.rig.slurmctld.start()
    out, _ = asking.communicate(timeout=100)
    assert json.loads(out)[job]["word"] in ("RUNNING", "COMPLETING", "COMPLETED")
    assert slurm.wait_for_end(job)["end"] == "completed"


def test_a_job_is_submitted_once_though_slurmctld_answers_too_late(slurm):
    script = slurm.write("true", ("--hold",))
    pid = slurm.rig.slurmctld.process.pid
    slurm.rig.slurmctld.process.send_signal(signal.SIGSTOP)
    try:
        submitting = slurm.start("submit", script)
        said = submitting.stderr.readline()
        assert "Slurm does not answer" in said, said
    finally:
        slurm.rig.slurmctld.process.send_signal(signal.SIGCONT)
    out, _ = submitting.communicate(timeout=100)
    time.sleep(5)  # a request that was still on its way has arrived
    lines = slurm.rig.run(["squeue", "--noheader", "--format=%i|%o"]).stdout.splitlines()
    assert [line.split("|")[0] for line in lines if line.endswith(str(script))] == [json.loads(out)]
    assert slurm.rig.slurmctld.process.pid == pid
    slurm.cancel(json.loads(out))
