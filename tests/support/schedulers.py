"""Calls fourscore's schedulers by the program scheduler_probe, on stand-ins for their programs or on a real Slurm."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import pytest
from slurm_rig import SlurmRig

HERE = pathlib.Path(__file__).parent
PROBE = pathlib.Path(os.environ["FOURSCORE_BIN"]) / "scheduler_probe"
PROGRAMS = {"slurm": ("sbatch", "squeue", "scancel", "sacct", "sinfo"), "pbs": ("qsub", "qstat", "qdel")}
VERSIONS = {"slurm": "slurm-wlm 22.05.8", "pbs": "pbs_version = 23.06.06"}
JOB = {"name": "job", "nodes": 1, "time_limit_s": 60, "log": "/dev/null", "commands": ["true"]}


class ProbeError(Exception):
    """The probe's exit code and what it said."""

    def __init__(self, code: int, said: str):
        super().__init__(f"exit {code}: {said}")
        self.code = code
        self.said = said


@contextlib.contextmanager
def fails(code: int, *words: str) -> Iterator[None]:
    """Expects that the probe ends with this code and says these words."""
    with pytest.raises(ProbeError) as failed:
        yield
    assert failed.value.code == code, failed.value.said
    assert [word for word in words if word not in failed.value.said] == []


class Scheduler:
    """One of fourscore's schedulers, in an environment. What it said is in `said`."""

    def __init__(self, name: str, environment: dict[str, str]):
        self.name = name
        self.environment = environment
        self.said = ""

    def start(self, question: str, *words: object, **more: str) -> subprocess.Popen:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        command = [str(PROBE), self.name, question, *map(str, words)]
        return subprocess.Popen(command, env=self.environment | more, **pipes)

    def ask(self, question: str, *words: object, request: object = None, timeout: float = 300, **more: str) -> object:
        process = self.start(question, *words, **more)
        out, self.said = process.communicate(json.dumps(request), timeout=timeout)
        if process.returncode:
            raise ProbeError(process.returncode, self.said)
        return json.loads(out)

    def reason(self) -> str:
        """Why it cannot be used."""
        return self.ask("card")["reason"]

    def script(self, machine: dict | None = None, **job: object) -> str:
        return self.ask("script", request={"machine": machine or {}, "job": JOB | job})

    def submit(self, script: pathlib.Path, **more: str) -> str:
        return self.ask("submit", script, **more)

    def states(self, *jobs: str, **more: str) -> dict[str, dict]:
        return self.ask("states", *jobs, **more)

    def cancel(self, *jobs: str, **more: str) -> None:
        self.ask("cancel", *jobs, **more)

    def allocation(self, **more: str) -> dict | None:
        return self.ask("allocation", **more)


class FakeScheduler(Scheduler):
    """Its programs are stand-ins that answer what they are told to."""

    def __init__(self, name: str, folder: pathlib.Path):
        self.folder = folder
        self.programs = folder / "programs"
        self.programs.mkdir(parents=True)
        for program in PROGRAMS[name]:
            (self.programs / program).symlink_to(HERE / "fake_scheduler")
        (folder / "version").write_text(VERSIONS[name])
        inherited = {
            key: value for key, value in os.environ.items() if not key.startswith(("SLURM_", "SBATCH_", "PBS_"))
        }
        # The stand-ins are scripts of this interpreter; the system's own schedulers must not be found.
        system = folder / "system"
        system.mkdir()
        for tool in ("env", "bash"):
            (system / tool).symlink_to(f"/usr/bin/{tool}")
        python = pathlib.Path(sys.executable).parent
        path = f"{self.programs}:{system}"
        (system / "python3").symlink_to(python / "python3")
        environment = inherited | {"FAKE_SCHEDULER": str(folder), "PATH": path, "FOURSCORE_SCHEDULER_PATIENCE": "20"}
        super().__init__(name, environment)

    def answers(self, program: str, *answers: tuple[str, str, int]) -> None:
        """What its next calls say: standard output, standard error and exit code. The last answer stays."""
        (self.folder / f"{program}.json").write_text(json.dumps(answers))

    def calls(self, program: str | None = None) -> list[dict]:
        log = self.folder / "log"
        lines = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
        return [line for line in lines if program in (None, line["program"])]


class RealSlurm(Scheduler):
    """On a rig, with files in a folder that its nodes see."""

    def __init__(self, rig: SlurmRig):
        super().__init__("slurm", rig.environment | {"FOURSCORE_SCHEDULER_PATIENCE": "120"})
        self.rig = rig
        self.folder = rig.folder / "jobs"
        self.folder.mkdir()
        self.probe = rig.folder / "scheduler_probe"  # which the nodes see, wherever the build folder is
        shutil.copy(PROBE, self.probe)
        self.scripts = 0

    def write(
        self, command: str, directives: tuple[str, ...] = (), machine: dict | None = None, **job: object
    ) -> pathlib.Path:
        """The script of a job whose last command this is."""
        self.scripts += 1
        file = self.folder / f"job{self.scripts}.sh"
        wanted = {"log": str(file.with_suffix(".log")), "folder": str(self.folder), "commands": [command]} | job
        file.write_text(self.script({"directives": list(directives)} | (machine or {}), **wanted))
        return file

    def run(self, command: str, *directives: str, **job: object) -> str:
        """The id of a job that was submitted."""
        return self.submit(self.write(command, directives, **job))

    def state(self, job: str) -> dict:
        return self.states(job)[job]

    def wait(self, job: str, holds: Callable[[dict], bool], timeout: float = 60) -> dict:
        """The first state of which this holds."""
        deadline = time.monotonic() + timeout
        while not holds(state := self.state(job)):
            assert time.monotonic() < deadline, f"job {job} is {state}\n{self.rig.logs()}"
            time.sleep(0.3)
        return state

    def wait_for_end(self, job: str, timeout: float = 60) -> dict:
        return self.wait(job, lambda state: state["phase"] == "ended", timeout)

    def wait_for_word(self, job: str, word: str, timeout: float = 60) -> dict:
        return self.wait(job, lambda state: state["word"] == word, timeout)

    def log_of(self, job: str) -> str:
        (file,) = self.rig.run(["squeue", "--noheader", "--states=all", f"--jobs={job}", "--format=%o"]).stdout.split()
        return pathlib.Path(file).with_suffix(".log").read_text()
