"""Each phase inside the transform against its components timed alone, on the same buffers and communicators."""

from __future__ import annotations

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fourscore_analysis.plots.base import Facet, Plot, View, mark
from fourscore_analysis.plots.shared import colours, layout, lettering
from fourscore_analysis.plots.shared.said import point_text
from fourscore_analysis.plots.shared.ticks import time_axis
from fourscore_analysis.points.points import Point
from fourscore_analysis.points.units import ratio_text, time_text, time_unit
from fourscore_analysis.records.transforms import PHASES

LANE_IN, GAP_IN = 0.115, 0.05
RATIO_IN = 0.75
COLUMNS = 6


def _row_in(point: Point) -> float:
    return LANE_IN * len(point.compared_phases) + GAP_IN


def _height_in(facet: Facet) -> float:
    return sum(_row_in(point) for point in facet.points)


def pages(view: View) -> list[list[Facet]]:
    facets = [facet.only([point for point in facet.points if point.compared_phases]) for facet in view.facets]
    facets = [facet for facet in facets if facet.points]
    return [[facets[i] for i in page] for page in layout.paginate([_height_in(facet) for facet in facets])]


def draw(view: View, facets: list[Facet], heading: str) -> Figure:
    points = [point for facet in facets for point in facet.points]
    present = [phase for phase in PHASES if any(phase in point.compared_phases for point in points)]
    handles = [Line2D([], [], color=colours.phase_colour(phase), linewidth=3, label=phase) for phase in present]
    handles += [
        Line2D([], [], linestyle="", marker="o", markersize=4.5, color=colours.INK, label="inside"),
        Line2D(
            [], [], linestyle="", marker="o", markersize=4.5, color=colours.INK, markerfacecolor="white", label="alone"
        ),
    ]
    figure, all_axes = layout.stacked_axes(
        heading,
        [_height_in(facet) for facet in facets],
        lettering.label_width_in(point.label for point in points),
        right_in=RATIO_IN,
        legend=(handles, COLUMNS),
    )
    for facet, axes in zip(facets, all_axes, strict=True):
        _draw_facet(facet, axes)
    return figure


def _draw_facet(facet: Facet, axes) -> None:
    pairs = [(point.phases_max[phase], point.alone[phase]) for point in facet.points for phase in point.compared_phases]
    low, high = min(map(min, pairs)), max(map(max, pairs))
    unit_s, unit = time_unit(high)
    centres, top = [], 0.0
    for point in facet.points:
        centres.append(top + _row_in(point) / 2)
        for lane, phase in enumerate(point.compared_phases):
            y = top + GAP_IN / 2 + LANE_IN * (lane + 0.5)
            inside, alone = point.phases_max[phase] / unit_s, point.alone[phase] / unit_s
            colour = colours.phase_colour(phase)
            axes.plot([alone, inside], [y, y], color=colour, linewidth=1.6)
            look = {"marker": "o", "markersize": 4, "color": colour, "markeredgewidth": 1.1}
            [hollow] = axes.plot([alone], [y], markerfacecolor="white", **look)
            [filled] = axes.plot([inside], [y], **look)
            for drawn, where, time_s in (
                (hollow, "alone", point.alone[phase]),
                (filled, "inside", point.phases_max[phase]),
            ):
                mark(drawn, point_text(point, f"{phase} {where}: {time_text(time_s)}"))
            axes.annotate(
                f"{ratio_text(inside / alone)} ×",
                (1, y),
                (4, 0),
                xycoords=("axes fraction", "data"),
                textcoords="offset points",
                va="center",
                fontsize=6.8,
            )
        top += _row_in(point)
        axes.axhline(top, color=colours.LIGHT_GREY, linewidth=0.5)
    layout.row_axis(axes, [point.label for point in facet.points], centres, (0, top))
    log = high > 4 * low
    if log:
        time_axis(axes, low / 1.2, high * 1.2, unit_s, unit, "time in the phase", True)
    else:
        axes.set_xlim(0, high / unit_s * 1.08)
        time_axis(axes, 0, high, unit_s, unit, "time in the phase", False)
    layout.facet_title(axes, facet.title, facet.subtitle)


PLOT = Plot(
    name="inside-alone",
    title="Inside against alone",
    caption="Filled: the phase inside the transform (maximum over ranks). Hollow: the same components alone, one "
    "after the other, on the same communicators, counts and buffers. At the right: inside over alone; above "
    "1 the phase costs more inside, because it waits for other ranks or finds its data elsewhere. Phases "
    "under 1 % of the transform are left out.",
    order=40,
    pages=pages,
    draw=draw,
)
