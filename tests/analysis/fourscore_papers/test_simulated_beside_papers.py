"""Simulated points on the papers' axes, beside equations and printed numbers: on a campaign's page, on a paper's."""

import math
from pathlib import Path

import pytest
from fourscore_analysis.papers.here import Here
from fourscore_analysis.views.view import View
from fourscore_papers.czechowski2012 import figures as czechowski2012
from fourscore_papers.czechowski2012.plots import published_placement
from fourscore_papers.haynes2000 import figures as haynes2000
from fourscore_papers.haynes2000.numbers import simulated_crossings
from fourscore_papers.haynes2000.plots import crossover_model, published_latency
from fourscore_papers.lee2018 import figures as lee2018
from fourscore_papers.lee2018.plots import equal_cores, published_nodes
from synthetic import (
    ETHERNET,
    OVERHEADS,
    Maker,
    campaign_of,
    latency_points,
    network_of,
    node_points,
    placement_points,
    simulated_records,
    view_of,
)

ALPHA_S = 160e-6


def marks(figure) -> str:
    return "\n".join(artist.get_gid() or "" for axes in figure.axes for artist in axes.get_children())


def note(figure) -> str:
    return " ".join(text.get_text().replace("\n", " ") for text in figure.texts)


def markers(axes) -> set[tuple[float, float]]:
    """The markers of points; the equations are lines."""
    return {
        (x, y)
        for line in axes.lines
        if line.get_linestyle() == "None"
        for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)
    }


def as_the_equations_say(point) -> float:
    """Eqs 4 and 5; messages that are all under way at once have one latency."""
    nodes, grid_bytes = point["ranks"], 16 * math.prod(point["shape"])
    if point["variant"] == "danielson-lanczos":
        return math.log2(nodes) * (ALPHA_S + grid_bytes / 12.5e6 / nodes)
    latencies = nodes - 1 if point["exchange"] == "pairwise" else 1
    return 2 * (latencies * ALPHA_S + (nodes - 1) * grid_bytes / 12.5e6 / nodes**2)


def latency_records():
    return simulated_records(Maker("a-11111111", "a"), latency_points(), as_the_equations_say, ETHERNET)


def test_simulated_communication_stands_on_the_lines_of_equations_4_and_5():
    view = View(campaign_of(latency_records(), "haynes2000/section-5"), 0)
    [rows] = published_latency.pages(view)
    figure = published_latency.draw(view, rows, "heading")
    assert [row.elements for row in rows] == [16**3, 32**3]
    for row, axes in zip(rows, figure.axes, strict=True):
        on_lines = {
            (x, round(y, 6))
            for line in axes.lines
            if line.get_linestyle() == "-"
            for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)
        }
        found = {(x, round(y, 6)) for x, y in markers(axes)}
        assert len(found) == len(row.points) == 6
        assert len(found & on_lines) == 4
        assert row.alpha_beta == pytest.approx(2000)
    assert "Published (haynes2000 Section 5)" in note(figure)
    assert "Here: simulated ethernet-100mbit, on 4 to 16 nodes" in note(figure)


def test_real_and_simulated_networks_have_figures_of_their_own():
    view = View(campaign_of(latency_records(), "haynes2000/section-5"), 0)
    assert crossover_model.pages(view) == []
    assert published_latency.pages(view_of(latency_records())) == []
    real = [point | {"platform": "none"} for point in latency_points()]
    records = [Maker("a-11111111", "a").ok(point, 0) for point in real]
    view = View(campaign_of(records, "haynes2000/section-5"), 0)
    assert published_latency.pages(view) == []
    assert len(crossover_model.pages(view)) == 1


def test_crossings_are_of_simulated_messages_one_after_another():
    here = Here(None, [campaign_of(latency_records())])
    found = {(one.extent, one.ranks): one.ratio for one in simulated_crossings(here)}
    assert set(found) == {(16, 4), (16, 16), (32, 4), (32, 16)}
    times = {
        (p["variant"], p["exchange"], p["shape"][0], p["ranks"]): as_the_equations_say(p) for p in latency_points()
    }
    for (extent, ranks), ratio in found.items():
        new, old = (times["danielson-lanczos", "none", extent, ranks], times["rods", "pairwise", extent, ranks])
        assert ratio == pytest.approx(new / old)
    assert found[16, 16] < 1 < found[32, 4]


def test_the_page_of_haynes2000_has_the_simulated_cluster(tmp_path: Path):
    here = Here(None, [campaign_of(latency_records())])
    crossover, times = (plot.draw(here, plot.title) for plot in haynes2000.PLOTS)
    assert {(4, 16), (16, 16), (4, 32), (16, 32)} == markers(crossover.axes[0])
    drawn = dict(zip(haynes2000.EXTENTS, times.axes, strict=True))
    assert {extent: len(markers(axes)) for extent, axes in drawn.items()} == {16: 6, 32: 6, 64: 0, 128: 0}
    assert "times alpha" in marks(times)
    for plot in haynes2000.PLOTS:
        figure = plot.draw(Here(), plot.title)
        figure.savefig(tmp_path / f"{plot.name}.svg")
        assert not any(markers(axes) for axes in figure.axes)


ORDERS = {"random": 4e-4, "row-major": 2e-4, "sub-cube": 1e-4}  # seconds of both exchanges


def placement_records(points=None):
    return simulated_records(
        Maker("a-11111111", "a"),
        placement_points() if points is None else points,
        lambda point: ORDERS[point.get("host_order", "row-major")],
        network_of,
        OVERHEADS,
    )


