"""Time and efficiency against nodes, the same number of elements a rank and as many ranks on each node."""

from __future__ import annotations

from fourscore_analysis.plots.base import Plot, View
from fourscore_analysis.plots.shared.scaling_axes import Group, draw_weak, drawn_points, in_pages
from fourscore_analysis.points.scaling import NODES, weak_series


def pages(view: View) -> list[list[Group]]:
    return in_pages(weak_series(drawn_points(view), NODES))


PLOT = Plot(
    name="weak-scaling-nodes",
    title="Weak scaling over nodes",
    caption="As many elements a rank on more nodes, with as many ranks on each. Efficiency is credited flops a second "
    "and rank over that on the fewest nodes measured. Small dots: launches. Hollow markers: more ranks than cores.",
    order=36,
    pages=pages,
    draw=draw_weak,
)
