"""The programs of drivers/components, with the parameters of a run of a moment."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from conftest import Record, recorded

FOLDER = Path(os.environ["FOURSCORE_COMPONENTS"])
MPIEXEC = os.environ["FOURSCORE_MPIEXEC"]
QUICK = ("--repetitions", "2", "--min-time-s", "0.0001")


def call(
    program: str, *arguments: str, ranks: int = 0, stdin: str | None = None, environment: dict[str, str] | None = None,
    timeout: float = 120,
) -> subprocess.CompletedProcess[str]:
    command = [MPIEXEC, "-n", str(ranks)] if ranks else []
    return subprocess.run(
        [*command, str(FOLDER / program), *arguments],
        input=stdin, capture_output=True, text=True, timeout=timeout, check=False, env=os.environ | (environment or {}),
    )  # fmt: skip


def measured(program: str, *arguments: str, **how) -> Record:
    """The record of a run of a moment."""
    return recorded(call, program, *QUICK, *arguments, **how)


def refused(program: str, *arguments: str, **how) -> str:
    """What is said, once, of bad input."""
    run = call(program, *arguments, **how)
    assert (run.returncode, run.stdout) == (2, ""), run.stderr
    assert run.stderr.count(f"{program}: ") == 1, run.stderr
    return run.stderr


def answers(program: str, *points: dict) -> list[dict]:
    """What --check-points says of each."""
    run = call(program, "--check-points", stdin="".join(json.dumps(point) + "\n" for point in points))
    return [json.loads(line) for line in run.stdout.splitlines()]


def given(parameters: dict[str, object]) -> list[str]:
    return [text for name, value in parameters.items() for text in ("--parameter", f"{name}={value}")]
