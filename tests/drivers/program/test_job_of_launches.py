"""fft_bench --launches: several launches one after another in one MPI job."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest
from conftest import Bench, Jobs, read_record

SMALL = ("--planner", "estimate", "--repetitions", "2")


def listed(folder: Path, *lines: tuple[str, ...]) -> Path:
    texts = [[*line, *SMALL, "--record", str(folder / f"{n}.json"), "--started", str(folder / f"{n}.started")]
             for n, line in enumerate(lines)]  # fmt: skip
    (folder / "launches.json").write_text(json.dumps(texts))
    return folder / "launches.json"


def test_each_launch_leaves_the_record_that_it_leaves_alone(bench: Bench, tmp_path: Path) -> None:
    lines = [("--variant", "slab", "--shape", "12x10x6"), ("--variant", "pencil", "--shape", "64x64x64", "--isolate"),
             ("--variant", "slab", "--shape", "8x8x8", "--direction", "backward")]  # fmt: skip
    run = bench("--launches", str(listed(tmp_path, *lines)), ranks=2)
    assert run.returncode == 0, run.stderr
    records = [read_record(tmp_path / f"{n}.json") for n in range(3)]
    assert [record["sampling"].get("launches_before") for record in records] == [None, 1, 2]
    assert ["init_s" in record["harness"] for record in records] == [True, False, False]
    for record, line in zip(records, lines, strict=True):
        alone = bench.record(*line, *SMALL, ranks=2)
        for key in ("point_id", "cost", "resolved", "verdict"):
            assert record[key] == alone[key]
        assert len(record["samples"]["time_s"]) == 2 and ("isolated" in record) == ("--isolate" in line)
    # A sanitizer keeps for a while what was freed.
    keeps_freed = "-fsanitize" in records[0]["provenance"]["identity"]["code"]["flags"]
    if not keeps_freed and all("peak_rss_bytes" in record["memory"] for record in records):
        assert max(records[2]["memory"]["peak_rss_bytes"]) < max(records[1]["memory"]["peak_rss_bytes"])


def test_libraries_of_others_and_other_threads_get_a_job_of_their_own(bench: Bench, tmp_path: Path) -> None:
    lines = [("--variant", name, "--shape", "8x8x8") for name in ("slab", "fftw-mpi", "pencil")]
    run = bench("--launches", str(listed(tmp_path, *lines)), ranks=2)
    assert run.returncode == 0, run.stderr
    assert sorted(path.name for path in tmp_path.glob("*.started")) == ["0.started", "2.started"]
    assert not (tmp_path / "1.json").exists()


def test_a_wrong_launch_is_archived_and_the_next_one_measured(bench: Bench, tmp_path: Path) -> None:
    lines = [("--variant", name, "--shape", "12x10x6") for name in ("wrong-later", "serial")]
    assert bench("--launches", str(listed(tmp_path, *lines))).returncode == 1
    statuses = [read_record(tmp_path / f"{n}.json")["verdict"]["status"] for n in range(2)]
    assert statuses == ["wrong", "ok"]


def test_a_launch_that_ends_the_job_of_these_tests_fails_alone(bench: Bench, tmp_path: Path) -> None:
    lines = [("--variant", name, "--shape", "12x10x6", "--isolate") for name in ("slab", "alone-aborts", "pencil")]
    jobs = Jobs(partial(bench, ranks=2), lines, tmp_path)
    with pytest.raises(AssertionError, match="(?s)^--variant alone-aborts .*: its job ended with exit .*on purpose"):
        jobs[lines[1]]
    assert [jobs[line]["verdict"]["status"] for line in (lines[0], lines[2])] == ["ok", "ok"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[]", "has no launch"),
        ("{", "is no list of command lines"),
        ('["--variant", "slab"]', "is no list of command lines"),
        ('[["--variant", "slab", "--shape", "8x8x8", "--counters", "callgrind"]]', "launch 0: counters"),
        ('[["--list"]]', "launch 0: a question is no launch"),
        ('[["--launches", "x"]]', "launch 0: --launches within --launches"),
        ('[["--shape", "8x8x8"]]', "--variant is missing"),
    ],
)
def test_what_is_no_list_of_launches_is_refused(bench: Bench, tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "list.json").write_text(text)
    assert reason in bench.refused("--launches", str(tmp_path / "list.json"))


def test_no_other_option_goes_with_the_list(bench: Bench, tmp_path: Path) -> None:
    said = bench.refused("--launches", str(listed(tmp_path, ("--variant", "serial"))), "--isolate")
    assert "--launches and --isolate exclude each other" in said
