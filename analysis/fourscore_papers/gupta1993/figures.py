"""Figures 2 to 4 of gupta1993 on its own axes: its equations with and without a start-up time, and ours.

The points of its curves stand in the figures alone, so none is drawn."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from fourscore_analysis.isoefficiency.points import Family, Need
from fourscore_analysis.papers.here import Here
from fourscore_analysis.plots.base import mark
from fourscore_analysis.plots.shared import colours, layout
from fourscore_analysis.plots.shared.paper_plot import PaperPlot, line_handle, log_axes, marker_handle
from fourscore_analysis.plots.shared.ticks import tick_text
from fourscore_analysis.points.units import digits, ranks_text
from fourscore_analysis.records.published import published
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fourscore_papers.gupta1993 import equations, what_ifs
from fourscore_papers.gupta1993.equations import Machine
from fourscore_papers.gupta1993.numbers import MOST, NAME, lines_here, model_speedup, ncube1
from fourscore_papers.gupta1993.readings import START_S
from fourscore_papers.gupta1993.simulated import PLATFORMS, families_on

SIZE_COLOURS = {1024: colours.VERMILLION, 65536: colours.BLUE}
LEVEL_COLOURS = {0.66: colours.BLUE, 0.76: colours.GREEN, 0.87: colours.VERMILLION}
MESH = colours.ORANGE
SIMULATED = PLATFORMS["hypercube"]
LARGEST = 65536  # points that the paper measured
PROCESSORS = tuple(range(1, MOST + 1, 3))
STARTS = {START_S: "-", 0.0: ":"}  # seconds to start a message, and how its line looks
WITH, WITHOUT = f"t_s = {1e3 * START_S:g} ms", "t_s = 0"
Overhead = Callable[[Machine, float, float], float]


def draw_figure_2(here: Here, heading: str) -> Figure:
    handles = [line_handle(colour, f"n = {points:,}, {WITH}") for points, colour in SIZE_COLOURS.items()]
    handles += [line_handle(colour, f"n = {points:,}, {WITHOUT}", ":") for points, colour in SIZE_COLOURS.items()]
    handles.append(line_handle(colours.GREY, "speedup = processors"))
    simulated = {points: simulated_speedups(here, points) for points in SIZE_COLOURS}
    if any(simulated.values()):
        handles.append(marker_handle(colours.INK, "o", "binary-exchange, simulated", hollow=True))
    ours = _curves_here(here)
    figure, all_axes = layout.stacked_axes(heading, [2.6] + [2.0] * bool(ours), 0.62, legend=(handles, 2))
    axes = all_axes[0]
    axes.plot([1, MOST], [1, MOST], color=colours.GREY, linewidth=1)
    for points, colour in SIZE_COLOURS.items():
        for start_s, style in STARTS.items():
            speedups = [model_speedup(points, p, start_s) for p in PROCESSORS]
            [drawn] = axes.plot(PROCESSORS, speedups, color=colour, linestyle=style)
            mark(drawn, f"n = {points:,}, t_s = {1e3 * start_s:g} ms: {speedups[-1]:.0f} on 1,024 processors")
        for ranks, speedup in simulated[points]:
            [drawn] = axes.plot([ranks], [speedup], marker="o", markersize=5, color=colour, markerfacecolor="white")
            mark(drawn, f"n = {points:,}, {ranks_text(ranks)} of {SIMULATED}: speedup {digits(speedup)}")
    _linear(axes, "processors", "speedup", MOST, MOST)
    layout.facet_title(axes, "By the equations", "nCUBE1, t_c = 80 µs, t_w = 16 µs")
    if ours:
        _draw_here(all_axes[1], ours)
    return figure


def simulated_speedups(here: Here, points: int) -> list[tuple[int, float]]:
    """Ranks of the simulated hypercube, and binary-exchange's own time on one over that on so many."""
    found = here.simulated(SIMULATED, "binary-exchange", (points,))
    if not found or found[0].cell.ranks != 1:
        return []
    return [(one.cell.ranks, found[0].time_s / one.time_s) for one in found[1:]]


