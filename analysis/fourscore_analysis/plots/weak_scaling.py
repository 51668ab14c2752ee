"""Time and efficiency against ranks, the same number of elements a rank."""

from __future__ import annotations

from matplotlib.figure import Figure

from fourscore_analysis import style
from fourscore_analysis.plots.base import Plot
from fourscore_analysis.scaling import Series, weak_series
from fourscore_analysis.scaling_axes import COLUMNS, draw_lines, efficiency_axis, in_pages, legend_handles, rank_axis
from fourscore_analysis.units import shape_text, time_unit
from fourscore_analysis.view import View


def pages(view: View) -> list[list[list[Series]]]:
    drawn = [point for one in view.drawn for point in one.ranked]
    return in_pages(weak_series(drawn))


def draw(view: View, groups: list[list[Series]], heading: str) -> Figure:
    handles = legend_handles(view, groups)
    figure, pairs = style.paired_axes(heading, len(groups), top_in=style.legend_room_in(len(handles), COLUMNS))
    style.page_legend(figure, handles, COLUMNS)
    for group, (left, right) in zip(groups, pairs, strict=True):
        longest = max(point.time_s for series in group for point in series.points)
        unit_s, unit = time_unit(longest)
        rank_axis(left, group)
        draw_lines(view, left, group, lambda series, unit_s=unit_s: [point.time_s / unit_s for point in series.points])
        left.set_ylim(0, longest / unit_s * 1.08)
        left.set_ylabel(f"time per transform ({unit})")
        first, last = (
            group[0].points[0].cell,
            max((series.points[-1].cell for series in group), key=lambda cell: cell.ranks),
        )
        title = (
            f"{first.elements // first.ranks:,} elements a rank, {shape_text(first.shape)} to {shape_text(last.shape)}"
        )
        style.facet_title(left, title, view.subtitle(group[0].baseline))
        rank_axis(right, group)
        draw_lines(view, right, group, Series.weak_efficiency)
        efficiency_axis(right, group, Series.weak_efficiency)
    return figure


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
