"""Launches of two sides as series: which belong together, and how each is titled."""

from __future__ import annotations

import pytest
from fourscore_analysis.gate.series import pair_series
from synthetic import Maker, benchmark, component_point, component_record, make_point, read_back


def runs_of(*records: dict) -> list:
    return read_back(records)


def ok(point: dict, launch: int = 0, flags=()) -> dict:
    return Maker(isolate=False).ok(point, launch) | {"flags": list(flags)}


def failed(point: dict, launch: int = 0) -> dict:
    return Maker().ended(point, launch, "failed", "signal 11")


def titles(*points: dict) -> list[str]:
    return [one.title for one in pair_series(runs_of(*map(ok, points)), [], paired=False)]


def test_a_title_names_what_tells_a_point_from_the_others():
    alone = make_point("pencil", "alltoallv", (128, 128, 128), 4)
    assert titles(alone) == ["pencil/alltoallv at 128³, 4 ranks"]
    assert titles(alone, alone | {"precision": "single"}) == [
        "pencil/alltoallv at 128³, 4 ranks, double",
        "pencil/alltoallv at 128³, 4 ranks, single",
    ]
    assert titles(alone, alone | {"wire": "single"}) == [
        "pencil/alltoallv at 128³, 4 ranks",
        "pencil/alltoallv at 128³, 4 ranks, wire single",
    ]
    assert titles(alone, make_point("pencil", "alltoallv", (128, 128, 128), 4, nodes=2)) == [
        "pencil/alltoallv at 128³, 4 ranks on 1 node",
        "pencil/alltoallv at 128³, 4 ranks on 2 nodes",
    ]


def test_each_benchmark_of_a_component_is_a_series_and_a_failed_program_joins_all_of_its_own():
    copies = [benchmark("copy", size, 8e9, {"precision": "double"}) for size in (2.0**20, 2.0**28)]
    point = component_point("memory_bench", 1)
    lost = component_record(Maker(), point, 1, []) | {"verdict": {"status": "failed", "reason": "gone"}}
    found = pair_series(runs_of(component_record(Maker(), point, 0, copies), lost), [], paired=False)
    assert [one.title for one in found] == [f"memory_bench · 1 rank, {copy['name']}" for copy in copies]
    assert [one.base.trouble("failed") for one in found] == ["1 failed (gone)"] * 2
    assert [len(one.base.timed) for one in found] == [1, 1]
    assert [one.has_times for one in found] == [False, False]


@pytest.mark.parametrize("flags", [["emulated"], []])
def test_a_launch_that_failed_joins_those_of_its_point_that_ran(flags):
    """It does not say whether a stand-in would have run."""
    point = make_point("slab", "p2p", ranks=4)
    [one] = pair_series(runs_of(ok(point, 0, flags), failed(point, 1), failed(point, 2)), [], paired=False)
    assert one.base.trouble("failed") == "2 failed (signal 11)"
    assert one.base.statuses == {"failed": 2}
    assert list(one.base.timed) == [0]


def test_a_launch_that_failed_joins_its_point_wherever_that_ran():
    """Records before version 3 of launches that never ran say nothing of nodes."""
    point = make_point("slab", "p2p", ranks=4, nodes=2)
    early = failed(dict(point), 1)
    for key in ("nodes", "ranks_per_node", "placement_of_ranks"):
        del early["point"][key]
    early["schema_version"] = 2
    early["provenance"].pop("identity", None)
    [one] = pair_series(runs_of(ok(point), early), [], paired=False)
    assert one.base.trouble("failed") == "1 failed (signal 11)"


def test_what_failed_alone_is_a_series_and_what_has_two_homes_joins_neither():
    point = make_point("slab", "p2p", ranks=4)
    [lost] = pair_series(runs_of(failed(point)), [], paired=False)
    assert (lost.base.timed, lost.base.trouble("failed")) == ({}, "1 failed (signal 11)")
    two = runs_of(ok(point), ok(make_point("slab", "p2p", ranks=4), 1, ["emulated"]))
    assert len(pair_series(two, [], paired=False)) == 2


@pytest.mark.parametrize(
    ("statuses", "said"),
    [
        (["timeout", "timeout"], "2 timed out (too long)"),
        (["skipped"], "1 skipped (too long)"),
        (["wrong"], "1 wrong (too long)"),
    ],
)
def test_what_went_wrong_is_told_with_its_first_reason(statuses, said):
    point = make_point("slab", "p2p", ranks=4)
    records = [Maker().ended(point, number, status, "too long") for number, status in enumerate(statuses)]
    [one] = pair_series(runs_of(*records), [], paired=False)
    assert one.base.trouble(statuses[0]) == said
    assert one.base.trouble("failed") == ""


def test_pairs_are_launches_of_the_same_number_and_a_retry_takes_the_number_of_what_it_repeats():
    point = make_point("slab", "p2p", ranks=4)
    again = ok(point, 5)
    again["campaign"]["retry_of"] = 1
    base, candidate = runs_of(ok(point, 0), ok(point, 2), again), runs_of(*(ok(point, number) for number in range(3)))
    [one] = pair_series(base, candidate, paired=True)
    pairs = one.launches()
    assert [launch.number for launch in pairs[0]] == [launch.number for launch in pairs[1]] == [0, 1, 2]
    assert [launch.run.launch for launch in pairs[0]] == [0, 5, 2]
    [apart] = pair_series(base[:1], candidate, paired=False)
    assert [len(side) for side in apart.launches()] == [1, 3]
