"""The plots that draw a paper's figure: which campaigns have them, what of the paper they show, what differs."""

import json
import math
from pathlib import Path

import pytest
from fourscore_analysis.plots.shared.published_marks import MARKERS
from fourscore_analysis.points.beside_paper import difference_line
from fourscore_analysis.records.archive import Campaign, read_campaigns
from fourscore_analysis.records.published import published
from fourscore_analysis.records.transforms import parse_record
from fourscore_analysis.views.view import View
from fourscore_papers.czechowski2012.plots import published_breakdown
from fourscore_papers.eleftheriou2005.plots import published_scaling
from fourscore_papers.gupta1993 import numbers as gupta1993
from fourscore_papers.gupta1993.plots import published_speedup
from fourscore_papers.haynes2000 import equations as haynes2000
from fourscore_papers.haynes2000 import numbers
from fourscore_papers.haynes2000.plots import crossover_model
from fourscore_papers.lee2018.plots import equal_cores
from synthetic import (
    Maker,
    benchmark,
    campaign_of,
    canonical,
    component_point,
    component_record,
    crossover_points,
    fill,
    make_point,
    read_back,
    strong_points,
)


def view_of(points, *paper: str, launches: int = 1) -> View:
    maker = Maker("a-11111111", "a")
    records = [maker.ok(point, launch) for launch in range(launches) for point in points]
    return View(campaign_of(records, *paper), 0)


def marks(figure) -> str:
    """All that a mouse over the figure shows."""
    return "\n".join(artist.get_gid() or "" for axes in figure.axes for artist in axes.get_children())


def dotted(axes) -> list:
    return [line for line in axes.lines if line.get_linestyle() == ":"]


def note(figure) -> str:
    return " ".join(text.get_text().replace("\n", " ") for text in figure.texts)


def volumetric(shapes=((32,) * 3, (128,) * 3), ranks=(1, 2, 4)):
    return [make_point("volumetric", "alltoallv", shape, count) for shape in shapes for count in ranks]


def charm(threads=(1, 2), ranks=(1, 2)):
    look = {"direction": "backward"}
    found = [make_point("overdecomposed", "none", (64,) * 3, count, **look) for count in (1, 2, 4)]
    return found + [make_point("node", "none", (64,) * 3, r, threads=t, **look) for r in ranks for t in threads]


def lines_1d():
    methods = (("binary-exchange", "none"), ("transpose", "alltoallv"))
    return [make_point(v, e, (n,), r, precision="single") for v, e in methods for n in (4096, 65536) for r in (1, 2, 4)]


CASES = {
    "eleftheriou2005/table-1": (published_scaling, volumetric),
    "czechowski2012/figure-4": (published_breakdown, lambda: [make_point("pencil", ranks=4)]),
    "gupta1993/figure-2": (published_speedup, lines_1d),
    "haynes2000/section-5": (crossover_model, crossover_points),
    "lee2018/figure-3.3": (equal_cores, charm),
}


@pytest.mark.parametrize("item", CASES)
def test_only_a_campaign_that_says_so_is_drawn_as_the_papers_figure(item):
    plot, points = CASES[item]
    assert len(plot.pages(view_of(points(), item))) == 1
    assert plot.pages(view_of(points())) == []
    assert plot.pages(view_of(points(), "other2000/table-1")) == []


@pytest.mark.parametrize("item", CASES)
def test_a_papers_figure_is_drawn_and_says_what_differs(item, tmp_path: Path):
    plot, points = CASES[item]
    view = view_of(points(), item)
    [page] = plot.pages(view)
    figure = plot.draw(view, page, "heading")
    figure.savefig(tmp_path / "figure.svg")
    assert f"Published ({item.split('/')[0]}" in note(figure)
    assert "Here: Imaginary 9000 @ 2.60GHz, 8 cores, on 1 node" in note(figure)


