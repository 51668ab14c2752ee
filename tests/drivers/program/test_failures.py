"""What a launch that goes wrong says and leaves: a full disk, a rank that aborts, throws or loses its launcher."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

import pytest
from conftest import Bench

POINT = ("--variant", "naive", "--shape", "8x9x10")


@pytest.mark.parametrize("ranks", [0, 2])
def test_a_disk_that_is_full_when_the_record_is_written_ends_with_3(bench: Bench, tmp_path: Path, ranks: int) -> None:
    out = tmp_path / "out.json"
    run = bench("--variant", "fills-the-disk", "--shape", "8x9x10", "--record", str(out), ranks=ranks)
    assert run.returncode == 3, run.stderr
    assert run.stderr.count("fft_bench: ") == 1
    assert "File too large" in run.stderr
    assert "out.json" in run.stderr
    assert "GFLOP/s" not in run.stdout  # what was not kept was not measured
    assert not any(tmp_path.iterdir())


def test_a_real_full_disk_ends_with_3(bench: Bench, tmp_path: Path) -> None:
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4k,nr_inodes=10", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("this user may not mount; the test before meets a limit in the same place")
    try:
        run = bench(*POINT, "--record", str(folder / "out.json"), ranks=2)
        left = list(folder.iterdir())
    finally:
        subprocess.run(["umount", str(folder)], check=True)
    assert run.returncode == 3, run.stderr
    assert run.stderr.count("fft_bench: ") == 1
    assert "No space left on device" in run.stderr
    assert "out.json" in run.stderr
    assert left == []


def test_a_rank_that_aborts_ends_all(bench: Bench, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    run = bench("--variant", "aborts", "--shape", "8x9x10", "--record", str(out), ranks=3, timeout=120)
    assert run.returncode != 0
    assert "aborting on purpose" in run.stderr
    assert not out.exists()


def test_a_rank_that_aborts_waits_until_its_message_is_read(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A launcher drops what it has not read when the job is aborted. Here nobody reads: it waits a second."""
    monkeypatch.setenv("FOURSCORE_STAND_IN", "fail-at=10")
    command = [bench.plain, "--variant", "slab-gpu", "--shape", "8x9x10", "--parameter", "device=host"]
    begin = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        process.wait(timeout=120)
        assert time.monotonic() - begin >= 1
        assert process.stderr is not None
        assert "fft_bench: rank 0: the stand-in failed at a" in process.stderr.read()


@pytest.mark.parametrize("variant", ["throws-on-one-rank", "throws-in-planning"])
def test_an_exception_on_one_rank_ends_all_with_code_3(bench: Bench, tmp_path: Path, variant: str) -> None:
    out = tmp_path / "out.json"
    run = bench("--variant", variant, "--shape", "8x9x10", "--record", str(out), ranks=3, timeout=120)
    assert run.returncode == 3
    assert "rank 2" in run.stderr
    assert "the arrays of a rank that failed are gone" not in run.stderr  # others may still put into them
    assert not out.exists()


@pytest.mark.parametrize(
    ("call", "point"),
    [
        ("MPI_Win_sync", ("--variant", "slab", "--exchange", "shared")),
        ("MPI_Win_flush_all", ("--variant", "slab", "--exchange", "rma")),
        ("MPI_Win_flush", ("--variant", "slab", "--exchange", "active")),
        ("MPI_Win_flush", ("--variant", "danielson-lanczos", "--parameter", "messages=one-sided")),
        ("MPI_Testsome", ("--variant", "node", "--threads", "2", "--parameter", "mpi=funneled")),
    ],
)
def test_an_error_of_one_rank_is_reported_while_others_wait_for_it(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, call: str, point: tuple[str, ...]
) -> None:
    """Windows are freed collectively, and the threads of `node` wait for each other: neither may keep the message back."""
    if "node" in point:
        bench.skip_without_node()
    assert bench(*point, "--shape", "8x8x8", "--planner", "estimate", ranks=2).returncode == 0
    monkeypatch.setenv("FOURSCORE_FAULTY_MPI_CALL", call)
    run = bench(*point, "--shape", "8x8x8", "--planner", "estimate", ranks=2, timeout=60)
    assert run.returncode == 3
    assert f"fft_bench: rank 1: {call} failed on rank 1" in run.stderr


@pytest.mark.parametrize(
    ("what", "call", "point"),
    [
        ("exchange 'rma'", "MPI_Win_create", ("--variant", "slab", "--exchange", "rma")),
        ("exchange 'active'", "MPI_Win_allocate", ("--variant", "slab", "--exchange", "active")),
        (
            "variant 'danielson-lanczos'",
            "MPI_Win_allocate",
            ("--variant", "danielson-lanczos", "--parameter", "messages=one-sided"),
        ),
    ],
)
def test_what_mpi_cannot_do_between_the_ranks_is_skipped_with_its_words(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, what: str, call: str, point: tuple[str, ...]
) -> None:
    monkeypatch.setenv("FOURSCORE_FAULTY_MPI_CALL", call)
    reason = bench.skipped(*point, "--shape", "8x8x8", ranks=2)
    assert f"{what} cannot run here: MPI makes no window between these ranks" in reason
    assert call in reason


def test_an_exchange_that_polls_its_window_is_skipped_where_it_would_not_see_what_is_put(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOURSCORE_FAULTY_MPI_CALL", "MPI_Win_get_attr")
    for exchange, skipped in (("active", True), ("rma", False)):
        asked = ("--shape", "8x8x8", "--planner", "estimate", "--repetitions", "1")
        verdict = bench.record("--variant", "slab", "--exchange", exchange, *asked, ranks=2)["verdict"]
        assert (verdict["status"] == "skipped") == skipped
        assert ("expected MPI_WIN_UNIFIED" in verdict.get("reason", "")) == skipped


def _fields(pid: int) -> list[str]:
    """/proc/PID/stat after the command's name: state, parent, ...; empty when the process is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _is_rank_below(pid: int, launcher: int) -> bool:
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
    if b"fft_bench" not in command.split(b"\0")[0]:
        return False
    while pid > 1 and pid != launcher:
        fields = _fields(pid)
        pid = int(fields[1]) if fields else 0
    return pid == launcher


def test_ranks_die_with_their_launcher(bench: Bench) -> None:
    command = [bench.mpiexec, "-n", "2", bench.faulty_path, "--variant", "hangs", "--shape", "8x9x10"]
    launcher = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert launcher.stderr is not None
    while "hanging on purpose" not in launcher.stderr.readline():
        assert launcher.poll() is None
    processes = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    ranks = [pid for pid in processes if _is_rank_below(pid, launcher.pid)]
    assert len(ranks) == 2
    launcher.send_signal(signal.SIGKILL)
    launcher.wait()
    deadline = time.monotonic() + 120
    while any((_fields(pid) or "X")[0] not in "ZX" for pid in ranks):
        assert time.monotonic() < deadline, "a rank outlived its launcher"
        time.sleep(0.05)
