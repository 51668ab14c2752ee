"""Points on other nodes are other points: never pooled, never ranked together, and series know which they join."""

from __future__ import annotations

import pytest
from fourscore_analysis.points.components import Bench, grouped
from fourscore_analysis.points.points import Point, comparisons, group_points
from fourscore_analysis.points.scaling import NODES, RANKS, strong_series, weak_series
from fourscore_analysis.records.basics import Place
from fourscore_analysis.tables.components import alpha_beta_rows
from fourscore_analysis.tables.transforms import contract_tables
from synthetic import (
    Maker,
    benchmark,
    campaign_of,
    component_point,
    component_record,
    make_point,
    strong_node_points,
    view_of,
    weak_node_points,
)


def points_of(points, maker: Maker | None = None) -> list[Point]:
    maker = maker or Maker(isolate=False, repetitions=3, hosts=tuple("abcdefgh"))
    return group_points(campaign_of([maker.ok(point, 0) for point in points]))


def timed(point, seconds: float):
    return Maker(isolate=False, hosts=tuple("abcdefgh")).timed(point, 0, seconds)


PLACES = ({"nodes": 1}, {"nodes": 2}, {"nodes": 4}, {"nodes": 4, "placement_of_ranks": "cyclic"})


def test_points_on_other_nodes_or_in_another_order_are_never_ranked_together():
    points = points_of([make_point(variant, ranks=8, **place) for place in PLACES for variant in ("slab", "pencil")])
    found = comparisons(points)
    assert [(one.where, len(one.ranked)) for one in found] == [
        ("8 ranks on 1 node", 2),
        ("8 ranks on 2 nodes", 2),
        ("8 ranks on 4 nodes", 2),
        ("8 ranks on 4 nodes, cyclic", 2),
    ]


def test_earlier_launches_of_one_id_on_other_nodes_are_points_of_their_own():
    """Before version 3 the id of a point did not tell its nodes."""
    records = []
    for launch, nodes in enumerate((1, 4, 4)):
        record = Maker(isolate=False).ok(make_point(ranks=8), launch)
        record["schema_version"] = 2
        for key in ("nodes", "ranks_per_node", "placement_of_ranks"):
            del record["point"][key]
        record["provenance"]["identity"]["launch"]["nodes"] = nodes
        records.append(record)
    failed = Maker().ended(make_point(ranks=8), 3, "failed", "it broke") | {"schema_version": 2}
    failed["point"] = records[0]["point"]
    found = group_points(campaign_of([*records, failed]))
    assert {point.cell.place: [launch.launch for launch in point.launches] for point in found} == {
        Place(8): [0, 3],  # what never ran joins the first of its id
        Place(8, 4): [1, 2],
    }


def test_nodes_are_named_only_where_a_campaign_has_points_on_several():
    alone = points_of([make_point(ranks=8)])
    assert [(point.title, point.packing) for point in alone] == [("64³ · 8 ranks", "")]
    some = points_of([make_point(ranks=8), make_point(ranks=8, nodes=2), make_point(ranks=2, nodes=2)])
    assert sorted((point.title, point.packing) for point in some) == [
        ("64³ · 2 ranks on 2 nodes", "1 rank a node"),
        ("64³ · 8 ranks on 1 node", "8 ranks a node"),
        ("64³ · 8 ranks on 2 nodes", "4 ranks a node"),
    ]
    assert not view_of([Maker().ok(make_point(), 0)]).shows_nodes


def test_tables_have_the_nodes_of_every_point():
    maker = Maker(isolate=False, hosts=tuple("abcd"))
    view = view_of([maker.ok(make_point(ranks=8, **place), 0) for place in PLACES])
    assert view.shows_nodes
    [table] = contract_tables(view)
    assert [row.nodes for row in table.rows] == ["1", "2", "4", "4, cyclic"]


