"""Campaigns on a real Slurm (slurm_rig), with the fake bench or the real one, in one archive that its nodes see."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import sqlite3
import time
from collections.abc import Callable

import fourscore_command
from slurm_rig import SlurmRig

HERE = pathlib.Path(__file__).parent
MACHINE = """\
name = "rig"
scheduler = "slurm"
launcher = "srun"

[nodes]
count = 4
cores = 2

[queue]
partition = "{partition}"
time_limit = "01:00:00"
directives = {directives}

[environment]
set = {{ FAKE_SLOW_S = "{folder}/slow_s", FAKE_LOG = "{folder}/log", FAKE_MEASURE_S = "0.5" }}
{launch}
"""


class RigCampaigns(fourscore_command.Fourscore):
    """The command on a rig. `slow(s)` says how long launches of the variant `slow` take from now on."""

    def __init__(self, rig: SlurmRig, archive: pathlib.Path | None = None):
        folder = rig.folder / f"campaigns{len(list(rig.folder.glob('campaigns*')))}"
        folder.mkdir()
        super().__init__(folder)
        self.rig = rig
        if archive is not None:
            self.archive = archive
        self.machine_file = folder / "rig.toml"
        self.machine()
        self.slow(0.05)
        self.environment = rig.environment | {
            "FOURSCORE_ARCHIVE": str(self.archive),
            "FOURSCORE_BENCH": str(HERE / "fake_bench"),
            "FOURSCORE_MACHINE": str(self.machine_file),
            "FOURSCORE_SCHEDULER_PATIENCE": "60",
        }

    def machine(self, *directives: str, partition: str = "all", launch: str = "") -> None:
        """Its machine file, written anew. The fake bench takes no MPI."""
        values = {"directives": json.dumps(directives), "partition": partition, "folder": self.folder}
        self.machine_file.write_text(MACHINE.format(**values, launch=launch or '\n[launch]\nmpi = "none"'))

    def use_real_bench(self) -> None:
        """A copy of it that nodes see, wherever the build folder is."""
        bench = self.folder / "fft_bench"
        shutil.copy(fourscore_command.BIN / "fft_bench", bench)
        self.environment["FOURSCORE_BENCH"] = str(bench)
        self.machine(launch="[launch]")

    def slow(self, seconds: float) -> None:
        part = self.folder / "slow_s.part"
        part.write_text(str(seconds))
        part.rename(self.folder / "slow_s")

    def slow_suite(self, name: str, nodes: int, launches: int, more: str = "", time_limit_s: int = 100) -> pathlib.Path:
        """One point of the variant `slow`, of one rank a node."""
        return self.suite(
            f'name = "{name}"\nlaunches = {launches}\nrepetitions = 2\nseed = 7\ntime_limit_s = {time_limit_s}\n{more}\n'
            f'[[sweep]]\nvariant = "slow"\nshape = "8x8x8"\nnodes = {nodes}\nranks_per_node = 1\n',
            f"{name}.toml",
        )

    def submit(self, suite: object, *arguments: object, **options) -> dict:
        said = self("submit", suite, "--json", *arguments, **options).stdout
        return json.loads(said)

    def campaign(self, name: str) -> str:
        """The name of the one campaign of a suite."""
        (folder,) = self.archive.glob(f"campaigns/{name}-*")
        return folder.name

    def folder_of(self, job: dict, campaign: str) -> pathlib.Path:
        return self.archive / "campaigns" / campaign / "jobs" / job["name"]

    def journal(self, job: dict, campaign: str) -> str:
        file = self.folder_of(job, campaign) / "journal.jsonl"
        return file.read_text() if file.exists() else ""

    def said_by(self, job: dict, campaign: str) -> str:
        file = self.folder_of(job, campaign) / "output.log"
        return file.read_text() if file.exists() else "no log"

    def about(self, job: dict, campaign: str) -> str:
        """All that can be said of a job, where it did not end as it should."""
        shown = self.rig.run(["scontrol", "show", "job", job["id"]]).stdout
        return f"{shown}\n{self.said_by(job, campaign)}\n{self.journal(job, campaign)}"

    def wait(self, what: str, holds: Callable[[], object], timeout: float = 60, pause_s: float = 0.1) -> None:
        deadline = time.monotonic() + timeout
        while not holds():
            assert time.monotonic() < deadline, f"not within {timeout} s: {what}\n{self.rig.logs()}"
            time.sleep(pause_s)

    def states(self) -> dict[str, str]:
        """The states of all jobs that Slurm knows."""
        lines = self.rig.run(["squeue", "--noheader", "--states=all", "--format=%i %T"]).stdout.splitlines()
        return dict(line.split() for line in lines)

    def wait_for_launch(self, job: dict, campaign: str, timeout: float = 60) -> None:
        """Until one is under way, and its program says so."""
        staging = self.archive / "campaigns" / campaign / "staging" / job["name"]

        def is_under_way() -> bool:
            lines = self.journal(job, campaign).splitlines()
            began = bool(lines) and json.loads(lines[-1])["event"] == "launch"
            return began and bool(list(staging.glob("*.started")))

        self.wait(f"a launch of job {job['id']}: {self.said_by(job, campaign)}", is_under_way, timeout)

    def wait_for_jobs(self, jobs: list[str], timeout: float = 120) -> dict[str, str]:
        """How these ended."""
        living = ("PENDING", "RUNNING", "COMPLETING", "CONFIGURING", "REQUEUED")
        found: dict[str, str] = {}

        def have_ended() -> bool:
            found.update(self.states())
            return all(found[job] not in living for job in jobs)

        self.wait(f"the end of the jobs {jobs}", have_ended, timeout, pause_s=0.5)  # each look starts squeue
        return {job: found[job] for job in jobs}

    def finish(self, suite: object, *arguments: object, rounds: int = 8, timeout: float = 120) -> None:
        """Submits again until nothing is missing."""
        for _ in range(rounds):
            said = self.submit(suite, *arguments)
            if not said["jobs"] and not said["in_jobs"]:
                return
            held = json.loads(self("status", said["campaign"], "--json").stdout)[0]["jobs"]
            self.wait_for_jobs([job["id"] for job in held if job["phase"] != "ended"], timeout)
        raise AssertionError(f"not complete after {rounds} rounds\n{self('status', said['campaign']).stdout}")

    def begun(self, name: str, launches: int, slow_s: float, more: str = "") -> tuple[pathlib.Path, dict, str]:
        """A suite of one point on two nodes, its job, whose first launch is under way, and its campaign."""
        self.slow(slow_s)
        suite = self.slow_suite(name, 2, launches, more=more)
        (job,) = self.submit(suite)["jobs"]
        self.wait_for_launch(job, self.campaign(name))
        return suite, job, self.campaign(name)

    def ends(self, job: dict, campaign: str, word: str, timeout: float = 120) -> None:
        """Waits until the job has ended so."""
        assert self.wait_for_jobs([job["id"]], timeout) == {job["id"]: word}, self.about(job, campaign)

    def see_through(self, suite: object, campaign: str, launches: int, *arguments: object, rounds: int = 8) -> None:
        """Brings a campaign of one point to its end, by launches that take a moment."""
        self.slow(0.05)
        self.finish(suite, *arguments, rounds=rounds)
        self.check_complete(campaign, points=1, launches=launches)

    def check_complete(self, campaign: str, points: int, launches: int, statuses: tuple[str, ...] = ("ok",)) -> None:
        """Every point was measured exactly as often as asked, and the archive is as it should be."""
        records = [json.loads(file.read_text()) for file in self.archive.glob(f"records/{campaign}/*.json")]
        replaced = {(one["point_id"], one["campaign"]["retry_of"]) for one in records if "retry_of" in one["campaign"]}
        count: dict[str, int] = {}
        for record in records:
            if (record["point_id"], record["campaign"]["launch"]) in replaced:
                continue
            assert record["verdict"]["status"] in statuses, record["verdict"]
            count[record["point_id"]] = count.get(record["point_id"], 0) + 1
        assert sorted(count.values()) == [launches] * points
        assert len({record["record_id"] for record in records}) == len(records)
        (status,) = json.loads(self("status", campaign, "--json").stdout)
        assert (status["missing"], status["queued"], status["running"]) == (0, 0, 0)
        assert status["records"] == status["expected"] == points * launches
        assert "all as they should be" in self("verify", campaign).stdout
        indexed = {row[0] for row in self.index_files(campaign)}
        assert indexed == {
            f"records/{campaign}/{file.name}" for file in self.archive.glob(f"records/{campaign}/*.json")
        }
        assert not list(self.archive.glob(f"records/{campaign}/.*"))

    def index_files(self, campaign: str) -> list[tuple]:
        with sqlite3.connect(self.archive / "index.sqlite") as database:
            return database.execute("SELECT file FROM records WHERE file LIKE ?", (f"records/{campaign}/%",)).fetchall()

    def processes_of(self, campaign: str) -> dict[int, str]:
        """This campaign's processes: fourscore, srun and the bench, by process id as this machine sees it."""
        found = {}
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) == os.getpid():
                continue
            try:
                words = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
            except OSError:
                continue
            if any(campaign in word for word in words) and words[0] != "setpriv":
                found[int(entry.name)] = pathlib.Path(words[0]).name
        return found
