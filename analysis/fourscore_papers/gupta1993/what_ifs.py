"""Isoefficiency curves of networks side by side: routing, width of channels, dimensions, networks of today; and what
networks of equal cost achieve (sections 5, 7 and 10 of gupta1993)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

from fourscore_analysis.papers.here import Here
from fourscore_analysis.plots.base import mark
from fourscore_analysis.plots.shared import colours, layout
from fourscore_analysis.plots.shared.paper_plot import PaperPlot, line_handle, log_y, marker_handle
from fourscore_analysis.plots.shared.ticks import log_axis, own_ticks
from fourscore_analysis.points.units import digits, ranks_text
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fourscore_papers.gupta1993 import equations, networks
from fourscore_papers.gupta1993.equations import Machine
from fourscore_papers.gupta1993.isoefficiency import log2_size_kept
from fourscore_papers.gupta1993.networks import Curve
from fourscore_papers.gupta1993.numbers import ncube1
from fourscore_papers.gupta1993.readings import START_S
from fourscore_papers.gupta1993.simulated import families_on

OF_PAPER, OF_TODAY = (0.66, 0.95), (0.2, 0.66)  # efficiencies: of Figure 4 and of Table 1; and what today's hosts reach
ROWS = (
    ("routing", networks.ROUTING, OF_PAPER),
    ("mesh channels", networks.CHANNELS, OF_PAPER),
    ("mesh dimensions", networks.DIMENSIONS, OF_PAPER),
    ("networks of today", networks.OF_TODAY, OF_TODAY),
)
COLOURS = {
    "binary exchange, either routing": colours.BLUE,
    "transposition, store-and-forward": colours.ORANGE,
    "transposition, cut-through": colours.GREEN,
    "hypercube": colours.BLUE,
    "2-D mesh": colours.VERMILLION,
    "2-D mesh, channels p^0.25 wide": colours.SKY,
    "2-D mesh, channels p^0.5 wide": colours.PURPLE,
    "3-D mesh": colours.INDIGO,
    "fat tree, binary exchange": colours.OLIVE,
    "fat tree, transposition": colours.TEAL,
    "dragonfly, binary exchange": colours.BROWN,
    "dragonfly, transposition": colours.GREY,
}
MOST_LOG2_POINTS = 45  # 2^45 elements of 8 bytes are 281 TB
POWERS = tuple(step / 4 for step in range(4, 65))  # log2 of the processors
TICKS = tuple(2**power for power in range(2, 17, 2))


def machine_of(curve: Curve) -> Machine:
    return curve.machine or ncube1(START_S)


def draw_networks(here: Here, heading: str) -> Figure:
    curves = {curve.label: curve for _, row, _ in ROWS for curve in row}
    simulated = {label: families_on(here, curve.platform, curve.variant) for label, curve in curves.items()}
    handles = [line_handle(COLOURS[label], label) for label in curves]
    if any(simulated.values()):
        handles.append(marker_handle(colours.INK, "o", "simulated", hollow=True))
    figure, pairs = layout.paired_axes(heading, len(ROWS), height_in=1.45, legend=(handles, 2))
    for (title, row, levels), pair in zip(ROWS, pairs, strict=True):
        for level, axes in zip(levels, pair, strict=True):
            for curve in row:
                _draw_curve(axes, curve, level)
                for family in simulated[curve.label]:
                    _draw_simulated(axes, curve, family.needs(level), level)
            _size_axes(axes)
            layout.axes_title(axes, f"{title}, E = {level:g}")
    return figure


def _draw_curve(axes: Axes, curve: Curve, level: float) -> None:
    """As far as the sizes go that a machine could hold, with gaps where they do not."""
    machine = machine_of(curve)
    sizes = [log2_size_kept(curve.overhead, machine, level, 2**power) for power in POWERS]
    shown = [size if size <= MOST_LOG2_POINTS else math.nan for size in sizes]
    [drawn] = axes.plot([2**power for power in POWERS], shown, color=COLOURS[curve.label], linewidth=1.2)
    mark(drawn, f"{curve.label}, E = {level:g}, by {curve.overhead.equation}")


def _draw_simulated(axes: Axes, curve: Curve, needs: Sequence, level: float) -> None:
    for need in needs:
        if need.inside:
            look = {"color": COLOURS[curve.label], "markerfacecolor": "white", "markersize": 4.5, "marker": "o"}
            [drawn] = axes.plot([need.ranks], [need.log2_elements], linestyle="", zorder=4, **look)
            size = f"n = {2**need.log2_elements:,.0f}"
            mark(drawn, f"{curve.label}, {ranks_text(need.ranks)} of {curve.platform}\nE = {level:g}: {size}")


def _size_axes(axes: Axes) -> None:
    log_axis(axes, "x", (TICKS[0] / 1.3, TICKS[-1] * 1.3), own_ticks(TICKS[::2]), text="{:,.0f}".format, base=2)
    axes.set_xlabel("processors")
    axes.set_ylim(0, MOST_LOG2_POINTS)
    axes.set_ylabel("log₂ n")


def draw_channel_width(_: Here, heading: str) -> Figure:
    machine = ncube1(START_S)
    looks = dict(zip(OF_PAPER, (colours.BLUE, colours.VERMILLION), strict=True))
    handles = [line_handle(colour, f"E = {level:g}") for level, colour in looks.items()]
    handles.append(line_handle(colours.GREY, "x = 0.5, best for large p", ":"))
    figure, [(left, right)] = layout.paired_axes(heading, 1, legend=(handles, 3))
    processors = 1024
    powers = [step / 50 for step in range(51)]
    counts = [2.0**power for power in range(4, 41, 2)]
    for level, colour in looks.items():
        sizes = [
            max(
                (1 + power) * math.log2(processors),
                equations.log2_points_for(
                    partial(equations.widened_mesh_overhead, power=power), machine, level, processors
                ),
            )
            for power in powers
        ]
        shown = [(x, y) for x, y in zip(powers, sizes, strict=True) if y <= MOST_LOG2_POINTS]
        [drawn] = left.plot(*zip(*shown, strict=True), color=colour)
        mark(drawn, f"E = {level:g}: best at x = {powers[sizes.index(min(sizes))]:g} of {processors:,} processors")
        right.plot(counts, [networks.best_power(machine, level, count) for count in counts], color=colour)
    for axes, span in ((left, left.axvline), (right, right.axhline)):
        span(0.5, color=colours.GREY, linestyle=":", linewidth=1, zorder=0)
        axes.set_ylim(0)
    left.set_xlabel("x: channels p^x wide")
    left.set_ylabel("log₂ n")
    layout.axes_title(left, f"Size that keeps E, {processors:,} processors")
    right.set_ylim(0, 1.02)
    log_axis(right, "x", (counts[0], counts[-1]), own_ticks([2.0**10, 2.0**20, 2.0**30]), text=_power_text, base=2)
    right.set_xlabel("processors")
    right.set_ylabel("best x")
    layout.axes_title(right, "Best x")
    return figure


def _power_text(value: float) -> str:
    return rf"$2^{{{round(math.log2(value))}}}$"


COST_POINTS = 2**20
COST_COLOURS = (colours.BLUE, colours.ORANGE, colours.GREEN, colours.PURPLE)
Cost = Callable[[float], float]
Rate = Callable[[Machine, float, float], float]


def equal_cost_networks() -> tuple[tuple[str, Cost, Cost, Rate], ...]:
    """Each network with its cost in links, in bisection width, and its overhead; section 7, with t_s = 0."""

    def plain(dimensions: int) -> tuple[Cost, Cost, Rate]:
        return (
            partial(equations.mesh_links_cost, width=1.0, dimensions=dimensions),
            partial(equations.mesh_bisection_cost, width=1.0, dimensions=dimensions),
            partial(equations.grid_overhead, dimensions=dimensions),
        )

    return (
        (
            "hypercube",
            equations.hypercube_links_cost,
            equations.hypercube_bisection_cost,
            equations.hypercube_overhead,
        ),
        ("2-D mesh", *plain(2)),
        (
            "2-D mesh as fast as the hypercube",
            equations.mesh_links_cost,
            equations.mesh_bisection_cost,
            equations.hypercube_overhead,
        ),
        ("3-D mesh", *plain(3)),
    )


def speedup(overhead: Rate, processors: float) -> float:
    machine = ncube1()
    e = equations.efficiency(overhead(machine, COST_POINTS, processors), equations.work(machine, COST_POINTS))
    return equations.speedup(processors, e)


def draw_equal_cost(_: Here, heading: str) -> Figure:
    found = equal_cost_networks()
    handles = [line_handle(colour, name) for (name, *_), colour in zip(found, COST_COLOURS, strict=True)]
    figure, [pair] = layout.paired_axes(heading, 1, height_in=2.0, legend=(handles, 2))
    counts = [2.0**power for power in POWERS if power >= 2]
    for axes, index, title in ((pair[0], 1, "by links"), (pair[1], 2, "by bisection width")):
        every = []
        for one, colour in zip(found, COST_COLOURS, strict=True):
            costs = [one[index](count) for count in counts]
            speedups = [speedup(one[3], count) for count in counts]
            [drawn] = axes.plot(costs, speedups, color=colour)
            mark(drawn, f"{one[0]}: speedup {digits(speedups[-1])} on {counts[-1]:,.0f} processors")
            every += costs
        log_axis(axes, "x", (min(every) / 1.3, max(every) * 1.3), [10.0, 1e3, 1e5], text="{:,.0f}".format)
        axes.set_xlabel("cost of the network")
        log_y(axes, "speedup")
        layout.axes_title(axes, f"Cost {title}")
    return figure


PLOTS = (
    PaperPlot(
        "networks",
        "What if: networks side by side",
        "The size that keeps an efficiency, log2 n, against processors: the lower, the better it scales. First row: "
        "section 5, where transposition gains nothing by store-and-forward routing, and wins by cut-through above the "
        "threshold. Second: section 7, channels p^x wide. Third: section 10, a 3-D mesh by the analysis of the 2-D "
        "one. These with t_c = 80 µs, t_w = 16 µs and t_s = 0.4 ms. Last: ours, with hosts and links of hdr-fat-tree "
        "and slingshot-dragonfly, whose t_w is 6 and 64 times t_c: they keep 0.2 where the nCUBE1 keeps 0.66. Lines "
        "end, or have gaps, where it takes more than 2^45 points.",
        draw_networks,
    ),
    PaperPlot(
        "channel-width",
        "What if: a mesh whose channels grow as p^x",
        "A 2-D mesh of nCUBE1's nodes, section 7: too narrow channels make the size grow exponentially, too wide ones "
        "are never full. For large p the best x is 0.5, as the section says. It comes near slowly: on 1,024 processors "
        "narrower channels do at the lower efficiency, and wider ones at the higher.",
        draw_channel_width,
    ),
    PaperPlot(
        "equal-cost",
        "What if: networks of equal cost",
        "Section 7: speedup of binary exchange, 2^20 points, t_s = 0, on machines whose networks cost the same, "
        "counted by links and by bisection width. A mesh as fast as the hypercube, processor for processor, costs more "
        "by links and less by its bisection. A mesh with plain channels is no worse than the hypercube here: it has "
        "more processors, and these cost nothing in the section.",
        draw_equal_cost,
    ),
)
