"""Points on device=cuda where CUDA pretends: what a machine without a usable GPU, or a GPU that fails, comes to."""

from __future__ import annotations

import json
import os
import re
import subprocess
from functools import partial
from pathlib import Path

import pytest
from conftest import Bench, Launch, Record, Start, launched, recorded, skip_reason

POINT = ("--shape", "12x10x8", "--planner", "estimate", "--repetitions", "2", "--parameter", "device=cuda")
TEXTS = ("cudaErrorLaunchFailure", "CUFFT_")


def launch(bench: Bench, settings: str, *asked: str, ranks: int = 0) -> subprocess.CompletedProcess[str]:
    command = [bench.mpiexec, "-n", str(ranks)] if ranks else []
    command += [os.environ["FOURSCORE_FFT_BENCH_PRETENDED"], *asked]
    environment = os.environ | {"FOURSCORE_PRETENDED_CUDA": settings}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture(scope="module")
def start_job(bench: Bench) -> Start:
    return partial(launch, bench)


def run(bench: Bench, settings: str, *more: str, ranks: int = 0) -> Record:
    return recorded(partial(launch, bench, settings), *POINT, *more, ranks=ranks)


SHARED = (*POINT, "--parameter", "share-device=yes", "--variant")
STAGINGS = ("copy", "resident", "streamed")


@launched(2, *((*SHARED, "slab-gpu", "--parameter", f"staging={staging}") for staging in STAGINGS), settings="lag=200")
def test_a_point_on_a_gpu_is_right_and_its_phases_add_up(record: dict) -> None:
    assert record["verification"]["ok"]
    assert not {"emulated", "open-breakdown"} & set(record["flags"])
    [entry] = record["resolved"]["devices"]
    assert entry["device"]["identity"]["model"] == "pretended GPU"


NEIGHBOURS = ("--exchange", "shared", "--parameter", "staging=resident", "--parameter", "messages=ipc")


@launched(3, (*SHARED, "pencil-gpu", *NEIGHBOURS), settings="lag=200")
def test_ranks_that_read_their_neighbours_devices_are_right(record: dict) -> None:
    assert record["verification"]["ok"]
    assert record["cost"]["device"]["h2d_copies_per_rank"] == [0, 0, 0]


def test_memory_that_neighbours_cannot_open_is_a_reason_to_skip(bench: Bench) -> None:
    reason = skip_reason(run(bench, "ipc=no,devices=2", "--variant", "slab-gpu", *NEIGHBOURS, ranks=2))
    assert "the memory of neighbours' devices cannot be opened" in reason
    assert "cudaErrorNotSupported" in reason


DIRECT = ("--parameter", "staging=resident", "--parameter", "messages=device")


EXCHANGES = ("p2p", "alltoallv", "rma")


@launched(3, *((*SHARED, "pencil-gpu", "--exchange", name, *DIRECT) for name in EXCHANGES), settings="lag=200")
def test_messages_from_the_devices_memory_are_right(record: dict) -> None:
    assert record["verification"]["ok"]
    assert record["cost"]["device"]["h2d_copies_per_rank"] == [0, 0, 0]
    assert record["cost"]["device"]["d2h_copies_per_rank"] == [0, 0, 0]
    assert sum(record["cost"]["messages_per_rank"]) > 0
    assert record["resolved"]["devices"][0]["device"]["mpi_takes_its_memory"] is True


def test_an_mpi_that_does_not_take_the_devices_memory_is_a_reason_to_skip(bench: Bench) -> None:
    reason = skip_reason(run(bench, "mpi=unaware,devices=2", "--variant", "slab-gpu", "--exchange", "p2p", *DIRECT, ranks=2))
    assert "messages=device takes an MPI" in reason
    assert "MPIX_Query_cuda_support" in reason


def test_an_exchange_that_sends_from_where_data_lies_is_a_reason_to_skip(bench: Bench) -> None:
    reason = skip_reason(run(bench, "devices=2", "--variant", "slab-gpu", "--exchange", "alltoallw", *DIRECT, ranks=2))
    assert "'alltoallw' does not pack apart from its messages" in reason


NCCL = ("--exchange", "p2p", "--parameter", "staging=resident", "--parameter", "messages=nccl")


@pytest.mark.parametrize("ranks", [2, 3])
def test_messages_of_nccl_are_right(bench: Bench, ranks: int) -> None:
    record = run(bench, "lag=200,devices=3", "--variant", "pencil-gpu", *NCCL, ranks=ranks)
    assert record["verification"]["ok"]
    assert "open-breakdown" not in record["flags"]
    assert record["cost"]["device"]["h2d_copies_per_rank"] == [0] * ranks
    assert {entry["device"]["versions"]["messages"] for entry in record["resolved"]["devices"]} == {"nccl-2.28.9"}


def test_nccl_takes_a_device_for_each_rank(bench: Bench) -> None:
    reason = skip_reason(run(bench, "devices=1", "--variant", "slab-gpu", "--parameter", "share-device=yes", *NCCL, ranks=2))
    assert "2 ranks use the same device 0000:3B:00.0" in reason


