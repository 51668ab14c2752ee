"""What plots of campaigns on several nodes draw, and of which campaigns there are any."""

from __future__ import annotations

import pytest
from fourscore_analysis.models.slow_nodes import COMPUTING, LAUNCHES
from fourscore_analysis.plots import (
    grid_exchange,
    node_effects,
    strong_scaling,
    strong_scaling_nodes,
    weak_scaling,
    weak_scaling_nodes,
)
from fourscore_analysis.plots.base import MARK
from fourscore_analysis.points.units import digits
from fourscore_analysis.records.archive import Campaign
from fourscore_analysis.records.transforms import parse_record
from fourscore_analysis.views.view import View
from matplotlib.patches import Rectangle
from synthetic import CLUSTER, Maker, canonical, grid_points, make_point, strong_node_points, weak_node_points
from synthetic.common import campaign_of


def view_of(points, launches: int = 2, **changes) -> View:
    maker = Maker("a-11111111", "a", isolate=False, repetitions=3, hosts=CLUSTER, **changes)
    records = [maker.ok(point, launch) for launch in range(launches) for point in points]
    return View(campaign_of(records), 0)


def texts_of(axes) -> list[str]:
    return [text.get_text() for text in axes.texts]


def test_a_map_has_the_median_of_every_grid_and_exchange_and_frames_the_lowest():
    view = view_of(list(grid_points()))
    [page] = grid_exchange.pages(view)
    assert [one.title for one in page] == ["pencil · 64³ · 16 ranks on 4 nodes", "pencil · 64³ · 16 ranks on 2 nodes"][
        ::-1
    ]
    one = page[0]
    assert (one.grids, one.exchanges) == (
        ["1x16", "2x8", "4x4", "8x2", "16x1"],
        ["alltoallv", "alltoallw", "p2p", "shared"],
    )
    figure = grid_exchange.draw(view, page, "maps")
    axes = figure.axes[0]
    unit = 1e-3
    for point in one.points.values():
        assert digits(point.time_s / unit) in texts_of(axes)
    framed = [
        patch
        for patch in axes.patches
        if isinstance(patch, Rectangle) and patch.get_linewidth() > 1 and patch.get_gid()
    ]
    assert len(framed) == 1
    assert f"{one.fastest.label} ·" in framed[0].get_gid()
    assert framed[0].get_gid().startswith(MARK)


def test_a_map_takes_two_grids_and_two_exchanges_of_one_problem():
    grids = ([1, 4], [2, 2])
    one_exchange = [make_point("pencil", "p2p", ranks=4, grid=grid) for grid in grids]
    one_grid = [make_point("pencil", exchange, ranks=4, grid=[2, 2]) for exchange in ("p2p", "shared")]
    other_problem = [make_point("pencil", "shared", (32,) * 3, 4, grid=grid) for grid in grids]
    for points in (one_exchange, one_grid, one_exchange + other_problem):
        assert grid_exchange.pages(view_of(points)) == []
    assert len(grid_exchange.pages(view_of(one_exchange + one_grid))) == 1


def test_a_grid_that_was_not_measured_with_an_exchange_is_left_blank():
    points = [make_point("pencil", "p2p", ranks=4, grid=grid) for grid in ([1, 4], [2, 2])]
    points.append(make_point("pencil", "shared", ranks=4, grid=[2, 2]))
    view = view_of(points)
    [page] = grid_exchange.pages(view)
    assert texts_of(grid_exchange.draw(view, page, "map").axes[0]).count("–") == 1


def test_a_map_of_many_exchanges_is_cut_and_every_part_has_the_whole_scale():
    exchanges = [f"exchange-{number}" for number in range(8)]
    view = view_of([])
    maker = Maker("a-11111111", "a", isolate=False, repetitions=3)
    for number, exchange in enumerate(exchanges):
        for grid in ([1, 2], [2, 1]):
            record = maker.ok(make_point("pencil", "p2p", ranks=2, grid=grid), 0, scale=1 + number)
            record["point"]["exchange"] = exchange
            record["point_id"] = f"{exchange}{grid}"
            view.campaign.launches.append(parse_record(canonical(record), "a.json"))
    [parts] = grid_exchange.pages(view)
    assert [len(part.exchanges) for part in parts] == [4, 4]
    assert {part.fastest.method.exchange for part in parts} == {"exchange-0"}
    assert len({part.slowest_s for part in parts}) == 1


@pytest.mark.parametrize(
    ("plot", "points", "unit", "counts"),
    [
        (strong_scaling.PLOT, strong_node_points, "ranks", [8, 16, 32, 64]),
        (strong_scaling_nodes.PLOT, strong_node_points, "nodes", [1, 2, 4, 8]),
        (weak_scaling.PLOT, weak_node_points, "ranks", [4, 8, 16, 32]),
        (weak_scaling_nodes.PLOT, weak_node_points, "nodes", [1, 2, 4, 8]),
    ],
)
def test_scaling_has_the_ideal_every_launch_and_its_unit(plot, points, unit, counts):
    view = view_of(list(points()), launches=3)
    pages = plot.pages(view)
    group = next(one for page in pages for one in page if one.series[0].counts == counts)
    assert group.title("x").startswith("x · ")
    figure = plot.draw(view, [group], "scaling")
    left, right = figure.axes
    for axes in (left, right):
        assert axes.get_xlabel() == unit
        assert axes.get_ylabel()
        dots = [line for line in axes.lines if line.get_marker() == "o" and line.get_markersize() < 2]
        assert sum(len(line.get_xdata()) for line in dots) == 3 * sum(len(one.points) for one in group.series)
    assert any(list(line.get_ydata()) == [1, 1] for line in right.lines)  # the ideal efficiency
    if plot in (strong_scaling.PLOT, strong_scaling_nodes.PLOT):
        assert left.get_ylabel() == f"speedup over {counts[0]} {'node' if unit == 'nodes' else 'ranks'}"
        assert any(list(line.get_ydata()) == [1, 2, 4, 8] for line in left.lines)


def test_a_campaign_on_one_node_has_no_plots_over_nodes():
    view = view_of([make_point(ranks=ranks) for ranks in (1, 2, 4)], launches=6)
    assert strong_scaling_nodes.PLOT.pages(view) == weak_scaling_nodes.PLOT.pages(view) == []
    alone = View(Campaign("b", "b", [one for one in view.campaign.launches if one.hosts == ("n1",)]), 0)
    assert node_effects.pages(alone) == []


def test_every_node_has_a_row_with_its_interval_and_every_launch():
    view = view_of([make_point("slab", "p2p", ranks=8, nodes=4)], launches=60, slow={"n3": 1.3})
    [page] = node_effects.pages(view)
    assert [one.measure for one in page] == [COMPUTING, LAUNCHES]
    assert [one.effects[0].hosts for one in page] == [("n3",)] * 2
    figure = node_effects.draw(view, page, "nodes")
    for one, axes in zip(page, figure.axes, strict=True):
        assert [label.get_text() for label in axes.get_yticklabels()] == [effect.hosts[0] for effect in one.effects]
        low, high = axes.get_xlim()
        for row, effect in enumerate(one.effects):
            rows = [line for line in axes.lines if set(line.get_ydata()) == {row}]
            assert sorted(effect.ratios) in [sorted(line.get_xdata()) for line in rows]
            assert list(effect.interval) in [list(line.get_xdata()) for line in rows]
            assert all(low <= value <= high for value in (*effect.ratios, *effect.interval))
