"""Runs fft_bench as a user would. ctest says where the programs are."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import jsonschema
import pytest

ROOT = Path(__file__).resolve().parents[2]
Arguments = tuple[str, ...]
Start = Callable[..., subprocess.CompletedProcess[str]]
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


def recorded(launch: Start, *arguments: str, code: int = 0, out: Path | None = None, **how) -> Record:
    """The record of a launch that ends with `code`; `out` is where it stays, if it is to stay."""
    with tempfile.TemporaryDirectory() as folder:
        file = out or Path(folder) / "out.json"
        run = launch(*arguments, "--record", str(file), **how)
        assert run.returncode == code, f"exit {run.returncode}, expected {code}\n{run.stdout}\n{run.stderr}"
        record = Record(read_record(file))
    record.screen, record.errors = run.stdout, run.stderr
    return record


class Jobs:
    """Launches in as few jobs of MPI as they can share (fft_bench --launches); the record of each by its arguments."""

    def __init__(self, start: Start, launches: Iterable[Arguments], folder: Path) -> None:
        self._start, self._list = start, folder / "launches"
        self._records = {launch: folder / f"{number}.json" for number, launch in enumerate(dict.fromkeys(launches))}
        self._told: dict[Arguments, str] = {}  # by the job of a launch that left no record, or that failed as a whole
        left = list(self._records)
        while left:
            begun = self._run(left)
            left = [launch for launch in left if launch not in begun]  # they cannot follow, or the job died before them

    def _run(self, launches: list[Arguments]) -> list[Arguments]:
        """Starts one job; returns the launches that began in it."""
        files = [("--record", self._records[launch], "--started", self._started(launch)) for launch in launches]
        lines = [[*launch, *map(str, beside)] for launch, beside in zip(launches, files, strict=True)]
        self._list.write_text(json.dumps(lines))
        try:
            run = self._start("--launches", str(self._list))
            code, told = run.returncode, f"exit {run.returncode}\n{run.stderr}"
        except subprocess.TimeoutExpired as late:
            code, told = -1, f"{late}\n{late.stderr}"
        begun = [launch for launch in launches if self._started(launch).exists()] or launches
        bad = [launch for launch in begun if self._status(launch) not in ("ok", "skipped")]
        without_record = [launch for launch in bad if not self._status(launch)]
        self._told |= dict.fromkeys(begun if code and not bad else without_record, told)
        return begun

    def _started(self, launch: Arguments) -> Path:
        return self._records[launch].with_suffix(".started")

    def _status(self, launch: Arguments) -> str:
        record = self._records[launch]
        return json.loads(record.read_text())["verdict"]["status"] if record.exists() else ""

    def __getitem__(self, launch: Arguments) -> dict:
        assert launch not in self._told, f"{' '.join(launch)}: its job ended with {self._told[launch]}"
        return read_record(self._records[launch])


class Launch(NamedTuple):
    """What a test's parameter `record` asks for; the launches of a module's tests are started together."""

    ranks: int
    arguments: Arguments
    settings: str = ""  # for a job of a program that pretends; others have none


def launched(ranks: int, *launches: Arguments, settings: str = "") -> pytest.MarkDecorator:
    """The test has the record of each in turn."""
    return pytest.mark.parametrize("record", [Launch(ranks, launch, settings) for launch in launches], indirect=True)


def pytest_make_parametrize_id(val: object) -> str | None:
    return " ".join([f"{val.ranks}{val.settings and ' ' + val.settings}", *val.arguments]) if isinstance(val, Launch) else None


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
        assert_measured(record)
        return record

    def records(self, *launches: Arguments, ranks: int, faulty: bool = False) -> list[dict]:
        """The records of launches that share a job, as far as they can."""
        with tempfile.TemporaryDirectory() as folder:
            jobs = Jobs(partial(self, ranks=ranks, faulty=faulty), launches, Path(folder))
            return [jobs[launch] for launch in launches]

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


AllJobs = dict[tuple[int, str], Jobs]


def launches_of(request: pytest.FixtureRequest) -> dict[tuple[int, str], list[Arguments]]:
    """The launches that the chosen tests of a module take records of, by what a job of them needs."""
    launches: dict[tuple[int, str], list[Arguments]] = {}
    for item in request.session.items:
        asked = item.callspec.params.get("record") if hasattr(item, "callspec") else None
        if asked and item.path == request.path:
            launches.setdefault((asked.ranks, asked.settings), []).append(asked.arguments)
    return launches


@pytest.fixture(scope="module")
def start_job(bench: Bench) -> Start:
    return lambda settings, *arguments, ranks: bench(*arguments, ranks=ranks, faulty=False, timeout=300)


@pytest.fixture(scope="module")
def folder_of_jobs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("jobs")


@pytest.fixture(scope="module")
def jobs(request: pytest.FixtureRequest, start_job: Start, folder_of_jobs: Path) -> AllJobs:
    made: AllJobs = {}
    for number, ((ranks, settings), launches) in enumerate(launches_of(request).items()):
        folder = folder_of_jobs / str(number)
        folder.mkdir()
        made[ranks, settings] = Jobs(partial(start_job, settings, ranks=ranks), launches, folder)
    return made


@pytest.fixture
def record(request: pytest.FixtureRequest, jobs: AllJobs) -> dict:
    asked: Launch = request.param
    return jobs[asked.ranks, asked.settings][asked.arguments]


def assert_measured(record: dict) -> None:
    """Skips the test where the build lacks what is asked for."""
    skip_unless_here(record["verdict"])
    assert record["verdict"]["status"] == "ok", record["verdict"]["reason"]


def skip_unless_here(verdict: dict) -> None:
    """Skips the test where the build lacks the entry that was asked for, as a library of another MPI."""
    if "cannot run here: " in verdict["reason"]:
        pytest.skip(verdict["reason"])
