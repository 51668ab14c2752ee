"""Runs fft_bench as a user would. ctest says where the programs are."""

from __future__ import annotations

import json
import os
import subprocess
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


@pytest.fixture(scope="session")
def bench() -> Bench:
    return Bench()


def read_record(path: Path) -> dict:
    """A record that follows the schema."""
    record = json.loads(path.read_text())
    jsonschema.Draft202012Validator(SCHEMA).validate(record)
    return record


def skip_unless_here(verdict: dict) -> None:
    """Skips the test where the build lacks the entry that was asked for, as a library of another MPI."""
    if "cannot run here: " in verdict["reason"]:
        pytest.skip(verdict["reason"])
