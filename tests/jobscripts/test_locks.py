"""Archives on file systems without locks: Lustre mounted without `flock`, NFS without its lock daemon, FUSE."""

from __future__ import annotations

import errno
import os
import pathlib
import socket
import subprocess
import sys

import pytest
from fourscore_command import BIN, preloaded, repository_of
from processes import wait_for

LEASE = "lock.lease"


ERRORS = ("ENOSYS", "ENOLCK", "EOPNOTSUPP")


def without_locks(folder: pathlib.Path, error: str = "ENOLCK") -> dict[str, str]:
    """The environment in which the file system of a folder has none."""
    return preloaded("no_locks") | {"FOURSCORE_NO_LOCKS": f"{getattr(errno, error)} {folder}"}


@pytest.fixture
def lockless(fourscore):
    fourscore.environment |= without_locks(fourscore.archive)
    return fourscore


def leases(fourscore) -> list[str]:
    return sorted(str(file.relative_to(fourscore.archive)) for file in fourscore.archive.glob("**/*.lease"))


@pytest.mark.parametrize("error", ERRORS)
def test_a_campaign_is_measured_indexed_and_read_with_one_warning(lockless, error):
    lockless.environment |= without_locks(lockless.archive, error)
    suite = lockless.points()
    error = lockless("run", suite, "--campaign", "c", "--quiet").stderr
    assert len(lockless.records()) == 6 and leases(lockless) == []
    assert error.count("warning: ") == 1 and LEASE in error and "from one host at a time" in error
    assert len(lockless.index()) == 6
    assert "6 of 6 records" in lockless("status").stdout
    assert "6 records indexed" in lockless("reindex").stdout
    assert "all as they should be" in lockless("verify").stdout
    lockless("run", suite, "--campaign", "c", "--quiet")
    assert len(lockless.finished()) == 6 and not list(lockless.archive.glob(".index-*"))


def test_the_analysis_reads_the_index_too(lockless):
    lockless("run", lockless.points(), "--campaign", "c", "--quiet")
    code = (
        "import sys; from pathlib import Path; from fourscore_analysis.records.index import open_index\n"
        "with open_index(Path(sys.argv[1])) as index:\n"
        "    print(index.execute('SELECT count(*) FROM records').fetchone()[0])"
    )
    lockless.environment["PYTHONPATH"] = str(pathlib.Path(__file__).parents[2] / "analysis")
    command = [sys.executable, "-c", code, lockless.archive]
    done = subprocess.run(command, env=lockless.environment, capture_output=True, text=True, check=False)
    assert done.stdout == "6\n", done.stderr


def test_two_runs_at_once_on_one_host_are_refused_and_the_second_leaves_nothing(
    lockless,
):
    suite = lockless.points('"hangs"', points=1, launches=1)
    first = lockless.start("run", suite, "--campaign", "c")
    assert wait_for(lambda: leases(lockless) == [f"campaigns/c/{LEASE}"])
    error = lockless("run", suite, "--campaign", "c", code=2).stderr
    assert f"is being run by process {first.pid} on {socket.gethostname()}" in error
    first.kill()
    first.communicate()
    # Its lease stays, and its last launch is being ended: the next run waits for that, and takes the lease over.
    assert leases(lockless) == [f"campaigns/c/{LEASE}"]
    again = lockless.start("run", suite, "--campaign", "c")
    assert wait_for(lambda: str(again.pid) in (lockless.archive / "campaigns/c" / LEASE).read_text())
    again.terminate()
    again.communicate()
    assert again.returncode == 130 and leases(lockless) == []


def test_a_lease_of_another_host_is_respected_and_named(lockless):
    lockless("run", lockless.points(), "--campaign", "c", "--quiet")
    lease = lockless.archive / "campaigns/c" / LEASE
    lease.write_text("17 login2\n")
    error = lockless("run", lockless.points(), "--campaign", "c", code=2).stderr
    assert "process 17 on login2" in error and f"if that process is gone, remove {lease}" in error
    assert lease.read_text() == "17 login2\n"
    lease.unlink()
    lockless("run", lockless.points(), "--campaign", "c", "--quiet")


def test_jobs_are_submitted_and_cancelled(cluster):
    cluster.environment |= without_locks(cluster.archive)
    suite = cluster.nodes_suite()
    said = cluster.submit(suite)
    assert len(said["jobs"]) == 3 and leases(cluster) == []
    cluster.run(cluster.pending()[0])
    assert "2 jobs cancelled" in cluster("cancel", said["campaign"]).stdout
    lease = cluster.archive / "campaigns" / said["campaign"] / "submit.lock.lease"
    lease.write_text("17 login2\n")
    for command in (["submit", suite], ["cancel", said["campaign"]]):
        error = cluster(*command, code=2).stderr
        assert "is being submitted by process 17 on login2" in error and str(lease) in error
    lease.unlink()
    assert len(cluster.submit(suite)["jobs"]) == 2


def test_builds_of_revisions_take_turns(lockless):
    """The folder of builds lies in the home, which may be on such a file system too."""
    project = "cmake_minimum_required(VERSION 3.20)\nproject(none NONE)\n"
    repository = repository_of(lockless.folder / "repository", "CMakeLists.txt", project)
    environment = without_locks(lockless.folder) | {"XDG_CACHE_HOME": str(lockless.folder / "cache")}
    error = lockless("compare", "HEAD", "HEAD", "--repo", repository, environment=environment, code=2).stderr
    assert "revision 'HEAD' does not build" in error and "lock" not in error
    assert not list(lockless.folder.glob("cache/**/*.lease"))


def test_wisdom_is_kept_without_waiting_for_a_lock(lockless):
    """The shim ends who asks for ever."""
    file = lockless.folder / "wisdom.txt"
    point = ["--variant", "serial", "--shape", "12x10x8", "--planner", "measure", "--repetitions", "1"]
    subprocess.run(
        [BIN / "fft_bench", *point, "--wisdom", file],
        env=os.environ | without_locks(lockless.folder), check=True, capture_output=True,
    )  # fmt: skip
    assert file.read_text().startswith("fourscore-wisdom 2\n")


@pytest.mark.parametrize("what", ["staging", "records"])
def test_no_empty_campaign_stays_where_one_cannot_begin(fourscore, what):
    """Whatever the reason: here the folders of another campaign are no folders."""
    fourscore("run", fourscore.points(), "--campaign", "d", "--quiet")
    before = sorted(fourscore.archive.glob("*/*"))
    place = {"staging": "campaigns/c/staging", "records": "records/c"}[what]
    (fourscore.archive / place).parent.mkdir(exist_ok=True)
    (fourscore.archive / place).write_text("no folder\n")
    assert place in fourscore("run", fourscore.points(), "--campaign", "c", code=3).stderr
    (fourscore.archive / place).unlink()
    if what == "staging":
        (fourscore.archive / "campaigns/c").rmdir()
    assert sorted(fourscore.archive.glob("*/*")) == before
    assert [one["campaign"] for one in fourscore.json("status")] == ["d"]
