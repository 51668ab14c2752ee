"""On how many nodes a launch was, and how its ranks followed each other there: from any version of the record."""

from __future__ import annotations

from typing import Any

import pytest
from fourscore_analysis.records.basics import Place
from fourscore_analysis.records.transforms import parse_record
from fourscore_analysis.records.values import RecordError
from synthetic import Maker, canonical, component_point, component_record, make_point

KEYS = ("nodes", "ranks_per_node", "placement_of_ranks")


def earlier(record: dict[str, Any], launch: dict[str, Any], version: int = 2) -> dict[str, Any]:
    """The record as version 1 or 2 had it: the point says nothing of nodes, the identity may."""
    for key in KEYS:
        del record["point"][key]
    record["schema_version"] = version
    seen = record["provenance"]["identity"]["launch"]
    for key in ("nodes", "placement_of_ranks"):
        del seen[key]
    seen |= launch
    return record


def place_of(record: dict[str, Any]) -> Place:
    return parse_record(canonical(record), "a.json").place


@pytest.mark.parametrize("placement", ["block", "cyclic", "socket", "irregular"])
def test_a_point_says_its_nodes_and_the_placement_of_its_ranks(placement):
    record = Maker().ok(make_point(ranks=8, nodes=4), 0)
    record["point"]["placement_of_ranks"] = placement
    launch = parse_record(canonical(record), "a.json")
    assert launch.place == launch.cell.place == Place(8, 4, placement)
    assert launch.place.ranks_per_node == 2


def test_a_component_says_them_too():
    record = component_record(Maker(), component_point("memory_bench", 4, 2), 0, [])
    found = parse_record(canonical(record), "a.json")
    assert (found.place, found.title) == (Place(4, 2), "memory_bench · 4 ranks on 2 nodes")


@pytest.mark.parametrize(
    ("launch", "place"),
    [
        ({"nodes": 4, "placement_of_ranks": "block"}, Place(8, 4)),
        ({"nodes": 4, "placement_of_ranks": "cyclic"}, Place(8, 4, "cyclic")),
        ({"nodes": 2, "placement_of_ranks": ["0-2,7", "3-6"]}, Place(8, 2, "irregular")),
        ({"nodes": 2}, Place(8, 2)),
        ({}, Place(8)),
    ],
)
def test_earlier_records_have_it_from_what_was_seen(launch, place):
    for version in (1, 2):
        assert place_of(earlier(Maker().ok(make_point(ranks=8), 0), launch, version)) == place


def test_an_earlier_record_of_a_launch_that_never_ran_is_on_one_node():
    record = earlier(Maker().ended(make_point(ranks=8), 0, "failed", "no mpirun"), {})
    del record["provenance"]["identity"]
    assert place_of(record) == Place(8)


@pytest.mark.parametrize(("nodes", "reason"), [(9, "nodes is 9, expected at most"), (0, "nodes: expected 1 or more")])
def test_nodes_that_cannot_be_are_refused(nodes, reason):
    record = Maker().ok(make_point(ranks=8), 0)
    record["point"]["nodes"] = nodes
    with pytest.raises(RecordError, match=reason):
        parse_record(canonical(record), "a.json")


def test_a_place_is_said_as_short_as_it_can_be():
    assert [
        place.text() for place in (Place(1), Place(8), Place(8, 1, "socket"), Place(8, 2), Place(8, 2, "cyclic"))
    ] == [
        "1 rank",
        "8 ranks",
        "8 ranks, socket",
        "8 ranks on 2 nodes",
        "8 ranks on 2 nodes, cyclic",
    ]
    assert Place(8).text(name_nodes=True) == "8 ranks on 1 node"
