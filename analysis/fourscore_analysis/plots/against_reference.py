"""Every method against the reference library, comparison by comparison: the whole campaign at a glance."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fourscore_analysis.plots.base import Plot, View, mark
from fourscore_analysis.plots.shared import colours, layout, lettering
from fourscore_analysis.plots.shared.said import point_text
from fourscore_analysis.plots.shared.scaling_axes import COLUMNS, method_handles
from fourscore_analysis.plots.shared.ticks import log_axis, ratio_ticks
from fourscore_analysis.points.points import REFERENCE, Comparison
from fourscore_analysis.points.units import ratio_text

ROW_IN = 0.25
ROWS_A_FACET = 30

Facet = tuple[str, list[Comparison]]  # the contract, where there are several, and its comparisons


def pages(view: View) -> list[list[Facet]]:
    by_contract: dict[str, list[Comparison]] = {}
    for one in view.drawn:
        if one.reference and any(point is not one.reference for point in one.ranked):
            by_contract.setdefault(view.subtitle(one), []).append(one)
    facets = [
        (contract, rows[start : start + ROWS_A_FACET])
        for contract, rows in by_contract.items()
        for start in range(0, len(rows), ROWS_A_FACET)
    ]
    return [[facets[i] for i in page] for page in layout.paginate([ROW_IN * len(rows) for _, rows in facets])]


def draw(view: View, facets: list[Facet], heading: str) -> Figure:
    comparisons = [one for _, rows in facets for one in rows]
    handles = method_handles([point for one in comparisons for point in one.ranked])
    figure, all_axes = layout.stacked_axes(
        heading,
        [ROW_IN * len(rows) for _, rows in facets],
        lettering.label_width_in(one.title for one in comparisons),
        legend=(handles, COLUMNS),
    )
    for (contract, rows), axes in zip(facets, all_axes, strict=True):
        _draw_facet(view, rows, axes)
        layout.facet_title(axes, contract or "All comparisons")
    return figure


def _draw_facet(view: View, rows: list[Comparison], axes: Axes) -> None:
    limits = [1.0]
    for row, one in enumerate(rows):
        reference_s = one.reference.time_s
        step = 0.62 / max(1, len(one.ranked) - 1)
        for lane, point in enumerate(one.ranked):
            look, y = colours.method_style(point.method), row - 0.31 + step * lane
            ends = [point.time.low / reference_s, point.time.high / reference_s]
            limits += ends
            axes.plot(ends, [y, y], color=look.colour, linewidth=0.9, alpha=0.6)
            [drawn] = axes.plot(
                [point.time_s / reference_s], [y], marker=look.marker, markersize=3.4, color=look.colour
            )
            mark(drawn, point_text(point, f"{ratio_text(point.time_s / reference_s)} of {REFERENCE}"))
        if row:
            axes.axhline(row - 0.5, color=colours.LIGHT_GREY, linewidth=0.5)
    axes.axvline(1, color=colours.BLACK, linewidth=0.8, zorder=0)
    low, high = min(limits) / 1.05, max(limits) * 1.05
    log_axis(axes, "x", (low, high), ratio_ticks(low, high), text="{:g}".format)
    axes.set_xlabel(f"time over that of {REFERENCE} (left of the line is faster)")
    layout.row_axis(axes, [one.title for one in rows], range(len(rows)), (-0.5, len(rows) - 0.5))


PLOT = Plot(
    name="against-reference",
    title=f"Against {REFERENCE}",
    caption=f"Median time of each method over that of {REFERENCE} on the same problem, ranks and contract; lines are "
    "the range over launches. Only methods on one line of the plot may be compared.",
    order=5,
    pages=pages,
    draw=draw,
)