def _curves_here(here: Here) -> list[Family]:
    """The family that is most like the paper's, where it has two counts of ranks or more sizes."""
    return [family for family in lines_here(here)[:1] if family.measured]


def _draw_here(axes: Axes, found: Sequence[Family]) -> None:
    [family] = found
    sizes = sorted({one.elements for one in family.measured})
    shown = sizes if len(sizes) <= 6 else [sizes[round(i * (len(sizes) - 1) / 5)] for i in range(6)]
    counts = sorted({1, *(one.ranks for one in family.measured)})
    axes.plot(counts, counts, color=colours.GREY, linewidth=1)
    for points, colour in zip(shown, colours.SERIES_COLOURS, strict=False):
        line = [one for one in family.measured if one.elements == points]
        xs, ys = [1, *(one.ranks for one in line)], [1.0, *(one.speedup.value for one in line)]
        [drawn] = axes.plot(xs, ys, color=colour, marker="o", markersize=3.6, linewidth=1, label=f"n = {points:,}")
        said = [f"{points:,} points on 1 rank"]
        said += [f"{points:,} points, {ranks_text(one.ranks)}: speedup {digits(one.speedup.value)}" for one in line]
        mark(drawn, *said)
    axes.legend(loc="upper left", fontsize=6.5)
    log_axes(axes, "ranks", "speedup", counts)
    layout.facet_title(axes, "Here", _whose(family))


def _whose(family: Family) -> str:
    """binary-exchange local=radix-2, single, Imaginary 9000"""
    model = family.first.measured[0].identity.get("machine", {}).get("cpu_model")
    return ", ".join([family.label, family.first.cell.contract.precision, *([str(model)] if model else [])])


def draw_figure_3(here: Here, heading: str) -> Figure:
    levels = [float(row["efficiency"]) for row in published(NAME, "figure-3").rows]
    handles = [line_handle(LEVEL_COLOURS[level], f"E = {level:g}, {WITH}") for level in levels]
    handles += [line_handle(LEVEL_COLOURS[level], f"E = {level:g}, {WITHOUT}", ":") for level in levels]
    ours = [family for family in _curves_here(here) if family.has_curve]
    figure, all_axes = layout.stacked_axes(heading, [2.6] + [1.7] * bool(ours), 0.72, legend=(handles, 2))
    for level in levels:
        for start_s, style in STARTS.items():
            _draw_isoefficiency(
                all_axes[0], equations.hypercube_overhead, start_s, level, LEVEL_COLOURS[level], style, f"E = {level:g}"
            )
    _paper_axes(all_axes[0])
    layout.facet_title(all_axes[0], "By the equations", "hypercube")
    if ours:
        _draw_sizes_here(all_axes[1], ours[0], levels)
    return figure


def _draw_isoefficiency(
    axes: Axes, overhead: Overhead, start_s: float, level: float, colour: str, style: str, said: str
) -> None:
    """Draws a line from 2 to 1,024 processors, as far as the paper's sizes go; no processor is without work."""
    machine = ncube1(start_s)
    at = []
    for processors in PROCESSORS[1:]:
        log2_points = equations.log2_points_for(overhead, machine, level, processors)
        log2_points = max(log2_points, math.log2(processors))
        if log2_points <= 1.1 * math.log2(LARGEST):
            at.append((log2_points * 2**log2_points, processors * math.log2(processors)))
    [drawn] = axes.plot(*zip(*at, strict=True), color=colour, linestyle=style)
    mark(drawn, f"{said}, t_s = {1e3 * start_s:g} ms")


def _draw_sizes_here(axes: Axes, family: Family, levels: Sequence[float]) -> None:
    xs, ys = [], []
    for level in levels:
        needs = [need for need in family.needs(level) if need.inside]
        at = [(need.log2_elements * 2**need.log2_elements, need.ranks * math.log2(need.ranks)) for need in needs]
        if at:
            [drawn] = axes.plot(
                *zip(*at, strict=True), color=LEVEL_COLOURS[level], marker="o", markersize=4, linestyle="-"
            )
            mark(drawn, *(f"E = {level:g}, {ranks_text(n.ranks)}: n = {2**n.log2_elements:,.0f}" for n in needs))
            xs += [x for x, _ in at]
            ys += [y for _, y in at]
    layout.facet_title(axes, "Here, between measured sizes", _whose(family))
    if not xs:
        axes.set_axis_off()
        text = "No E of the figure is crossed between measured sizes."
        axes.text(0, 0.5, text, transform=axes.transAxes, va="center", fontsize=7.5, color=colours.SOFT)
        return
    low, high = math.floor(math.log10(min(xs))), math.ceil(math.log10(max(xs)))
    log_axes(axes, "n log₂ n", "p log₂ p", [10.0**power for power in range(low, high + 1)], tick_text)


