"""Time and efficiency against ranks, the same number of elements a rank."""

from __future__ import annotations

from fourscore_analysis.plots.base import Plot, View
from fourscore_analysis.plots.shared.scaling_axes import Group, draw_weak, drawn_points, in_pages
from fourscore_analysis.points.scaling import weak_series


def pages(view: View) -> list[list[Group]]:
    return in_pages(weak_series(drawn_points(view)))


PLOT = Plot(
    name="weak-scaling",
    title="Weak scaling",
    caption="As many elements a rank on more ranks. Efficiency is credited flops a second and rank over that on the "
    "fewest ranks measured, so a method is not charged for the log2 N that a larger transform needs. A line joins "
    "points on the same nodes, or with as many ranks on each. Small dots: launches. Hollow markers: more ranks than "
    "cores.",
    order=35,
    pages=pages,
    draw=draw_weak,
)
