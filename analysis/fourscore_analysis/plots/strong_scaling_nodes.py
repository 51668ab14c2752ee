"""Speedup and parallel efficiency against nodes, the same problem and as many ranks on each node."""

from __future__ import annotations

from fourscore_analysis.plots.base import Plot, View
from fourscore_analysis.plots.shared.scaling_axes import Group, draw_strong, drawn_points, in_pages
from fourscore_analysis.points.scaling import NODES, strong_series


def pages(view: View) -> list[list[Group]]:
    return in_pages(strong_series(drawn_points(view), NODES))


PLOT = Plot(
    name="strong-scaling-nodes",
    title="Strong scaling over nodes",
    caption="The same problem on more nodes, with as many ranks on each. Each method is set against itself on the "
    "fewest nodes it was measured on. Small dots: launches. Hollow markers: more ranks than cores.",
    order=31,
    pages=pages,
    draw=draw_strong,
)
