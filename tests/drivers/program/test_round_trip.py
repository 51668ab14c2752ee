"""Points that go there and back, and exchanges that some numbers of ranks do not suit."""

from __future__ import annotations

import math

import pytest
from conftest import Bench, launched

QUICK = ("--planner", "estimate", "--repetitions", "4")


def test_a_round_trip_is_one_sample_with_its_forward_half(bench: Bench) -> None:
    asked = ("--direction", "roundtrip", "--isolate")
    record = bench.record("--variant", "pencil", "--shape", "12x10x9", *QUICK, *asked, ranks=2)
    assert "forward through after" in record.screen
    samples = record["samples"]
    assert record["point"]["direction"] == "roundtrip"
    assert record["credited_flops"] == pytest.approx(2 * 5 * 1080 * math.log2(1080))
    assert [len(rank) for rank in samples["rank_forward_s"]] == [4, 4]
    for i, forward_s in enumerate(samples["forward_s"]):
        assert forward_s == max(rank[i] for rank in samples["rank_forward_s"])
        for halves, totals in zip(samples["rank_forward_s"], samples["rank_total_s"], strict=True):
            assert 0 < halves[i] < totals[i]
    names = {check["name"] for check in record["verification"]["checks"]}
    assert {"inverse", "last-timed-run", "each-run", "dft of the forward half"} <= names
    alone = {part["name"] for part in record["isolated"]}
    assert {"fft-1", "exchange-1", "backward fft-1", "backward exchange-1"} <= alone


INSTANCES = ("--direction", "roundtrip", "--instances", "2", "--placement")
OVERDECOMPOSED = ("--variant", "overdecomposed", "--shape", "8x8x8", *QUICK, *INSTANCES)


@launched(2, (*OVERDECOMPOSED, "all"), (*OVERDECOMPOSED, "subset"))
def test_instances_go_there_and_back(record: dict) -> None:
    samples = record["samples"]
    assert len(samples["forward_s"]) == 4 and len(samples["instance_time_s"]) == 2


def test_a_wrong_forward_half_is_no_round_trip(bench: Bench) -> None:
    asked = ("--direction", "roundtrip", "--layout", "natural")
    record = bench.record("--variant", "conjugated", "--shape", "4x4x4", *QUICK, *asked, ranks=2, code=1)
    assert record["verdict"]["status"] == "wrong" and "of the forward half" in record["verdict"]["reason"]


def test_c2r_is_no_round_trip(bench: Bench) -> None:
    assert "roundtrip" in bench.refused("--variant", "slab", "--shape", "8x8x8", "--kind", "c2r", "--direction", "roundtrip")


@pytest.mark.parametrize(("ranks", "grid", "status"), [(4, "4x1", "ok"), (3, "3x1", "skipped"), (6, "2x3", "skipped")])
def test_the_schedule_xor_takes_powers_of_two(bench: Bench, ranks: int, grid: str, status: str) -> None:
    asked = ("--exchange", "pairwise", "--parameter", "schedule=xor", "--grid", grid)
    verdict = bench.record("--variant", "pencil", "--shape", "12x12x12", *QUICK, *asked, ranks=ranks)["verdict"]
    assert verdict["status"] == status
    if status == "skipped":
        assert verdict["reason"].startswith("schedule=xor among 3 ranks, which is no power of two")