def test_curves_of_components_on_other_nodes_are_apart_and_a_ceiling_counts_ranks_of_a_node():
    copies = {Place(4): 2e9, Place(4, 2): 3e9}
    records = [
        component_record(
            Maker(),
            component_point("memory_bench", place.ranks, place.nodes),
            0,
            [benchmark("copy", 2.0**28, rate, {})],
        )
        for place, rate in copies.items()
    ]
    bench = Bench(campaign_of(records).components)
    assert [group.title for group in grouped(bench.curves("memory_bench"))] == [
        "4 ranks on 1 node",
        "4 ranks on 2 nodes",
    ]
    machine = bench.runs[0].machine_hash
    for place, rate in ((Place(4), 2e9), (Place(16, 4), 2e9), (Place(8, 4), 3e9), (Place(2), 3e9)):
        assert bench.copy_ceiling(machine, place).rate == pytest.approx(rate)


def test_messages_between_nodes_have_an_alpha_and_beta_of_their_own():
    sizes = [2.0**power for power in range(3, 27, 6)]
    records = [
        component_record(
            Maker(),
            component_point("pairwise_bench", 2, nodes),
            0,
            [benchmark("sendrecv", size, 1e9 / nodes, {"phase": "0"}, alpha_s=1e-6, steps=1) for size in sizes],
        )
        for nodes in (1, 2)
    ]
    rows = alpha_beta_rows(view_of(records))
    assert [row.where for row in rows] == ["2 ranks on 1 node", "2 ranks on 2 nodes"]


def test_speedup_over_nodes_is_against_the_fewest_nodes_with_as_many_ranks_on_each():
    seconds = {1: 8.0, 2: 5.0, 8: 2.0}
    records = [timed(make_point(ranks=4 * nodes, nodes=nodes), time) for nodes, time in seconds.items()]
    records.append(timed(make_point(ranks=4, nodes=4), 9.0))  # one rank a node: of no series
    [[series]] = strong_series(group_points(campaign_of(records)), NODES)
    assert (series.counts, series.over, series.packing) == ([1, 2, 8], "nodes", "4 ranks a node")
    assert series.speedup() == [1.0, 1.6, 4.0]
    assert series.strong_efficiency() == [1.0, 0.8, 0.5]


def test_a_curve_joins_the_same_nodes_or_as_many_ranks_on_each():
    def told(over: str) -> dict[str, list[list[int]]]:
        found: dict[str, list[list[int]]] = {}
        for group in strong_series(points_of(strong_node_points()), over):
            for series in group:
                found.setdefault(series.packing, []).append(series.counts)
        return {packing: counts for packing, [counts, *others] in found.items() if [counts] * 3 == others}

    assert told(NODES) == {"8 ranks a node": [1, 2, 4, 8], "4 ranks a node": [1, 2], "2 ranks a node": [1, 4]}
    assert told(RANKS) == {
        "on 1 node": [1, 2, 4, 8],
        "8 ranks a node": [8, 16, 32, 64],
        "on 2 nodes": [8, 16],
        "on 4 nodes": [8, 32],
    }


def test_ranks_that_do_not_divide_among_the_nodes_are_in_no_curve_over_nodes():
    points = points_of([make_point(ranks=ranks, nodes=nodes) for ranks, nodes in ((3, 1), (5, 2), (9, 3))])
    assert [series.counts for [series] in strong_series(points, NODES)] == [[1, 3]]


def test_weak_scaling_grows_by_node():
    [group] = weak_series(points_of(weak_node_points()), NODES)
    assert {(series.packing, tuple(series.counts)) for series in group} == {("4 ranks a node", (1, 2, 4, 8))}
    assert all(series.weak_efficiency()[0] == 1 for series in group)
    [by_ranks] = weak_series(points_of(weak_node_points()), RANKS)
    assert {tuple(series.counts) for series in by_ranks} == {(4, 8, 16, 32)}


def test_a_campaign_on_one_node_has_no_curve_over_nodes():
    points = points_of([make_point(ranks=ranks) for ranks in (1, 2, 4)])
    assert strong_series(points, NODES) == weak_series(points, NODES) == []
    [[series]] = strong_series(points, RANKS)
    assert (series.counts, series.packing) == ([1, 2, 4], "")
