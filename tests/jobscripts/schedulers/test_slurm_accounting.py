"""fourscore's jobs on a real Slurm with accounting (slurmdbd), which remembers what slurmctld has forgotten."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
import slurm_accounting
from schedulers import RealSlurm, fails
from slurm_rig import SlurmRig, temporary_folder, unavailable

if missing := unavailable() or slurm_accounting.unavailable():
    pytest.skip(missing, allow_module_level=True)

SETTINGS = "MinJobAge=2\nSlurmdTimeout=10\nMessageTimeout=10\n"  # forgets soon, notices soon


@pytest.fixture(scope="module")
def slurm() -> Iterator[RealSlurm]:
    with temporary_folder() as folder, SlurmRig(folder, nodes=2, settings=SETTINGS, accounting="fft") as rig:
        yield RealSlurm(rig)


def wait_until_forgotten(slurm: RealSlurm, jobs: list[str]) -> None:
    """By slurmctld, which looks for old jobs every half minute."""
    deadline = time.monotonic() + 120
    while set(jobs) & set(slurm.rig.run(["squeue", "--noheader", "--states=all", "--format=%i"]).stdout.split()):
        assert time.monotonic() < deadline, slurm.rig.logs()
        time.sleep(1)


def test_an_account_that_nobody_has_added_is_refused_in_slurms_words(slurm):
    with fails(2, "Invalid account or account/partition combination specified"):
        slurm.submit(slurm.write("true", machine={"account": "nosuch"}))


def test_ends_are_known_after_slurmctld_has_forgotten_them(slurm):
    lost = slurm.run("sleep 300", "--nodelist=n2")
    slurm.wait_for_word(lost, "RUNNING")
    slurm.rig.node(2).stop()
    jobs = {
        "completed": slurm.submit(slurm.write("true", machine={"account": "fft"})),
        "failed": slurm.run("exit 3"),
        "cancelled": slurm.run("true", "--hold"),
        "killed": slurm.run("sleep 300"),
        "lost": lost,
    }
    slurm.cancel(jobs["cancelled"])
    slurm.wait_for_word(jobs["killed"], "RUNNING")
    slurm.cancel(jobs["killed"])
    for job in jobs.values():
        slurm.wait_for_end(job, timeout=120)
    wait_until_forgotten(slurm, list(jobs.values()))
    states = slurm.states(*jobs.values(), "99999")
    ends = {name: states[job]["end"] for name, job in jobs.items()}
    assert ends == {
        "completed": "completed",
        "failed": "failed",
        "cancelled": "cancelled",
        "killed": "cancelled",
        "lost": "node failure",
    }
    assert states[jobs["failed"]]["reason"] == "exit status 3"
    assert states[jobs["killed"]]["reason"] == "by 0"
    assert states[jobs["completed"]]["nodes"] == "n1"
    assert (states["99999"]["end"], states["99999"]["reason"]) == ("unknown", "Slurm has forgotten it")


def test_live_jobs_are_known_when_slurmdbd_is_down(slurm):
    forgotten = slurm.run("true", "--nodelist=n1")
    slurm.wait_for_end(forgotten)
    wait_until_forgotten(slurm, [forgotten])
    slurm.rig.accounting.slurmdbd.stop()
    runs = slurm.run("sleep 300", "--nodelist=n1")
    slurm.wait_for_word(runs, "RUNNING")
    states = slurm.states(forgotten, runs)
    assert (states[runs]["phase"], states[forgotten]["end"]) == ("running", "unknown")
    assert "sacct says" in states[forgotten]["reason"]
    slurm.rig.accounting.slurmdbd.start()
    deadline = time.monotonic() + 60
    while slurm.state(forgotten)["end"] != "completed":
        assert time.monotonic() < deadline, slurm.rig.logs()
        time.sleep(1)
    slurm.cancel(runs)
