"""Plans kept in a file, and what a launch makes of a file that others wrote or damaged."""

from __future__ import annotations

import hashlib
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from conftest import Bench

PLANNED = ("--variant", "pencil", "--shape", "16x12x10", "--planner", "measure", "--repetitions", "2")


def test_wisdom_is_written_then_read_and_recorded(bench: Bench, tmp_path: Path) -> None:
    wisdom = tmp_path / "wisdom"
    plans = []
    digest = ""
    for name in ("first", "second"):
        digest = hashlib.sha256(wisdom.read_bytes()).hexdigest() if wisdom.exists() else ""
        plans.append(bench.record(*PLANNED, "--wisdom", str(wisdom), ranks=2, faulty=False)["plan"])
    assert plans[0]["wisdom"] == "file"
    assert "wisdom_sha256" not in plans[0]
    assert plans[1]["wisdom_sha256"] == digest
    assert [plan["reused"] for plan in plans] == [False, True]
    assert plans[0]["hash"] == plans[1]["hash"]
    assert hashlib.sha256(wisdom.read_bytes()).hexdigest() == digest, "a launch that plans nothing writes nothing"


def test_nothing_is_reused_without_wisdom(bench: Bench) -> None:
    plan = bench.record(*PLANNED, faulty=False)["plan"]
    assert (plan["wisdom"], plan["reused"]) == ("none", False)


@pytest.mark.parametrize("keep", [0.0, 0.3, 0.9])
def test_wisdom_that_is_cut_off_is_ignored_reported_once_and_mended(bench: Bench, tmp_path: Path, keep: float) -> None:
    wisdom = tmp_path / "wisdom"
    point = (*PLANNED, "--wisdom", str(wisdom))
    assert bench(*point, ranks=2, faulty=False).returncode == 0
    whole = wisdom.read_bytes()
    wisdom.write_bytes(whole[: int(keep * len(whole))])
    plans = []
    for name in ("cut", "mended"):
        record = bench.record(*point, ranks=2, faulty=False)
        plans.append(record["plan"])
        told = " ".join(record.screen.split())
        assert (f"wisdom file {wisdom}: it" in told) == (name == "cut"), record.screen
    assert ("empty" if keep == 0 else "cut off") in plans[0]["wisdom_ignored"]
    assert "wisdom_ignored" not in plans[1]
    assert [plan["reused"] for plan in plans] == [False, True]


def test_wisdom_of_another_machine_or_library_is_ignored_reported_once_and_kept(bench: Bench, tmp_path: Path) -> None:
    wisdom = tmp_path / "wisdom"
    point = (*PLANNED, "--wisdom", str(wisdom))
    assert bench(*point, faulty=False).returncode == 0
    ours = wisdom.read_text()
    machine = re.search(r"on machine (\w+) with", ours)[1]
    theirs = ours.replace(machine, "0123456789abcdef")
    wisdom.write_text(theirs)
    plans = [bench.record(*point, faulty=False)["plan"] for _ in range(2)]
    assert "it has plans of fftw " in plans[0]["wisdom_ignored"]
    assert "machine 0123456789abcdef" in plans[0]["wisdom_ignored"]
    assert machine in plans[0]["wisdom_ignored"]
    assert "wisdom_ignored" not in plans[1]
    assert [plan["reused"] for plan in plans] == [False, True]
    assert theirs.split("\n", 1)[1] in wisdom.read_text(), "the other machine finds its plans"


def test_programs_at_once_add_their_plans_to_one_file(bench: Bench, tmp_path: Path) -> None:
    wisdom = tmp_path / "wisdom"
    shapes = ("16x12x10", "12x10x16", "10x16x12", "14x12x10")
    with ThreadPoolExecutor(len(shapes)) as pool:
        runs = pool.map(
            lambda shape: bench("--variant", "serial", "--shape", shape, "--wisdom", str(wisdom), faulty=False), shapes
        )
        assert all(run.returncode == 0 for run in runs)
    for shape in shapes:
        assert bench.record("--variant", "serial", "--shape", shape, "--wisdom", str(wisdom), faulty=False)["plan"]["reused"]


@pytest.mark.parametrize("shape", ["12x12x10", "7x10x11"])
@pytest.mark.parametrize("variant", ["pencil", "fftw-mpi"])
def test_plans_of_equal_and_of_unequal_blocks_are_reused(
    bench: Bench, tmp_path: Path, variant: str, shape: str
) -> None:
    point = ("--variant", variant, "--shape", shape, "--wisdom", str(tmp_path / "wisdom"))
    assert [bench.measured(*point, ranks=3, faulty=False)["plan"]["reused"] for _ in range(2)] == [False, True]


def test_plans_for_other_ranks_or_of_other_libraries_are_no_reason_for_a_word(bench: Bench, tmp_path: Path) -> None:
    wisdom = tmp_path / "wisdom"
    point = ("--variant", "serial", "--shape", "24x20", "--repetitions", "1", "--wisdom", str(wisdom))
    assert bench(*point, faulty=False).returncode == 0
    assert "wisdom_ignored" not in bench.record("--variant", "slab", *point[2:], ranks=2, faulty=False)["plan"]
    text, sections = re.subn(r"(?m)^(section \d+ \w+) fftw ", r"\1 another ", wisdom.read_text())
    assert sections == 2
    wisdom.write_text(text)
    assert "wisdom_ignored" not in bench.record(*point, faulty=False)["plan"]


def test_patient_planning_asks_the_library_for_more_than_measuring(bench: Bench, tmp_path: Path) -> None:
    """FFTW takes wisdom of more effort for a plan of less, and none of less for a plan of more."""
    wisdom = tmp_path / "wisdom"

    def planned(effort: str) -> set[str]:
        point = ("--variant", "serial", "--shape", "64x36", "--planner", effort)
        run = bench(*point, "--repetitions", "1", "--wisdom", str(wisdom), faulty=False)
        assert run.returncode == 0, run.stderr
        return set(wisdom.read_text().splitlines())

    measured = planned("measure")
    assert planned("measure") == measured
    patient = planned("patient")
    assert patient != measured
    assert planned("measure") == patient


def test_programs_with_and_without_fftws_mpi_solvers_share_a_file_of_wisdom(bench: Bench, tmp_path: Path) -> None:
    """FFTW takes no plans that were made with another set of solvers."""
    wisdom = tmp_path / "wisdom"
    point = ("--shape", "24x20x18", "--planner", "measure", "--repetitions", "1", "--wisdom", str(wisdom))
    texts = []
    for variant in ("slab", "fftw-mpi", "slab", "fftw-mpi"):
        run = bench("--variant", variant, *point, ranks=2, faulty=False)
        assert run.returncode == 0, run.stderr
        texts.append(wisdom.read_text())
    if "skipped" in run.stdout:
        pytest.skip("fftw-mpi cannot run here")
    assert texts[0].count("[double]") == 1
    assert texts[1].count("[double]") == 2
    plans = texts[0].split("[double]")[1].split("[single]")[0].strip()
    assert plans in texts[1], "what one program planned is handed on by the other"
    assert all(text.count("[double]") == 2 for text in texts[2:])
