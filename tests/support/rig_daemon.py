"""One process of a rig (slurm_rig.py), which ends with the process that started it, however that ends."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

PATH = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"
DIES_WITH_US = ("setpriv", "--pdeathsig", "KILL")


class RigError(RuntimeError):
    """The rig did not do what it was asked to."""


class Daemon:
    """One process, with what it writes in a file of its own."""

    def __init__(self, command: Sequence[object], log: Path, environment: dict[str, str]):
        self.command = [*DIES_WITH_US, *map(str, command)]
        self.log = log
        self.environment = environment
        self.process: subprocess.Popen | None = None

    def start(self) -> None:
        with self.log.open("ab") as log:
            files = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log}
            # In a session of its own: Ctrl-C is for us.
            self.process = subprocess.Popen(self.command, env=self.environment, start_new_session=True, **files)

    def has_ended(self) -> bool:
        """By itself."""
        return self.process is not None and self.process.poll() is not None

    def stop(self) -> None:
        if self.process is None:
            return
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None
