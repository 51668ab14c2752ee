"""Every sample of every launch."""

from __future__ import annotations

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fourscore_analysis.plots.base import Facet, Plot, View, mark
from fourscore_analysis.plots.shared import colours, layout, lettering
from fourscore_analysis.plots.shared.said import flags_text, head_text, point_text
from fourscore_analysis.plots.shared.ticks import time_axis
from fourscore_analysis.points.points import Point
from fourscore_analysis.points.units import range_text, time_text, time_unit
from fourscore_analysis.records.transforms import Launch

LANE_IN, ROW_GAP_IN, MOST_ROW_IN = 0.06, 0.07, 0.5
LOG_FROM = 4.0  # largest over smallest sample


def _row_in(point: Point) -> float:
    return min(MOST_ROW_IN, max(0.12, LANE_IN * len(point.measured))) + ROW_GAP_IN


def _height_in(facet: Facet) -> float:
    return sum(_row_in(point) for point in facet.points)


def pages(view: View) -> list[list[Facet]]:
    return [[view.facets[i] for i in page] for page in layout.paginate([_height_in(facet) for facet in view.facets])]


def draw(view: View, facets: list[Facet], heading: str) -> Figure:
    points = [point for facet in facets for point in facet.points]
    figure, all_axes = layout.stacked_axes(
        heading, [_height_in(facet) for facet in facets], lettering.label_width_in(point.label for point in points)
    )
    layout.page_legend(
        figure,
        [
            Line2D(
                [],
                [],
                linestyle="",
                marker="o",
                markersize=3,
                color=colours.BLUE,
                label="a sample (a line of dots is a launch)",
            ),
            Line2D(
                [],
                [],
                linestyle="",
                marker="|",
                markersize=8,
                color=colours.VERMILLION,
                markeredgewidth=1.6,
                label="median of launches",
            ),
        ],
        2,
    )
    for facet, axes in zip(facets, all_axes, strict=True):
        _draw_facet(facet, axes)
    return figure


def _draw_facet(facet: Facet, axes) -> None:
    samples = [time for point in facet.points for launch in point.measured for time in launch.time_s]
    low, high = min(samples), max(samples)
    unit_s, unit = time_unit(high)
    log = high > LOG_FROM * low
    centres, top = [], 0.0
    for point in facet.points:
        height = _row_in(point)
        centres.append(top + height / 2)
        lane = (height - ROW_GAP_IN) / len(point.measured)
        for number, launch in enumerate(point.measured):
            times = [time / unit_s for time in launch.time_s]
            y = [top + ROW_GAP_IN / 2 + lane * (number + 0.5)] * len(times)
            colour = colours.LAUNCH_COLOURS[number % len(colours.LAUNCH_COLOURS)]
            [dots] = axes.plot(
                times, y, linestyle="", marker="o", markersize=2.4, markeredgewidth=0, color=colour, alpha=0.75
            )
            mark(dots, _said(point, number, launch))
        [median] = axes.plot(
            [point.time_s / unit_s] * 2,
            [top + 0.02, top + height - 0.02],
            color=colours.VERMILLION,
            linewidth=1.6,
            zorder=3,
        )
        mark(median, point_text(point))
        top += height
        axes.axhline(top, color=colours.LIGHT_GREY, linewidth=0.5)
    layout.row_axis(axes, [point.label for point in facet.points], centres, (0, top))
    margin = 1.08 if log else 1.0
    time_axis(axes, low / margin, high * margin, unit_s, unit, "time of a sample", log)
    layout.facet_title(axes, facet.title, facet.subtitle)


def _said(point: Point, number: int, launch: Launch) -> str:
    times = launch.time_s
    samples = f"{len(times)} samples, {range_text(min(times), max(times))}" if len(times) > 1 else "one sample"
    return "\n".join(
        [head_text(point), f"launch {number + 1}: {time_text(launch.median_s)}, {samples}", flags_text(launch.flags)]
    )


PLOT = Plot(
    name="samples",
    title="Every sample",
    caption="Each dot is one repetition (first start to last end), each line of dots one launch, in its own colour. "
    "Axes start where the data do; they are logarithmic where the samples of a group span more than a factor of "
    "four.",
    order=60,
    pages=pages,
    draw=draw,
)