def test_placements_stand_beside_equation_4_and_others_beside_equation_5():
    view = View(campaign_of(placement_records(), "czechowski2012/figure-6"), 0)
    [found] = published_placement.pages(view)
    assert [facet.title for facet in found] == ["64³ on 64 nodes", "128³ on 64 nodes"]
    rows = {row.label: row for row in found[1].rows}
    assert list(rows) == ["3-D torus, random", "3-D torus, row-major", "3-D torus, sub-cube", "4-D torus, row-major"]
    both = 2 * 128**3 * 16 / 4.68e9
    powers = {"random": 16, "row-major": 16, "sub-cube": 32}  # 64^(2/3), 64^(5/6)
    for order, power in powers.items():
        assert rows[f"3-D torus, {order}"].modelled_s == pytest.approx(both / power)
        assert rows[f"3-D torus, {order}"].simulated_s == ORDERS[order]
    assert rows["4-D torus, row-major"].modelled_s == pytest.approx(both / 64**0.75)
    assert found[1].gain_text == "sub-cube: 2.00 times as fast by the equations, 2.00 simulated"
    first = found[1].rows[0]
    assert first.own_time_s == pytest.approx(first.point.traffic.messages * 1e-6)
    assert first.injection_s == pytest.approx(first.point.traffic.bytes_sent / 6e9)
    figure = published_placement.draw(view, found, "heading")
    assert [len(markers(axes)) for axes in figure.axes] == [8, 8]
    assert "Eq. 4, both exchanges" in marks(figure)
    assert "Here: simulated hopper-gemini, simulated hopper-torus-4d, on 64 nodes, 64 ranks, 64³, 128³." in note(figure)


def test_only_what_can_be_compared_is_a_placement():
    alone = [point for point in placement_points() if point.get("host_order") == "random"]
    for points in (alone, [point | {"precision": "single"} for point in placement_points()]):
        view = View(campaign_of(placement_records(points), "czechowski2012/figure-6"), 0)
        assert published_placement.pages(view) == []
    assert published_placement.pages(view_of(placement_records())) == []
    star = simulated_records(Maker("a-11111111", "a"), placement_points(), lambda _: 1e-3, ETHERNET)
    assert published_placement.pages(View(campaign_of(star, "czechowski2012/figure-6"), 0)) == []


def test_the_page_of_czechowski2012_has_the_simulated_tori(tmp_path: Path):
    [plot] = [plot for plot in czechowski2012.PLOTS if plot.name == "placement"]
    figure = plot.draw(Here(None, [campaign_of(placement_records())]), plot.title)
    assert [len(markers(axes)) for axes in figure.axes] == [8, 8]
    assert "Simulated: hopper-gemini, hopper-torus-4d." in note(figure)
    alone = plot.draw(Here(), plot.title)
    alone.savefig(tmp_path / "alone.svg")
    assert [len(markers(axes)) for axes in alone.axes] == [4, 4]


def test_simulated_machines_have_the_names_of_their_platforms():
    """No letter tells them apart in addition."""
    campaign = campaign_of(placement_records())
    assert len({launch.machine_hash for launch in campaign.launches}) == 2
    assert {point.setting for point in View(campaign, 0).points} == {""}
    campaign.launches[0].code_hash = "another build"
    assert {point.setting for point in View(campaign, 0).points} == {"setting A", "setting B", ""}


def node_records(**changes):
    return simulated_records(
        Maker("a-11111111", "a"), node_points(**changes), lambda point: 0.02 / point["ranks"], ETHERNET
    )


def printed_times(axes) -> list[tuple[list[float], list[float]]]:
    found = [(list(line.get_xdata()), list(line.get_ydata())) for line in axes.lines if line.get_linestyle() == ":"]
    return [one for one in found if one[0] != [0, 1]]  # the level reaches over the axes


def test_simulated_nodes_stand_beside_the_best_times_of_lee2018():
    view = View(campaign_of(node_records(), "lee2018/table-3.1"), 0)
    [points] = published_nodes.pages(view)
    figure = published_nodes.draw(view, points, "heading")
    [axes] = figure.axes
    assert printed_times(axes) == [([4, 8, 16], [122, 109, 67]), ([4], [41]), ([8, 8], [25, 30]), ([64], [20])]
    assert {(nodes, round(time_ms, 6)) for nodes, time_ms in markers(axes)} == {(4, 10.0), (64, 0.625)}
    assert len([line for line in axes.lines if line.get_linestyle() == "None"]) == 3
    assert "Published (lee2018 Table 2.1, Table 3.1, Figure 3.3, Figure 3.4): " in note(figure)
    assert "Here: simulated hdr-fat-tree, on 4 to 64 nodes" in note(figure)


@pytest.mark.parametrize("changes", [{"direction": "forward"}, {"platform": "none"}, {"precision": "single"}])
def test_other_transforms_stand_beside_no_time_of_lee2018(changes):
    view = View(campaign_of(node_records(**changes), "lee2018/table-3.1"), 0)
    assert published_nodes.pages(view) == []


def test_the_cores_of_simulated_nodes_are_not_counted():
    view = View(campaign_of(node_records(), "lee2018/figure-3.3"), 0)
    assert equal_cores.pages(view) == []
    assert len(published_nodes.pages(view)) == 1


def test_the_page_of_lee2018_has_the_simulated_nodes(tmp_path: Path):
    [plot] = [plot for plot in lee2018.PLOTS if plot.name == "nodes"]
    [axes] = plot.draw(Here(None, [campaign_of(node_records())]), plot.title).axes
    assert {(nodes, round(time_ms, 6)) for nodes, time_ms in markers(axes)} == {(4, 10.0), (64, 0.625)}
    alone = plot.draw(Here(), plot.title)
    alone.savefig(tmp_path / "alone.svg")
    assert not markers(alone.axes[0])
    assert len(printed_times(alone.axes[0])) == 4
