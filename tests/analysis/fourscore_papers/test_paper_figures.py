"""Figures on the papers' own axes: their equations, their numbers, and ours."""

import math

import pytest
from fourscore_analysis.papers import all_papers
from fourscore_analysis.papers.base import judge
from fourscore_analysis.papers.here import Here
from fourscore_analysis.records.published import published
from fourscore_papers.czechowski2012 import figures as czechowski2012
from fourscore_papers.eleftheriou2005 import figures as eleftheriou2005
from fourscore_papers.gupta1993 import figures as gupta1993
from fourscore_papers.lee2018 import figures as lee2018
from synthetic import Known, Maker, campaign_of, here_told, known_records, line_points, make_point

KNOWN = Known(t_c=2e-9, t_s=3e-6, t_w=1e-9)
EMPTY = Here()


def here_of(points, seconds) -> Here:
    records = known_records(Maker(), points, seconds, launches=2)
    return Here(None, [campaign_of(records)])


@pytest.fixture(scope="module")
def lines() -> Here:
    points = line_points([2**power for power in range(8, 21, 2)], (1, 2, 4), ["binary-exchange"])
    return here_of(points, lambda p: KNOWN.time_s("binary-exchange", p["shape"][0], p["ranks"]))


def plot_of(module, name):
    [found] = [plot for plot in module.PLOTS if plot.name == name]
    return found


def lines_of(axes, style):
    return [line for line in axes.lines if line.get_linestyle() == style]


def end(line) -> tuple[float, float]:
    return line.get_xdata()[-1], line.get_ydata()[-1]


@pytest.mark.parametrize("module", [gupta1993, lee2018])
def test_each_figure_is_drawn_without_an_archive(module, tmp_path):
    for plot in module.PLOTS:
        figure = plot.draw(EMPTY, plot.title)
        figure.savefig(tmp_path / f"{plot.name}.svg")
        assert "Here" not in " ".join(text.get_text() for text in figure.texts)


def test_figure_2_has_the_speedups_of_equation_4_with_and_without_start_up_time():
    """1,024 / (1 + 0.2) of 1,024 points; with 0.4 ms: T_o = 0.4 ms 10,240 + 16 us 10,240 over W = 0.8192 s."""
    [axes] = plot_of(gupta1993, "figure-2").draw(EMPTY, "heading").axes
    without = {end(line) for line in lines_of(axes, ":")}
    assert {round(y) for _, y in without} == {853, 910}
    found = sorted(round(y) for x, y in map(end, lines_of(axes, "-")) if x == 1024)
    assert found == [round(1024 / (1 + (0.4e-3 + 16e-6) * 10240 / 0.8192)), 872, 1024]


def test_figure_2_has_the_speedups_of_the_simulated_hypercube():
    points = [
        make_point("binary-exchange", "none", (1024,), ranks, nodes=ranks, precision="single", platform="ncube")
        for ranks in (1, 4, 16)
    ]
    here = here_of(points, lambda point: {1: 8.0, 4: 2.5, 16: 1.0}[point["ranks"]])
    [axes] = plot_of(gupta1993, "figure-2").draw(here, "heading").axes
    found = {end(line) for line in axes.lines if line.get_marker() == "o"}
    assert {(ranks, round(speedup, 6)) for ranks, speedup in found} == {(4, 3.2), (16, 8.0)}
    without_one = here_of(points[1:], lambda point: 1.0)
    [axes] = plot_of(gupta1993, "figure-2").draw(without_one, "heading").axes
    assert not any(line.get_marker() == "o" for line in axes.lines)


