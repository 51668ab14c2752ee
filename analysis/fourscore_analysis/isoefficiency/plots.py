"""Efficiency against size, and the size that keeps an efficiency against ranks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fourscore_analysis.isoefficiency.models import Fitted, fitted
from fourscore_analysis.isoefficiency.points import CONFIDENCE, Family, Measured, Need
from fourscore_analysis.plots.base import Plot, View, mark
from fourscore_analysis.plots.shared import colours, layout
from fourscore_analysis.plots.shared.lines import draw_points, even_parts
from fourscore_analysis.plots.shared.said import point_text
from fourscore_analysis.plots.shared.scaling_axes import drawn_points
from fourscore_analysis.plots.shared.ticks import log_axis, log_ticks
from fourscore_analysis.points.units import digits, part_title, percent_text, ranks_text

ROWS_A_PAGE = 3
HEIGHT_IN = 1.9
COLUMNS = 4
RANK_COLOURS = colours.SERIES_COLOURS[:8]
LEVEL_LOOKS = (
    (colours.TEAL, "o"),
    (colours.BROWN, "s"),
    (colours.OLIVE, "^"),
    (colours.BLACK, "D"),
    (colours.GREY, "v"),
)


@dataclass
class Row:
    """A method; where one axes has not room for all its rank counts, some of them at the left, all at the right."""

    family: Family
    ranks: list[int]
    part: int
    parts: int
    model: Fitted | None
    levels: tuple[float, ...]  # efficiencies

    @property
    def looks(self) -> list[tuple[float, str, str]]:
        """Each efficiency with its colour and marker."""
        return [(level, *look) for level, look in zip(self.levels, LEVEL_LOOKS, strict=False)]


def pages(view: View) -> list[list[Row]]:
    drawn = drawn_points(view)
    rows = []
    for whole in view.isoefficiency[0]:
        family = whole.only(drawn)
        if not family.has_curve:
            continue
        counts = even_parts([ranks for ranks, found in family.by_ranks.items() if len(found) > 1])
        model = fitted(whole)
        rows += [
            Row(family, ranks, number, len(counts), model, view.efficiencies) for number, ranks in enumerate(counts, 1)
        ]
    return [rows[start : start + ROWS_A_PAGE] for start in range(0, len(rows), ROWS_A_PAGE)]


def draw(view: View, rows: list[Row], heading: str) -> Figure:
    counts = sorted({ranks for row in rows for ranks in row.ranks})
    looks = {ranks: RANK_COLOURS[number % len(RANK_COLOURS)] for number, ranks in enumerate(counts)}
    handles = [
        Line2D([], [], color=look, marker="o", markersize=3, label=ranks_text(ranks)) for ranks, look in looks.items()
    ]
    for level, colour, marker in rows[0].looks:
        handles.append(
            Line2D([], [], color=colour, marker=marker, markersize=3.8, linestyle="--", label=f"E = {level:g}")
        )
    if any(row.model for row in rows):
        handles.append(Line2D([], [], color=colours.INK, linestyle=":", linewidth=1.1, label="model, fitted"))
    figure, pairs = layout.paired_axes(heading, len(rows), height_in=HEIGHT_IN, legend=(handles, COLUMNS))
    for row, (left, right) in zip(rows, pairs, strict=True):
        _draw_efficiency(left, row, looks)
        _draw_sizes(right, row)
        first = row.family.first
        title = " · ".join(part for part in (row.family.label, row.family.packing) if part)
        subtitle = ", ".join(part for part in (f"over {row.family.against}", view.subtitle(first)) if part)
        layout.facet_title(left, part_title(title, row.part, row.parts), subtitle)
    return figure


def _draw_efficiency(axes: Axes, row: Row, looks: dict[int, str]) -> None:
    highest = 1.0
    for ranks in row.ranks:
        measured = row.family.by_ranks[ranks]
        xs = [one.elements for one in measured]
        ys = [one.efficiency.value for one in measured]
        axes.plot(xs, ys, color=looks[ranks], linewidth=1.1)
        _draw_intervals(axes, measured, looks[ranks])
        highest = max(highest, *ys)
        said = [point_text(one.point, f"efficiency: {_value_text(one)}") for one in measured]
        draw_points(axes, xs, ys, [one.flags for one in measured], said, looks[ranks], size=3.4)
    for level, colour, _ in row.looks:
        axes.axhline(level, color=colour, linestyle="--", linewidth=0.8, zorder=0)
    axes.axhline(1, color=colours.GREY, linewidth=1, zorder=0)
    _size_axis(axes, [one.elements for ranks in row.ranks for one in row.family.by_ranks[ranks]], "elements n")
    axes.set_ylim(0, highest * 1.06)
    axes.set_ylabel("efficiency T₁ / (p Tₚ)")


def _value_text(one: Measured) -> str:
    """0.71 (95 % interval 0.69 to 0.73)"""
    value = one.efficiency
    if not value.interval:
        return digits(value.value)
    return f"{digits(value.value)} ({percent_text(CONFIDENCE)} interval {' to '.join(map(digits, value.interval))})"


def _draw_intervals(axes: Axes, measured: Iterable[Measured], colour: str) -> None:
    for one in measured:
        if one.efficiency.interval:
            axes.plot([one.elements] * 2, one.efficiency.interval, color=colour, linewidth=0.8, alpha=0.8)


def _draw_sizes(axes: Axes, row: Row) -> None:
    """Draws p log p against n log n. Only sizes between measured ones are drawn."""
    xs, ys = [], []
    for level, colour, marker in row.looks:
        needs = [need for need in row.family.needs(level) if need.inside]
        at = [(_work(need.log2_elements), need.ranks * math.log2(need.ranks)) for need in needs]
        look = {"color": colour, "marker": marker, "markersize": 3.8, "linestyle": "--", "linewidth": 0.9}
        [drawn] = axes.plot([x for x, _ in at], [y for _, y in at], **look)
        mark(drawn, *(_need_text(row.family, need, level) for need in needs))
        for need, (_, y) in zip(needs, at, strict=True):
            xs += _draw_interval(axes, need, y, colour)
        xs += [x for x, _ in at]
        ys += [y for _, y in at]
        _draw_model(axes, row, level, colour)
    counts = list(row.family.by_ranks)
    ys += [ranks * math.log2(ranks) for ranks in counts]
    sizes = [_work(one.log2_elements) for one in row.family.measured]
    around = [min(xs) / 4, max(xs) * 4] if xs else sizes
    _size_axis(axes, [max(min(sizes), min(around)), min(max(sizes), max(around))], "n log₂ n")
    bottom, top = min(ys) / 1.6, max(ys) * 1.6
    log_axis(axes, "y", (bottom, top))
    axes.set_ylabel("p log₂ p")
    if not xs:
        axes.text(
            0.5,
            0.5,
            "no level is crossed\nbetween measured sizes",
            transform=axes.transAxes,
            ha="center",
            va="center",
            fontsize=7,
            color=colours.SOFT,
        )


def _draw_interval(axes: Axes, need: Need, y: float, colour: str) -> list[float]:
    """Its interval, as far as sizes were measured. Returns the ends."""
    if need.interval is None:
        return []
    ends = [_work(min(max(end, need.least), need.largest)) for end in need.interval]
    axes.plot(ends, [y, y], color=colour, linewidth=0.9)
    return ends


def _draw_model(axes: Axes, row: Row, level: float, colour: str) -> None:
    if row.model is None:
        return
    counts = list(row.family.by_ranks)
    # The range from the fewest to the most ranks, or a little around the one count there is.
    low, high = math.log2(min(counts)), math.log2(max(counts))
    low, high = (low, high) if high > low else (low - 0.2, high + 0.4)
    powers = [low + (high - low) * step / 24 for step in range(25)]
    found = [(power, row.model.log2_size(level, 2**power)) for power in powers if power > 0]
    shown = [(power, size) for power, size in found if size < 60]
    axes.plot(
        [_work(size) for _, size in shown],
        [2**power * power for power, _ in shown],
        color=colour,
        linestyle=":",
        linewidth=1.1,
        zorder=1,
    )


def _need_text(family: Family, need: Need, level: float) -> str:
    interval = ""
    if need.interval:
        low, high = (min(max(end, need.least), need.largest) for end in need.interval)
        interval = f"\n{percent_text(CONFIDENCE)} interval, within what was measured: {2**low:,.0f} to {2**high:,.0f}"
    return (
        f"{family.label} · {ranks_text(need.ranks)}\nE = {level:g} at {2**need.log2_elements:,.0f} elements{interval}"
    )


def _work(log2_elements: float) -> float:
    return 2**log2_elements * log2_elements


def _size_axis(axes: Axes, sizes: Sequence[float], name: str) -> None:
    low, high = min(sizes) / 1.5, max(sizes) * 1.5
    ticks = [10.0**power for power in range(0, 20) if low <= 10.0**power <= high]
    if len(ticks) < 2:
        ticks = log_ticks(low, high)[:4]
    log_axis(axes, "x", (low, high), ticks[:: -(-len(ticks) // 4)])
    axes.set_xlabel(name)


PLOT = Plot(
    name="isoefficiency",
    title="Isoefficiency",
    caption="Left: efficiency over one rank against the size; bars are 95 % intervals of a bootstrap over launches, "
    "from five launches on. Right: the size that keeps an efficiency, n log2 n, against p log2 p, read off between "
    "measured sizes and nowhere else. A straight line of slope 1 means that the size need grow no faster than the "
    "ranks. Hollow: more ranks than cores.",
    order=36,
    pages=pages,
    draw=draw,
)
