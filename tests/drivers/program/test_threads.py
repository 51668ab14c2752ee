"""What fft_bench asks of MPI for threads, and what it says where MPI gives less."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Bench, read_record


def node_record(bench: Bench, out: Path, *options: str, threads: int = 2) -> dict:
    node = next(entry for entry in json.loads(bench("--list").stdout)["variants"] if entry["name"] == "node")
    if not node["available"]:
        pytest.skip(node["reason"])
    run = bench("--variant", "node", "--shape", "8x8x8", "--threads", str(threads), "--planner", "estimate", "--record", str(out), *options)
    assert run.returncode == 0, run.stderr
    return read_record(out)


def test_mpi_is_asked_for_what_the_point_needs(bench: Bench, tmp_path: Path) -> None:
    expected = {("funneled", 2): "funneled", ("multiple", 2): "multiple", ("multiple", 1): "funneled"}
    for (calls, threads), level in expected.items():
        out = tmp_path / f"{calls}-{threads}.json"
        record = node_record(bench, out, "--parameter", f"mpi={calls}", threads=threads)
        if record["verdict"]["status"] == "skipped":
            pytest.skip(record["verdict"]["reason"])
        assert record["verdict"]["status"] == "ok"
        assert record["resolved"]["mpi_thread_level"] == level


def test_too_little_thread_support_is_named(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOURSCORE_FAULTY_MPI_THREADS", "funneled")
    record = node_record(bench, tmp_path / "out.json", "--parameter", "mpi=multiple")
    assert record["verdict"]["status"] == "skipped"
    assert record["verdict"]["reason"] == "variant 'node' needs MPI_THREAD_MULTIPLE, but MPI provides MPI_THREAD_FUNNELED"
    assert "samples" not in record
    record = node_record(bench, tmp_path / "funneled.json", "--parameter", "mpi=funneled")
    assert record["verdict"]["status"] == "ok"
