"""Pairwise combine phases against the all-to-all: where each wins (haynes2000, section 5)."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from fourscore_analysis.plots.base import Plot, View
from fourscore_analysis.plots.shared import colours, layout
from fourscore_analysis.plots.shared.lines import draw_series, is_power_of_two
from fourscore_analysis.plots.shared.said import point_text
from fourscore_analysis.plots.shared.ticks import log_axis, own_ticks, ratio_ticks
from fourscore_analysis.points.points import group_by
from fourscore_analysis.points.units import ranks_text, ratio_text, shape_text
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fourscore_papers.haynes2000.meetings import NEW, TRADITIONAL, Meeting, meetings

ROWS_A_PAGE = 4
COLUMNS = 3
LINE_COLOURS = (*colours.SERIES_COLOURS[:6], colours.BLACK)
MARKERS = ("o", "s", "^", "D", "v", "P", "X")


def pages(view: View) -> list[list[list[Meeting]]]:
    groups = group_by(
        meetings(view), lambda one: (one.comparison.cell.contract, one.comparison.setting, one.new.packing)
    )
    return [groups[start : start + ROWS_A_PAGE] for start in range(0, len(groups), ROWS_A_PAGE)]


def draw(view: View, groups: list[list[Meeting]], heading: str) -> Figure:
    every = [one for group in groups for one in group]
    shapes = sorted({one.comparison.cell.shape for one in every}, key=lambda shape: (_elements(shape), shape))
    counts = sorted({one.comparison.cell.ranks for one in every})
    handles = _handles([shape_text(shape) for shape in shapes])
    right_handles = _handles([ranks_text(count) for count in counts], hollow=True)
    figure, pairs = layout.paired_axes(heading, len(groups), legend=([*handles, *right_handles], COLUMNS))
    for group, (left, right) in zip(groups, pairs, strict=True):
        for number, shape in enumerate(shapes):
            _line(left, number, [one for one in group if one.comparison.cell.shape == shape], _ranks, hollow=False)
        for number, count in enumerate(counts):
            _line(right, number, [one for one in group if _ranks(one) == count], _size, hollow=True)
        _ratio_axis(left, group)
        _ratio_axis(right, group)
        _axis(left, [_ranks(one) for one in group], "ranks", str)
        by_size = {_size(one): shape_text(one.comparison.cell.shape) for one in group}
        _axis(right, list(by_size), "shape", lambda size, by_size=by_size: by_size[size])
        left.set_ylabel(f"time over that of {TRADITIONAL}")
        subtitle = ", ".join(part for part in (view.subtitle(group[0].comparison), group[0].new.packing) if part)
        layout.facet_title(left, f"{NEW} over {TRADITIONAL}", subtitle)
    return figure


def _ranks(one: Meeting) -> int:
    return one.comparison.cell.ranks


def _size(one: Meeting) -> int:
    return one.comparison.cell.elements


def _elements(shape: tuple[int, ...]) -> int:
    product = 1
    for extent in shape:
        product *= extent
    return product


def _look(number: int) -> tuple[str, str]:
    return LINE_COLOURS[number % len(LINE_COLOURS)], MARKERS[number % len(MARKERS)]


def _handles(labels: Iterable[str], hollow: bool = False) -> list[Line2D]:
    return [
        Line2D(
            [],
            [],
            color=(look := _look(number))[0],
            marker=look[1],
            markersize=3.8,
            markerfacecolor="white" if hollow else look[0],
            linestyle="--" if hollow else "-",
            label=label,
        )
        for number, label in enumerate(labels)
    ]


def _line(axes: Axes, number: int, found: list[Meeting], quantity: Callable[[Meeting], int], hollow: bool) -> None:
    colour, marker = _look(number)
    found = sorted(found, key=quantity)
    xs = [quantity(one) for one in found]
    smooth = [is_power_of_two(*one.comparison.cell.shape) for one in found] if hollow else [True] * len(found)
    draw_series(
        axes,
        xs,
        [one.ratio for one in found],
        smooth,
        "--" if hollow else "-",
        [_said(one) for one in found],
        color=colour,
        marker=marker,
        markersize=3.8,
        markerfacecolor="white" if hollow else colour,
    )
    for x, one in zip(xs, found, strict=True):
        axes.plot([x, x], one.range, color=colour, linewidth=0.8, alpha=0.6)


def _said(one: Meeting) -> str:
    return "\n".join([f"{ratio_text(one.ratio)} of {TRADITIONAL}", point_text(one.new), point_text(one.traditional)])


def _ratio_axis(axes: Axes, group: list[Meeting]) -> None:
    low = min(1.0, *(one.range[0] for one in group)) / 1.1
    high = max(1.0, *(one.range[1] for one in group)) * 1.1
    axes.axhline(1, color=colours.INK, linewidth=0.8, zorder=0)
    axes.axhspan(low, 1, color=colours.GREEN, alpha=0.06, linewidth=0, zorder=0)
    log_axis(axes, "y", (low, high), ratio_ticks(low, high), text="{:g}".format)


def _axis(axes: Axes, values: list[int], label: str, text: Callable[[int], str]) -> None:
    log_axis(axes, "x", (min(values) / 1.3, max(values) * 1.3), own_ticks(set(values)), text=text)
    axes.set_xlabel(label)


PLOT = Plot(
    name="crossover",
    title="Crossover with the all-to-all",
    caption=f"Time of the fastest {NEW} over that of the fastest {TRADITIONAL} on the same problem, ranks and "
    "contract: in the shaded half the method of haynes2000 wins. Left against ranks, right against size. By its model "
    "it gains with more ranks and smaller problems, where latency counts: it sends log2 P messages (equation 5), the "
    "two all-to-alls 2 (P - 1) (equation 4). Bars: range when each takes any of its launches.",
    order=46,
    pages=pages,
    draw=draw,
)
