"""Error against time of points with smaller messages, each joined to the same point with whole ones."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fourscore_analysis.plots.base import Plot, View, mark
from fourscore_analysis.plots.shared import colours, layout
from fourscore_analysis.plots.shared.said import point_text
from fourscore_analysis.plots.shared.scaling_axes import COLUMNS, method_handles
from fourscore_analysis.plots.shared.ticks import log_axis, time_axis
from fourscore_analysis.points.points import Point, group_by
from fourscore_analysis.points.units import error_text, time_unit
from fourscore_analysis.points.wires import Narrowing, narrowings

HEIGHT_IN = 1.9
LEFT_IN = 0.62


def pages(view: View) -> list[list[list[Narrowing]]]:
    """A facet for each problem at each place."""
    found = [one for one in narrowings(view.points) if one.whole.error and one.narrowed.error]
    facets = group_by(found, lambda one: (one.whole.cell, one.whole.setting))
    return [[facets[i] for i in page] for page in layout.paginate([HEIGHT_IN] * len(facets))]


def draw(view: View, facets: list[list[Narrowing]], heading: str) -> Figure:
    handles = method_handles([one.whole for facet in facets for one in facet])
    figure, all_axes = layout.stacked_axes(heading, [HEIGHT_IN] * len(facets), LEFT_IN, legend=(handles, COLUMNS))
    for facet, axes in zip(facets, all_axes, strict=True):
        _draw_facet(axes, facet)
        layout.facet_title(axes, facet[0].whole.title, view.subtitle(facet[0].whole))
    return figure


def _draw_facet(axes: Axes, facet: list[Narrowing]) -> None:
    points = [point for one in facet for point in (one.whole, one.narrowed)]
    times, errors = [point.time_s for point in points], [point.error or 0.0 for point in points]
    unit_s, unit = time_unit(max(times))
    for one in facet:
        colour = colours.method_style(one.whole.method).colour
        ends = (one.whole, one.narrowed)
        x, y = [point.time_s / unit_s for point in ends], [point.error for point in ends]
        axes.plot(x, y, color=colour, linewidth=0.8, alpha=0.6)
        for point in ends:
            _draw_point(axes, point, unit_s, hollow=point is one.narrowed)
    time_axis(axes, min(times) / 1.15, max(times) * 1.15, unit_s, unit, "time", log=True)
    log_axis(axes, "y", (min(errors) / 4, max(errors) * 4))
    axes.set_ylabel("largest relative error")


def _draw_point(axes: Axes, point: Point, unit_s: float, hollow: bool) -> None:
    look = colours.method_style(point.method)
    [drawn] = axes.plot(
        [point.time_s / unit_s],
        [point.error],
        linestyle="",
        marker=look.marker,
        markersize=4,
        color=look.colour,
        markerfacecolor="white" if hollow else look.colour,
    )
    mark(drawn, point_text(point, f"wire {point.cell.contract.wire_text}: error {error_text(point.error)}"))


PLOT = Plot(
    name="wire-error",
    title="Error against time, with messages made smaller",
    caption="The largest error that a check of a launch found, relative to what it expected. Filled: messages as they "
    "are; hollow, joined to it: the same method with smaller messages. Left is faster, lower is more accurate.",
    order=8,
    pages=pages,
    draw=draw,
)
