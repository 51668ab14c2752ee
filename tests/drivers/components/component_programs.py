"""The programs of drivers/components, with the parameters of a run of a moment."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

FOLDER = Path(os.environ["FOURSCORE_COMPONENTS"])
MPIEXEC = os.environ["FOURSCORE_MPIEXEC"]
QUICK = ("--repetitions", "2", "--min-time-s", "0.0001")


def call(
    program: str, *arguments: str, ranks: int = 0, stdin: str | None = None, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    command = [MPIEXEC, "-n", str(ranks)] if ranks else []
    return subprocess.run(
        [*command, str(FOLDER / program), *arguments],
        input=stdin, capture_output=True, text=True, timeout=120, check=False, env=os.environ | (environment or {}),
    )  # fmt: skip


def given(parameters: dict[str, str]) -> list[str]:
    return [text for name, value in parameters.items() for text in ("--parameter", f"{name}={value}")]
