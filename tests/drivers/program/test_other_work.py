"""Points whose ranks do other work beside their transforms."""

from __future__ import annotations

import itertools

import pytest
from conftest import Bench, Launch, launched, skip_unless_here

QUICK = ("--planner", "estimate", "--repetitions", "4", "--shape", "12x10x9")


def launch(variant: str, place: str, load: str) -> Launch:
    asked = ("--other-work", "3000us", "--other-work-place", place, "--other-work-load", load)
    return Launch(2, (*QUICK, "--variant", variant, *asked))


WORKS = [
    *itertools.product(("slab", "overdecomposed", "fftw-mpi"), ("between", "during"), ("compute",)),
    ("slab", "between", "memory"),  # the arrays are large, and do not depend on the variant
    ("overdecomposed", "during", "memory"),
]


@pytest.mark.parametrize(
    ("record", "variant", "place", "load"), [(launch(*work), *work) for work in WORKS], indirect=["record"]
)
def test_all_of_the_work_is_done_in_each_run(record: dict, variant: str, place: str, load: str) -> None:
    skip_unless_here(record["verdict"])
    point, work = record["point"], record["other_work"]
    assert point["other_work"] == "3ms"
    assert point.get("other_work_load", "compute") == load and point.get("other_work_place", "between") == place
    assert work["unit"] == ("bytes" if load == "memory" else "multiply-adds")
    assert ("rank_array_bytes" in work) == (load == "memory")
    assert len(work["rank_units"]) == len(work["rank_parts"]) == len(work["rank_s"]) == 2
    assert all(units > 1e5 for units in work["rank_units"])
    # It was chosen for 3 ms on a machine that did something else meanwhile, or nothing.
    for times in (record["samples"]["rank_phase_s"]["work"], work["rank_s"]):
        assert all(seconds > 0.3e-3 for of_rank in times for seconds in of_rank)
    assert record["samples"]["closure"]["worst"] < 0.5  # the work is in a phase, however busy the machine is
    if place == "between":
        assert work["rank_parts"] == [1, 1]
    if variant == "fftw-mpi" and place == "during":
        assert work["rank_parts"] == [0, 0], "a library that cannot be interrupted leaves all work for the end"


DURING = ("--variant", "pencil", "--grid", "2x2", "--exchange", "p2p", "--other-work-place", "during", "--warmup", "0")
ROUND_TRIP = (*QUICK, "--variant", "slab", "--direction", "roundtrip")


@launched(4, (*QUICK, *DURING, "--other-work", "1ms"))
def test_chains_have_a_part_of_the_work_while_messages_are_under_way(record: dict) -> None:
    assert record["other_work"]["rank_parts"] == [2] * 4, "one for each exchange"


@launched(2, (*ROUND_TRIP, "--instances", "3", "--other-work", "1ms"))
def test_there_is_a_part_after_each_direction_of_each_instance(record: dict) -> None:
    assert record["other_work"]["rank_parts"] == [6, 6]
    assert record["credited_flops"] == pytest.approx(6 * record["cost"]["flops"] / 6)


@launched(2, (*ROUND_TRIP, "--other-work", "100ms", "--warmup", "0"))
def test_the_work_after_a_forward_half_is_no_part_of_it(record: dict) -> None:
    samples = record["samples"]
    assert min(samples["forward_s"]) < 40e-3 and min(samples["time_s"]) > 50e-3


@launched(3, *((*ROUND_TRIP, "--instances", "2", "--placement", placement) for placement in ("all", "subset")))
def test_each_direction_of_each_instance_has_a_time(record: dict) -> None:
    placement = record["point"]["placement"]
    samples = record["samples"]
    forward, whole = samples["rank_instance_forward_s"], samples["rank_instance_s"]
    for rank in range(3):
        assert len(forward[rank]) == len(whole[rank]) == (2 if placement == "all" else 1)
        for there, both in zip(forward[rank], whole[rank], strict=True):
            assert all(0 < one < other for one, other in zip(there, both, strict=True))
        for i, turn in enumerate(samples["rank_forward_s"][rank]):
            assert turn == max(of_instance[i] for of_instance in forward[rank])
    for number, ranks in enumerate(record["resolved"]["instance_ranks"]):
        here = number if placement == "all" else 0
        members = range(ranks["first"], ranks["first"] + ranks["count"])
        assert samples["instance_forward_s"][number] == [max(forward[r][here][i] for r in members) for i in range(4)]


def test_points_without_other_work_do_not_name_it(bench: Bench) -> None:
    asked = ("--other-work", "none", "--other-work-load", "memory", "--other-work-place", "during")
    plain = (*QUICK, "--variant", "slab")
    records = bench.records(plain, (*plain, *asked), ranks=0)
    assert records[0]["point"] == records[1]["point"] and records[0]["point_id"] == records[1]["point_id"]
    assert not any(key.startswith("other_work") for key in records[0]["point"])
    assert "other_work" not in records[0] and "work" not in records[0]["samples"]["rank_phase_s"]


@pytest.mark.parametrize("value", ["0ms", "-2ms", "2", "ms", "2 ms", "nanms", "1e9s", "2min"])
def test_times_that_are_none_are_refused(bench: Bench, value: str) -> None:
    said = bench.refused(*QUICK, "--variant", "slab", f"--other-work={value}", faulty=False)
    assert "--other-work" in said and "expected none, or a time from 1us to 100s" in said


@pytest.mark.parametrize(("option", "expected"), [("load", "compute, memory"), ("place", "between, during")])
def test_unknown_words_are_refused(bench: Bench, option: str, expected: str) -> None:
    said = bench.refused(*QUICK, "--variant", "slab", "--other-work", "1ms", f"--other-work-{option}", "x", faulty=False)
    assert f"--other-work-{option} 'x': expected one of {expected}" in said