def test_table_1_has_the_parts_of_the_simulated_torus():
    """T_mesh = T_non + 2 T_bw is 5 ms, T_torus = T_non + T_bw is 3 ms."""

    def bars(platforms) -> list[float]:
        points = [
            make_point("volumetric", shape=(32,) * 3, ranks=512, nodes=512, platform=platform) for platform in platforms
        ]
        here = here_of(points, lambda point: 5e-3 if "mesh" in point["platform"] else 3e-3)
        [axes] = plot_of(eleftheriou2005, "table-1").draw(here, "heading").axes
        return [patch.get_width() for patch in axes.patches]

    both, one = bars(("bluegene-l", "bluegene-l-mesh")), bars(("bluegene-l",))
    assert len(both) == len(one) + 2
    ns_an_element = 1e9 / 32**3
    for seconds in (1e-3, 2e-3):
        assert any(width == pytest.approx(seconds * ns_an_element) for width in both), seconds


def test_figures_3_and_4_end_where_the_efficiency_is_kept():
    [axes] = plot_of(gupta1993, "figure-3").draw(EMPTY, "heading").axes
    ends = [end(line) for line in lines_of(axes, ":")]
    assert [y for _, y in ends] == pytest.approx([1024 * 10] * 3)
    assert ends[0][0] == pytest.approx(1024 * 10)  # no processor without work
    n = 1024.0 ** (0.2 * 0.87 / 0.13)
    assert ends[2][0] == pytest.approx(n * 10 * 0.2 * 0.87 / 0.13)
    [axes] = plot_of(gupta1993, "figure-4").draw(EMPTY, "heading").axes
    hypercube, mesh = (end(line) for line in lines_of(axes, "-"))
    assert hypercube[1] == pytest.approx(1024 * 10)
    assert mesh[1] < hypercube[1] / 2


def test_ours_stand_below_the_figures_of_gupta1993(lines):
    _, axes = plot_of(gupta1993, "figure-2").draw(lines, "heading").axes
    drawn = {line.get_label(): list(line.get_ydata()) for line in axes.lines}
    times = [KNOWN.time_s("binary-exchange", 2**20, ranks) for ranks in (1, 2, 4)]
    assert drawn["n = 1,048,576"] == pytest.approx([times[0] / time for time in times])
    _, axes = plot_of(gupta1993, "figure-3").draw(lines, "heading").axes
    by_level = {(artist.get_gid() or "").partition("E = ")[2][:4]: artist for artist in axes.lines}
    family = gupta1993.lines_here(lines)[0]
    for level in (0.66, 0.76, 0.87):
        needs = [need for need in family.needs(level) if need.inside]
        expected = [need.log2_elements * 2**need.log2_elements for need in needs]
        assert needs
        assert list(by_level[f"{level:g}"].get_xdata()) == pytest.approx(expected)
        assert list(by_level[f"{level:g}"].get_ydata()) == [need.ranks * math.log2(need.ranks) for need in needs]


def test_printed_times_and_ours_are_on_the_same_axes():
    points = [
        make_point("overdecomposed", "none", (300,) * 3, 2, direction=direction, parameters={"decomposition": cut})
        for direction in ("forward", "backward")
        for cut in ("5x5", "10x10")
    ]
    points += [
        make_point("node", "none", (300,) * 3, ranks, threads=threads, direction="backward")
        for ranks in (1, 2)
        for threads in (1, 2)
    ]
    look = {"direction": "roundtrip"}
    points += [make_point("node", "none", (100,) * 3, 4, instances=many, **look) for many in (1, 2, 4)]
    points += [
        make_point("node", "none", (100,) * 3, ranks, instances=2, placement="subset", **look) for ranks in (2, 4)
    ]
    here = here_of(points, lambda p: 0.5 * p["instances"] / p["ranks"] / p["threads"])
    [axes] = plot_of(lee2018, "table-2.1").draw(here, "heading").axes
    printed = [list(line.get_ydata()) for line in lines_of(axes, ":")]
    rows = published("lee2018", "table-2.1").rows
    assert printed == [[row[f"{name}_ms"] for row in rows] for name in ("forward", "backward")]
    assert [(list(line.get_xdata()), list(line.get_ydata())) for line in lines_of(axes, "-")] == [
        ([25, 100], pytest.approx([250, 250]))
    ] * 2
    [axes] = plot_of(lee2018, "table-3.1").draw(here, "heading").axes
    assert len(lines_of(axes, ":")) == 3
    assert [list(line.get_ydata()) for line in lines_of(axes, "-")] == [
        pytest.approx([500, 250]),
        pytest.approx([250, 125]),
    ]
    together, halves, quarters = plot_of(lee2018, "tables-5").draw(here, "heading").axes
    assert [len(lines_of(axes, ":")) for axes in (together, halves, quarters)] == [3, 3, 3]
    [ours] = lines_of(together, "-")
    assert (list(ours.get_xdata()), list(ours.get_ydata())) == ([1, 2, 4], pytest.approx([125, 250, 500]))
    [ours] = lines_of(halves, "-")
    assert (list(ours.get_xdata()), list(ours.get_ydata())) == ([2, 4], pytest.approx([500, 250]))
    assert lines_of(quarters, "-") == []


