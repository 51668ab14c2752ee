"""Tables 2.1, 3.1 and 5.1 to 5.3 of lee2018: its printed times, and ours on the same axes; and its figures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fourscore_analysis.papers.here import Here, what_text
from fourscore_analysis.plots.base import mark
from fourscore_analysis.plots.shared import colours, layout
from fourscore_analysis.plots.shared.paper_plot import PaperPlot, log_axes
from fourscore_analysis.plots.shared.published_marks import draw_published, published_handle
from fourscore_analysis.points.points import Point, group_by
from fourscore_analysis.points.units import ranks_text, time_text
from fourscore_analysis.records.published import published
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fourscore_papers.lee2018 import equations
from fourscore_papers.lee2018.measured import LARGE, NAME, NODE, SMALL, curve, decomposed
from fourscore_papers.lee2018.more_nodes import DIRECTION, PLATFORM, SHAPE, VARIANTS, chosen, figure_of
from fourscore_papers.lee2018.numbers import cuts_of
from fourscore_papers.lee2018.over_nodes import draw_figure_3_1, draw_figures_3_4_and_3_5, draw_figures_4
from fourscore_papers.lee2018.receives import draw_receives

DIRECTIONS = {"forward": colours.BLUE, "backward": colours.VERMILLION}
MEASURES = {"completion_ms": "until the last is done", "forward_ms": "forward", "backward_ms": "backward"}
COLUMNS = 2


def draw_table_2_1(here: Here, heading: str) -> Figure:
    table = published(NAME, "table-2.1")
    found = {direction: decomposed(here, direction) for direction in DIRECTIONS}
    handles = [published_handle(number, f"printed, {name}") for number, name in enumerate(DIRECTIONS)]
    handles += [_ours_handle(colour, f"here, {name}") for name, colour in DIRECTIONS.items() if found[name]]
    figure, [axes] = layout.stacked_axes(heading, [2.4], 0.62, legend=(handles, COLUMNS), note=_note(found.values()))
    pencils = [row["chares_per_state"] for row in table.rows]
    for number, direction in enumerate(DIRECTIONS):
        times = [row[f"{direction}_ms"] for row in table.rows]
        said = [f"printed, {row['decomposition']}, {direction}: {row[f'{direction}_ms']} ms" for row in table.rows]
        draw_published(axes, number, pencils, times, said)
    for direction, colour in DIRECTIONS.items():
        by_pencils = {equations.pencils(cuts_of(cut)): point for cut, point in found[direction].items()}
        _draw_ours(axes, by_pencils, colour)
        pencils += by_pencils
    log_axes(axes, "pencils a state", "time (ms)", pencils)
    layout.facet_title(axes, "300³ against decomposition", "printed: 128 cores of 4 Knights Landing nodes")
    return figure


def draw_table_3_1(here: Here, heading: str) -> Figure:
    rows = published(NAME, "table-3.1").rows
    nodes = sorted({row["nodes"] for row in rows})
    handles = [published_handle(number, f"printed, {count} nodes") for number, count in enumerate(nodes)]
    points = here.transforms(NODE, LARGE, direction="backward")
    ours = {
        group[0].cell.ranks: curve(group, lambda point: point.cell.contract.threads)
        for group in group_by(sorted(points, key=lambda point: point.cell.ranks), lambda point: point.cell.ranks)
    }
    colour_of = dict(zip(ours, colours.SERIES_COLOURS, strict=False))
    handles += [_ours_handle(colour, f"here, {ranks_text(ranks)}") for ranks, colour in colour_of.items()]
    figure, [axes] = layout.stacked_axes(heading, [2.4], 0.62, legend=(handles, COLUMNS), note=_note(ours.values()))
    threads = [row["threads"] for row in rows]
    for number, count in enumerate(nodes):
        line = [row for row in rows if row["nodes"] == count]
        said = [f"printed, {count} nodes, {row['threads']} threads: {row['backward_ms']} ms" for row in line]
        draw_published(axes, number, [row["threads"] for row in line], [row["backward_ms"] for row in line], said)
    for ranks, colour in colour_of.items():
        _draw_ours(axes, ours[ranks], colour)
        threads += ours[ranks]
    log_axes(axes, "worker threads of a node, or rank", "time backward (ms)", threads)
    layout.facet_title(axes, "300³ against threads", "printed: Knights Landing nodes")
    return figure


def draw_tables_5(here: Here, heading: str) -> Figure:
    """Above all instances on all nodes; below each on its own part of the nodes."""
    everywhere = _instances(here, "all")
    most = max((ranks for _, ranks in everywhere), default=0)
    on_most = {many: point for (many, ranks), point in everywhere.items() if ranks == most}
    parts = _instances(here, "subset")
    handles = [published_handle(number, f"printed, {name}") for number, name in enumerate(MEASURES.values())]
    handles += [_ours_handle(colours.BLUE, "here, until the last is done")] * bool(on_most or parts)
    figure, all_axes = layout.stacked_axes(
        heading, [1.8] * 3, 0.62, legend=(handles, COLUMNS), note=_note([on_most, parts])
    )
    below = {many: {ranks: point for (count, ranks), point in parts.items() if count == many} for many in (2, 4)}
    for axes, item, column, ours, title in (
        (all_axes[0], "table-5.1", "instances", on_most, "All instances on all nodes"),
        (all_axes[1], "table-5.2", "nodes", below[2], "2 instances, each on half of the nodes"),
        (all_axes[2], "table-5.3", "nodes", below[4], "4 instances, each on a quarter of the nodes"),
    ):
        _draw_table_5(axes, item, column, ours)
        printed_on = "printed: 8 nodes of 24 cores" if column == "instances" else "printed: nodes of 24 cores"
        subtitle = f"{printed_on}; here: {ranks_text(most)}" if column == "instances" and ours else printed_on
        layout.facet_title(axes, f"{title}, 100³", subtitle)
    return figure


def _instances(here: Here, placement: str) -> dict[tuple[int, int], Point]:
    """There and back, by instances and ranks. One instance alone is on all nodes."""
    wanted = ("", "all") if placement == "all" else (placement,)
    points = [
        point
        for many in (1, 2, 3, 4, 8, 16)
        for point in here.transforms(NODE, SMALL, direction="roundtrip", instances=many)
        if point.method.placement in wanted
    ]
    return curve(points, lambda point: (point.cell.contract.instances, point.cell.ranks))


def _draw_table_5(axes: Axes, item: str, column: str, ours: dict[int, Point]) -> None:
    rows = published(NAME, item).rows
    xs = [row[column] for row in rows]
    for number, (measure, name) in enumerate(MEASURES.items()):
        said = [f"printed, {row[column]} {column}, {name}: {row[measure]} ms" for row in rows]
        draw_published(axes, number, xs, [row[measure] for row in rows], said)
    _draw_ours(axes, ours, colours.BLUE)
    name = column if column == "instances" else "nodes, or ranks"
    log_axes(axes, name, "time (ms)", [*xs, *ours])


def draw_more_nodes(here: Here, heading: str) -> Figure:
    found = [here.simulated(PLATFORM, variant, SHAPE, direction=DIRECTION) for variant in VARIANTS]
    return figure_of(chosen([point for points in found for point in points]), heading)


def _draw_ours(axes: Axes, by_x: dict[int, Point], colour: str) -> None:
    if by_x:
        xs = sorted(by_x)
        times = [1e3 * by_x[x].time_s for x in xs]
        [drawn] = axes.plot(xs, times, color=colour, marker="o", markersize=3.8, linewidth=1.1)
        mark(drawn, *(f"{what_text(by_x[x])}: {time_text(by_x[x].time_s)}" for x in xs))


def _ours_handle(colour: str, label: str) -> Line2D:
    return Line2D([], [], color=colour, marker="o", markersize=3.8, linewidth=1.1, label=label)


def _note(found: Iterable[dict[object, Point]]) -> str:
    """Says what measured the points drawn."""
    points: Sequence[Point] = [point for by_x in found for point in by_x.values()]
    return f"Here: {what_text(points[0])}." if points else ""


PLOTS = (
    PaperPlot(
        "table-2.1",
        "Table 2.1: time against decomposition",
        "Charm-FFT, one instance: too few pencils leave cores idle, too many cost messages. Ours is overdecomposed on "
        "300³, on as many ranks as the archive has most of.",
        draw_table_2_1,
    ),
    PaperPlot(
        "table-3.1",
        "Table 3.1: time against worker threads",
        "Charm-NodeFFT, one instance, backward: on every number of nodes 16 threads were best. Ours is node on 300³.",
        draw_table_3_1,
    ),
    PaperPlot(
        "figure-3.1",
        "Figure 3.1: forward and backward against worker threads",
        "Charm-NodeFFT on two nodes. One thread packs and sends all that leaves the Z state, which a forward transform "
        "does. Ours is node with style = charm and z-to-y = one-thread, and dotted with z-to-y = threads.",
        draw_figure_3_1,
    ),
    PaperPlot(
        "figure-3.2",
        "Figure 3.2: messages received over time",
        "Messages that each worker has received in one backward transform, from the traced run. Dotted: what the "
        "decomposition of the thesis gives, 94 messages for a PE of Charm-FFT and 36 for a node of Charm-NodeFFT in "
        "six transforms. Where ours has other numbers of cores, its workers share the messages otherwise.",
        draw_receives,
    ),
    PaperPlot(
        "figures-3.4-3.5",
        "Figures 3.4 and 3.5: time against nodes, with 64 and 16 cores of each",
        "300³ backward. Charm-FFT is best on few nodes with many cores, Charm-NodeFFT on many nodes with 16 of each. "
        "The text prints times of Charm-FFT alone. Hollow: simulated nodes, where an archive has them.",
        draw_figures_3_4_and_3_5,
    ),
    PaperPlot(
        "figures-4",
        "Figures 4.1 and 4.2: FFTW, cuFFT and kinds of host memory",
        "Charm-NodeFFT, 300³ backward on 1 to 4 nodes. The text prints how much less time cuFFT takes, 34.5 % on one "
        "node and 19.9 % on four, and that default memory is the fastest. Ours is node, on real GPUs alone.",
        draw_figures_4,
    ),
    PaperPlot(
        "tables-5",
        "Tables 5.1 to 5.3: several instances at once",
        "Charm-NodeFFT, a forward and a backward transform of each instance: the mean time of one, and until the last "
        "instance is done. Forward is slow because its step from Z to Y is not threaded there. Ours is node, there and "
        "back.",
        draw_tables_5,
    ),
    PaperPlot(
        "nodes",
        "Tables 2.1 and 3.1, Figures 3.3 and 3.4: time against nodes",
        "300³ backward: the best of each table, and what the text says of the figures, whose points stand there alone. "
        "Hollow: simulated on a cluster of today, a rank a node, where an archive has it; its nodes compute several "
        "times as fast as the Knights Landing of the thesis. So compare how the lines fall, not where they lie.",
        draw_more_nodes,
    ),
)
