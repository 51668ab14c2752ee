"""Points whose messages hold less than their data: half the bytes, an error that is recorded, and a reason where it
cannot be."""

from __future__ import annotations

from typing import Any

import pytest
from conftest import Bench, Launch, skip_reason

QUICK = ("--planner", "estimate", "--repetitions", "2")
EPSILON = 2.0**-23


def with_wires(bench: Bench, *asked: str) -> list[dict[str, Any]]:
    """The records of a point as it is, and with narrowed messages."""
    return bench.records(*((*QUICK, *asked, "--wire", wire) for wire in ("as-is", "single")), ranks=3)


def largest_error(record: dict[str, Any]) -> float:
    return max(check["error"] for check in record["verification"]["checks"] if check["tolerance"] > 0)


@pytest.mark.parametrize("kind", ["c2c", "r2c"])
def test_half_the_bytes_are_sent_and_the_error_is_that_of_single_precision(bench: Bench, kind: str) -> None:
    asked = ("--variant", "pencil", "--shape", "12x12x18", "--kind", kind, "--isolate")
    whole, narrowed = with_wires(bench, *asked)
    assert "wire" not in whole["point"] and narrowed["point"]["wire"] == "single"
    assert narrowed["point_id"] != whole["point_id"]
    costs = whole["cost"], narrowed["cost"]
    for name in ("bytes_sent_per_rank", "model_bytes_per_rank"):
        full, half = (cost[name] if isinstance(cost[name], list) else [cost[name]] for cost in costs)
        assert [2 * value for value in half] == full
    assert costs[0]["messages_per_rank"] == costs[1]["messages_per_rank"]
    assert largest_error(whole) < 1e-14 < EPSILON / 100 < largest_error(narrowed)
    checks = {check["name"]: check for check in narrowed["verification"]["checks"]}
    assert checks["dft"]["tolerance"] == pytest.approx(4 * EPSILON, rel=1e-3)
    assert checks["message-volume"]["ok"]
    least = [cost["least_bytes_per_rank"]["exchange"] for cost in costs]
    assert [2 * value for value in least[1]] == pytest.approx(least[0])
    assert {"pack", "unpack", "exchange"} <= set(narrowed["samples"]["rank_phase_s"])
    assert {"pack-1", "unpack-1"} <= {part["name"] for part in narrowed["isolated"]}


def test_a_round_trip_and_instances_have_smaller_messages_too(bench: Bench) -> None:
    asked = ("--variant", "pencil", "--shape", "8x8x8", "--layout", "natural", "--instances", "2")
    record = bench.measured(*QUICK, *asked, "--direction", "roundtrip", "--wire", "single", ranks=4)
    assert "wire " in record.screen and record["point"]["wire"] == "single"
    assert EPSILON / 100 < largest_error(record) < 4 * EPSILON


@pytest.mark.parametrize("truncation", [(), ("--parameter", "truncation=before-exchange")])
def test_a_cycle_has_smaller_messages_too(bench: Bench, truncation: tuple[str, ...]) -> None:
    options = ("--operator", "dealias-2/3", *truncation)
    asked = ("--variant", "pencil", "--shape", "24x18x20", "--direction", "convolution", *options)
    records = with_wires(bench, *asked)
    sent = [record["cost"]["bytes_sent_per_rank"] for record in records]
    assert [2 * value for value in sent[1]] == sent[0]
    assert largest_error(records[0]) < EPSILON / 100 < largest_error(records[1]) < 4 * EPSILON


def test_one_rank_sends_nothing_and_rounds_nothing(bench: Bench) -> None:
    for wire in ("as-is", "single"):
        record = bench.measured(*QUICK, "--variant", "slab", "--shape", "8x8x8", "--wire", wire)
        assert ("wire " in record.screen) == ("wire" in record["point"]) == (wire == "single")
        assert largest_error(record) < 1e-14


def narrowed(*variant: str) -> Launch:
    return Launch(2, (*QUICK, "--shape", "8x8x8", "--wire", "single", "--variant", *variant))


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (narrowed("overdecomposed"), "'overdecomposed' takes no exchange, whose messages wire single makes smaller"),
        (narrowed("pencil-overlap", "--exchange", "p2p"), "'pencil-overlap' sends arrays in pieces; wire single is for whole arrays"),
        (narrowed("pencil-gpu", "--exchange", "p2p"), "'pencil-gpu' computes on a device; wire single is for data in the host's memory"),
    ],
    indirect=["record"],
)
def test_what_cannot_is_skipped_with_the_reason(record: dict, reason: str) -> None:
    assert skip_reason(record) == f"variant {reason}"


def test_compressed_messages_have_the_bits_of_their_rate_or_a_reason(bench: Bench) -> None:
    asked = (*QUICK, "--variant", "slab", "--shape", "16x16x16", "--wire", "zfp", "--parameter", "zfp-rate=16")
    record, of_windows = bench.records(*((*asked, "--exchange", name) for name in ("p2p", "rma")), ranks=2)
    if record["verdict"]["status"] == "skipped":
        assert record["verdict"]["reason"] == "wire zfp cannot run here: this build has no libzfp"
        pytest.skip("this build has no libzfp")
    cost = record["cost"]
    assert cost["bytes_sent_per_rank"] == [16 * 16**3 / 4 / 4] * 2
    assert cost["model_bytes_per_rank"] == 16 * 16**3 / 4 / 4
    assert 1e-9 < largest_error(record) < 0.1
    assert skip_reason(of_windows) == "exchange 'rma' makes its messages itself; wire zfp takes alltoallv or p2p"
