"""Where the time goes: phases of the slowest rank as stacked bars."""

from __future__ import annotations

from matplotlib.figure import Figure
from matplotlib.patches import Patch

from fourscore_analysis.plots.base import Facet, Plot, View, mark
from fourscore_analysis.plots.shared import colours, layout, lettering
from fourscore_analysis.plots.shared.said import point_text
from fourscore_analysis.points.units import percent_text, time_text, time_unit
from fourscore_analysis.records.transforms import PHASES

ROW_IN = 0.19
COLUMNS = 5


def _facets(view: View) -> list[Facet]:
    with_phases = (facet.only([point for point in facet.points if point.phases]) for facet in view.facets)
    return [facet for facet in with_phases if facet.points]


def pages(view: View) -> list[list[Facet]]:
    facets = _facets(view)
    return [[facets[i] for i in page] for page in layout.paginate([ROW_IN * len(facet.points) for facet in facets])]


def draw(view: View, facets: list[Facet], heading: str) -> Figure:
    points = [point for facet in facets for point in facet.points]
    present = [phase for phase in PHASES if any(point.phases.get(phase) for point in points)]
    figure, all_axes = layout.stacked_axes(
        heading,
        [ROW_IN * len(facet.points) for facet in facets],
        lettering.label_width_in(point.label for point in points),
        legend=([Patch(color=colours.phase_colour(phase), label=phase) for phase in present], COLUMNS),
    )
    for facet, axes in zip(facets, all_axes, strict=True):
        longest = max(max(point.time_s, sum(point.phases.values())) for point in facet.points)
        unit_s, unit = time_unit(longest)
        rows = range(len(facet.points))
        left = [0.0] * len(facet.points)
        for phase in present:
            widths = [point.phases.get(phase, 0.0) / unit_s for point in facet.points]
            if any(widths):
                bars = axes.barh(rows, widths, left=left, height=0.78, color=colours.phase_colour(phase), linewidth=0)
                for bar, point in zip(bars, facet.points, strict=True):
                    seconds = point.phases.get(phase, 0.0)
                    share = percent_text(seconds / sum(point.phases.values()))
                    mark(bar, point_text(point, f"{phase}: {time_text(seconds)}, {share}"))
                left = [start + width for start, width in zip(left, widths, strict=True)]
        for row, point in zip(rows, facet.points, strict=True):
            end = max(left[row], point.time_s / unit_s)
            ends = [row - 0.45, row + 0.45]
            [tick] = axes.plot([point.time_s / unit_s] * 2, ends, color=colours.INK, linewidth=1.2)
            mark(tick, point_text(point))
            axes.annotate(
                time_text(point.time_s), (end, row), (4, 0), textcoords="offset points", va="center", fontsize=7
            )
        layout.row_axis(axes, [point.label for point in facet.points], rows, (-0.6, len(facet.points) - 0.4))
        axes.set_xlim(0, longest / unit_s * 1.2)
        layout.facet_title(axes, facet.title, facet.subtitle)
        axes.set_xlabel(f"time per transform ({unit})")
    return figure


PLOT = Plot(
    name="phases",
    title="Where the time goes",
    caption="Each bar is one transform: the phases of the slowest rank of each repetition, median over repetitions, "
    "then over launches. The tick is the median time itself: what a bar lacks to it is the skew of the start. "
    "Fastest first. A library that is one call cannot be taken apart: all of it is other.",
    order=20,
    pages=pages,
    draw=draw,
)
