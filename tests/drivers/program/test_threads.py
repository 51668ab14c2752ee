"""What fft_bench asks of MPI for threads, and what it says where MPI gives less."""

from __future__ import annotations

import pytest
from conftest import Bench, skip_reason


def node_record(bench: Bench, *options: str, threads: int = 2) -> dict:
    bench.skip_without_node()
    return bench.record("--variant", "node", "--shape", "8x8x8", "--threads", str(threads), "--planner", "estimate", *options)


def test_mpi_is_asked_for_what_the_point_needs(bench: Bench) -> None:
    expected = {("funneled", 2): "funneled", ("multiple", 2): "multiple", ("multiple", 1): "funneled"}
    for (calls, threads), level in expected.items():
        record = node_record(bench, "--parameter", f"mpi={calls}", threads=threads)
        if record["verdict"]["status"] == "skipped":
            pytest.skip(record["verdict"]["reason"])
        assert record["verdict"]["status"] == "ok"
        assert record["resolved"]["mpi_thread_level"] == level


def test_too_little_thread_support_is_named(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOURSCORE_FAULTY_MPI_THREADS", "funneled")
    reason = skip_reason(node_record(bench, "--parameter", "mpi=multiple"))
    assert reason == "variant 'node' needs MPI_THREAD_MULTIPLE, but MPI provides MPI_THREAD_FUNNELED"
    record = node_record(bench, "--parameter", "mpi=funneled")
    assert record["verdict"]["status"] == "ok"
