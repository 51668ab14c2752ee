"""Points that go forward, multiply and go back: their records, and what cannot be asked for."""

from __future__ import annotations

import itertools
import math

import pytest
from conftest import Bench, assert_measured, launched

QUICK = ("--planner", "estimate", "--repetitions", "4")
CYCLE = ("--direction", "convolution")


POISSON = ("--variant", "pencil", "--shape", "12x10x9", *QUICK, *CYCLE, "--operator", "poisson", "--isolate")
CASES = itertools.product(("c2c", "r2c"), ("natural", "transposed"))


@launched(2, *((*POISSON, "--kind", kind, "--layout", layout) for kind, layout in CASES))
def test_a_cycle_is_one_sample_with_each_direction_and_phase(record: dict) -> None:
    samples, kind = record["samples"], record["point"]["kind"]
    assert (record["point"]["direction"], record["point"]["operator"]) == ("convolution", "poisson")
    assert record["cards"]["operator"]["citation"] == "hockney1988"
    factor = 5 if kind == "c2c" else 2.5
    assert record["credited_flops"] == pytest.approx(2 * factor * 1080 * math.log2(1080))
    assert samples["rank_phase_s"].keys() >= {"fft", "exchange", "product"}
    assert "product" not in samples["rank_forward_phase_s"]
    for phase, forward in samples["rank_forward_phase_s"].items():
        for rank, of_rank in enumerate(forward):
            for i, seconds in enumerate(of_rank):
                assert seconds <= samples["rank_phase_s"][phase][rank][i]
    for rank in range(2):
        for i in range(4):
            before = sum(of_ranks[rank][i] for of_ranks in samples["rank_forward_phase_s"].values())
            assert 0 < before <= samples["rank_forward_s"][rank][i]
    names = [check["name"] for check in record["verification"]["checks"]]
    assert {"plane-waves", "energy", "last-timed-run", "each-run", "dft of the forward half"} <= set(names)
    assert "product" in {part["name"] for part in record["isolated"]}
    spectrum = 12 * 10 * (9 if kind == "c2c" else 5) * 16
    assert sum(record["cost"]["least_bytes_per_rank"]["product"]) == 2 * spectrum


def test_the_gradient_brings_three_fields_back(bench: Bench) -> None:
    asked = ("--variant", "slab", "--shape", "12x10x8", *QUICK, *CYCLE, "--buffers", "out-of-place", "--operator")
    records = bench.records((*asked, "scale"), (*asked, "gradient"), ranks=2)
    once, thrice = (sum(record["cost"]["bytes_sent_per_rank"]) for record in records)
    assert thrice == 2 * once
    once, thrice = (record["cost"]["flops"] for record in records)
    assert thrice == 2 * once
    assert records[0]["credited_flops"] == records[1]["credited_flops"]


def test_the_operator_of_a_convolution_is_scale_where_none_is_asked_for(bench: Bench) -> None:
    asked = ("--variant", "slab", "--shape", "8x8x8", *QUICK, *CYCLE)
    plain, named = bench.record(*asked), bench.record(*asked, "--operator", "scale")
    assert plain["point"]["operator"] == named["point"]["operator"] == "scale"
    assert plain["point_id"] == named["point_id"]


def test_points_of_other_directions_say_nothing_of_operators(bench: Bench) -> None:
    record = bench.record("--variant", "slab", "--shape", "8x8x8", *QUICK)
    assert "operator" not in record["point"] and "operator" not in record["cards"]
    assert "rank_forward_phase_s" not in record["samples"]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (("--operator", "poisson"), ("operator 'poisson'", "direction forward", "expected direction convolution")),
        ((*CYCLE, "--operator", "poison"), ("unknown operator 'poison'", "did you mean 'poisson'?")),
        (("--direction", "roundtrip", "--operator", "scale"), ("direction roundtrip",)),
        ((*CYCLE, "--operator", ""), ("--operator is empty", "expected the name of an operator")),
        ((*CYCLE, "--kind", "c2r"), ("c2r", "convolution")),
        (("--direction", "convolutoin"), ("did you mean 'convolution'?",)),
    ],
)
def test_what_is_no_convolution_is_an_input_error(bench: Bench, asked: tuple[str, ...], words: tuple[str, ...]) -> None:
    said = bench.refused("--variant", "slab", "--shape", "8x8x8", *asked)
    for word in words:
        assert word in said


def test_an_axis_beyond_the_tables_is_skipped(bench: Bench) -> None:
    assert "at most 1048576" in bench.skipped("--variant", "serial", "--shape", "1048577", *QUICK, *CYCLE)


def test_operators_are_listed(bench: Bench) -> None:
    listed = bench.listed("operators")
    assert {"scale", "poisson", "dealias-2/3", "gradient"} <= listed.keys()
    assert all(entry["citation"] and entry["summary"] and entry["available"] for entry in listed.values())


INSTANCES = ("--operator", "gradient", "--instances", "2", "--placement")
OVERDECOMPOSED = ("--variant", "overdecomposed", "--shape", "8x8x8", *QUICK, *CYCLE, *INSTANCES)


@launched(2, (*OVERDECOMPOSED, "all"), (*OVERDECOMPOSED, "subset"))
def test_instances_go_there_and_back(record: dict) -> None:
    samples = record["samples"]
    assert len(samples["forward_s"]) == 4 and len(samples["instance_time_s"]) == 2
    assert "rank_forward_phase_s" not in samples


ON_HOST = ("--variant", "slab-gpu", "--shape", "8x8x8", *QUICK, *CYCLE, "--parameter", "device=host")
STAGINGS = [("--parameter", f"staging={name}", "--exchange", "ialltoallv") for name in ("copy", "resident", "streamed")]


@launched(2, *((*ON_HOST, *staging) for staging in STAGINGS))
def test_a_device_comes_to_the_host_for_the_product(record: dict) -> None:
    assert_measured(record)
    device = record["cost"]["device"]
    if record["point"]["parameters"]["staging"] == "resident":
        # 256 elements of a rank, out and back twice, beside those of the exchanges
        assert min(device["h2d_bytes_per_rank"]) >= 2 * 256 * 16
        assert min(device["d2h_copies_per_rank"]) >= 2