def draw_figure_4(here: Here, heading: str) -> Figure:
    [level] = {float(row["efficiency"]) for row in published(NAME, "figure-4").rows}
    networks = {"hypercube": (equations.hypercube_overhead, colours.BLUE), "mesh": (equations.mesh_overhead, MESH)}
    handles = [line_handle(colour, f"{name}, {WITH}") for name, (_, colour) in networks.items()]
    handles += [line_handle(colour, f"{name}, {WITHOUT}", ":") for name, (_, colour) in networks.items()]
    simulated = {name: families_on(here, PLATFORMS[name], "binary-exchange") for name in networks}
    handles += [
        marker_handle(colour, "o", f"{name}, simulated", hollow=True)
        for name, (_, colour) in networks.items()
        if simulated[name]
    ]
    figure, [axes] = layout.stacked_axes(heading, [2.6], 0.72, legend=(handles, 2))
    for name, (overhead, colour) in networks.items():
        for start_s, style in STARTS.items():
            _draw_isoefficiency(axes, overhead, start_s, level, colour, style, name)
        for family in simulated[name]:
            _draw_simulated(axes, [need for need in family.needs(level) if need.inside], colour, name)
    _paper_axes(axes)
    layout.facet_title(axes, f"E = {level:g}", "nCUBE1, t_c = 80 µs, t_w = 16 µs")
    return figure


def _draw_simulated(axes: Axes, needs: Sequence[Need], colour: str, network: str) -> None:
    for need in needs:
        at = (need.log2_elements * 2**need.log2_elements, need.ranks * math.log2(need.ranks))
        look = {"color": colour, "marker": "o", "markersize": 5, "markerfacecolor": "white", "linestyle": ""}
        [drawn] = axes.plot([at[0]], [at[1]], zorder=4, **look)
        mark(drawn, f"{network}, {ranks_text(need.ranks)} simulated: n = {2**need.log2_elements:,.0f}")


def _paper_axes(axes: Axes) -> None:
    _linear(axes, "n log₂ n", "p log₂ p", LARGEST * math.log2(LARGEST), MOST * math.log2(MOST))


def _linear(axes: Axes, x_label: str, y_label: str, x_end: float, y_end: float) -> None:
    axes.set_xlim(0, 1.03 * x_end)
    axes.set_ylim(0, 1.03 * y_end)
    axes.locator_params(nbins=6)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)


PLOTS = (
    PaperPlot(
        "figure-2",
        "Figure 2: speedup on a hypercube",
        "Binary exchange by Eqs 1 and 4. The paper prints no start-up time: without one nothing saturates (dotted); "
        "with 0.4 ms the small transform does, and the large one stays nearly linear, as its text says. Here: speedup "
        "over one rank of the binary exchange that is most like the paper's.",
        draw_figure_2,
    ),
    PaperPlot(
        "figure-3",
        "Figure 3: isoefficiency on a hypercube",
        "The size that keeps an efficiency, by Eq. 5; no processor is without work, so n is p at least. Below the "
        "threshold 0.83 the lines are nearly straight, and at 0.87 the size grows much faster, as the text says. Here: "
        "sizes read off between measured ones.",
        draw_figure_3,
    ),
    PaperPlot(
        "figure-4",
        "Figure 4: isoefficiency on a mesh and a hypercube",
        "By Eqs 4 and 8. On a mesh the size grows exponentially with the square root of the processors. Circles: "
        "nCUBE1's nodes simulated, as a hypercube and as a mesh, where an archive has them; sizes between simulated "
        "ones.",
        draw_figure_4,
    ),
    *what_ifs.PLOTS,
)
