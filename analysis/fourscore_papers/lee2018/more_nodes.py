"""Time backward against nodes: what chapters 2 and 3 of lee2018 print of 300^3, and simulated points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fourscore_analysis.plots.base import mark
from fourscore_analysis.plots.shared import colours, layout
from fourscore_analysis.plots.shared.paper_plot import log_axes
from fourscore_analysis.plots.shared.published_marks import LOOK, draw_published, published_handle
from fourscore_analysis.plots.shared.said import point_text
from fourscore_analysis.points.beside_paper import difference_line
from fourscore_analysis.points.points import Point, group_by
from fourscore_analysis.points.units import digits
from fourscore_analysis.records.published import published
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

PAPER = "lee2018"
SHAPE, DIRECTION = (300,) * 3, "backward"
PLATFORM = "hdr-fat-tree"  # in papers/lee2018/nodes
VARIANTS = ("pencil", "overdecomposed", "node")
CHARM, NODE = "Charm-FFT", "Charm-NodeFFT"
ITEMS = ("table-2.1", "table-3.1", "figure-3.3", "figure-3.4")
COLUMNS = 2
HEIGHT_IN = 2.8


@dataclass(frozen=True)
class Printed:
    """Times on numbers of nodes; without nodes one that holds on any."""

    label: str
    nodes: Sequence[int]
    times_ms: Sequence[float]
    said: Sequence[str]


def printed() -> list[Printed]:
    """The best decomposition of Table 2.1, the best threads of Table 3.1 on each number of nodes, what the text says of
    Figs 3.4 and 3.3."""
    table, best = published(PAPER, "table-3.1"), {}
    for row in sorted(table.rows, key=lambda row: row["backward_ms"]):
        best.setdefault(row["nodes"], row)
    rows = [best[nodes] for nodes in sorted(best)]
    said = [f"{table.name}, {NODE}: {row['nodes']} nodes, {row['threads']} threads" for row in rows]
    found = [_printed(f"Table 3.1: {NODE}, best threads", rows, [row["backward_ms"] for row in rows], said)]
    table = published(PAPER, "table-2.1")
    row = min(table.rows, key=lambda row: row["backward_ms"])
    said = [f"{table.name}, {CHARM}: {table.setup['nodes']} nodes, {row['decomposition']} pencils"]
    rows = [{"nodes": table.setup["nodes"]}]
    found.append(_printed(f"Table 2.1: {CHARM}, best pencils", rows, [row["backward_ms"]], said))
    table = published(PAPER, "figure-3.4")
    row = next(row for row in table.rows if row["backward_low_ms"] is not None)
    ends = [row["backward_low_ms"], row["backward_high_ms"]]
    said = [f"{table.name}, {CHARM}: {row['nodes']} nodes, {ends[0]} to {ends[1]} ms"] * 2
    found.append(_printed(f"Fig. 3.4: {CHARM}, 64 PEs a node", [row] * 2, ends, said))
    table = published(PAPER, "figure-3.3")
    row = next(row for row in table.rows if row["backward_ms"] is not None)
    said = [f"{table.name}, {CHARM} levels off at {row['backward_ms']} ms"]
    return [*found, Printed(f"Fig. 3.3: {CHARM} levels off", (), [row["backward_ms"]], said)]


def _printed(label: str, rows: Sequence[dict], times_ms: Sequence[float], said: Sequence[str]) -> Printed:
    texts = [f"{text}: {time} ms" for text, time in zip(said, times_ms, strict=True)]
    return Printed(label, [row["nodes"] for row in rows], times_ms, texts)


def chosen(points: Sequence[Point]) -> list[Point]:
    """The simulated ones that the thesis has times beside, a rank a node."""
    return [
        point
        for point in points
        if point.method.variant in VARIANTS
        and point.cell.contract.platform != "none"
        and (point.cell.shape, point.cell.contract.direction) == (SHAPE, DIRECTION)
        and (point.cell.contract.precision, point.cell.contract.kind) == ("double", "c2c")
        and point.cell.place.ranks_per_node == 1
    ]


def figure_of(points: Sequence[Point], heading: str, subtitle: str = "") -> Figure:
    in_order = sorted(points, key=lambda point: VARIANTS.index(point.method.variant))
    lines = group_by(in_order, lambda point: point.method)
    theirs = printed()
    handles = [published_handle(number, one.label) for number, one in enumerate(theirs)]
    handles += [_handle(line[0]) for line in lines]
    figure, [axes] = layout.stacked_axes(
        heading,
        [HEIGHT_IN],
        0.62,
        legend=(handles, COLUMNS),
        note=difference_line([published(PAPER, item) for item in ITEMS], points),
    )
    for number, one in enumerate(theirs):
        if one.nodes:
            draw_published(axes, number, one.nodes, one.times_ms, one.said)
    for line in lines:
        _draw_line(axes, line)
    nodes = {*(count for one in theirs for count in one.nodes), *(point.cell.place.nodes for point in points)}
    for number, one in enumerate(theirs):
        if not one.nodes:
            _draw_level(axes, number, one, max(nodes))
    log_axes(axes, "nodes", "time backward (ms)", sorted(nodes))
    layout.facet_title(axes, "300³", subtitle)
    return figure


def _handle(point: Point) -> Line2D:
    look = colours.method_style(point.method)
    label = f"{point.method.variant}, simulated"
    return Line2D(
        [], [], color=look.colour, marker=look.marker, markersize=4, markerfacecolor="white", linewidth=1.1, label=label
    )


def _draw_line(axes: Axes, line: Sequence[Point]) -> None:
    look = colours.method_style(line[0].method)
    line = sorted(line, key=lambda point: point.cell.place.nodes)
    nodes, times = [point.cell.place.nodes for point in line], [1e3 * point.time_s for point in line]
    axes.plot(nodes, times, color=look.colour, linewidth=1.1)
    style = {"color": look.colour, "marker": look.marker, "markersize": 4.2, "markerfacecolor": "white"}
    [drawn] = axes.plot(nodes, times, linestyle="", **style)
    mark(drawn, *(point_text(point, f"{digits(time)} ms") for point, time in zip(line, times, strict=True)))


def _draw_level(axes: Axes, number: int, one: Printed, most_nodes: int) -> None:
    [level] = one.times_ms
    axes.axhline(level, color=LOOK["color"], linestyle=":", linewidth=0.9, zorder=1)
    draw_published(axes, number, [most_nodes], [level], one.said)
