"""Transforms on some of the ranks that they are given; the data is given and left on all of them."""

from __future__ import annotations

import itertools

import pytest
from conftest import Bench, Launch, assert_measured, launched, skip_reason

QUICK = ("--planner", "estimate", "--repetitions", "3")
SHAPE = ("--shape", "12x10x9")


def busy(record: dict, phase: str = "fft") -> list[int]:
    return [rank for rank, times in enumerate(record["samples"]["rank_phase_s"][phase]) if max(times) > 0]


DIRECTIONS = itertools.product(("slab", "pencil", "overdecomposed", "fftw-mpi"), ("forward", "backward", "roundtrip"))


@launched(
    5,
    *(
        (*QUICK, *SHAPE, "--variant", name, "--direction", direction, "--active-ranks", "2")
        for name, direction in DIRECTIONS
    ),
)
def test_each_direction_is_right_and_its_messages_are_counted(record: dict) -> None:
    assert_measured(record)
    assert record["point"]["active_ranks"] == 2 == record["resolved"]["active_ranks"]
    variant = record["point"]["variant"]
    checks = {check["name"] for check in record["verification"]["checks"]}
    assert {"message-volume", "each-run"} <= checks if variant != "fftw-mpi" else {"each-run"} <= checks
    if variant != "fftw-mpi":  # which deals 12 rows to 4 of 5 ranks
        assert all(held > 0 for held in record["memory"]["local_data_bytes"]), "all ranks hold data"
        assert busy(record) == [0, 2], "evenly spread"


SPREADS = [(5, 1, [0]), (4, 2, [0, 2]), (5, 3, [0, 1, 3]), (3, 2, [0, 1])]
CONTRACTS = [("--layout", "natural", "--buffers", "in-place"), ("--layout", "transposed", "--buffers", "out-of-place")]


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (Launch(ranks, (*QUICK, *SHAPE, "--variant", "slab", *contract, "--active-ranks", str(active))), expected)
        for contract, (ranks, active, expected) in itertools.product(CONTRACTS, SPREADS)
    ],
    indirect=["record"],
)
def test_active_ranks_are_evenly_spread(record: dict, expected: list[int]) -> None:
    assert_measured(record)
    assert busy(record) == expected
    layouts = {record["resolved"]["input"], record["resolved"]["output"]}
    assert f"x-slabs {record['point']['ranks']}" in layouts


EXCHANGES = ("alltoallw", "p2p", "pairwise", "rma", "shared", "bruck", "hierarchical", "active")


@launched(
    4,
    *(
        (*QUICK, *SHAPE, "--variant", "pencil", "--exchange", name, "--active-ranks", "2", "--isolate")
        for name in EXCHANGES
    ),
)
def test_every_exchange_moves_the_data_to_the_active_ranks(record: dict) -> None:
    assert_measured(record)
    names = [part["name"] for part in record["isolated"]]
    assert names[1] == "exchange-to-active" and names[-2] == "exchange-from-active" and "fft-1" in names
    alone = next(part for part in record["isolated"] if part["name"] == "fft-1")
    assert min(alone["rank_s"][0]) > 0


FLAT = (*QUICK, "--variant", "slab", "--shape", "3x4x5")


@launched(5, FLAT)
def test_a_grid_too_small_for_all_ranks_is_skipped(record: dict) -> None:
    assert skip_reason(record)


@pytest.mark.parametrize(
    ("record", "active"),
    [(Launch(5, (*FLAT, "--active-ranks", str(active))), active) for active in (2, "auto")],
    indirect=["record"],
)
def test_a_grid_too_small_for_all_ranks_is_transformed_on_some(record: dict, active: int | str) -> None:
    assert_measured(record)
    assert record["point"]["active_ranks"] == active
    assert record["resolved"]["active_ranks"] <= 3
    assert record["memory"]["local_data_bytes"][3:] == [0, 0], "three slabs for five ranks"


SUBSETS = ("--variant", "slab", "--instances", "2", "--placement", "subset", "--active-ranks", "1", "--grid", "1")


@launched(4, (*QUICK, *SHAPE, *SUBSETS))
def test_instances_on_subsets_have_active_ranks_of_their_own(record: dict) -> None:
    assert_measured(record)
    assert busy(record) == [0, 2] and record["resolved"]["grid"] == [1]


def test_all_ranks_are_no_other_point(bench: Bench) -> None:
    point = (*QUICK, *SHAPE, "--variant", "slab")
    plain, *others = bench.records(point, *((*point, "--active-ranks", word) for word in ("all", "2")), ranks=2)
    assert "active_ranks" not in plain["point"] and "active_ranks" not in plain["resolved"]
    assert [other["point_id"] for other in others] == [plain["point_id"]] * 2


@pytest.mark.parametrize(
    ("value", "ranks", "expected"),
    [("3", 2, "expected 1 to 2"), ("0", 0, "from 1 to"), ("-1", 0, "from 1 to"), ("x", 0, "auto or all")],
)
def test_active_ranks_beyond_the_given_are_refused(bench: Bench, value: str, ranks: int, expected: str) -> None:
    said = bench.refused(*QUICK, *SHAPE, "--variant", "slab", f"--active-ranks={value}", ranks=ranks, faulty=False)
    assert "active" in said and expected in said


PENCIL = (*QUICK, *SHAPE, "--variant", "pencil", "--active-ranks", "2")


@launched(4, (*PENCIL, "--kind", "r2c"))
def test_real_data_is_skipped(record: dict) -> None:
    assert "complex data alone" in skip_reason(record)


def test_a_grid_for_all_ranks_is_refused(bench: Bench) -> None:
    assert "2 ranks that are active" in bench.refused(*PENCIL, "--grid", "2x2", ranks=4, faulty=False)
