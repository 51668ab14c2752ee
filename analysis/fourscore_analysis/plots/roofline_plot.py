"""The machine's roof with each phase under it, and the bandwidth that each phase reached."""

from __future__ import annotations

from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fourscore_analysis.models.roofline import Reached, RoofPoint, reached, roof_points
from fourscore_analysis.plots.base import Plot, View, mark
from fourscore_analysis.plots.shared import colours, layout
from fourscore_analysis.plots.shared.said import point_text
from fourscore_analysis.plots.shared.scaling_axes import method_handles
from fourscore_analysis.plots.shared.ticks import log_ticks
from fourscore_analysis.points.components import Ceiling
from fourscore_analysis.points.counting import CountedPoint, doubts, short_doubt, short_source_text
from fourscore_analysis.points.points import group_by
from fourscore_analysis.points.units import digits, rate_text
from fourscore_analysis.records.transforms import PHASES

ROWS_A_PAGE = 3
MOST_FACETS = 12
COLUMNS = 2


@dataclass
class RoofFacet:
    """Points of one problem on one number of ranks, counted by one source."""

    title: str
    subtitle: str
    notes: list[str]
    ceiling: Ceiling | None
    peak: Ceiling | None
    points: list[RoofPoint]
    reached: list[Reached]
    counts_flops: bool

    @property
    def timed(self) -> bool:
        return any(point.flops_rate for point in self.points)


def roof_facets(view: View) -> list[RoofFacet]:
    """Only where there is something to set the points against: a time, or both ceilings. Largest problems first."""
    facets = []
    groups = group_by(view.traffic_points, lambda one: (one.point.cell, one.point.setting, one.source))
    groups.sort(key=lambda group: (-group[0].point.cell.elements, -group[0].point.cell.ranks))
    for group in groups:
        facet = _facet(view, group)
        if facet.points and (facet.timed or (facet.ceiling and facet.peak)):
            facets.append(facet)
    return facets


def _facet(view: View, group: list[CountedPoint]) -> RoofFacet:
    first = group[0]
    cell, machine = first.point.cell, first.launches[0].machine_hash
    facet = RoofFacet(
        title=first.point.title,
        subtitle=", ".join(
            part
            for part in (view.subtitle(first.point), short_source_text(first.source), short_doubt(first.source))
            if part
        ),
        notes=doubts(first.source, any(one.multiplexed for one in group)),
        ceiling=view.shelf.copy_ceiling(view, machine, cell.place),
        peak=view.shelf.transform_peak(view, machine, cell.contract.precision),
        points=[],
        reached=[],
        counts_flops=any(one.counts_flops for one in group),
    )
    for one in group:
        timed = view.shelf.timed(one.point)
        facet.points += roof_points(one, timed)
        facet.reached += reached(one, timed)
    return facet


def pages(view: View) -> list[list[RoofFacet]]:
    facets = roof_facets(view)[:MOST_FACETS]
    return [facets[start : start + ROWS_A_PAGE] for start in range(0, len(facets), ROWS_A_PAGE)]


def draw(view: View, facets: list[RoofFacet], heading: str) -> Figure:
    handles = method_handles([point.method for facet in facets for point in facet.points])
    grey = {"linestyle": "", "markersize": 4, "color": colours.INK}
    handles.append(Line2D([], [], marker="o", label="a phase", **grey))
    handles.append(Line2D([], [], marker="o", markerfacecolor="white", label="whole transform", **grey))
    if any(point.flops_rate is None for facet in facets for point in facet.points):
        handles.append(Line2D([], [], marker="|", label="no time in this report", **grey))
    figure, pairs = layout.paired_axes(heading, len(facets), legend=(handles, COLUMNS))
    for facet, (left, right) in zip(facets, pairs, strict=True):
        _draw_roof(view, left, facet)
        _draw_reached(view, right, facet)
        layout.facet_title(left, facet.title, facet.subtitle)
    return figure


