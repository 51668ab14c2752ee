"""Transforms on some of the ranks that they are given; the data is given and left on all of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Bench, read_record

QUICK = ("--planner", "estimate", "--repetitions", "3")
SHAPE = ("--shape", "12x10x9")


def recorded(bench: Bench, *asked: str, ranks: int) -> dict:
    return bench.measured(*QUICK, *asked, ranks=ranks, faulty=False)


def busy(record: dict, phase: str = "fft") -> list[int]:
    return [rank for rank, times in enumerate(record["samples"]["rank_phase_s"][phase]) if max(times) > 0]


@pytest.mark.parametrize("direction", ["forward", "backward", "roundtrip"])
@pytest.mark.parametrize("variant", ["slab", "pencil", "overdecomposed", "fftw-mpi"])
def test_each_direction_is_right_and_its_messages_are_counted(bench: Bench, variant: str, direction: str) -> None:
    asked = ("--variant", variant, "--direction", direction, "--active-ranks", "2")
    record = recorded(bench, *SHAPE, *asked, ranks=5)
    assert record["point"]["active_ranks"] == 2 == record["resolved"]["active_ranks"]
    checks = {check["name"] for check in record["verification"]["checks"]}
    assert {"message-volume", "each-run"} <= checks if variant != "fftw-mpi" else {"each-run"} <= checks
    if variant != "fftw-mpi":  # which deals 12 rows to 4 of 5 ranks
        assert all(held > 0 for held in record["memory"]["local_data_bytes"]), "all ranks hold data"
        assert busy(record) == [0, 2], "evenly spread"


@pytest.mark.parametrize(("ranks", "active", "expected"), [(5, 1, [0]), (4, 2, [0, 2]), (5, 3, [0, 1, 3]), (3, 2, [0, 1])])
@pytest.mark.parametrize("contract", [("natural", "in-place"), ("transposed", "out-of-place")])
def test_active_ranks_are_evenly_spread(
    bench: Bench, ranks: int, active: int, expected: list[int], contract: tuple[str, str]
) -> None:
    asked = ("--variant", "slab", "--layout", contract[0], "--buffers", contract[1], "--active-ranks", str(active))
    record = recorded(bench, *SHAPE, *asked, ranks=ranks)
    assert busy(record) == expected
    layouts = {record["resolved"]["input"], record["resolved"]["output"]}
    assert "x-slabs %d" % ranks in layouts


@pytest.mark.parametrize("exchange", ["alltoallw", "p2p", "pairwise", "rma", "shared", "bruck", "hierarchical", "active"])
def test_every_exchange_moves_the_data_to_the_active_ranks(bench: Bench, exchange: str) -> None:
    asked = ("--variant", "pencil", "--exchange", exchange, "--active-ranks", "2", "--isolate")
    record = recorded(bench, *SHAPE, *asked, ranks=4)
    names = [part["name"] for part in record["isolated"]]
    assert names[1] == "exchange-to-active" and names[-2] == "exchange-from-active" and "fft-1" in names
    alone = next(part for part in record["isolated"] if part["name"] == "fft-1")
    assert min(alone["rank_s"][0]) > 0


def test_a_grid_too_small_for_all_ranks_is_transformed_on_some(bench: Bench) -> None:
    bench.skipped(*QUICK, "--variant", "slab", "--shape", "3x4x5", ranks=5, faulty=False)
    for active in ("2", "auto"):
        asked = ("--variant", "slab", "--shape", "3x4x5", "--active-ranks", active)
        record = recorded(bench, *asked, ranks=5)
        assert record["point"]["active_ranks"] == (active if active == "auto" else int(active))
        assert record["resolved"]["active_ranks"] <= 3
        assert record["memory"]["local_data_bytes"][3:] == [0, 0], "three slabs for five ranks"


def test_instances_on_subsets_have_active_ranks_of_their_own(bench: Bench) -> None:
    asked = ("--variant", "slab", "--instances", "2", "--placement", "subset", "--active-ranks", "1", "--grid", "1")
    record = recorded(bench, *SHAPE, *asked, ranks=4)
    assert busy(record) == [0, 2] and record["resolved"]["grid"] == [1]


def test_all_ranks_are_no_other_point(bench: Bench) -> None:
    def point(*asked: str) -> dict:
        return json.loads(bench(*QUICK, *SHAPE, "--variant", "slab", *asked, "--json", ranks=2, faulty=False).stdout)

    plain = point()
    assert "active_ranks" not in plain["point"] and "active_ranks" not in plain["resolved"]
    for word in ("all", "2"):
        assert point("--active-ranks", word)["point_id"] == plain["point_id"]


@pytest.mark.parametrize(("value", "expected"), [("3", "expected 1 to 2"), ("0", "from 1 to"), ("-1", "from 1 to"), ("x", "auto or all")])
def test_active_ranks_beyond_the_given_are_refused(bench: Bench, value: str, expected: str) -> None:
    said = bench.refused(*QUICK, *SHAPE, "--variant", "slab", f"--active-ranks={value}", ranks=2, faulty=False)
    assert "active" in said and expected in said


def test_real_data_and_a_grid_for_all_ranks_are_skipped(bench: Bench, tmp_path: Path) -> None:
    for number, (more, reason) in enumerate(
        ((("--kind", "r2c"), "complex data alone"), (("--grid", "2x2"), "2 ranks that are active"))
    ):
        out = tmp_path / f"{number}.json"
        asked = ("--variant", "pencil", "--active-ranks", "2", *more, "--record", str(out))
        run = bench(*QUICK, *SHAPE, *asked, ranks=4, faulty=False)
        if out.exists():
            verdict = read_record(out)["verdict"]
            assert verdict["status"] == "skipped" and reason in verdict["reason"]
        else:
            assert run.returncode == 2 and reason in run.stderr
