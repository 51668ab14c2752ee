"""Speedup and parallel efficiency against ranks, the same problem."""

from __future__ import annotations

from fourscore_analysis.plots.base import Plot, View
from fourscore_analysis.plots.shared.scaling_axes import Group, draw_strong, drawn_points, in_pages
from fourscore_analysis.points.scaling import strong_series


def pages(view: View) -> list[list[Group]]:
    return in_pages(strong_series(drawn_points(view)))


PLOT = Plot(
    name="strong-scaling",
    title="Strong scaling",
    caption="The same problem on more ranks. Each method is set against itself on the fewest ranks it was measured "
    "on (its baseline), so the lines say how well a method scales, not which is fastest. A line joins points on the "
    "same nodes, or with as many ranks on each. Small dots: launches. Hollow markers: more ranks than cores.",
    order=30,
    pages=pages,
    draw=draw_strong,
)
