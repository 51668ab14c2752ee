"""Runs fft_bench as a user would. ctest says where the programs are."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "results" / "run-record.schema.json").read_text())


def _program(variable: str) -> str:
    path = os.environ.get(variable)
    if not path:
        pytest.exit(f"{variable} is not set: start these tests with ctest", returncode=3)
    return path


def read_record(path: Path) -> dict:
    """A record that follows the schema."""
    record = json.loads(path.read_text())
    jsonschema.Draft202012Validator(SCHEMA).validate(record)
    return record


class Record(dict):
    """A record that follows the schema, with what its launch printed on both streams."""

    screen = errors = ""


def recorded(
    launch: Callable[..., subprocess.CompletedProcess[str]], *arguments: str, code: int = 0, out: Path | None = None, **how
) -> Record:
    """The record of a launch that ends with `code`; `out` is where it stays, if it is to stay."""
    with tempfile.TemporaryDirectory() as folder:
        file = out or Path(folder) / "out.json"
        run = launch(*arguments, "--record", str(file), **how)
        assert run.returncode == code, f"exit {run.returncode}, expected {code}\n{run.stdout}\n{run.stderr}"
        record = Record(read_record(file))
    record.screen, record.errors = run.stdout, run.stderr
    return record


def skip_reason(record: dict) -> str:
    """The reason in a record that has no times."""
    assert record["verdict"]["status"] == "skipped" and "samples" not in record and "benchmarks" not in record, record["verdict"]
    return record["verdict"]["reason"]


class Bench:
    """fft_bench, or its faulty twin, with or without mpiexec."""

    def __init__(self) -> None:
        self.plain = _program("FOURSCORE_FFT_BENCH")
        self.faulty_path = _program("FOURSCORE_FFT_BENCH_FAULTY")
        self.mpiexec = _program("FOURSCORE_MPIEXEC")

    def __call__(
        self, *arguments: str, ranks: int = 0, faulty: bool = True, stdin: str | None = None, timeout: float = 120
    ) -> subprocess.CompletedProcess[str]:
        """ranks = 0 starts the program by itself."""
        command = [self.mpiexec, "-n", str(ranks)] if ranks else []
        command += [self.faulty_path if faulty else self.plain, *arguments]
        return subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=timeout, check=False)

    def record(self, *arguments: str, **how) -> Record:
        return recorded(self, *arguments, **how)

    def measured(self, *arguments: str, **how) -> Record:
        """The record of a point with times. Skips the test where the build lacks what is asked for."""
        record = self.record(*arguments, **how)
        skip_unless_here(record["verdict"])
        assert record["verdict"]["status"] == "ok", record["verdict"]["reason"]
        return record

    def skipped(self, *arguments: str, **how) -> str:
        """Why a point is skipped."""
        return skip_reason(self.record(*arguments, **how))

    def refused(self, *arguments: str, **how) -> str:
        """What is said of bad input."""
        run = self(*arguments, **how)
        assert run.returncode == 2, run.stdout + run.stderr
        return run.stderr

    def listed(self, kind: str, faulty: bool = False) -> dict[str, dict]:
        """Entries by name: "variants", "local_ffts"."""
        return {entry["name"]: entry for entry in json.loads(self("--list", faulty=faulty).stdout)[kind]}

    def skip_without_node(self) -> None:
        """Skips the test where MPI has no threads for the variant node."""
        node = self.listed("variants")["node"]
        if not node["available"]:
            pytest.skip(node["reason"])

    def answers(self, *points: dict, faulty: bool = False) -> list[dict]:
        """What --check-points says of each."""
        run = self("--check-points", stdin="".join(json.dumps(point) + "\n" for point in points), faulty=faulty)
        assert run.returncode == 0, run.stderr
        return [json.loads(line) for line in run.stdout.splitlines()]


@pytest.fixture(scope="session")
def bench() -> Bench:
    return Bench()


def skip_unless_here(verdict: dict) -> None:
    """Skips the test where the build lacks the entry that was asked for, as a library of another MPI."""
    if "cannot run here: " in verdict["reason"]:
        pytest.skip(verdict["reason"])