def test_a_nccl_that_cannot_be_opened_is_a_reason_to_skip(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "libnccl.so.2").write_text("no library")
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    reason = skip_reason(run(bench, "devices=2", "--variant", "slab-gpu", *NCCL, ranks=2))
    assert "libnccl.so.2 cannot be loaded" in reason


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ("driver=none", "cudaErrorInsufficientDriver"),
        ("driver=old", "cudaErrorInsufficientDriver"),
        ("devices=0", "cudaErrorNoDevice"),
        ("mode=exclusive", "cudaErrorDevicesUnavailable"),
        ("memory=1000", "not enough memory on the device"),
    ],
)
def test_a_gpu_that_cannot_be_used_is_a_reason_to_skip(bench: Bench, settings: str, expected: str) -> None:
    reason = skip_reason(run(bench, settings, "--variant", "serial-gpu"))
    assert expected in reason


ARRAY = 12 * 10 * 8 * 16


def test_work_areas_that_do_not_fit_are_a_reason_to_skip(bench: Bench) -> None:
    """The arrays of both plans fit, forward and for the check back, and what cuFFT wants beside them does not."""
    reason = skip_reason(run(bench, f"memory={3.5 * ARRAY}", "--variant", "serial-gpu", "--direction", "forward"))
    assert f"at least {4 * ARRAY} bytes a rank, {2 * ARRAY} of them for work areas" in reason
    assert f"{3.5 * ARRAY:.0f} of it are free" in reason


POINTS = {
    "serial-gpu": ("--variant", "serial-gpu"),
    "slab-gpu": ("--variant", "slab-gpu"),
    "pencil-gpu": ("--variant", "pencil-gpu", "--grid", "2x1"),
    "streamed": ("--variant", "slab-gpu", "--parameter", "staging=streamed"),
    "node": ("--variant", "node", "--parameter", "offload=pencil"),
    "pencils": ("--variant", "overdecomposed", "--parameter", "offload=pencil"),
    "rank": ("--variant", "overdecomposed", "--parameter", "offload=rank"),
}


@pytest.mark.parametrize(
    "record",
    [Launch(1 if name == "serial-gpu" else 2, (*POINT, *asked), "devices=2,memory=1000") for name, asked in POINTS.items()],
    ids=POINTS,
    indirect=True,
)
def test_the_memory_that_is_asked_for_is_what_a_plan_takes(
    bench: Bench, request: pytest.FixtureRequest, record: dict
) -> None:
    """It is enough, so transforms that run one after another have one work area together."""
    asked = re.search(r"need at least (\d+) bytes", record["verdict"]["reason"])
    assert asked
    name, ranks = request.node.callspec.id, record["point"]["ranks"]
    assert run(bench, f"devices=2,memory={asked[1]}", *POINTS[name], ranks=ranks)["verdict"]["status"] == "ok"


def test_arrays_that_neighbours_read_are_counted_in_whole_blocks(bench: Bench) -> None:
    """Two plans of two arrays, each in a block of 2 MiB."""
    asked = ("--variant", "slab-gpu", *NEIGHBOURS)
    short = skip_reason(run(bench, "devices=2,memory=8e6", *asked, ranks=2))
    assert int(re.search(r"need at least (\d+) bytes", short)[1]) > 4 * 2**21
    assert run(bench, f"devices=2,memory={4 * 2**21 + 2**17}", *asked, ranks=2)["verdict"]["status"] == "ok"


def test_a_library_on_a_gpu_gets_what_neighbours_hold_at_once(bench: Bench) -> None:
    """Not in the tiles that a processor's cache holds, which would each be copied to the GPU and back."""
    asked = ("--variant", "slab", "--exchange", "shared", "--parameter", "reads=fused", "--local-fft", "cufft")
    more = ("--shape", "40x30x20", "--planner", "estimate", "--repetitions", "2", "--isolate")
    record = recorded(partial(launch, bench, ""), *asked, *more, ranks=2)
    assert record["verification"]["ok"]
    assert any("gathered from 2 blocks at once" in text for text in record["plan"]["local_fft"])
    assert record["cost"]["device"]["ffts_per_rank"] == [2, 2]
    assert {"h2d-2", "fft-2", "d2h-2"} <= {entry["name"] for entry in record["isolated"]}


@pytest.mark.parametrize("call", [1, 2, 5, 12, 30, 70, 160])
@pytest.mark.parametrize("how", ["fail-at", "falls-off-at"])
def test_a_call_that_fails_is_told_with_cudas_text(bench: Bench, how: str, call: int) -> None:
    done = launch(bench, f"{how}={call}", *POINT, "--variant", "slab-gpu", "--json")
    if done.returncode == 0:
        verdict = json.loads(done.stdout)["verdict"]
        told = verdict.get("reason", "")
        assert verdict["status"] in ("skipped", "ok" if how == "fail-at" else "skipped")
        assert verdict["status"] == "ok" or any(text in told for text in (*TEXTS, "no device"))
    else:
        assert any(text in done.stderr for text in TEXTS)
