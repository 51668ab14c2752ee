"""Runs the real `fourscore` on archives in temporary folders. FOURSCORE_BIN is the folder of the built programs."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

# What ignores these signals passes that on, and then an interrupt is none: tests that were started in the background, or
# under nohup, must not differ from others.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

HERE = pathlib.Path(__file__).parent
BIN = pathlib.Path(os.environ["FOURSCORE_BIN"])

# The environment of calls that leave the fakes out, where the tests were given an mpirun.
REAL = {"FOURSCORE_BENCH": str(BIN / "fft_bench"), "FOURSCORE_COMPONENTS": str(BIN)}
if "FOURSCORE_TEST_MPIEXEC" in os.environ:
    REAL["FOURSCORE_MPIEXEC"] = os.environ["FOURSCORE_TEST_MPIEXEC"]


def is_open_mpi() -> bool:
    """Whether fft_bench, which must be built, is linked with it."""
    said = subprocess.run([BIN / "fft_bench", "--identity"], capture_output=True, text=True, check=True).stdout
    return json.loads(said)["identity"]["code"]["mpi"].startswith("Open MPI")


def preloaded(shim: str) -> dict[str, str]:
    """The environment that loads one of tests/support/*.c first. LD_PRELOAD takes no path with a space."""
    folder = BIN.parent / "lib"
    assert (folder / f"lib{shim}.so").exists(), f"{shim} is a target of the build"
    first = {"LD_PRELOAD": f"lib{shim}.so", "LD_LIBRARY_PATH": str(folder)}
    return {name: ":".join(filter(None, [value, os.environ.get(name)])) for name, value in first.items()}


def signed(record: dict) -> str:
    """The record as one line with its digest, as results/README.md has it."""
    line = json.dumps({key: value for key, value in record.items() if key != "sha256"})[:-1] + ',"sha256":"'
    return f'{line}{hashlib.sha256(line.encode()).hexdigest()}"}}\n'


@contextlib.contextmanager
def changed(file: pathlib.Path) -> Iterator[dict]:
    """The record of this file, which gets what is changed in it, and its digest anew."""
    record = json.loads(file.read_text())
    yield record
    file.write_text(signed(record))


def option(argv: list[str], name: str) -> str | None:
    """The value of an option of a command line; None where it lacks it."""
    return argv[argv.index(name) + 1] if name in argv else None


def script(file: pathlib.Path, text: str) -> pathlib.Path:
    """Makes a program of this text, a shell's where it does not say whose."""
    file.write_text(text if text.startswith("#!") else f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)
    return file


def git(repository: pathlib.Path, *words: object) -> str:
    """What git says, whose user is nobody."""
    command = ["git", "-C", repository, "-c", "user.name=n", "-c", "user.email=e", *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def repository_of(folder: pathlib.Path, name: str, *contents: str) -> pathlib.Path:
    """A new repository, with a revision for each content of its one file."""
    folder.mkdir()
    git(folder, "init", "-q")
    for content in contents:
        script(folder / name, content) if content.startswith("#!") else (folder / name).write_text(content)
        git(folder, "add", "-A")
        git(folder, "commit", "-qm", "m")
    return folder


class Fourscore:
    """The command with an archive, a fake bench and a fake mpirun; calls with environment=REAL leave the fakes out."""

    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        self.archive = folder / "archive"
        self.log = folder / "log"
        self.pids = folder / "pids"
        self.components = folder / "components"
        self.components.mkdir()
        for name in ("alltoall_bench", "pairwise_bench"):
            (self.components / name).symlink_to(HERE / "fake_component")
        self.environment = os.environ | {
            "FOURSCORE_ARCHIVE": str(self.archive),
            "FOURSCORE_BENCH": str(HERE / "fake_bench"),
            "FOURSCORE_COMPONENTS": str(self.components),
            "FOURSCORE_MPIEXEC": str(HERE / "fake_mpirun"),
            "FAKE_LOG": str(self.log),
            "FAKE_PIDS": str(self.pids),
            # The fakes are scripts of this interpreter.
            "PATH": f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}",
        }

    def why_not_counted(self, *backends: str) -> str:
        """Why one of these counter backends cannot run here, as without a build that Valgrind runs; else empty."""
        listed = self.json("list", "counters") if backends else []
        missing = [one for one in listed if one["name"] in backends and not one["available"]]
        return "; ".join(f"{one['name']} cannot run here: {one['reason']}" for one in missing)

    def skip_unless_counted(self, *backends: str) -> None:
        """Skips the test where one of these counter backends cannot run."""
        if reason := self.why_not_counted(*backends):
            pytest.skip(reason)

    @staticmethod
    def counters_of(suite: str) -> list[str]:
        """The counter backends without which a shipped suite does not run; one that counts some points skips these."""
        text = (HERE.parents[1] / "suites" / f"{suite}.toml").read_text()
        return [] if "\ncounters_of = " in text else re.findall(r'^counters = "(\w+)', text, re.MULTILINE)

    def command(self, *arguments: object) -> list[str]:
        return [str(BIN / "fourscore"), *map(str, arguments)]

    def start(self, *arguments: object, **options) -> subprocess.Popen:
        environment = self.environment | options.pop("environment", {})
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "cwd": self.folder}
        return subprocess.Popen(self.command(*arguments), env=environment, **pipes | options)

    def __call__(self, *arguments: object, code: int | tuple[int, ...] = 0, **options) -> subprocess.CompletedProcess:
        process = self.start(*arguments, **options)
        out, err = process.communicate(timeout=300)
        assert process.returncode in (code if isinstance(code, tuple) else (code,)), f"exit {process.returncode}, expected {code}\n{out}\n{err}"
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def json(self, *arguments: object, **options) -> Any:
        """What the command says with --json."""
        return json.loads(self(*arguments, "--json", **options).stdout)

    def plan(self, suite: str | pathlib.Path, *arguments: object, **options) -> dict:
        """What `run` would do."""
        return self.json("run", suite, "--dry-run", *arguments, **options)

    def suite(self, text: str, name: str = "s.toml") -> pathlib.Path:
        file = self.folder / name
        file.write_text(text)
        return file

    def points(self, variants: str = '"good"', points: int = 3, launches: int = 2, more: str = "") -> pathlib.Path:
        """A suite of `points` shapes."""
        shapes = ", ".join(f'"{n}x4x4"' for n in range(1, points + 1))
        return self.suite(
            f'name = "s"\nlaunches = {launches}\nrepetitions = 3\nseed = 7\n{more}\n'
            f"[[sweep]]\nvariant = [{variants}]\nshape = [{shapes}]\nranks = 1\n"
        )

    def records(self) -> dict[str, dict]:
        return {str(f): json.loads(f.read_text()) for f in sorted(self.archive.glob("records/*/*.json"))}

    def finished(self, what: str = "record") -> list:
        """Records, or "argv", in the order in which launches of the fakes finished."""
        return [json.loads(line)[what] for line in self.log.read_text().splitlines()] if self.log.exists() else []

    def index(self) -> list[tuple]:
        with sqlite3.connect(self.archive / "index.sqlite") as database:
            rows = database.execute("SELECT * FROM records ORDER BY file").fetchall()
            return rows + database.execute("SELECT * FROM unreadable ORDER BY file").fetchall()


@pytest.fixture
def fourscore(tmp_path: pathlib.Path) -> Fourscore:
    return Fourscore(tmp_path)


@pytest.fixture(scope="session")
def first_measured(tmp_path_factory: pytest.TempPathFactory) -> Fourscore:
    fourscore = Fourscore(tmp_path_factory.mktemp("measured"))
    fourscore("run", fourscore.points(), "--campaign", "c", "--quiet")
    return fourscore


@pytest.fixture
def measured(fourscore: Fourscore, first_measured: Fourscore) -> Fourscore:
    """With a campaign c of three points, two launches of each: measured once, and then copied."""
    shutil.copytree(first_measured.archive, fourscore.archive)
    fourscore.log.write_text(first_measured.log.read_text().replace(str(first_measured.folder), str(fourscore.folder)))
    fourscore.points()
    return fourscore


def first_record(fourscore: Fourscore) -> pathlib.Path:
    return sorted(fourscore.archive.glob("records/c/*.json"))[0]