def test_figure_2_of_czechowski2012_has_the_whole_time_of_p3dfft():
    cubes = [(extent,) * 3 for extent in (64, 128)]
    told = [(make_point("pencil", shape=cube, ranks=4), {"fft": 1.0, "exchange": 2.0}) for cube in cubes]
    told += [(make_point("p3dfft", "none", cube, 4), 2.5) for cube in cubes]
    figure = czechowski2012.draw_figure_2(here_told(told), "heading")
    drawn = [line for line in figure.axes[1].lines if line.get_marker() == "D"]
    assert [list(line.get_ydata()) for line in drawn] == [[2.5, 2.5]]
    assert "P3DFFT here, all of it" in [text.get_text() for text in figure.legends[0].get_texts()]
    without = czechowski2012.draw_figure_2(here_told(told[:2]), "heading")
    assert not [line for line in without.axes[1].lines if line.get_marker() == "D"]


def on_both_networks(mesh_needs: float):
    """Binary exchange on 64 simulated nodes, of which a hypercube keeps 0.66 from 2^9 points on."""
    points = [
        make_point("binary-exchange", "none", (n,), ranks, nodes=ranks, precision="single", platform=platform)
        for platform in ("ncube", "ncube-mesh")
        for n in (2**6, 2**14)
        for ranks in (1, 16, 64)
    ]

    def seconds(p) -> float:
        n, ranks = p["shape"][0], p["ranks"]
        if ranks == 1:
            return float(n)
        needs = (9.0 if p["platform"] == "ncube" else mesh_needs) - (6 - math.log2(ranks))
        e = 0.66 + (math.log2(n) - needs) / 100
        return n / ranks / e

    return here_of(points, seconds)


def test_figure_4_has_the_simulated_mesh_and_hypercube():
    [axes] = plot_of(gupta1993, "figure-4").draw(on_both_networks(13.0), "heading").axes
    found = {end(line) for line in axes.lines if line.get_marker() == "o"}
    sizes = {(9, 64), (7, 16), (13, 64), (11, 16)}
    expected = {(power * 2**power, int(ranks * math.log2(ranks))) for power, ranks in sizes}
    assert {(round(x), round(y)) for x, y in found} == expected


def test_curves_of_figures_3_and_4_have_a_verdict_and_what_was_simulated():
    """64 nodes need 2^9 points where 16 need 2^7: slope 1; the mesh needs 2^4 times as many."""
    here = on_both_networks(13.0)
    judged = {one.item.item: one for one in judge(all_papers()["gupta1993"], here)}
    [mesh] = [number for number in judged["figure-4"].numbers if number.column == "curve"]
    assert (mesh.printed, mesh.kind) == ("much more rapid", "rounding")
    [one] = mesh.measured
    assert (one.value, one.launches) == (pytest.approx(16), 2)
    curves = {number.row: number for number in judged["figure-3"].numbers}
    assert [curves[row].kind for row in (1, 2, 3)] == ["rounding"] * 3
    assert [one.value for one in curves[1].measured] == [pytest.approx(1)]
