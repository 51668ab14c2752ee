"""Where the new method of haynes2000 wins, by its equations 4 and 5, and where it does here."""

from __future__ import annotations

from collections.abc import Sequence

from fourscore_analysis.papers.here import Here
from fourscore_analysis.plots.base import mark
from fourscore_analysis.plots.shared import colours, layout
from fourscore_analysis.plots.shared.paper_plot import PaperPlot, line_handle, log_axes, marker_handle
from fourscore_analysis.points.units import ratio_text
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fourscore_papers.haynes2000 import equations
from fourscore_papers.haynes2000.numbers import (
    Crossing,
    alpha_beta_here,
    crossings_here,
    printed_alpha_beta,
    simulated_crossings,
    simulated_here,
)
from fourscore_papers.haynes2000.pairwise_phases import COLUMNS, NEW, TRADITIONAL, draw_communication, legend

NODES = tuple(2**power for power in range(2, 13))
EXTENTS = (16, 32, 64, 128)
MEASURED, SIMULATED = ("o", "s"), ("^", "v")  # where the new method wins, where the traditional one does


def draw_crossover(here: Here, heading: str) -> Figure:
    handles = [line_handle(colours.INK, "equal times, alpha × beta = 2 kB")]
    ours = next((one.value for one in alpha_beta_here(here)), None)
    crossings, simulated = crossings_here(here), simulated_crossings(here)
    if ours:
        handles.append(line_handle(colours.BLUE, f"alpha × beta measured here, {ours / 1e3:.3g} kB", "--"))
    for found, (new, traditional), where in ((crossings, MEASURED, "here"), (simulated, SIMULATED, "simulated,")):
        if found:
            handles += [
                marker_handle(NEW, new, f"{where} the new method wins"),
                marker_handle(TRADITIONAL, traditional, f"{where} the traditional one wins", hollow=True),
            ]
    figure, [axes] = layout.stacked_axes(heading, [2.6], 0.62, legend=(handles, 2))
    line = [equations.crossover_elements(nodes, printed_alpha_beta()) ** (1 / 3) for nodes in NODES]
    [drawn] = axes.plot(NODES, line, color=colours.INK)
    mark(drawn, "Eq. 4 = Eq. 5: below the line the new method wins")
    axes.fill_between(NODES, [1] * len(NODES), line, color=NEW, alpha=0.08, linewidth=0)
    if ours:
        axes.plot(NODES, [equations.crossover_elements(n, ours) ** (1 / 3) for n in NODES], "--", color=colours.BLUE)
    _draw_crossings(axes, crossings, MEASURED)
    _draw_crossings(axes, simulated, SIMULATED)
    log_axes(axes, "nodes, or ranks", "extent of the cube", [*NODES, *(one.ranks for one in crossings + simulated)])
    axes.set_ylim(4, max(line) * 1.3)
    return figure


def _draw_crossings(axes: Axes, found: Sequence[Crossing], markers: tuple[str, str]) -> None:
    for one in found:
        wins = one.ratio < 1
        look = {"marker": markers[0] if wins else markers[1], "color": NEW if wins else TRADITIONAL, "markersize": 4.5}
        [drawn] = axes.plot(
            [one.ranks], [one.extent], linestyle="", markerfacecolor=look["color"] if wins else "white", **look
        )
        mark(drawn, f"{one.what}\nnew over traditional: {ratio_text(one.ratio)}")


def draw_times(here: Here, heading: str) -> Figure:
    simulated = {extent: simulated_here(here, extent) for extent in EXTENTS}
    handles = legend([point for points in simulated.values() for point in points])
    figure, all_axes = layout.stacked_axes(heading, [1.35] * len(EXTENTS), 0.62, legend=(handles, COLUMNS))
    for (extent, points), axes in zip(simulated.items(), all_axes, strict=True):
        draw_communication(axes, extent**3, printed_alpha_beta(), points)
        layout.facet_title(axes, f"{extent}³", "alpha × beta = 2 kB")
    return figure


PLOTS = (
    PaperPlot(
        "crossover",
        "Where the new method wins",
        "The grid on which Eqs 4 and 5 give the same time, against the number of nodes. In the shaded region, "
        "small grids on many nodes, the new method is faster. Circles and squares: whole time of the fastest "
        "danielson-lanczos against the fastest rods of the archive, on the same ranks and cube. Triangles: on the "
        "simulated cluster of 100 Mbit/s, communication alone, rods with one message after the other, as Eq. 4 "
        "counts them.",
        draw_crossover,
    ),
    PaperPlot(
        "times",
        "Communication time by Eqs 4 and 5",
        "Over the latency alpha, so that the equations need of a machine only alpha × beta. Dotted: what the paper "
        "prints for many nodes. Markers: the simulated cluster of 100 Mbit/s, where an archive has it. rods/pairwise "
        "sends one message after the other, as Eq. 4 counts them; rods/p2p has all under way at once.",
        draw_times,
    ),
)
