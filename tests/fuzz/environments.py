"""Surroundings: closed and full descriptors, a poor environment, few open files, no current folder, ignored signals."""

from __future__ import annotations

import random
import resource
import shutil
import signal

from harness import Outcome, Place, Step, words_of
from options import COMPONENTS, INDEX, WRITES_WITH_MPI

FOURSCORE_VARIABLES = (
    *words_of("""
    FOURSCORE_ARCHIVE FOURSCORE_BENCH FOURSCORE_COMPONENTS FOURSCORE_MPIEXEC FOURSCORE_PYTHON FOURSCORE_SUITES
    FOURSCORE_RANKS_PER_NODE OMP_NUM_THREADS PYTHONPATH LANG LC_ALL TERM COLUMNS XDG_CACHE_HOME TZ
    """),
)
VALUES = (
    *words_of("""
    / . nosuch /proc/nonexistent/x /bin/true /bin/false /dev/null -1 nan 99999999999999999999 é %s%n C
    """),
    "",
    " ",
    "x" * 4000,
    "\x1b[2J",
)


def commands(place: Place) -> dict[str, tuple[list[str], tuple[str, ...]]]:
    """What is run, all of it good, and what it may write."""
    fourscore, bench = place.program("fourscore"), place.program("fft_bench")
    memory = place.program("memory_bench")
    return {
        "help": ([fourscore, "--help"], ()),
        "version": ([fourscore, "--version"], ()),
        "variants": ([fourscore, "list", "variants"], ()),
        "suites": ([fourscore, "list", "suites", "--json"], ()),
        "components": ([fourscore, "list", "components"], ()),
        "counters": ([fourscore, "counters", "list"], ()),
        "dry-run": ([fourscore, "run", "base.toml", "--dry-run"], ()),
        "again": ([fourscore, "run", "base.toml", "--campaign", "base"], ("work", "tmp")),
        "status": ([fourscore, "status"], INDEX),
        "status-json": ([fourscore, "status", "base", "--json"], INDEX),
        "verify": ([fourscore, "verify"], ()),
        "reindex": ([fourscore, "reindex"], ("work",)),
        "csv": ([fourscore, "export", "--format", "csv"], ()),
        "trace": ([fourscore, "export", "--format", "chrome-trace", "-o", "trace.json"], ("work/trace.json",)),
        "bench-list": ([bench, "--list"], ()),
        "bench-identity": ([bench, "--identity"], ()),
        "bench-help": ([bench, "--help"], ()),
        "component-list": ([memory, "--list"], ()),
    }


def distort(draw: random.Random, step: Step) -> None:
    kind = draw.randrange(15)
    if kind == 0:
        step.stdin = None
    elif kind == 1:
        step.stdout = "closed"
    elif kind == 2:
        step.stderr = draw.choice(["closed", "full"])
    elif kind == 3:
        step.stdout = "full"
    elif kind < 6:
        step.environment[draw.choice(["PATH", "HOME", "TMPDIR", "LANG", "OMPI_ALLOW_RUN_AS_ROOT"])] = None
    elif kind == 6:
        step.environment["TMPDIR"] = draw.choice(["", "/proc/nonexistent/x", "/dev/null", "x" * 5000, "/proc"])
    elif kind == 7:
        step.environment["PATH"] = draw.choice(["", ":", "/proc/nonexistent", "x" * 5000, "."])
    elif kind < 10:
        name, value = draw.choice(FOURSCORE_VARIABLES), draw.choice(VALUES)
        if name == "FOURSCORE_ARCHIVE" and value == "/":  # where root may make an archive
            value = "/proc"
        step.environment[name] = value
    elif kind == 10:
        step.limits[resource.RLIMIT_NOFILE] = draw.randrange(4, 20)
    elif kind == 11:
        step.limits[resource.RLIMIT_FSIZE] = 0
    elif kind == 12:
        step.nowhere = True
    else:
        step.ignored = (
            *step.ignored,
            draw.choice([signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE, signal.SIGCHLD]),
        )


def said_that_output_is_full(outcome: Outcome) -> str | None:
    """Nothing of what was asked for arrived, and that is no success."""
    return "exit code 0, and none of the output was written" if outcome.code == 0 else None


def steps(draw: random.Random, place: Place) -> list[Step]:
    place.copy_archive()
    choice = commands(place)
    name = draw.choice(list(choice))
    argv, writes = choice[name]
    if draw.random() < 0.1 and shutil.which(place.program("local_fft_bench")):
        argv, writes = [place.program("local_fft_bench"), *COMPONENTS["local_fft_bench"], "--list"], WRITES_WITH_MPI
    step = Step(list(argv), writes=writes, escapes=True)
    for _ in range(draw.choice([1, 1, 2, 3])):
        distort(draw, step)
    if step.limits.get(resource.RLIMIT_FSIZE) == 0:
        # Our files of standard output and error have no room either.
        step.stderr = "full" if step.stderr == "file" else step.stderr
    if step.stdout == "full" and name not in ("trace", "again"):
        step.must = said_that_output_is_full
    return [step]