def test_table_1_stands_on_512_nodes_beside_the_shapes_that_it_has():
    shapes = ((32,) * 3, (48,) * 3, (128,) * 3)
    view = view_of(volumetric(shapes), "eleftheriou2005/table-1")
    [page] = published_scaling.pages(view)
    figure = published_scaling.draw(view, page, "heading")
    by_shape = dict(zip(shapes, zip(figure.axes[::2], figure.axes[1::2], strict=True), strict=True))
    drawn = {shape: dotted(times) for shape, (times, _) in by_shape.items()}
    assert {shape: len(found) for shape, found in drawn.items()} == {shapes[0]: 2, shapes[1]: 0, shapes[2]: 3}
    rows = [row for row in published("eleftheriou2005", "table-1").rows if row["shape"] == [128] * 3]
    for line, row in zip(drawn[shapes[2]], rows, strict=True):
        assert list(line.get_xdata()) == [512, 512]
        assert list(line.get_ydata()) == pytest.approx([1e3 * row["torus_s"], 1e3 * row["mesh_s"]])
    speedups = {shape: dotted(axes) for shape, (_, axes) in by_shape.items()}
    [above] = speedups.pop(shapes[2])
    assert (list(above.get_xdata()), list(above.get_ydata())) == ([1024], [250])
    assert not any(speedups.values())


def test_crosses_are_the_mean_of_the_repetitions():
    view = view_of(volumetric(((32,) * 3,), (1, 2)), "eleftheriou2005/table-1", launches=3)
    for launch in view.campaign.launches:
        launch.time_s = (0.001, 0.002, 0.009 + 0.003 * launch.launch)  # medians 2 ms, means 4, 5 and 6 ms
        launch.median_s = 0.002
    [page] = published_scaling.pages(view)
    axes = published_scaling.draw(view, page, "heading").axes[0]
    [crosses] = [line for line in axes.lines if line.get_marker() == "x"]
    assert list(crosses.get_xdata()) == [1, 2]
    assert "ms" in axes.get_ylabel()
    assert list(crosses.get_ydata()) == pytest.approx([5, 5])


def test_numbers_of_double_complex_stand_beside_no_other_kind():
    points = [make_point("volumetric", "alltoallv", (32,) * 3, ranks, precision="single") for ranks in (1, 2)]
    view = view_of(points, "eleftheriou2005/table-1")
    [page] = published_scaling.pages(view)
    assert not any(dotted(axes) for axes in published_scaling.draw(view, page, "heading").axes)


def test_shares_of_figure_4_are_as_printed_and_add_up():
    printed, without = published_breakdown.published_bars(published("czechowski2012", "figure-4"))
    assert [round(100 * share) for share in printed.shares.values()] == [21, 16, 27, 36]
    for bar in (printed, without):
        assert sum(bar.shares.values()) == pytest.approx(1)
    assert published_breakdown.COPIES not in without.shares
    [[point]] = published_breakdown.pages(view_of([make_point("pencil", ranks=4)], "czechowski2012/figure-4"))
    ours = published_breakdown.shares_of(point)
    assert sum(ours.values()) == pytest.approx(1)
    fft = point.phases["fft"] / sum(point.phases.values())
    assert ours[published_breakdown.FFT] == pytest.approx(fft)


def test_copies_to_a_stand_in_are_a_part_of_the_time_in_a_figure_of_their_own():
    maker, records = Maker(isolate=False), []
    phases = {"fft": 0.2, "exchange": 0.5, "h2d": 0.2, "d2h": 0.1}
    for variant in ("pencil", "pencil-gpu"):
        flags = ["emulated"] if variant == "pencil-gpu" else []
        records.append(maker.timed(make_point(variant, "alltoallv"), 0, phases, flags))
    view = View(campaign_of(records, "czechowski2012/figure-4"), 0)
    real, emulated = published_breakdown.pages(view)
    assert [[point.method.variant for point in page] for page in (real, emulated)] == [["pencil"], ["pencil-gpu"]]
    assert published_breakdown.shares_of(emulated[0])[published_breakdown.COPIES] == pytest.approx(0.3)
    published_breakdown.draw(view, emulated, "heading")


def test_the_model_of_gupta1993_gives_its_break_even_efficiency_and_its_own_examples():
    """Section 8: K t_w / t_c = 1 at E = t_c / (t_c + t_w) = 0.83, where n = p; section 4.1.1 calls it a threshold."""
    machine = gupta1993.ncube1()
    break_even = machine.t_c_s / (machine.t_c_s + machine.t_w_s)
    [row] = [row for row in published("gupta1993", "section-8").rows if row["break_even_efficiency"]]
    assert round(break_even, 2) == row["break_even_efficiency"]
    for power in (4, 10, 16):
        at_threshold = published_speedup.efficiency("binary-exchange", machine, 2**power, 2**power)
        assert at_threshold == pytest.approx(break_even)
    for variant in published_speedup.OVERHEADS:
        assert published_speedup.efficiency(variant, machine, 4096, 1) == 1
    transposed = published_speedup.efficiency("transpose", machine, 2**16, 4)
    assert transposed == pytest.approx(1 / (1 + 0.2 / 16))
    assert transposed == published_speedup.efficiency("transpose", machine, 2**16, 64)


