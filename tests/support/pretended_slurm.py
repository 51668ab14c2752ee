"""A cluster whose Slurm is a stand-in (fake_slurm): a test says when its jobs run, and how they end."""

from __future__ import annotations

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import fourscore_command

HERE = pathlib.Path(__file__).parent
PROGRAMS = ("sbatch", "squeue", "sacct", "scancel", "sinfo", "srun")
MACHINE = """\
name = "pretended"
scheduler = "slurm"
launcher = "srun"

[nodes]
count = {count}
cores = 4

[queue]
partition = "{partition}"
time_limit = "{time_limit}"
{queue}
"""


class Campaign(fourscore_command.Fourscore):
    """The command on a machine whose jobs are those of a stand-in, with a fake bench."""

    def __init__(self, folder: pathlib.Path):
        super().__init__(folder)
        self.slurm = folder / "slurm"
        (self.slurm / "jobs").mkdir(parents=True)
        (self.slurm / "next").write_text("1")
        self.programs = folder / "programs"
        self.programs.mkdir()
        for program in PROGRAMS:
            (self.programs / program).symlink_to(HERE / "fake_slurm")
        # No program of a real scheduler must be found among the system's.
        system = folder / "system"
        system.mkdir()
        for tool in ("env", "bash", "mv", "sleep"):
            (system / tool).symlink_to(f"/usr/bin/{tool}")
        python = pathlib.Path(sys.executable).parent
        (system / "python3").symlink_to(python / "python3")
        for name in [name for name in self.environment if name.startswith(("SLURM_", "SBATCH_", "PBS_"))]:
            del self.environment[name]
        self.environment |= {
            "FAKE_SLURM": str(self.slurm),
            "FAKE_MEASURE_S": "0.1",
            "PATH": f"{self.programs}:{system}",
            "FOURSCORE_MACHINE": str(self.machine()),
            "FOURSCORE_SCHEDULER_PATIENCE": "0",
        }

    def machine(
        self, count: int = 4, partition: str = "all", time_limit: str = "01:00:00", queue: str = ""
    ) -> pathlib.Path:
        """Its machine file, written anew."""
        file = self.folder / "pretended.toml"
        file.write_text(MACHINE.format(count=count, partition=partition, time_limit=time_limit, queue=queue))
        return file

    def nodes_suite(
        self, nodes: str = "[1, 2, 4]", launches: int = 2, more: str = "", variants: str = '"good"'
    ) -> pathlib.Path:
        """A suite of one point for each of the numbers of nodes and variants, of one rank a node."""
        return self.suite(
            f'name = "s"\nlaunches = {launches}\nrepetitions = 3\nseed = 7\n{more}\n'
            f'[[sweep]]\nvariant = [{variants}]\nshape = "8x8x8"\nnodes = {nodes}\nranks_per_node = 1\n'
        )

    def submit(self, suite: object, *arguments: object, **options) -> dict:
        """What `submit --json` printed."""
        return json.loads(self("submit", suite, "--json", *arguments, **options).stdout)

    def status(self, *arguments: object) -> dict:
        """The status of the only campaign."""
        (campaign,) = json.loads(self("status", "--json", *arguments).stdout)
        return campaign

    def jobs(self) -> dict[str, dict]:
        """All but the probe, by id."""
        files = sorted((self.slurm / "jobs").glob("*.json"), key=lambda file: int(file.stem))
        found = {file.stem: json.loads(file.read_text()) for file in files}
        return {number: job for number, job in found.items() if job["job-name"] != "fourscore-probe"}

    def pending(self) -> list[str]:
        return [number for number, job in self.jobs().items() if job["state"] == "PENDING"]

    def set(self, job: str, state: str, reason: str = "None", **more: object) -> None:
        """What Slurm says of a job from now on."""
        file = self.slurm / "jobs" / f"{job}.json"
        file.write_text(json.dumps(json.loads(file.read_text()) | {"state": state, "reason": reason} | more))
        self.let_ask_again()

    def let_ask_again(self) -> None:
        """As if half a minute had passed since the scheduler was asked."""
        file = self.archive / "job-states.json"
        if file.exists():
            said = json.loads(file.read_text())
            file.write_text(json.dumps({name: one | {"asked_s": one["asked_s"] - 31} for name, one in said.items()}))

    def begin(self, job: str, minutes: float | None = None, **environment: str) -> subprocess.Popen:
        """A job starts, in a session of its own. It has as many minutes as it asked for, if not said otherwise."""
        asked = self.jobs()[job]
        hours, full, seconds = map(int, asked["time"].split(":"))
        end = int(time.time()) + int(60 * minutes if minutes is not None else hours * 3600 + full * 60 + seconds)
        hosts = f"n[1-{asked['nodes']}]"
        self.set(job, "RUNNING", ends=end, nodelist=hosts)
        variables = {"SLURM_JOB_ID": job, "SLURM_JOB_NODELIST": hosts, "SLURM_JOB_END_TIME": str(end)}
        with pathlib.Path(asked["output"]).open("w") as output:
            return subprocess.Popen(
                ["bash", asked["script"]], env=self.environment | variables | environment,
                stdout=output, stderr=subprocess.STDOUT, start_new_session=True, cwd=self.folder,
            )  # fmt: skip

    def run(self, job: str, **environment: str) -> str:
        """A job from start to end; what it printed."""
        process = self.begin(job, **environment)
        status = process.wait(120)
        self.set(job, "COMPLETED" if status == 0 else "FAILED", "None" if status == 0 else "NonZeroExitCode")
        return pathlib.Path(self.jobs()[job]["output"]).read_text()

    def run_all(self, **environment: str) -> str:
        """All that wait, one after the other; what they printed."""
        return "".join(self.run(job, **environment) for job in self.pending())

    def break_off(self, job: str, state: str, reason: str = "None", **environment: str) -> None:
        """A job begins, and is killed in its first launch; then Slurm says why."""
        process = self.begin(job, **{"FAKE_SLOW_S": "60"} | environment)
        journal = pathlib.Path(self.jobs()[job]["output"]).with_name("journal.jsonl")
        deadline = time.monotonic() + 30
        while not journal.exists() or '"launch"' not in journal.read_text():
            assert time.monotonic() < deadline, pathlib.Path(self.jobs()[job]["output"]).read_text()
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        self.set(job, state, reason)

    def calls(self, program: str) -> list[list[str]]:
        log = self.slurm / "log"
        lines = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
        return [line["argv"] for line in lines if line["program"] == program and line["argv"] != ["--version"]]

    def started(self) -> list[float]:
        """When launches began, in seconds since the epoch."""
        lines = [json.loads(line) for line in (self.slurm / "log").read_text().splitlines()]
        return [line["at"] for line in lines if line["program"] == "srun" and "-n" in line["argv"]]

    def measured(self) -> dict[str, int]:
        """How often each point's launches are archived as they should be, by its number of nodes and variant."""
        counts: dict[str, int] = {}
        for record in self.records().values():
            key = f"{record['point']['nodes']} {record['point']['variant']}"
            counts[key] = counts.get(key, 0) + (record["verdict"]["status"] == "ok")
        return counts
