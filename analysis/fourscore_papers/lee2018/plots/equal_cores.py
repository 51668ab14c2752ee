"""Charm-FFT's method against Charm-NodeFFT's at equal numbers of cores: Figs 3.3 to 3.5 of lee2018."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fourscore_analysis.plots.base import Plot, View, mark
from fourscore_analysis.plots.shared import colours, layout
from fourscore_analysis.plots.shared.lines import draw_point
from fourscore_analysis.plots.shared.published_marks import draw_published, measures, published_handle
from fourscore_analysis.plots.shared.said import point_text
from fourscore_analysis.plots.shared.ticks import log_axis, own_ticks
from fourscore_analysis.points.beside_paper import difference_line
from fourscore_analysis.points.points import Point, group_by
from fourscore_analysis.points.units import shape_text, time_unit
from fourscore_analysis.records.basics import Place
from fourscore_analysis.records.published import Published, published
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

PAPER = "lee2018"
CHARM, NODE = "overdecomposed", "node"
FASTER, SHORTER, LONGER = (
    f"{NODE} takes longer than {CHARM}\nat equal cores",
    f"{NODE} takes less with fewest threads a rank\nthan with most, at equal cores",
    f"{NODE} with most threads a rank takes\nlonger on twice the ranks",
)
ROWS_A_PAGE = 3
COLUMNS = 2
NODE_COLOURS = (colours.SKY, colours.INDIGO, colours.GREEN, colours.WINE)
MARKERS = ("s", "^", "D", "v", "P", "X")


@dataclass(frozen=True)
class Value:
    """A change in percent, ours."""

    percent: float
    said: str


@dataclass
class Row:
    """One problem, by method and threads a rank: (method, threads) -> cores -> the fastest point."""

    title: str
    subtitle: str
    lines: dict[tuple[str, int], dict[int, Point]]

    @property
    def points(self) -> list[Point]:
        return [point for line in self.lines.values() for point in line.values()]

    @property
    def node_threads(self) -> list[int]:
        return sorted(threads for variant, threads in self.lines if variant == NODE)

    def fastest(self, variant: str, cores: int) -> Point | None:
        found = [line[cores] for (name, _), line in self.lines.items() if name == variant and cores in line]
        return min(found, key=lambda point: point.time_s, default=None)


def cores_of(point: Point) -> int:
    return point.cell.ranks * point.cell.contract.threads


def _problem(point: Point):
    cell = point.cell
    contract = replace(cell.contract, threads=1)
    return replace(cell, place=Place(1), contract=contract), point.setting, _packing(point)


def _packing(point: Point) -> str:
    """16 cores a node; "" where the campaign is on one node."""
    place = point.cell.place
    cores = place.ranks_per_node * point.cell.contract.threads
    return place.with_placement(f"{cores} core{'s' if cores > 1 else ''} a node") if point.names_nodes else ""


def pages(view: View) -> list[list[Row]]:
    if not measures(view, PAPER) or not any(item.startswith(f"{PAPER}/figure-3") for item in view.campaign.paper):
        return []
    # A simulated node computes as all of its cores do: they are not counted.
    real = [one for one in view.drawn if one.cell.contract.platform == "none"]
    points = [point for one in real for point in one.ranked if point.method.variant in (CHARM, NODE)]
    rows = []
    for group in group_by(points, _problem):
        lines: dict[tuple[str, int], dict[int, Point]] = {}
        for point in sorted(group, key=lambda point: point.time_s):
            key = (point.method.variant, point.cell.contract.threads)
            lines.setdefault(key, {}).setdefault(cores_of(point), point)
        if {variant for variant, _ in lines} == {CHARM, NODE}:
            words = [word for word in view.subtitle(group[0]).split(", ") if not word.endswith(" threads a rank")]
            title = " · ".join(part for part in (shape_text(group[0].cell.shape), _packing(group[0])) if part)
            rows.append(Row(title, ", ".join(words), dict(sorted(lines.items()))))
    return [rows[start : start + ROWS_A_PAGE] for start in range(0, len(rows), ROWS_A_PAGE)]


def ours(row: Row) -> dict[str, list[Value]]:
    """What the paper says in percent, of our points: a value for each number of cores at which both were measured."""
    found: dict[str, list[Value]] = {FASTER: [], SHORTER: [], LONGER: []}
    few, many = row.node_threads[0], row.node_threads[-1]
    narrow, wide = row.lines[NODE, few], row.lines[NODE, many]
    for cores in sorted({cores_of(point) for point in row.points}):
        charm, node = row.fastest(CHARM, cores), row.fastest(NODE, cores)
        if charm and node:
            found[FASTER].append(_change(node, charm, cores))
        if few < many and cores in narrow and cores in wide:
            change = _change(narrow[cores], wide[cores], cores)
            found[SHORTER].append(Value(-change.percent, change.said))
        if cores in wide and 2 * cores in wide:
            found[LONGER].append(_change(wide[2 * cores], wide[cores], cores))
    return found


def _change(point: Point, against: Point, cores: int) -> Value:
    percent = 100 * (point.time_s / against.time_s - 1)
    return Value(percent, f"from {cores} cores\n{point_text(point)}\nagainst {point_text(against)}")


def printed() -> dict[str, tuple[Published, float]]:
    """The published percentages by what they are of."""
    found: dict[str, tuple[Published, float]] = {}
    for what, item, column in (
        (FASTER, "figure-3.3", "faster_percent"),
        (SHORTER, "figure-3.5", "shorter_percent"),
        (LONGER, "figure-3.4", "longer_percent"),
    ):
        table = published(PAPER, item)
        found[what] = (table, next(float(row[column]) for row in table.rows if row[column] is not None))
    return found


def draw(view: View, rows: list[Row], heading: str) -> Figure:
    said = printed()
    widths = sorted({threads for row in rows for threads in row.node_threads})
    handles = [Line2D([], [], color=colours.ORANGE, marker="o", markersize=3.5, label=f"{CHARM}, a rank a core")]
    handles += [_node_handle(widths, threads) for threads in widths]
    handles.append(published_handle(0, f"{PAPER}, published"))
    points = [point for row in rows for point in row.points]
    tables = [published(PAPER, f"figure-3.{number}") for number in (3, 4, 5)]
    figure, pairs = layout.paired_axes(
        heading, len(rows), height_in=1.9, legend=(handles, COLUMNS), note=difference_line(tables, points)
    )
    for row, (left, right) in zip(rows, pairs, strict=True):
        _draw_times(left, row, widths)
        _draw_changes(right, ours(row), said)
        layout.facet_title(left, row.title, row.subtitle)
    return figure


def _node_look(widths: list[int], threads: int) -> tuple[str, str]:
    number = widths.index(threads)
    return NODE_COLOURS[number % len(NODE_COLOURS)], MARKERS[number % len(MARKERS)]


def _node_handle(widths: list[int], threads: int) -> Line2D:
    colour, marker = _node_look(widths, threads)
    label = f"{NODE}, {threads} thread{'s' if threads > 1 else ''} a rank"
    return Line2D([], [], color=colour, marker=marker, markersize=3.5, label=label)


def _draw_times(axes: Axes, row: Row, widths: list[int]) -> None:
    unit_s, unit = time_unit(max(point.time_s for point in row.points))
    for (variant, threads), line in row.lines.items():
        colour, marker = (colours.ORANGE, "o") if variant == CHARM else _node_look(widths, threads)
        cores = sorted(line)
        axes.plot(cores, [line[count].time_s / unit_s for count in cores], color=colour, linewidth=1.1)
        for count in cores:
            point = line[count]
            draw_point(axes, count, point.time_s / unit_s, point, colour, marker, f"{count} cores")
            ends = [point.time.low / unit_s, point.time.high / unit_s]
            axes.plot([count] * 2, ends, color=colour, linewidth=0.8, alpha=0.6)
    counts = sorted({cores_of(point) for point in row.points})
    log_axis(axes, "x", (counts[0] / 1.3, counts[-1] * 1.3), own_ticks(counts), text=str, base=2)
    axes.set_xlabel("cores: ranks × threads")
    low, high = axes.dataLim.y0 / 1.2, axes.dataLim.y1 * 1.2
    log_axis(axes, "y", (low, high), text="{:g}".format)
    axes.set_ylabel(f"time per transform ({unit})")


def _draw_changes(axes: Axes, found: dict[str, list[Value]], said: dict[str, tuple[Published, float]]) -> None:
    axes.axvline(0, color=colours.GREY, linewidth=0.8, zorder=0)
    for number, what in enumerate((FASTER, SHORTER, LONGER)):
        for value in found[what]:
            [drawn] = axes.plot([value.percent], [number], linestyle="", marker="o", markersize=4, color=colours.BLUE)
            mark(drawn, f"{value.percent:.0f} %\n{value.said}")
        table, percent = said[what]
        draw_published(axes, 0, [percent], [number], [f"{table.name}, published: {percent:g} %"])
        axes.annotate(
            what if found[what] else f"{what} (not here)",
            (0.02, number - 0.2),
            xycoords=("axes fraction", "data"),
            fontsize=6,
            va="bottom",
        )
    axes.set_yticks([])
    axes.set_ylim(2.5, -0.8)
    low, high = min(0.0, axes.dataLim.x0), max(100.0, axes.dataLim.x1)
    axes.set_xlim(low - 0.06 * (high - low), high + 0.06 * (high - low))
    axes.locator_params(axis="x", nbins=5)
    axes.set_xlabel("percent")


PLOT = Plot(
    name="equal-cores",
    title="Message-driven pencils against node pencils",
    caption=f"As Figs 3.3 to 3.5 of lee2018: Charm-FFT ({CHARM}, a rank a core) against Charm-NodeFFT ({NODE}, a rank "
    "a node and its cores as threads) at equal cores. At the right what its text says in percent, dotted: 61 % of Fig. "
    "3.3 on 4 nodes, 81 % of Fig. 3.5 for 64 nodes of 16 cores against 16 of 64, 60 % of Fig. 3.4 for 32 nodes "
    "against 16. In blue ours, for each number of cores. Hollow: more threads than cores.",
    order=43,
    pages=pages,
    draw=draw,
)
