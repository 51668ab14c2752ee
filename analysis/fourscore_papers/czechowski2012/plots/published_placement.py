"""Simulated placements and topologies beside Eqs 4 and 5 of czechowski2012."""

from __future__ import annotations

from fourscore_analysis.plots.base import Plot, View
from fourscore_analysis.plots.shared.published_marks import measures
from fourscore_analysis.plots.shared.scaling_axes import drawn_points
from fourscore_analysis.points.beside_paper import difference_line
from fourscore_analysis.records.published import published
from matplotlib.figure import Figure

from fourscore_papers.czechowski2012.placement_rows import Facet, facets, figure_of, in_pages

PAPER = "czechowski2012"


def pages(view: View) -> list[list[Facet]]:
    return in_pages(facets(drawn_points(view))) if measures(view, PAPER) else []


def draw(view: View, found: list[Facet], heading: str) -> Figure:
    points = [point for facet in found for point in facet.points]
    return figure_of(found, heading, difference_line([published(PAPER, "figure-6")], points))


PLOT = Plot(
    name="published-placement",
    title="Placement and topology beside equations 4 and 5",
    caption="Time of both exchanges of the pencil method on the slowest rank of a simulated torus, beside what "
    "czechowski2012 has for it, with the bandwidth of that torus's links: Eq. 4 (P^(5/6), counted for both exchanges) "
    "for the ideal placement sub-cube, else Eq. 5 (P^(2/3), a global all-to-all through the bisection; P^(3/4) and "
    "P^(4/5) in four and five dimensions). The equations know neither constants nor messages: a torus can send a "
    "global all-to-all eight times as fast as Eq. 5 says, and a row of the process grid is less than a global one. "
    "Dashed: what the bytes of a rank take to get into the network. Dotted: the ranks' own time for their messages. "
    "Where one of these is as long as the simulated time, no placement helps.",
    order=49,
    pages=pages,
    draw=draw,
)