def _draw_roof(view: View, axes: Axes, facet: RoofFacet) -> None:
    xs = [point.intensity for point in facet.points]
    ys = [point.flops_rate / 1e9 for point in facet.points if point.flops_rate]
    if facet.ceiling and facet.peak:
        xs.append(facet.peak.rate / facet.ceiling.rate)
    low, high = min(xs) / 2, max(xs) * 2
    if facet.ceiling:
        ys += [facet.ceiling.rate * low / 1e9]
        top = facet.peak.rate / 1e9 if facet.peak else facet.ceiling.rate * high / 1e9
        knee = min(top * 1e9 / facet.ceiling.rate, high)
        axes.plot([low, knee], [facet.ceiling.rate * low / 1e9, facet.ceiling.rate * knee / 1e9], color=colours.INK)
        _text(axes, (low, 1.0), f"{facet.ceiling.label}: {facet.ceiling.rate / 1e9:.3g} GB/s", "left", -8)
    if facet.peak:
        start = facet.peak.rate / facet.ceiling.rate if facet.ceiling else low
        ys.append(facet.peak.rate / 1e9)
        axes.plot([start, high], [facet.peak.rate / 1e9] * 2, color=colours.INK)
        _text(axes, (low, 1.0), f"{facet.peak.label}: {facet.peak.rate / 1e9:.3g} GFLOP/s", "left", -15)
    bottom = min(ys) / 2
    for point in facet.points:
        look = colours.method_style(point.method.method)
        y = point.flops_rate / 1e9 if point.flops_rate else bottom * 1.25
        [drawn] = axes.plot(
            [point.intensity],
            [y],
            linestyle="",
            marker=look.marker if point.flops_rate else "|",
            markersize=4.2,
            markeredgewidth=0.9,
            color=look.colour,
            markerfacecolor=look.colour if point.phase else "white",
        )
        rate = rate_text(point.flops_rate, "FLOP/s") if point.flops_rate else "no time in this report"
        what = point.phase or "whole transform"
        mark(drawn, point_text(point.method, f"{what}: {digits(point.intensity)} flops a byte, {rate} a rank"))
    _log_axis(axes.xaxis, low, high)
    _log_axis(axes.yaxis, bottom, max(ys) * 4)
    axes.set_xlim(low, high)
    axes.set_ylim(bottom, max(ys) * 4)
    axes.set_xlabel("flops a byte " + ("(counted flops)" if facet.counts_flops else "(formula's flops)"))
    axes.set_ylabel("GFLOP/s a rank")


def _text(axes: Axes, place: tuple[float, float], text: str, side: str, down: float) -> None:
    axes.annotate(
        text,
        (0.02, place[1]),
        (0, down),
        xycoords="axes fraction",
        textcoords="offset points",
        ha=side,
        fontsize=6,
        color=colours.INK,
    )


def _log_axis(axis, low: float, high: float) -> None:
    (axis.axes.set_xscale if axis.axis_name == "x" else axis.axes.set_yscale)("log")
    ticks = log_ticks(low, high)
    ticks = ticks[:: -(-len(ticks) // 5)]
    axis.set_ticks(ticks, [f"{tick:g}" for tick in ticks])
    axis.set_ticks([], minor=True)


def _draw_reached(view: View, axes: Axes, facet: RoofFacet) -> None:
    phases = [phase for phase in PHASES if any(one.phase == phase for one in facet.reached)]
    methods = list({id(one.method): one.method for one in facet.reached}.values())
    for one in facet.reached:
        look = colours.method_style(one.method.method)
        lane = methods.index(one.method) - (len(methods) - 1) / 2
        x = phases.index(one.phase) + 0.7 * lane / max(1, len(methods))
        [drawn] = axes.plot([x], [one.rate / 1e9], linestyle="", marker=look.marker, markersize=3.8, color=look.colour)
        mark(drawn, point_text(one.method, f"{one.phase}: {rate_text(one.rate, 'B/s')} a rank"))
    highest = max([one.rate / 1e9 for one in facet.reached], default=1.0)
    if facet.ceiling:
        highest = max(highest, facet.ceiling.rate / 1e9)
        axes.axhline(facet.ceiling.rate / 1e9, color=colours.INK, linewidth=0.9, linestyle=(0, (4, 2)))
    axes.set_ylim(0, highest * 1.15)
    axes.set_xticks(range(len(phases)), phases, fontsize=6.8)
    axes.set_xlim(-0.6, max(len(phases), 1) - 0.4)
    axes.grid(axis="x", visible=False)
    axes.set_ylabel("GB/s a rank")
    axes.set_xlabel("counted bytes over time" if facet.reached else "no time in this report")


PLOT = Plot(
    name="roofline",
    title="Roofline",
    caption="Left: flops a byte of memory traffic against flops a second, of a rank. The roof is the copy bandwidth "
    "beyond the cache (memory_bench) and the fastest local transform (local_fft_bench) of the same machine, "
    "where the report has them. Flops are counted, or the formula's, which belong to fft, twiddle and combine "
    "together. Right: the bandwidth each phase reached, dashed the copy bandwidth; a phase without flops "
    "stands only there. Bytes are as counted: where the subtitle says simulated, they are those of the "
    "simulated cache, and the time is of the same point in a run that was not simulated.",
    order=54,
    pages=pages,
    draw=draw,
)
