"""Maps of pencils to ranks that somebody wrote into a file."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from conftest import Bench, read_record

QUICK = ("--variant", "overdecomposed", "--shape", "12x10x9", "--planner", "estimate", "--repetitions", "3")
CUT = ("--parameter", "decomposition=2x3")


def run_with(bench: Bench, file: Path, *asked: str) -> subprocess.CompletedProcess[str]:
    return bench(*QUICK, *CUT, "--parameter", f"dealing=file:{file}", *asked, ranks=3, faulty=False)


def written(folder: Path, *ranks: object, name: str = "map") -> Path:
    file = folder / name
    file.write_text("".join(f"{rank}\n" for rank in ranks))
    return file


def test_each_rank_has_the_pencils_of_the_map(bench: Bench, tmp_path: Path) -> None:
    file = written(tmp_path, 0, 2, 2, 0, 2, 2)
    run = run_with(bench, file, "--record", str(tmp_path / "out.json"))
    assert run.returncode == 0, run.stderr
    record = read_record(tmp_path / "out.json")
    assert record["verdict"]["status"] == "ok"
    assert record["memory"]["local_data_bytes"][1] == 0, "rank 1 has no pencil"
    assert record["point"]["parameters"]["dealing"].startswith(f"file:{file}#")
    assert "dealt by a map" in record["resolved"]["input"]


def test_another_content_is_another_point(bench: Bench, tmp_path: Path) -> None:
    file = tmp_path / "map"
    found = []
    for last in (1, 2, 1):
        written(tmp_path, 0, 1, 2, 0, 1, last)
        found.append(json.loads(run_with(bench, file, "--json").stdout))
    assert found[0]["point_id"] == found[2]["point_id"] != found[1]["point_id"]
    named = found[1]["point"]["parameters"]["dealing"].removeprefix("file:")
    run = run_with(bench, named)
    assert run.returncode == 2 and "has the hash" in run.stderr


@pytest.mark.parametrize(
    ("ranks", "expected"),
    [
        ((0, 1, 2), "has 3 ranks; expected 6"),
        ((0, 1, 2, 0, 1, 2, 0), "has 7 ranks; expected 6"),
        ((0, 1, 2, 0, 1, 3), "has rank 3; expected 0 to 2"),
        ((0, 1, 2, 0, 1, -1), "'-1' is no rank"),
        ((0, 1, 2, 0, 1, "x"), "line 6: 'x' is no rank"),
        ((), "has 0 ranks; expected 6"),
    ],
)
def test_maps_that_do_not_fit_are_refused(bench: Bench, tmp_path: Path, ranks: tuple, expected: str) -> None:
    run = run_with(bench, written(tmp_path, *ranks))
    assert run.returncode == 2, run.stdout
    assert "dealing" in run.stderr and expected in run.stderr


def test_a_map_that_is_not_there_and_an_unknown_word_are_refused(bench: Bench, tmp_path: Path) -> None:
    run = run_with(bench, tmp_path / "nowhere")
    assert run.returncode == 2 and "expected a file with one rank a line" in run.stderr
    run = bench(*QUICK, "--parameter", "dealing=cyclic", faulty=False)
    assert run.returncode == 2 and "file:PATH" in run.stderr
