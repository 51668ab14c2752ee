"""An exchange and a process grid that the launch chooses by measurement."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Bench

QUICK = ("--planner", "estimate", "--repetitions", "2")
SHAPE = ("--shape", "12x10x8")
TUNED = ("--exchange", "tuned", "--grid", "tuned")
DEFAULT = "alltoallv"


def ok(bench: Bench, *asked: str, ranks: int, out: Path | None = None) -> dict:
    return bench.measured(*QUICK, *SHAPE, *asked, ranks=ranks, faulty=False, out=out)


def timed(record: dict) -> list[dict]:
    return [one for one in record["resolved"]["tuning"]["candidates"] if "time_s" in one]


def assert_the_fastest_was_chosen(record: dict) -> None:
    tuning = record["resolved"]["tuning"]
    fastest = min(timed(record), key=lambda one: one["time_s"])
    assert {key: fastest[key] for key in ("exchange", "grid") if key in fastest} == {
        key: tuning[key] for key in ("exchange", "grid") if key in tuning
    }
    assert fastest["runs"] == 3 and record["resolved"]["grid"] == tuning["grid"]
    assert record["harness"]["tune_s"] >= sum(one["time_s"] for one in timed(record))
    best = None
    for one in timed(record):
        assert one["runs"] in (1, 3)
        if one["runs"] == 1:
            assert best is not None and one["time_s"] >= 2 * best
        best = one["time_s"] if best is None else min(best, one["time_s"])


@pytest.mark.parametrize(("ranks", "grids"), [(1, [[1, 1]]), (2, [[2, 1], [1, 2]]), (3, [[3, 1], [1, 3]])])
def test_every_exchange_is_tried_on_every_grid(bench: Bench, ranks: int, grids: list) -> None:
    record = ok(bench, "--variant", "pencil", *TUNED, ranks=ranks)
    assert record["point"]["exchange"] == record["point"]["grid"] == "tuned"
    candidates = record["resolved"]["tuning"]["candidates"]
    exchanges = {one["exchange"] for one in candidates}
    assert {DEFAULT, "p2p", "pairwise", "bruck", "alltoallw"} <= exchanges and "tuned" not in exchanges
    assert candidates[0]["exchange"] == DEFAULT, "the variant's own first"
    assert [[one["exchange"], one["grid"]] for one in candidates] == [
        [exchange, grid] for grid in grids for exchange in [one["exchange"] for one in candidates[: len(exchanges)]]
    ]
    assert_the_fastest_was_chosen(record)
    assert record["cards"]["exchange"]["name"] == record["resolved"]["tuning"]["exchange"]


@pytest.mark.parametrize("direction", ["backward", "roundtrip"])
def test_a_tuned_exchange_leaves_the_grid_to_the_variant(bench: Bench, direction: str) -> None:
    asked = ("--variant", "slab", "--exchange", "tuned", "--direction", direction, "--fields", "2")
    record = ok(bench, *asked, ranks=3)
    assert record["point"]["grid"] == "auto" and record["resolved"]["tuning"]["grid"] == [3]
    assert_the_fastest_was_chosen(record)


@pytest.mark.parametrize("variant", ["volumetric", "pencil-gpu"])
def test_a_tuned_grid_keeps_the_exchange(bench: Bench, variant: str) -> None:
    record = ok(bench, "--variant", variant, "--exchange", "p2p", "--grid", "tuned", ranks=2)
    assert record["point"]["exchange"] == "p2p" and {one["exchange"] for one in timed(record)} == {"p2p"}
    assert len(timed(record)) == (3 if variant == "volumetric" else 2)
    assert_the_fastest_was_chosen(record)


def test_with_a_parameter_of_an_exchange_those_that_read_it_are_tried(bench: Bench) -> None:
    asked = ("--variant", "pencil", "--exchange", "tuned", "--parameter", "pieces=2")
    record = ok(bench, *asked, ranks=2)
    assert {one["exchange"] for one in timed(record)} == {"p2p-pipelined", "ialltoallv-pipelined"}


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        (("--variant", "serial", "--exchange", "tuned"), "variant 'serial' takes no exchange"),
        (("--variant", "fftw-mpi", "--exchange", "tuned"), "variant 'fftw-mpi' takes no exchange"),
        (("--variant", "slab", "--grid", "tuned"), "variant 'slab' has but one process grid of 2 ranks"),
        (("--variant", "pencil", *TUNED, "--shape", "1x1x8"), "grid 2x1 has more ranks than pencil can use"),
    ],
)
def test_where_nothing_is_to_be_chosen_the_point_is_skipped(bench: Bench, asked: tuple[str, ...], reason: str) -> None:
    shape = () if "--shape" in asked else SHAPE
    record = bench.record(*QUICK, *shape, *asked, ranks=2, faulty=False)
    assert record["verdict"]["status"] == "skipped" and "resolved" not in record
    assert reason in record["verdict"]["reason"]
    assert "tuned" in (record["point"]["exchange"], record["point"]["grid"])
    assert "exchange" not in record["cards"] or record["point"]["exchange"] != "tuned"


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (("--parameter", "pieces=none"), "parameter 'pieces' is 'none'"),
        (("--parameter", "peices=2"), "no parameter 'peices'"),
        (("--grid", "5x5"), "grid 5x5 has 25 places"),
        (("--counters", "callgrind"), "--counters callgrind with --exchange tuned"),
    ],
)
def test_what_cannot_be_used_is_refused_as_ever(bench: Bench, more: tuple[str, ...], expected: str) -> None:
    asked = (*QUICK, *SHAPE, "--variant", "pencil", "--exchange", "tuned", *more)
    assert expected in bench.refused(*asked, ranks=2, faulty=False)


def test_tuned_points_are_asked_about_without_mpi(bench: Bench) -> None:
    points = [
        {"variant": variant, "shape": [12, 10, 8], "ranks": 6, "exchange": "tuned", "grid": grid}
        for variant, grid in (("pencil", "tuned"), ("pencil", "auto"), ("slab", "tuned"), ("slab", "auto"))
    ]
    answers = bench.answers(*points)
    assert [answer["supported"] for answer in answers] == [True, True, False, True]
    assert [answer["point"]["grid"] for answer in answers] == ["tuned", "auto", "tuned", "auto"]
    assert answers[0]["grid"] == {"entries": 2, "ranks": 6} and len({answer["point_id"] for answer in answers}) == 4


def test_the_screen_says_what_was_chosen_and_how_long_it_took(bench: Bench) -> None:
    run = bench(*QUICK, *SHAPE, "--variant", "pencil", *TUNED, ranks=2, faulty=False)
    text = " ".join(run.stdout.split())
    assert "exchange tuned, local FFT" in text and "tuned exchange " in text and ": the fastest of " in text
    assert ", tune " in text


def test_another_launchs_checks_stand_only_for_the_same_choice(bench: Bench, tmp_path: Path) -> None:
    first = tmp_path / "first.json"
    # One exchange reads this parameter, so that each launch chooses the same.
    asked = ("--variant", "slab", "--exchange", "tuned", "--parameter", "reads=separate")
    chosen = ok(bench, *asked, ranks=2, out=first)["resolved"]["tuning"]["exchange"]
    second = ok(bench, *asked, "--checked-by", str(first), ranks=2)
    assert chosen == "shared" and "checked_by" in second["verification"]
    record = json.loads(first.read_text())
    del record["sha256"]
    record["resolved"]["tuning"]["exchange"] = "p2p"
    first.write_text(json.dumps(record))
    third = ok(bench, *asked, "--checked-by", str(first), ranks=2)
    assert "checked_by" not in third["verification"]
