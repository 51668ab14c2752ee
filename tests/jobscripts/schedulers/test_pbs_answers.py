"""What is particular to PBS, with stand-ins that answer in the form of OpenPBS's programs: no PBS runs in the tests."""

from __future__ import annotations

import time

import pytest
from schedulers import FakeScheduler, fails

SCRIPT = """\
#!/bin/bash
# papers/haynes2000 8 nodes, on machine cluster. By hand: qsub THIS_FILE
#PBS -N papers_haynes2000_8_nodes
#PBS -l select=8:ncpus=16:mpiprocs=8:ompthreads=2:model=bro
#PBS -l place=scatter
#PBS -l walltime=01:30:00
#PBS -q batch
#PBS -A fft
#PBS -j oe
#PBS -o "/project/of mine/log"
#PBS -r n
#PBS -l filesystems=home

cd '/project/of mine' || exit 3
# The environment of machine cluster
export OMP_PROC_BIND=close

exec fourscore run
"""
NO_HISTORY = "qstat: PBS is not configured to maintain job history 1.pbs\n"
ENDED = """\
Job Id: 1.pbs
    Job_Name = a
    job_state = F
    exec_host = n1/0*2+n2/0*2
    Resource_List.walltime = 00:02:00
    substate = 93
    Exit_status = -29
    comment = Job run at Sun Nov 22 at 10:00 on (n1:ncpus=2)+(n2:ncpus=2) and e
\txceeded resource walltime

"""
QUEUED = """\
Job Id: 2.pbs
    Job_Name = b
    job_state = Q
    substate = 10
    comment = Not Running: Insufficient amount of resource: ncpus

"""


@pytest.fixture
def pbs(tmp_path) -> FakeScheduler:
    return FakeScheduler("pbs", tmp_path / "fake")


def test_a_script_is_what_a_person_would_write(pbs):
    machine = {
        "name": "cluster",
        "cores": 64,
        "partition": "batch",
        "account": "fft",
        "constraint": "model=bro",
        "directives": ["-l filesystems=home"],
        "environment": [["OMP_PROC_BIND", "close"]],
    }
    text = pbs.script(
        machine,
        name="papers/haynes2000 8 nodes",
        nodes=8,
        ranks_per_node=8,
        threads=2,
        time_limit_s=5400,
        folder="/project/of mine",
        log="/project/of mine/log",
        commands=["exec fourscore run"],
    )
    assert text == SCRIPT


def test_what_the_machines_directives_set_is_written_once(pbs):
    machine = {"partition": "a", "directives": ["-l walltime=00:10:00", "-l place=scatter:excl", "-q b", "-r y"]}
    text = pbs.script(machine)
    for option in ("walltime=", "place=", "-q ", "-r "):
        assert text.count(option) == 1, option


@pytest.mark.parametrize(
    ("machine", "words"),
    [
        ({"name": "m", "qos": "high"}, "machine 'm': [queue] qos is 'high', and PBS has none"),
        ({"name": "m", "directives": ["-J 1-4"]}, "directive '-J' of machine 'm' cannot be used"),
        ({"name": "m", "directives": ["-W block=true"]}, "directive '-W block' of machine 'm' cannot be used"),
    ],
)
def test_options_that_pbs_lacks_or_a_job_may_not_have_are_refused(pbs, machine, words):
    with fails(2, words):
        pbs.script(machine)


def test_a_log_with_a_colon_is_refused_because_it_names_a_host(pbs):
    with fails(2, "expected a path without a colon"):
        pbs.script(log="/a:b")


def test_more_cores_than_a_node_has_are_not_asked_for(pbs):
    text = pbs.script({"cores": 16}, ranks_per_node=16, threads=8)
    assert "select=1:ncpus=16:mpiprocs=16:ompthreads=8\n" in text


