"""Memory traffic of each phase over the minimum bytes, inside the transform and alone."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fourscore_analysis.plots.base import Plot, View, mark
from fourscore_analysis.plots.shared import colours, layout, lettering
from fourscore_analysis.plots.shared.counted_facets import CountedFacet, counted_facets
from fourscore_analysis.plots.shared.said import point_text
from fourscore_analysis.plots.shared.ticks import log_axis, ratio_ticks
from fourscore_analysis.points.counting import CountedPoint, short_source_text
from fourscore_analysis.points.units import ratio_text
from fourscore_analysis.records.transforms import PHASES

LANE_IN, GAP_IN, LEAST_ROW_IN = 0.1, 0.05, 0.17
COLUMNS = 5


def compared(one: CountedPoint) -> list[str]:
    """Phases whose minimum bytes are known."""
    return [phase for phase in PHASES if one.over_least(phase)]


def _row_in(one: CountedPoint) -> float:
    return max(LEAST_ROW_IN, LANE_IN * len(compared(one)) + GAP_IN)


def _height_in(facet: CountedFacet) -> float:
    return sum(_row_in(one) for one in facet.rows)


def pages(view: View) -> list[list[CountedFacet]]:
    facets = []
    for facet in counted_facets(view):
        rows = [one for one in facet.rows if compared(one)]
        if rows:
            facets.append(CountedFacet(facet.title, facet.subtitle, rows, []))
    return [[facets[i] for i in page] for page in layout.paginate([_height_in(facet) for facet in facets])]


def draw(view: View, facets: list[CountedFacet], heading: str) -> Figure:
    rows = [one for facet in facets for one in facet.rows]
    present = [phase for phase in PHASES if any(phase in compared(one) for one in rows)]
    grey = {"linestyle": "", "color": colours.INK}
    handles = [Line2D([], [], color=colours.phase_colour(phase), linewidth=3, label=phase) for phase in present]
    handles.append(Line2D([], [], marker="o", markersize=4.5, label="inside", **grey))
    if any(one.alone for one in rows):
        handles.append(Line2D([], [], marker="o", markersize=4.5, markerfacecolor="white", label="alone", **grey))
    handles.append(Line2D([], [], marker="|", markersize=8, markeredgewidth=1.4, label="whole", **grey))
    figure, all_axes = layout.stacked_axes(
        heading,
        [_height_in(facet) for facet in facets],
        lettering.label_width_in(one.point.label for one in rows),
        legend=(handles, COLUMNS),
    )
    for facet, axes in zip(facets, all_axes, strict=True):
        _draw_facet(facet, axes)
        layout.facet_title(axes, facet.title, facet.subtitle)
    return figure


def _draw_facet(facet: CountedFacet, axes: Axes) -> None:
    values, centres, top = [1.0], [], 0.0
    for one in facet.rows:
        height = _row_in(one)
        centres.append(top + height / 2)
        lanes = compared(one)
        for lane, phase in enumerate(lanes):
            y = top + height / 2 + LANE_IN * (lane - (len(lanes) - 1) / 2)
            values += _draw_phase(axes, one, phase, y)
        if one.total_over_least:
            values.append(one.total_over_least)
            ends = [top + 0.02, top + height - 0.02]
            [bar] = axes.plot([one.total_over_least] * 2, ends, color=colours.INK, linewidth=1.2)
            mark(bar, _said(one, "whole", one.total_over_least))
        top += height
        axes.axhline(top, color=colours.LIGHT_GREY, linewidth=0.5)
    axes.axvline(1, color=colours.BLACK, linewidth=0.8, zorder=0)
    low, high = min(values) / 1.12, max(values) * 1.12
    log_axis(axes, "x", (low, high), ratio_ticks(low, high), text="{:g}".format)
    axes.set_xlabel("bytes moved over the minimum bytes (without a cache)")
    layout.row_axis(axes, [one.point.label for one in facet.rows], centres, (0, top))


def _draw_phase(axes: Axes, one: CountedPoint, phase: str, y: float) -> list[float]:
    inside, alone = one.over_least(phase), one.alone_over_least(phase)
    look = {"marker": "o", "markersize": 3.8, "markeredgewidth": 1.0, "color": colours.phase_colour(phase)}
    if alone:
        axes.plot([alone, inside], [y, y], color=look["color"], linewidth=1.3)
        [drawn] = axes.plot([alone], [y], markerfacecolor="white", **look)
        mark(drawn, _said(one, f"{phase} alone", alone))
    [drawn] = axes.plot([inside], [y], **look)
    mark(drawn, _said(one, f"{phase} inside", inside))
    return [value for value in (inside, alone) if value]


def _said(one: CountedPoint, what: str, ratio: float) -> str:
    return point_text(one.point, f"{what}: {ratio_text(ratio)} × the minimum bytes", short_source_text(one.source))


PLOT = Plot(
    name="over-minimum",
    title="Bytes against the minimum",
    caption="Counted bytes of each phase over the minimum bytes, which it must move when nothing stays in a cache: "
    "each 1-D stage and each copy touches its data once. Filled: inside the transform; hollow: the same "
    "components alone; bar: all phases together. Below 1 some of the data stayed in the cache; an ordinary "
    "store first reads the line it writes, which makes a copy 1.5.",
    order=52,
    pages=pages,
    draw=draw,
)
