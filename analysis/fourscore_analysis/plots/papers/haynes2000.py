"""Where the new method of haynes2000 wins, by its equations 4 and 5, and where it does here."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fourscore_analysis.equations import haynes2000 as equations
from fourscore_analysis.papers.haynes2000 import alpha_beta_here, crossings_here, printed_alpha_beta
from fourscore_analysis.papers.here import Here
from fourscore_analysis.plots.base import mark
from fourscore_analysis.plots.shared import colours, layout
from fourscore_analysis.plots.shared.paper_plot import PaperPlot, line_handle, log_axes, marker_handle
from fourscore_analysis.points.units import ratio_text

NODES = tuple(2**power for power in range(2, 13))
EXTENTS = (32, 64, 128)
NEW, TRADITIONAL = colours.PURPLE, colours.TEAL


def draw_crossover(here: Here, heading: str) -> Figure:
    handles = [line_handle(colours.INK, "equal times, alpha × beta = 2 kB")]
    ours = next((one.value for one in alpha_beta_here(here)), None)
    crossings = crossings_here(here)
    if ours:
        handles.append(line_handle(colours.BLUE, f"alpha × beta measured here, {ours / 1e3:.3g} kB", "--"))
    if crossings:
        handles += [
            marker_handle(NEW, "o", "here the new method wins"),
            marker_handle(TRADITIONAL, "s", "here the traditional one wins", hollow=True),
        ]
    figure, [axes] = layout.stacked_axes(heading, [2.6], 0.62, top_in=layout.legend_room_in(handles, 2))
    layout.page_legend(figure, handles, 2)
    line = [equations.crossover_elements(nodes, printed_alpha_beta()) ** (1 / 3) for nodes in NODES]
    [drawn] = axes.plot(NODES, line, color=colours.INK)
    mark(drawn, "Eq. 4 = Eq. 5: below the line the new method wins")
    axes.fill_between(NODES, [1] * len(NODES), line, color=NEW, alpha=0.08, linewidth=0)
    if ours:
        axes.plot(NODES, [equations.crossover_elements(n, ours) ** (1 / 3) for n in NODES], "--", color=colours.BLUE)
    for one in crossings:
        wins = one.ratio < 1
        look = {"marker": "o" if wins else "s", "color": NEW if wins else TRADITIONAL, "markersize": 4.5}
        [drawn] = axes.plot(
            [one.ranks], [one.extent], linestyle="", markerfacecolor=look["color"] if wins else "white", **look
        )
        mark(drawn, f"{one.what}\nnew over traditional: {ratio_text(one.ratio)}")
    log_axes(axes, "nodes, or ranks", "extent of the cube", [*NODES, *(one.ranks for one in crossings)])
    axes.set_ylim(4, max(line) * 1.3)
    return figure


def draw_times(here: Here, heading: str) -> Figure:
    handles = [line_handle(NEW, "new, Eq. 5"), line_handle(TRADITIONAL, "traditional, Eq. 4")]
    handles.append(line_handle(TRADITIONAL, "Eq. 4 for many nodes", ":"))
    figure, all_axes = layout.stacked_axes(
        heading, [1.5] * len(EXTENTS), 0.62, top_in=layout.legend_room_in(handles, 3)
    )
    layout.page_legend(figure, handles, 3)
    for extent, axes in zip(EXTENTS, all_axes, strict=True):
        _draw_times(axes, extent)
        layout.facet_title(axes, f"{extent}³", "alpha × beta = 2 kB")
    return figure


def _draw_times(axes: Axes, extent: int) -> None:
    nodes, product = (2, *NODES), printed_alpha_beta()
    for method, colour, style in (
        (equations.new, NEW, "-"),
        (equations.traditional, TRADITIONAL, "-"),
        (equations.traditional_on_many, TRADITIONAL, ":"),
    ):
        axes.plot(nodes, [method(extent**3, count, product) for count in nodes], color=colour, linestyle=style)
    log_axes(axes, "nodes", "time over alpha", nodes)


PLOTS = (
    PaperPlot(
        "crossover",
        "Where the new method wins",
        "The grid on which Eqs 4 and 5 give the same time, against the number of nodes. In the shaded region, "
        "small grids on many nodes, the new method is faster. Markers: whole time of the fastest "
        "danielson-lanczos against the fastest rods of the archive, on the same ranks and cube.",
        draw_crossover,
    ),
    PaperPlot(
        "times",
        "Communication time by Eqs 4 and 5",
        "Over the latency alpha, so that the equations need of a machine only alpha × beta. Dotted: what the paper "
        "prints for many nodes.",
        draw_times,
    ),
)
