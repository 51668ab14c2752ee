"""Speedup and efficiency of 1-D transforms against ranks, with the model of gupta1993."""

from __future__ import annotations

from dataclasses import dataclass

from fourscore_analysis.plots.base import Plot, View, mark
from fourscore_analysis.plots.shared import colours, layout
from fourscore_analysis.plots.shared.lines import draw_points, even_parts
from fourscore_analysis.plots.shared.published_marks import measures, model_handle
from fourscore_analysis.plots.shared.said import point_text
from fourscore_analysis.plots.shared.scaling_axes import drawn_points
from fourscore_analysis.plots.shared.ticks import log_axis, own_ticks
from fourscore_analysis.points.beside_paper import difference_line
from fourscore_analysis.points.points import group_by
from fourscore_analysis.points.scaling import Series, strong_series
from fourscore_analysis.points.units import digits, ranks_text
from fourscore_analysis.records.published import published
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fourscore_papers.gupta1993 import equations
from fourscore_papers.gupta1993.equations import Machine
from fourscore_papers.gupta1993.numbers import ncube1

PAPER = "gupta1993"
MOST_RANKS = 1024  # in the paper: the model's lines go on to here
ROWS_A_PAGE = 4
COLUMNS = 4
COLOURS = colours.SERIES_COLOURS
OVERHEADS = {"binary-exchange": equations.hypercube_overhead, "transpose": equations.transpose_overhead}
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<")


@dataclass
class Row:
    """All lengths of one method."""

    label: str
    subtitle: str
    series: list[Series]

    @property
    def variant(self) -> str:
        return self.series[0].baseline.method.variant


def efficiency(variant: str, machine: Machine, points: float, ranks: float) -> float:
    """The efficiency of a variant in OVERHEADS."""
    return equations.efficiency(OVERHEADS[variant](machine, points, ranks), equations.work(machine, points))


def length(series: Series) -> int:
    return series.baseline.cell.elements


def pages(view: View) -> list[list[Row]]:
    if not measures(view, PAPER):
        return []
    every = [
        series
        for group in strong_series(drawn_points(view))
        for series in group
        if series.baseline.method.variant in OVERHEADS and len(series.baseline.cell.shape) == 1
    ]
    rows = []
    for of_method in group_by(
        every, lambda one: (one.baseline.label, one.baseline.cell.contract, one.baseline.setting)
    ):
        first = of_method[0].baseline
        ordered = sorted(of_method, key=length)
        rows += [Row(first.label, view.subtitle(first), part) for part in even_parts(ordered)]
    return [rows[start : start + ROWS_A_PAGE] for start in range(0, len(rows), ROWS_A_PAGE)]


def draw(view: View, rows: list[Row], heading: str) -> Figure:
    lengths = sorted({length(series) for row in rows for series in row.series})
    handles = [
        Line2D(
            [],
            [],
            color=COLOURS[n % len(COLOURS)],
            marker=MARKERS[n % len(MARKERS)],
            markersize=3.5,
            label=_name(points),
        )
        for n, points in enumerate(lengths)
    ]
    machine = ncube1()
    handles.append(model_handle("model, nCUBE1"))
    points = [point for row in rows for series in row.series for point in series.points]
    figure, pairs = layout.paired_axes(
        heading, len(rows), legend=(handles, COLUMNS), note=difference_line([published(PAPER, "figure-2")], points)
    )
    for row, (left, right) in zip(rows, pairs, strict=True):
        _draw(left, row, lengths, machine, Series.speedup, lambda base, ranks, value: value * ranks / base, "speedup")
        _draw(right, row, lengths, machine, Series.strong_efficiency, lambda base, ranks, value: value, "efficiency")
        _speedup_axis(left, row)
        _efficiency_axis(right)
        layout.facet_title(left, row.label, row.subtitle)
    return figure


def _name(points: int) -> str:
    power = points.bit_length() - 1
    return rf"n = $2^{{{power}}}$" if points == 1 << power else f"n = {points}"


def model_line(row: Row, machine: Machine, points: int, base: int) -> tuple[list[int], list[float]]:
    """Ranks from `base` on, and the model's efficiency there over that on `base` ranks."""
    ranks = [base]
    while ranks[-1] * 2 <= min(MOST_RANKS, points):
        ranks.append(ranks[-1] * 2)
    at_base = efficiency(row.variant, machine, points, base)
    return ranks, [efficiency(row.variant, machine, points, count) / at_base for count in ranks]


def _draw(axes: Axes, row: Row, lengths: list[int], machine: Machine, values, of_efficiency, name: str) -> None:
    for series in row.series:
        number = lengths.index(length(series))
        colour, marker = COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]
        y = values(series)
        axes.plot(series.ranks, y, color=colour, linewidth=1.1)
        said = [point_text(point, f"{name}: {digits(value)}") for point, value in zip(series.points, y, strict=True)]
        draw_points(axes, series.ranks, y, [point.flags for point in series.points], said, colour, marker)
        base = series.baseline.cell.ranks
        ranks, efficiencies = model_line(row, machine, length(series), base)
        modelled = [of_efficiency(base, count, value) for count, value in zip(ranks, efficiencies, strict=True)]
        axes.plot(ranks, modelled, color=colour, linestyle=":", linewidth=1.1, zorder=1)
    ticks = own_ticks([2.0**power for power in range(11)])
    axes.set_xscale("log", base=2)
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set_xticks([], minor=True)
    axes.set_xlabel("ranks, or processors")


def _speedup_axis(axes: Axes, row: Row) -> None:
    bases = sorted({series.baseline.cell.ranks for series in row.series})
    low, high = axes.dataLim.y0 / 1.3, axes.dataLim.y1 * 1.3
    ends = [bases[0], axes.dataLim.x1]
    axes.plot(ends, [1, ends[1] / ends[0]], color=colours.GREY, linewidth=1, zorder=0)
    log_axis(axes, "y", (low, high))
    axes.set_ylabel(f"speedup over {ranks_text(bases[0])}" if len(bases) == 1 else "speedup over own baseline")


def _efficiency_axis(axes: Axes) -> None:
    axes.axhline(1, color=colours.GREY, linewidth=1, zorder=0)
    table = published(PAPER, "section-8")
    for value in (row["break_even_efficiency"] for row in table.rows if row["break_even_efficiency"]):
        line = axes.axhline(value, color=colours.INK, linestyle=":", linewidth=0.9, zorder=0)
        mark(line, f"{table.name}, published\nbreak-even efficiency t_c / (t_c + t_w): {value:g}")
    axes.set_ylim(0, max(1.1, axes.dataLim.y1 * 1.05))
    axes.set_ylabel("parallel efficiency (1 is ideal)")


PLOT = Plot(
    name="published-speedup",
    title="Speedup of 1-D transforms",
    caption="As Fig. 2 of gupta1993: each length against itself on the fewest ranks. Dotted, in the same colours, the "
    "model E = 1/(1 + T_o/W), W = t_c n log2 n, with the paper's t_c and t_w of the nCUBE1 and t_s = 0 (it prints "
    "none): T_o = t_w n log2 p for binary exchange on a hypercube (equation 4), t_w n for the transpose method "
    "(equation 11). The dotted level is its break-even efficiency 0.83. Grey: ideal. Hollow: more ranks than cores.",
    order=32,
    pages=pages,
    draw=draw,
)
