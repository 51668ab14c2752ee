"""An exchange and a process grid that the launch chooses by measurement."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Bench, Launch, assert_measured, launched

QUICK = ("--planner", "estimate", "--repetitions", "2")
SHAPE = ("--shape", "12x10x8")
TUNED = ("--exchange", "tuned", "--grid", "tuned")
DEFAULT = "alltoallv"


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


GRIDS = {1: [[1, 1]], 2: [[2, 1], [1, 2]], 3: [[3, 1], [1, 3]]}


@pytest.mark.parametrize(
    ("record", "grids"),
    [(Launch(ranks, (*QUICK, *SHAPE, "--variant", "pencil", *TUNED)), grids) for ranks, grids in GRIDS.items()],
    indirect=["record"],
)
def test_every_exchange_is_tried_on_every_grid(record: dict, grids: list) -> None:
    assert_measured(record)
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


SLAB = (*QUICK, *SHAPE, "--variant", "slab", "--exchange", "tuned", "--fields", "2", "--direction")


@launched(3, (*SLAB, "backward"), (*SLAB, "roundtrip"))
def test_a_tuned_exchange_leaves_the_grid_to_the_variant(record: dict) -> None:
    assert_measured(record)
    assert record["point"]["grid"] == "auto" and record["resolved"]["tuning"]["grid"] == [3]
    assert_the_fastest_was_chosen(record)


P2P = (*QUICK, *SHAPE, "--exchange", "p2p", "--grid", "tuned", "--variant")


@launched(2, (*P2P, "volumetric"), (*P2P, "pencil-gpu"))
def test_a_tuned_grid_keeps_the_exchange(record: dict) -> None:
    assert_measured(record)
    assert record["point"]["exchange"] == "p2p" and {one["exchange"] for one in timed(record)} == {"p2p"}
    assert len(timed(record)) == (3 if record["point"]["variant"] == "volumetric" else 2)
    assert_the_fastest_was_chosen(record)


@launched(2, (*QUICK, *SHAPE, "--variant", "pencil", "--exchange", "tuned", "--parameter", "pieces=2"))
def test_with_a_parameter_of_an_exchange_those_that_read_it_are_tried(record: dict) -> None:
    assert_measured(record)
    assert {one["exchange"] for one in timed(record)} == {"p2p-pipelined", "ialltoallv-pipelined"}


REASONS = [
    ((*SHAPE, "--variant", "serial", "--exchange", "tuned"), "variant 'serial' takes no exchange"),
    ((*SHAPE, "--variant", "fftw-mpi", "--exchange", "tuned"), "variant 'fftw-mpi' takes no exchange"),
    ((*SHAPE, "--variant", "slab", "--grid", "tuned"), "variant 'slab' has but one process grid of 2 ranks"),
    (("--variant", "pencil", *TUNED, "--shape", "1x1x8"), "grid 2x1 has more ranks than pencil can use"),
]


@pytest.mark.parametrize(
    ("record", "reason"), [(Launch(2, (*QUICK, *asked)), reason) for asked, reason in REASONS], indirect=["record"]
)
def test_where_nothing_is_to_be_chosen_the_point_is_skipped(record: dict, reason: str) -> None:
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
    assert expected in bench.refused(*asked, faulty=False)


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
    asked = (*QUICK, *SHAPE, "--variant", "slab", "--exchange", "tuned", "--parameter", "reads=separate")
    chosen = bench.measured(*asked, ranks=2, faulty=False, out=first)["resolved"]["tuning"]["exchange"]
    checked = (*asked, "--checked-by", str(first))
    second = bench.measured(*checked, ranks=2, faulty=False)
    assert chosen == "shared" and "checked_by" in second["verification"]
    record = json.loads(first.read_text())
    del record["sha256"]
    record["resolved"]["tuning"]["exchange"] = "p2p"
    first.write_text(json.dumps(record))
    third = bench.measured(*checked, ranks=2, faulty=False)
    assert "checked_by" not in third["verification"]
