"""What plots of methods share: legends, and lines against ranks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fourscore_analysis.plots.base import View, mark
from fourscore_analysis.plots.shared import colours, layout, lettering
from fourscore_analysis.plots.shared.lines import MOST_CURVES, even_parts
from fourscore_analysis.plots.shared.said import point_text
from fourscore_analysis.points.points import Point
from fourscore_analysis.points.scaling import Series
from fourscore_analysis.points.units import digits, part_title

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
        """`text`, which the parts share, and what tells this part from the others: 128³ (2 of 3): pencil, slab."""
        if self.parts == 1:
            return text
        variants = dict.fromkeys(series.baseline.method.variant for series in self.series)
        return f"{part_title(text, self.part, self.parts)}: {', '.join(variants)}"


def method_handles(view: View, points: Iterable[Point], line: bool = False) -> list[Line2D]:
    """A legend entry for each method of `points`."""
    found: dict[str, Line2D] = {}
    for point in points:
        look = colours.method_style(point.method)
        label = lettering.shorten(point.label, lettering.LEGEND_CHARACTERS)
        style_of_line = look.line if line else ""
        found.setdefault(
            point.label,
            Line2D([], [], color=look.colour, marker=look.marker, linestyle=style_of_line, markersize=3.5, label=label),
        )
    return [found[label] for label in sorted(found)]


def legend_handles(view: View, groups: Sequence[Group]) -> list[Line2D]:
    """An entry for each method, and for the ideal line."""
    baselines = [series.baseline for group in groups for series in group.series]
    return [*method_handles(view, baselines, True), Line2D([], [], color=colours.GREY, linewidth=1, label="ideal")]


def draw_lines(view: View, axes: Axes, group: Group, values: Callable[[Series], list[float]], name: str) -> None:
    """A line a method, of what is called `name`; hollow where more ranks than cores took part."""
    for series in group.series:
        look = colours.method_style(series.baseline.method)
        y = values(series)
        axes.plot(series.ranks, y, color=look.colour, linestyle=look.line, linewidth=1.1)
        for hollow in (False, True):
            chosen = [i for i, point in enumerate(series.points) if ("oversubscribed" in point.flags) == hollow]
            [drawn] = axes.plot(
                [series.ranks[i] for i in chosen],
                [y[i] for i in chosen],
                linestyle="",
                marker=look.marker,
                markersize=3.8,
                markeredgewidth=0.9,
                color=look.colour,
                markerfacecolor="white" if hollow else look.colour,
            )
            mark(drawn, *(point_text(series.points[i], f"{name}: {digits(y[i])}") for i in chosen))


def rank_axis(axes: Axes, group: Group) -> list[int]:
    """The x axis: every rank count that was measured. Returns them."""
    ranks = sorted({count for series in group.series for count in series.ranks})
    axes.set_xscale("log", base=2)
    axes.set_xticks(ranks, [str(count) for count in ranks])
    axes.set_xticks([], minor=True)
    axes.set_xlim(ranks[0] / 1.15, ranks[-1] * 1.15)
    axes.set_xlabel("ranks")
    return ranks


def efficiency_axis(axes: Axes, group: Group, values: Callable[[Series], list[float]]) -> None:
    """Efficiency from 0, with the ideal line at 1."""
    highest = max(value for series in group.series for value in values(series))
    axes.axhline(1, color=colours.GREY, linewidth=1)
    axes.set_ylim(0, max(1.1, highest * 1.05))
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
    """A row for each group: at the left what draw_left(view, axes, group, ranks) makes of it, at the right its
    efficiency, both against ranks."""
    handles = legend_handles(view, groups)
    figure, pairs = layout.paired_axes(heading, len(groups), top_in=layout.legend_room_in(handles, COLUMNS))
    layout.page_legend(figure, handles, COLUMNS)
    for group, (left, right) in zip(groups, pairs, strict=True):
        draw_left(view, left, group, rank_axis(left, group))
        rank_axis(right, group)
        draw_lines(view, right, group, efficiency, "efficiency")
        efficiency_axis(right, group, efficiency)
    return figure


def in_pages(groups: list[list[Series]]) -> list[list[Group]]:
    """Groups of more series than one axes has room for in parts, those of one variant together."""
    rows = [row for group in groups for row in _in_parts(group)]
    return [rows[start : start + ROWS_A_PAGE] for start in range(0, len(rows), ROWS_A_PAGE)]


def _in_parts(group: list[Series]) -> list[Group]:
    if len(group) > MOST_CURVES:
        group = sorted(group, key=lambda one: one.baseline.label)
    parts = even_parts(group)
    return [Group(part, number, len(parts)) for number, part in enumerate(parts, 1)]
