"""Maps of pencils to ranks that somebody wrote into a file."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Bench

QUICK = ("--variant", "overdecomposed", "--shape", "12x10x9", "--planner", "estimate", "--repetitions", "3")


def dealt_by(file: Path | str) -> tuple[str, ...]:
    return (*QUICK, "--parameter", "decomposition=2x3", "--parameter", f"dealing=file:{file}")


def written(folder: Path, *ranks: object, name: str = "map") -> Path:
    file = folder / name
    file.write_text("".join(f"{rank}\n" for rank in ranks))
    return file


def test_each_rank_has_the_pencils_of_the_map(bench: Bench, tmp_path: Path) -> None:
    file = written(tmp_path, 0, 2, 2, 0, 2, 2)
    record = bench.measured(*dealt_by(file), ranks=3, faulty=False)
    assert record["memory"]["local_data_bytes"][1] == 0, "rank 1 has no pencil"
    assert record["point"]["parameters"]["dealing"].startswith(f"file:{file}#")
    assert "dealt by a map" in record["resolved"]["input"]


def test_another_content_is_another_point(bench: Bench, tmp_path: Path) -> None:
    file = tmp_path / "map"
    found = []
    for last in (1, 2, 1):
        written(tmp_path, 0, 1, 2, 0, 1, last)
        found.append(bench.record(*dealt_by(file), ranks=3, faulty=False))
    assert found[0]["point_id"] == found[2]["point_id"] != found[1]["point_id"]
    named = found[1]["point"]["parameters"]["dealing"].removeprefix("file:")
    assert "has the hash" in bench.refused(*dealt_by(named), ranks=3, faulty=False)


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
    said = bench.refused(*dealt_by(written(tmp_path, *ranks)), ranks=3, faulty=False)
    assert "dealing" in said and expected in said


def test_a_map_that_is_not_there_and_an_unknown_word_are_refused(bench: Bench, tmp_path: Path) -> None:
    said = bench.refused(*dealt_by(tmp_path / "nowhere"), ranks=3, faulty=False)
    assert "expected a file with one rank a line" in said
    assert "file:PATH" in bench.refused(*QUICK, "--parameter", "dealing=cyclic", faulty=False)
