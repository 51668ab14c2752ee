"""Simulated nodes beside the times of chapters 2 and 3 of lee2018."""

from __future__ import annotations

from fourscore_analysis.plots.base import Plot, View
from fourscore_analysis.plots.shared.published_marks import measures
from fourscore_analysis.plots.shared.scaling_axes import drawn_points
from fourscore_analysis.points.points import Point, group_by
from matplotlib.figure import Figure

from fourscore_papers.lee2018.more_nodes import chosen, figure_of

PAPER = "lee2018"


def pages(view: View) -> list[list[Point]]:
    """One for each contract, whose platform is a part of it."""
    if not measures(view, PAPER):
        return []
    return group_by(chosen(drawn_points(view)), lambda point: (point.cell.contract, point.setting))


def draw(view: View, points: list[Point], heading: str) -> Figure:
    return figure_of(points, heading, view.subtitle(points[0]))


PLOT = Plot(
    name="published-nodes",
    title="Simulated nodes beside Charm-FFT",
    caption="300³ backward against nodes, as Figs 3.3 to 3.5 of lee2018. Dotted: the times that its tables and text "
    "print, of Charm-FFT (here overdecomposed) and Charm-NodeFFT (node), on Knights Landing nodes: 32 cores of each in "
    "Table 2.1, 16 threads a node where Table 3.1 is best, 64 cores a node in Fig. 3.4. Hollow: simulated, a rank a "
    "node, on a cluster of today whose nodes compute several times as fast. So compare how the lines fall, not where "
    "they lie. The thesis's points stand in the figures alone.",
    order=44,
    pages=pages,
    draw=draw,
)
