"""Time and efficiency against ranks, the same number of elements a rank."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fourscore_analysis.plots.base import Plot, View
from fourscore_analysis.plots.shared import layout
from fourscore_analysis.plots.shared.scaling_axes import Group, draw_lines, draw_scaling, drawn_points, in_pages
from fourscore_analysis.points.scaling import Series, weak_series
from fourscore_analysis.points.units import shape_text, time_unit


def pages(view: View) -> list[list[Group]]:
    return in_pages(weak_series(drawn_points(view)))


def draw(view: View, groups: list[Group], heading: str) -> Figure:
    return draw_scaling(view, groups, heading, _draw_times, Series.weak_efficiency)


def _draw_times(view: View, axes: Axes, group: Group, ranks: list[int]) -> None:
    longest = max(point.time_s for series in group.series for point in series.points)
    unit_s, unit = time_unit(longest)
    draw_lines(view, axes, group, lambda series: [point.time_s / unit_s for point in series.points], f"time in {unit}")
    axes.set_ylim(0, longest / unit_s * 1.08)
    axes.set_ylabel(f"time per transform ({unit})")
    first = group.series[0].points[0].cell
    last = max((series.points[-1].cell for series in group.series), key=lambda cell: cell.ranks)
    shapes = f"{shape_text(first.shape)} to {shape_text(last.shape)}"
    title = f"{first.elements // first.ranks:,} elements a rank, {shapes}"
    layout.facet_title(axes, group.title(title), view.subtitle(group.series[0].baseline))


PLOT = Plot(
    name="weak-scaling",
    title="Weak scaling",
    caption="As many elements a rank on more ranks. Efficiency is credited flops a second and rank over that on the "
    "fewest ranks measured, so a method is not charged for the log2 N that a larger transform needs. Hollow "
    "markers: more ranks than cores.",
    order=35,
    pages=pages,
    draw=draw,
)