def test_the_models_lines_start_where_ours_do():
    points = [one for one in lines_1d() if one["ranks"] > 1]
    view = view_of(points, "gupta1993/figure-2")
    [rows] = published_speedup.pages(view)
    assert [row.label for row in rows] == ["binary-exchange", "transpose/alltoallv"]
    for row in rows:
        ranks, values = published_speedup.model_line(row, gupta1993.ncube1(), 4096, 2)
        assert (ranks[0], values[0], ranks[-1]) == (2, 1, 1024)
        assert values == sorted(values, reverse=True)
    figure = published_speedup.draw(view, rows, "heading")
    assert "break-even" in marks(figure)


def test_the_equations_of_haynes2000_are_those_that_are_kept_as_data():
    table = published("haynes2000", "equations-4-and-5")
    functions = {"traditional": haynes2000.traditional, "new": haynes2000.new}
    for row in table.rows:
        for elements, ranks in ((16**3, 2), (64**3, 64), (128**3, 1024)):
            names = {"P": ranks, "n": elements, "u": 16, "alpha": 1.0, "beta": 2000.0, "log2": math.log2}
            expected = eval(row["time_s_formula"], {"__builtins__": {}}, names)  # from our own file
            assert functions[row["method"]](elements, ranks, 2000.0) == pytest.approx(expected)


def test_the_new_method_wins_by_its_model_with_many_nodes_and_small_grids():
    """Section 5; and a crossover between 2 and 1,024 nodes for each grid that the suite measures."""
    view = view_of(list(crossover_points()), "haynes2000/section-5")
    [rows] = crossover_model.pages(view)
    crossings = []
    for row in rows:
        lines = crossover_model.model_lines(row, numbers.printed_alpha_beta())
        wins = [
            ranks
            for ranks, new, old in zip(
                crossover_model.MODEL_RANKS, *(lines[name] for name in crossover_model.LOOKS), strict=True
            )
            if new < 0.99 * old
        ]
        assert wins
        assert wins[-1] == 1024
        crossings.append(min(ranks for ranks in wins if ranks > 4))
        assert lines[crossover_model.TRADITIONAL][0] == 1
        assert [one.comparison.cell.ranks for one in row.found] == [2, 4, 8]
    assert crossings == sorted(crossings)
    assert crossings[0] < crossings[-1]


