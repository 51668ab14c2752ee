"""Simulated communication of both methods of haynes2000 beside its equations 4 and 5, against nodes."""

from __future__ import annotations

from dataclasses import dataclass

from fourscore_analysis.plots.base import Plot, View
from fourscore_analysis.plots.shared import layout
from fourscore_analysis.plots.shared.published_marks import measures
from fourscore_analysis.plots.shared.scaling_axes import drawn_points
from fourscore_analysis.points.beside_paper import difference_line
from fourscore_analysis.points.points import Point, group_by
from fourscore_analysis.points.units import digits, shape_text
from fourscore_analysis.records.published import published
from matplotlib.figure import Figure

from fourscore_papers.haynes2000.meetings import NEW, TRADITIONAL
from fourscore_papers.haynes2000.pairwise_phases import (
    COLUMNS,
    alpha_beta_bytes,
    draw_communication,
    legend,
    over_alpha,
)

PAPER = "haynes2000"
ROWS_A_PAGE = 4
HEIGHT_IN = 1.4


@dataclass
class Row:
    """One cube on several counts of nodes of one simulated network."""

    points: list[Point]
    alpha_beta: float
    subtitle: str

    @property
    def elements(self) -> int:
        return self.points[0].cell.elements


def pages(view: View) -> list[list[Row]]:
    if not measures(view, PAPER):
        return []
    points = [
        point
        for point in drawn_points(view)
        if point.method.variant in (NEW, TRADITIONAL) and over_alpha(point) is not None
    ]
    rows = []
    for group in group_by(points, lambda one: (one.cell.contract, one.cell.shape, one.setting)):
        alpha_beta = alpha_beta_bytes(group[0])
        if alpha_beta and len({point.cell.place.nodes for point in group}) > 1:
            said = [f"alpha × beta = {digits(alpha_beta / 1e3)} kB", view.subtitle(group[0])]
            rows.append(Row(group, alpha_beta, ", ".join(part for part in said if part)))
    rows.sort(key=lambda row: row.elements)
    return [rows[start : start + ROWS_A_PAGE] for start in range(0, len(rows), ROWS_A_PAGE)]


def draw(view: View, rows: list[Row], heading: str) -> Figure:
    points = [point for row in rows for point in row.points]
    handles = legend(points)
    figure, all_axes = layout.stacked_axes(
        heading,
        [HEIGHT_IN] * len(rows),
        0.62,
        legend=(handles, COLUMNS),
        note=difference_line([published(PAPER, "section-5")], points),
    )
    for row, axes in zip(rows, all_axes, strict=True):
        draw_communication(axes, row.elements, row.alpha_beta, row.points)
        layout.facet_title(axes, shape_text(row.points[0].cell.shape), row.subtitle)
    return figure


PLOT = Plot(
    name="published-latency",
    title="Simulated communication beside equations 4 and 5",
    caption="Time of all exchanges on the slowest rank of a simulated network with one switch, over its latency alpha. "
    f"Lines: equations 4 and 5 of haynes2000 with alpha and beta of that network. Eq. 4 counts P - 1 messages one "
    f"after the other, as {TRADITIONAL}/pairwise sends them. With p2p all messages are under way at once: their "
    "latencies overlap, and Eq. 4 counts too many. The paper prints no times, only alpha × beta.",
    order=48,
    pages=pages,
    draw=draw,
)
