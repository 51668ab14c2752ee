"""Planning time of every launch."""

from __future__ import annotations

from matplotlib.figure import Figure

from fourscore_analysis.plots.base import Facet, Plot, View, mark
from fourscore_analysis.plots.shared import colours, layout, lettering
from fourscore_analysis.plots.shared.said import point_text
from fourscore_analysis.plots.shared.ticks import time_axis
from fourscore_analysis.points.units import time_text, time_unit

ROW_IN = 0.165


def _facets(view: View) -> list[Facet]:
    planned = (
        facet.only([point for point in facet.points if point.plan and point.plan.high > 0]) for facet in view.facets
    )
    return [facet for facet in planned if facet.points]


def pages(view: View) -> list[list[Facet]]:
    facets = _facets(view)
    return [[facets[i] for i in page] for page in layout.paginate([ROW_IN * len(facet.points) for facet in facets])]


def draw(view: View, facets: list[Facet], heading: str) -> Figure:
    points = [point for facet in facets for point in facet.points]
    figure, all_axes = layout.stacked_axes(
        heading,
        [ROW_IN * len(facet.points) for facet in facets],
        lettering.label_width_in(point.label for point in points),
        top_in=0.36,
    )
    for facet, axes in zip(facets, all_axes, strict=True):
        times = [
            (launch.plan_s, row, number)
            for row, point in enumerate(facet.points)
            for number, launch in enumerate(point.measured)
            if launch.plan_s
        ]
        low, high = min(time for time, _, _ in times), max(time for time, _, _ in times)
        unit_s, unit = time_unit(high)
        for colour_number, colour in enumerate(colours.LAUNCH_COLOURS):
            chosen = [one for one in times if one[2] % len(colours.LAUNCH_COLOURS) == colour_number]
            mine = [(t / unit_s, row) for t, row, _ in chosen]
            if mine:
                [dots] = axes.plot(
                    *zip(*mine, strict=True),
                    linestyle="",
                    marker="o",
                    markersize=3.4,
                    markeredgewidth=0,
                    color=colour,
                    alpha=0.8,
                )
                mark(
                    dots,
                    *(
                        point_text(facet.points[row], f"planning of launch {number + 1}: {time_text(t)}")
                        for t, row, number in chosen
                    ),
                )
        medians = [point.plan.median / unit_s for point in facet.points]
        axes.plot(
            medians,
            range(len(medians)),
            linestyle="",
            marker="|",
            markersize=8,
            markeredgewidth=1.4,
            color=colours.VERMILLION,
        )
        layout.row_axis(axes, [point.label for point in facet.points], range(len(medians)), (-0.6, len(medians) - 0.4))
        log = high > 4 * low
        margin = 1.15 if log else 1.0
        time_axis(axes, low / margin, high * margin, unit_s, unit, "planning time", log)
        layout.facet_title(axes, facet.title, facet.subtitle)
    return figure


PLOT = Plot(
    name="plan-time",
    title="Planning time",
    caption="Each dot is the planning time of one launch (maximum over ranks), the bar their median. Where launches "
    "share wisdom the first one to need a plan makes it.",
    order=70,
    pages=pages,
    draw=draw,
)