def test_a_measured_alpha_and_beta_give_the_equations_seconds():
    """Where a message costs 20 us and 100 ns a byte, and on other machines and places none."""
    alpha_s, byte_s = 20e-6, 100e-9
    maker = Maker("a-11111111", "a")
    sizes = [2.0**power for power in range(3, 21, 2)]
    rate = 2 / byte_s  # the rate of `benchmark`, which moves each byte twice
    found = [benchmark("sendrecv", size, rate, {"phase": "0"}, alpha_s=alpha_s, steps=1) for size in sizes]
    for one in found:
        one["time_s"] = [one["time_s"][0]] * 3
        one["rank_s"] = [one["time_s"]] * 4
    component = component_record(maker, component_point("pairwise_bench", 4, nodes=4), 0, found)
    points = [
        make_point(variant, "p2p", (16,) * 3, ranks, nodes=ranks)
        for variant in ("danielson-lanczos", "rods")
        for ranks in (4, 8)
    ]

    def drawn(points):
        records = [maker.ok(point, 0) for point in points]
        parsed = read_back(records)
        components = [parse_record(canonical(component), "component.json")]
        view = View(Campaign("a-11111111", "a", parsed, components, paper=("haynes2000/section-5",)), 0)
        [[row]] = crossover_model.pages(view)
        figure = crossover_model.draw(view, [row], "heading")
        return crossover_model.measured_lines(view, row), row.unit_s, figure

    lines, unit_s, figure = drawn(points)
    grid_bytes = 16 * 16**3
    for at, ranks in enumerate(crossover_model.MODEL_RANKS):
        old = 2 * (ranks - 1) * (alpha_s + byte_s * grid_bytes / ranks**2)
        new = math.log2(ranks) * (alpha_s + byte_s * grid_bytes / ranks)
        assert lines["rods"][at] * unit_s == pytest.approx(old, rel=1e-6)
        assert lines["danielson-lanczos"][at] * unit_s == pytest.approx(new, rel=1e-6)
    times, ratio = figure.axes[:2]
    assert [len([line for line in axes.lines if line.get_linestyle() == "--"]) for axes in (times, ratio)] == [2, 1]
    with_more_on_a_node = [point | {"nodes": point["ranks"] // 2, "ranks_per_node": 2} for point in points]
    lines, _, figure = drawn(with_more_on_a_node)
    assert lines == {}
    assert not [line for line in figure.axes[0].lines if line.get_linestyle() == "--"]


def test_percentages_of_lee2018_stand_beside_ours_at_equal_cores():
    view = view_of(charm(), "lee2018/figure-3.3")
    [[row]] = equal_cores.pages(view)
    found = equal_cores.ours(row)
    assert [len(found[what]) for what in (equal_cores.FASTER, equal_cores.SHORTER, equal_cores.LONGER)] == [3, 1, 1]
    node = min((row.lines["node", 1][2], row.lines["node", 2][2]), key=lambda point: point.time_s)
    expected = 100 * (node.time_s / row.lines["overdecomposed", 1][2].time_s - 1)
    assert found[equal_cores.FASTER][1].percent == pytest.approx(expected)
    narrow, wide = row.lines["node", 1][2], row.lines["node", 2][2]
    assert found[equal_cores.SHORTER][0].percent == pytest.approx(100 * (1 - narrow.time_s / wide.time_s))
    assert {what: percent for what, (_, percent) in equal_cores.printed().items()} == {
        equal_cores.FASTER: 61,
        equal_cores.SHORTER: 81,
        equal_cores.LONGER: 60,
    }
    alone = [point for point in charm() if point["variant"] == "node"]
    assert equal_cores.pages(view_of(alone, "lee2018/figure-3.3")) == []


def test_one_line_says_what_differs_in_machine_and_scale():
    points = view_of(charm()).measured
    line = difference_line([published("lee2018", "table-2.1")], points)
    assert line.startswith("Published (lee2018 Table 2.1): 4 Knights Landing nodes, 32 cores of each, on 4 nodes, ")
    assert line.endswith(
        ", 300³. Here: Imaginary 9000 @ 2.60GHz, 8 cores, on 1 node, 1 to 4 ranks, 1 to 2 threads a rank, 64³."
    )
    same = view_of([make_point(shape=(300,) * 3)]).measured
    assert "300³" not in difference_line([published("lee2018", "table-2.1")], same)
    both = difference_line([published("lee2018", "table-5.2"), published("lee2018", "table-5.3")], points)
    assert "(lee2018 Table 5.2, Table 5.3)" in both
    assert "on 2 to 16 nodes" in both
    assert difference_line([], points) == difference_line([published("lee2018", "table-2.1")], []) == ""


def test_size_and_paper_of_a_campaign_are_read_and_said(tmp_path: Path):
    fill(tmp_path, Maker("a-11111111", "a"), [make_point()], 1)
    folder = tmp_path / "campaigns" / "a-11111111"
    folder.mkdir(parents=True)
    plan = {"points": [{}], "launches": 1, "size": "paper", "paper": ["lee2018/table-2.1", 3]}
    (folder / "campaign.json").write_text(json.dumps(plan), encoding="utf-8")
    [campaign] = read_campaigns(tmp_path, ["a-11111111"])
    assert (campaign.size, campaign.paper, campaign.planned) == ("paper", ("lee2018/table-2.1",), (1, 1))
    (folder / "campaign.json").write_text(json.dumps({"size": 3, "paper": "x"}), encoding="utf-8")
    [campaign] = read_campaigns(tmp_path, ["a-11111111"])
    assert (campaign.size, campaign.paper, campaign.planned) == ("", (), None)


def test_published_rows_have_markers_of_their_own():
    assert len(published_scaling.layers(published("eleftheriou2005", "table-1"))) < len(MARKERS)
    assert published_scaling.pages(view_of(list(strong_points()), "eleftheriou2005/table-1"))
