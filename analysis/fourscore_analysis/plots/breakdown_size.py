"""Time in computation, local transposition and communication against problem size, beside the same components alone."""

from __future__ import annotations

import math

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fourscore_analysis.plots.base import Plot, View
from fourscore_analysis.plots.shared import colours, layout
from fourscore_analysis.plots.shared.lines import draw_series, is_power_of_two
from fourscore_analysis.plots.shared.said import point_text
from fourscore_analysis.plots.shared.ticks import log_axis, log_ticks
from fourscore_analysis.points.points import Point, group_by
from fourscore_analysis.points.units import ratio_text, shape_text, time_text, time_unit

PARTS = {
    "computation": ("fft", "twiddle", "combine"),
    "local transposition": ("pack", "unpack"),
    "communication": ("exchange",),
}
LEAST_SIZES = 3
ROWS_A_PAGE = 4
COLUMNS = 3


def pages(view: View) -> list[list[list[Point]]]:
    """Groups of points that differ in shape only, of at least LEAST_SIZES sizes."""
    drawn = [point for one in view.drawn for point in one.ranked if _has_parts(point)]
    groups = group_by(drawn, lambda point: (point.cell.contract, point.setting, point.cell.place, point.method))
    groups = [_one_a_size(group) for group in groups]
    groups = [group for group in groups if len(group) >= LEAST_SIZES]
    if len({point.cell.place for group in groups for point in group}) > 1 and view.campaign.suite != "breakdown":
        return []  # a scaling campaign: its stacked bars show the same
    return [groups[start : start + ROWS_A_PAGE] for start in range(0, len(groups), ROWS_A_PAGE)]


def _has_parts(point: Point) -> bool:
    """A library that is timed as a whole has none."""
    return any(part_time(phases, part) > 0 for part in PARTS for phases in (point.phases_max, point.alone))


def _one_a_size(group: list[Point]) -> list[Point]:
    sizes: dict[int, Point] = {}
    for point in sorted(group, key=lambda point: (point.cell.elements, max(point.cell.shape))):
        sizes.setdefault(point.cell.elements, point)
    return list(sizes.values())


def part_time(phases: dict[str, float], part: str) -> float:
    """Seconds of all phases of `part` together."""
    return sum(phases.get(phase, 0.0) for phase in PARTS[part])


def draw(view: View, groups: list[list[Point]], heading: str) -> Figure:
    points = [point for group in groups for point in group]
    present = [part for part in PARTS if any(part_time(point.phases_max, part) > 0 for point in points)]
    handles = [Line2D([], [], color=_colour(part), linewidth=2, label=part) for part in present]
    handles += [
        Line2D([], [], color=colours.INK, marker="o", markersize=3.5, label="inside"),
        Line2D(
            [],
            [],
            color=colours.INK,
            marker="o",
            markersize=3.5,
            markerfacecolor="white",
            linestyle="--",
            label="alone",
        ),
    ]
    figure, pairs = layout.paired_axes(heading, len(groups), legend=(handles, COLUMNS))
    for group, (left, right) in zip(groups, pairs, strict=True):
        _draw_times(view, left, group, present)
        _draw_ratios(right, group, present)
    return figure


def _colour(part: str) -> str:
    return colours.phase_colour(PARTS[part][0])


def _draw_times(view: View, axes, group: list[Point], present: list[str]) -> None:
    unit_s, unit = time_unit(max(point.time_s for point in group))
    values = []
    for part in present:
        for phases, marker_fill, line in (("phases_max", _colour(part), "-"), ("alone", "white", "--")):
            where = "inside" if line == "-" else "alone"
            drawn = [point for point in group if part_time(getattr(point, phases), part) > 0]
            if drawn:
                times = [part_time(getattr(point, phases), part) for point in drawn]
                values += [time_s / unit_s for time_s in times]
                look = {"color": _colour(part), "markersize": 3.2, "markerfacecolor": marker_fill}
                said = [
                    point_text(point, f"{part} {where}: {time_text(time_s)}")
                    for point, time_s in zip(drawn, times, strict=True)
                ]
                sizes = [point.cell.elements for point in drawn]
                smooth = [is_power_of_two(*point.cell.shape) for point in drawn]
                draw_series(axes, sizes, [time_s / unit_s for time_s in times], smooth, line, said, marker="o", **look)
    _size_axis(axes, group)
    low, high = min(values) / 1.4, max(values) * 1.4
    log_axis(axes, "y", (low, high), text="{:g}".format)
    axes.set_ylabel(f"time ({unit})")
    first = group[0]
    layout.facet_title(axes, f"{first.label} · {first.where}", view.subtitle(first))


def _draw_ratios(axes, group: list[Point], present: list[str]) -> None:
    if not any(part_time(point.alone, part) > 0 for point in group for part in present):
        axes.set_axis_off()
        axes.text(0.5, 0.5, "not timed alone", ha="center", color=colours.SOFT, transform=axes.transAxes)
        return
    highest = 1.0
    for part in present:
        drawn = [point for point in group if part_time(point.alone, part) > 0 and part_time(point.phases_max, part) > 0]
        if drawn:
            ratios = [part_time(point.phases_max, part) / part_time(point.alone, part) for point in drawn]
            highest = max(highest, *ratios)
            said = [
                point_text(point, f"{part}: {ratio_text(ratio)} of alone")
                for point, ratio in zip(drawn, ratios, strict=True)
            ]
            sizes = [point.cell.elements for point in drawn]
            smooth = [is_power_of_two(*point.cell.shape) for point in drawn]
            draw_series(axes, sizes, ratios, smooth, "-", said, marker="o", color=_colour(part), markersize=3.2)
    axes.axhline(1, color=colours.GREY, linewidth=1)
    _size_axis(axes, group)
    axes.set_ylim(0, highest * 1.12)
    axes.set_ylabel("inside / alone")


def _size_axis(axes, group: list[Point]) -> None:
    """Sizes as shapes where they fit, else as numbers of elements."""
    sizes = [point.cell.elements for point in group]
    axes.set_xscale("log")
    labels = [shape_text(point.cell.shape) for point in group]
    if max(map(len, labels)) <= 5:
        room = math.log(sizes[-1] * 1.3**2 / sizes[0]) / 6.5  # for one label, on the logarithmic axis
        shown: list[int] = []
        for index in reversed(range(len(sizes))):
            if not shown or math.log(sizes[shown[-1]] / sizes[index]) >= room:
                shown.append(index)
        axes.set_xticks([sizes[index] for index in shown], [labels[index] for index in shown])
        axes.set_xlabel("shape")
    else:
        ticks = log_ticks(sizes[0], sizes[-1])
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.set_xlabel("elements")
    axes.set_xticks([], minor=True)
    axes.set_xlim(sizes[0] / 1.3, sizes[-1] * 1.3)


PLOT = Plot(
    name="breakdown",
    title="Breakdown against problem size",
    caption="Time in each part of the transform against problem size (maximum over ranks, left), beside the same "
    "components timed alone, and the ratio of the two (right).",
    order=10,
    pages=pages,
    draw=draw,
)
