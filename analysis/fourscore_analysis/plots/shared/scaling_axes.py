"""What plots of methods share: legends, and lines against ranks or nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fourscore_analysis.plots.base import View
from fourscore_analysis.plots.shared import colours, layout
from fourscore_analysis.plots.shared.lines import MOST_CURVES, draw_points, even_parts, handle
from fourscore_analysis.plots.shared.said import point_text
from fourscore_analysis.plots.shared.ticks import log_axis, own_ticks
from fourscore_analysis.points.points import Point
from fourscore_analysis.points.scaling import Series
from fourscore_analysis.points.units import digits, part_title, shape_text, time_unit

COLUMNS = 3
ROW_IN = 1.75
ROWS_A_PAGE = 3


@dataclass(frozen=True)
class Group:
    """The series of one row of axes. Where a row has not room for all, which part of them it has."""

    series: list[Series]
    part: int = 1
    parts: int = 1

    def title(self, text: str) -> str:
        """`text` and packing, which the parts share, and what tells this part from the others:
        128³ · 8 ranks a node (2 of 3): pencil, slab."""
        text = " · ".join(part for part in (text, self.series[0].packing) if part)
        if self.parts == 1:
            return text
        variants = dict.fromkeys(series.baseline.method.variant for series in self.series)
        return f"{part_title(text, self.part, self.parts)}: {', '.join(variants)}"


def method_handles(points: Iterable[Point], line: bool = False) -> list[Line2D]:
    """A legend entry for each method of `points`."""
    looks: dict[str, colours.LineStyle] = {}
    for point in points:
        looks.setdefault(point.label, colours.method_style(point.method))
    return [handle(label, look, None if line else "") for label, look in sorted(looks.items())]


def legend_handles(groups: Sequence[Group]) -> list[Line2D]:
    """An entry for each method, and for the ideal line."""
    baselines = [series.baseline for group in groups for series in group.series]
    return [*method_handles(baselines, True), Line2D([], [], color=colours.GREY, linewidth=1, label="ideal")]


def _look_of_method(series: Series) -> colours.LineStyle:
    return colours.method_style(series.baseline.method)


def draw_lines(
    axes: Axes,
    group: Group,
    values: Callable[[Series], list[float]],
    name: str,
    of_time: bool = False,
    look_of: Callable[[Series], colours.LineStyle] = _look_of_method,
) -> list[float]:
    """A line a series, of what is called `name`, a small dot for each launch; hollow where more ranks than cores took
    part. Values go with the time (`of_time`), or with its inverse. Returns all values drawn."""
    drawn_values: list[float] = []
    for series in group.series:
        look = look_of(series)
        y = values(series)
        axes.plot(series.counts, y, color=look.colour, linestyle=look.line, linewidth=1.1)
        for count, value, point in zip(series.counts, y, series.points, strict=True):
            ratios = [launch.median_s / point.time_s for launch in point.measured]
            dots = [value * ratio if of_time else value / ratio for ratio in ratios]
            drawn_values += [value, *dots]
            axes.plot(
                [count] * len(dots),
                dots,
                linestyle="",
                marker="o",
                markersize=1.5,
                markeredgewidth=0,
                color=look.colour,
                alpha=0.6,
            )
        said = [point_text(point, f"{name}: {digits(value)}") for point, value in zip(series.points, y, strict=True)]
        flags = [point.flags for point in series.points]
        draw_points(axes, series.counts, y, flags, said, look.colour, look.marker)
    return drawn_values


def count_axis(axes: Axes, group: Group) -> list[int]:
    """The x axis: every count of ranks or nodes that was measured. Returns them."""
    counts = sorted({count for series in group.series for count in series.counts})
    log_axis(axes, "x", (counts[0] / 1.15, counts[-1] * 1.15), own_ticks(counts), text="{:g}".format, base=2)
    axes.set_xlabel(group.series[0].over)
    return counts


def efficiency_axis(axes: Axes, values: Sequence[float]) -> None:
    """Efficiency from 0, with the ideal line at 1."""
    axes.axhline(1, color=colours.GREY, linewidth=1)
    axes.set_ylim(0, max(1.1, max(values) * 1.05))
    axes.set_ylabel("parallel efficiency (1 is ideal)")


def drawn_points(view: View) -> list[Point]:
    return [point for one in view.drawn for point in one.ranked]


def draw_scaling(
    view: View,
    groups: list[Group],
    heading: str,
    draw_left: Callable[[View, Axes, Group, list[int]], None],
    efficiency: Callable[[Series], list[float]],
) -> Figure:
    """A row for each group: at the left what draw_left(view, axes, group, counts) makes of it, at the right its
    efficiency, both against ranks or nodes."""
    handles = legend_handles(groups)
    figure, pairs = layout.paired_axes(heading, len(groups), legend=(handles, COLUMNS))
    for group, (left, right) in zip(groups, pairs, strict=True):
        draw_left(view, left, group, count_axis(left, group))
        count_axis(right, group)
        efficiency_axis(right, draw_lines(right, group, efficiency, "efficiency"))
    return figure


def draw_strong(view: View, groups: list[Group], heading: str) -> Figure:
    """Speedup, with the ideal line, and efficiency."""
    return draw_scaling(view, groups, heading, _draw_speedup, Series.strong_efficiency)


def _draw_speedup(view: View, axes: Axes, group: Group, counts: list[int]) -> None:
    bases = sorted({series.counts[0] for series in group.series})
    for base in bases:
        ideal_counts = [count for count in counts if count >= base]
        axes.plot(ideal_counts, [count / base for count in ideal_counts], color=colours.GREY, linewidth=1)
    values = draw_lines(axes, group, Series.speedup, "speedup")
    axes.set_yscale("log", base=2)
    ticks = [2.0**power for power in range(-6, 20)]
    axes.set_yticks(ticks, [f"{tick:g}" if tick >= 1 else f"1/{1 / tick:g}" for tick in ticks])
    axes.set_ylim(min(values) / 1.2, max([*values, counts[-1] / bases[0]]) * 1.2)
    first = group.series[0]
    base_text = f"{bases[0]} {first.over.removesuffix('s') if bases[0] == 1 else first.over}"
    axes.set_ylabel(f"speedup over {base_text}" if len(bases) == 1 else "speedup over own baseline")
    title = group.title(shape_text(first.baseline.cell.shape))
    layout.facet_title(axes, title, view.subtitle(first.baseline))


def draw_weak(view: View, groups: list[Group], heading: str) -> Figure:
    """Time, and efficiency by credited flops."""
    return draw_scaling(view, groups, heading, _draw_times, Series.weak_efficiency)


def _draw_times(view: View, axes: Axes, group: Group, counts: list[int]) -> None:
    unit_s, unit = time_unit(max(point.time_s for series in group.series for point in series.points))
    values = draw_lines(
        axes,
        group,
        lambda series: [point.time_s / unit_s for point in series.points],
        f"time in {unit}",
        of_time=True,
    )
    axes.set_ylim(0, max(values) * 1.08)
    axes.set_ylabel(f"time per transform ({unit})")
    first = group.series[0].points[0].cell
    last = max((series.points[-1].cell for series in group.series), key=lambda cell: cell.ranks)
    shapes = f"{shape_text(first.shape)} to {shape_text(last.shape)}"
    title = f"{first.elements // first.ranks:,} elements a rank, {shapes}"
    layout.facet_title(axes, group.title(title), view.subtitle(group.series[0].baseline))


def in_pages(groups: list[list[Series]]) -> list[list[Group]]:
    """Groups of more series than one axes has room for in parts, those of one variant together."""
    rows = [row for group in groups for row in _in_parts(group)]
    return [rows[start : start + ROWS_A_PAGE] for start in range(0, len(rows), ROWS_A_PAGE)]


def _in_parts(group: list[Series]) -> list[Group]:
    if len(group) > MOST_CURVES:
        group = sorted(group, key=lambda one: one.baseline.label)
    parts = even_parts(group)
    return [Group(part, number, len(parts)) for number, part in enumerate(parts, 1)]