def test_states_take_one_query_of_what_lives_and_one_of_what_has_ended(pbs):
    gone = "qstat: 1.pbs Job has finished, use -x or -H to obtain historical job information\n"
    gone += "qstat: Unknown Job Id 3.pbs\n"
    pbs.answers("qstat", (QUEUED, gone, 153), (ENDED, "qstat: Unknown Job Id 3.pbs\n", 153))
    states = pbs.states("1.pbs", "2.pbs", "3.pbs")
    assert [states[job]["end"] for job in states] == ["timeout", "", "unknown"]
    assert states["1.pbs"]["nodes"] == "n1,n2"
    assert states["1.pbs"]["reason"] == "exceeded resource walltime"
    assert states["2.pbs"]["phase"] == "queued"
    assert "Insufficient" in states["2.pbs"]["reason"]
    assert [call["argv"] for call in pbs.calls()] == [
        ["-f", "1.pbs", "2.pbs", "3.pbs"],
        ["-x", "-f", "1.pbs", "3.pbs"],
    ]


def test_jobs_that_live_take_one_query(pbs):
    pbs.answers("qstat", (QUEUED, "", 0))
    assert pbs.states("2.pbs")["2.pbs"]["phase"] == "queued"
    assert len(pbs.calls()) == 1


def test_a_server_without_a_history_leaves_the_end_unknown(pbs):
    pbs.answers("qstat", ("", "qstat: Unknown Job Id 1.pbs\n", 153), ("", NO_HISTORY, 0))
    assert pbs.states("1.pbs")["1.pbs"]["end"] == "unknown"


def test_very_many_forgotten_jobs_are_an_answer(pbs):
    jobs = [f"{n}.pbs" for n in range(1000)]
    unknown = "".join(f"qstat: Unknown Job Id {job}\n" for job in jobs)
    pbs.answers("qstat", (QUEUED, unknown, 153), ("", unknown, 153))
    states = pbs.states("2.pbs", *jobs[3:])
    assert states["2.pbs"]["phase"] == "queued"
    assert {state["end"] for job, state in states.items() if job != "2.pbs"} == {"unknown"}


def test_a_refusal_of_qstat_is_a_failure_at_once(pbs):
    pbs.answers("qstat", ("", "qstat: Unauthorized Request  1.pbs\n", 159))
    with fails(3, "Unauthorized"):
        pbs.states("1.pbs")


def test_qsub_leaves_no_process_behind(pbs, tmp_path):
    pbs.answers("qsub", ("12.pbs\n", "", 0))
    script = tmp_path / "job.sh"
    script.write_text("true\n")
    assert pbs.submit(script) == "12.pbs"
    assert pbs.calls("qsub")[0]["argv"] == ["-f", str(script)]


def test_an_answer_without_an_id_is_a_failure_that_says_the_job_may_be_there(pbs, tmp_path):
    pbs.answers("qsub", ("thank you\n", "", 0))
    with fails(3, "may have taken"):
        pbs.submit(tmp_path / "job.sh")


def test_programs_of_other_schedulers_are_told_apart(pbs):
    (pbs.folder / "version").write_text("Version: 6.1.2")  # Torque's
    assert "is that of another scheduler" in pbs.reason()
    assert "Version: 6.1.2" in pbs.reason()


def test_the_allocation_is_that_of_the_node_file_with_each_host_once(pbs, tmp_path):
    nodes = tmp_path / "nodes"
    nodes.write_text("n1\nn1\nn2\nn2\n")
    start = time.strftime("%a %b %d %H:%M:%S %Y", time.localtime(time.time() - 600))
    pbs.answers("qstat", (f"Job Id: 12.pbs\n    Resource_List.walltime = 01:00:00\n    stime = {start}\n", "", 0))
    allocation = pbs.allocation(PBS_JOBID="12.pbs", PBS_NODEFILE=str(nodes))
    assert (allocation["job"], allocation["hosts"]) == ("12.pbs", ["n1", "n2"])
    assert 2900 < allocation["left_s"] <= 3000


def test_an_allocation_without_a_server_that_answers_has_no_time(pbs, tmp_path):
    nodes = tmp_path / "nodes"
    nodes.write_text("n1\n")
    pbs.answers("qstat", ("", "qstat: cannot connect to server pbs (errno=111)\n", 1))
    assert pbs.allocation(PBS_JOBID="12.pbs", PBS_NODEFILE=str(nodes)) == {"job": "12.pbs", "hosts": ["n1"]}
