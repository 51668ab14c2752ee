"""Time against energy of one run, a mark for each method and number of ranks, with the Pareto points joined."""

from __future__ import annotations

from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fourscore_analysis.plots.base import Plot, View
from fourscore_analysis.plots.shared import colours, layout
from fourscore_analysis.plots.shared.lines import draw_point
from fourscore_analysis.plots.shared.scaling_axes import COLUMNS, method_handles
from fourscore_analysis.plots.shared.ticks import log_axis
from fourscore_analysis.points.energy import EnergyPoint, energy_groups, pareto
from fourscore_analysis.points.units import digits, shape_text, time_text, time_unit

HEIGHT_IN = 2.6


@dataclass
class EnergyFacet:
    title: str
    subtitle: str
    points: list[EnergyPoint]


def pages(view: View) -> list[list[EnergyFacet]]:
    facets = []
    for group in energy_groups(view.energies):
        first = group[0]
        subtitle = ", ".join(part for part in (view.subtitle(first.point), first.source.backend) if part)
        facets.append(EnergyFacet(shape_text(first.point.cell.shape), subtitle, group))
    return [[facets[i] for i in page] for page in layout.paginate([HEIGHT_IN] * len(facets))]


def draw(view: View, facets: list[EnergyFacet], heading: str) -> Figure:
    handles = method_handles([one.point for facet in facets for one in facet.points])
    handles.append(Line2D([], [], color=colours.INK, linewidth=0.9, label="Pareto points"))
    handles.append(Line2D([], [], color=colours.INK, linestyle="", marker="_", markersize=5, label="above idle"))
    figure, all_axes = layout.stacked_axes(heading, [HEIGHT_IN] * len(facets), 0.56, legend=(handles, COLUMNS))
    for facet, axes in zip(facets, all_axes, strict=True):
        _draw_facet(axes, facet)
        layout.facet_title(axes, facet.title, facet.subtitle)
    return figure


def _draw_facet(axes: Axes, facet: EnergyFacet) -> None:
    best = pareto(facet.points)
    unit_s, unit = time_unit(max(one.time_s or 0 for one in facet.points))
    axes.plot(
        [(one.time_s or 0) / unit_s for one in best],
        [one.with_idle_j for one in best],
        color=colours.INK,
        linewidth=0.9,
        drawstyle="steps-post",
        zorder=1,
    )
    for one in facet.points:
        _draw_one(axes, one, unit_s, any(one is other for other in best))
    times = [(one.time_s or 0) / unit_s for one in facet.points]
    spent = [value for one in facet.points for value in (one.with_idle_j, one.above_idle_j) if value]
    log_axis(axes, "x", (min(times) / 1.2, max(times) * 1.2), text="{:g}".format)
    log_axis(axes, "y", (min(spent) / 1.3, max(spent) * 1.3), text="{:g}".format)
    axes.set_xlabel(f"time ({unit})")
    axes.set_ylabel("energy of a run (J)")


def _draw_one(axes: Axes, one: EnergyPoint, unit_s: float, is_best: bool) -> None:
    look, x = colours.method_style(one.point.method), (one.time_s or 0) / unit_s
    said = [
        f"{joule_text(one.with_idle_j)} a run with idle power, {joule_text(one.above_idle_j)} above",
        f"counted by {one.source.backend} over {time_text(one.run_s)} a run",
        *(["Pareto point: no other takes less time and less energy"] if is_best else []),
    ]
    if one.above_idle_j:
        axes.plot([x], [one.above_idle_j], marker="_", markersize=5, linestyle="", color=look.colour)
        axes.plot([x, x], [one.above_idle_j, one.with_idle_j], color=look.colour, linewidth=0.5, zorder=0)
    draw_point(axes, x, one.with_idle_j, one.point, look.colour, look.marker, *said)
    ranks = one.point.cell.ranks
    axes.annotate(f"{ranks}", (x, one.with_idle_j), (4, 3), textcoords="offset points", fontsize=6)
    if is_best:
        ring = {"markerfacecolor": "none", "markeredgecolor": colours.INK, "markeredgewidth": 0.8}
        axes.plot([x], [one.with_idle_j], marker="o", markersize=8, linestyle="", **ring)


def joule_text(joules: float | None) -> str:
    """0.123 J"""
    return f"{digits(joules)} J" if joules else "–"


PLOT = Plot(
    name="energy",
    title="Time against energy",
    caption="One run of a problem by each method and number of ranks (the number beside the mark): its time, and the "
    "joules of all that was counted with the machine's idle power. The dash below is what remains above idle. Ringed "
    "and joined: Pareto points, than which no other takes less time and less energy with idle power. Hollow: more "
    "ranks than cores.",
    order=54,
    pages=pages,
    draw=draw,
)
