"""Figures 3.1, 3.4, 3.5, 4.1 and 4.2 of lee2018, whose points stand there alone: what the text says of them, and ours
on the same axes, simulated ones hollow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from fourscore_analysis.papers.here import Here, what_text
from fourscore_analysis.plots.base import mark
from fourscore_analysis.plots.shared import colours, layout
from fourscore_analysis.plots.shared.paper_plot import draw_printed, line_handle, log_axes, printed_handle
from fourscore_analysis.points.points import Point
from fourscore_analysis.points.units import shape_text, time_text
from fourscore_analysis.records.published import published
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fourscore_papers.lee2018.measured import ALLOCATIONS, CHARM, NAME, NODE, by_nodes, by_threads, on_nodes
from fourscore_papers.lee2018.measured import simulated_on_nodes as simulated

METHODS = {CHARM: (colours.ORANGE, "Charm-FFT's method"), NODE: (colours.SKY, "Charm-NodeFFT's method")}
NODES = (1, 2, 4, 8, 16, 32, 64)
MEMORY = {
    "no GPU, FFTW": (colours.GREY, "FFTW, no GPU"),
    **{
        name: (colour, f"cuFFT, {name} memory ({memory})")
        for (name, memory), colour in zip(
            ALLOCATIONS.items(), (colours.BLUE, colours.GREEN, colours.VERMILLION), strict=True
        )
    },
}
WAYS = {
    ("forward", "one-thread"): (colours.BLUE, "-", "forward, Z to Y by one thread"),
    ("backward", "one-thread"): (colours.VERMILLION, "-", "backward"),
    ("forward", "threads"): (colours.BLUE, ":", "forward, Z to Y by all threads"),
}


def draw_line(axes: Axes, by_x: Mapping[int, Point], colour: str, hollow: bool = False, style: str = "-") -> None:
    if not by_x:
        return
    xs = sorted(by_x)
    times = [1e3 * by_x[x].time_s for x in xs]
    fill = {"markerfacecolor": "white"} if hollow else {}
    [drawn] = axes.plot(xs, times, color=colour, linestyle=style, marker="o", markersize=4, linewidth=1.1, **fill)
    mark(drawn, *(f"{what_text(by_x[x])}: {time_text(by_x[x].time_s)}" for x in xs))


def note(points: Iterable[Point]) -> str:
    found = list(points)
    return f"Here: {what_text(found[0])}." if found else ""


def draw_figures_3_4_and_3_5(here: Here, heading: str) -> Figure:
    """64 cores of each node above, 16 below."""
    found = {
        cores: {variant: (on_nodes(here, variant, cores), simulated(here, variant, cores)) for variant in METHODS}
        for cores in (64, 16)
    }
    ours = [point for of in found.values() for real, _ in of.values() for point in real.values()]
    handles = [line_handle(colour, name) for colour, name in METHODS.values()]
    handles.append(printed_handle("printed, of Charm-FFT"))
    figure, all_axes = layout.stacked_axes(heading, [1.9] * 2, 0.62, legend=(handles, 2), note=note(ours))
    row = next(row for row in published(NAME, "figure-3.4").rows if row["backward_low_ms"] is not None)
    ends = (row["backward_low_ms"], row["backward_high_ms"])
    for axes, (cores, methods), name, nodes in zip(
        all_axes, found.items(), ("Figure 3.4", "Figure 3.5"), (row["nodes"], 64), strict=True
    ):
        closely = "" if cores == 64 else ", closely"
        said = f"{name}, Charm-FFT on {nodes} nodes: {ends[0]} to {ends[1]} ms{closely}"
        mark(draw_printed(axes, [nodes] * 2, ends), said)
        for variant, (real, of_platform) in methods.items():
            draw_line(axes, real, METHODS[variant][0])
            draw_line(axes, of_platform, METHODS[variant][0], hollow=True)
        log_axes(axes, "nodes", "time backward (ms)", NODES)
        layout.facet_title(axes, f"{name}: 300³", f"{cores} cores a node")
    return figure


def draw_figures_4(here: Here, heading: str) -> Figure:
    found = {name: by_nodes(here, name) for name in MEMORY}
    if not any(found[name] for name in ALLOCATIONS):
        found = {name: {} for name in MEMORY}  # without a GPU there is nothing to compare
    handles = [line_handle(colour, name) for colour, name in MEMORY.values()]
    ours = [point for by_count in found.values() for point in by_count.values()]
    text = "" if ours else "  ".join(_said_of_figures_4())
    figure, [axes] = layout.stacked_axes(heading, [1.9], 0.62, legend=(handles, 2), note=note(ours) or text)
    for name, by_count in found.items():
        draw_line(axes, by_count, MEMORY[name][0])
    layout.facet_title(axes, "300³ backward", "printed: 4 threads a node, a P100 each")
    if ours:
        log_axes(axes, "nodes", "time backward (ms)", sorted({point.cell.place.nodes for point in ours}))
    else:
        _draw_less_time(axes)
    return figure


def _said_of_figures_4() -> list[str]:
    return [f"{row['allocation']}: {row['curve']}." for row in published(NAME, "figure-4.2").rows]


def _draw_less_time(axes: Axes) -> None:
    """Without ours: how much less time cuFFT takes than FFTW."""
    rows = published(NAME, "figure-4.1").rows
    mark(draw_printed(axes, [row["nodes"] for row in rows], [row["shorter_percent"] for row in rows]), "printed")
    axes.set_xlabel("nodes")
    axes.set_ylabel("cuFFT takes less, %")
    axes.set_xticks([1, 2, 3, 4])
    axes.set_ylim(0, 40)


def draw_figure_3_1(here: Here, heading: str) -> Figure:
    found = {way: by_threads(here, *way) for way in WAYS}
    handles = [line_handle(colour, name, style) for colour, style, name in WAYS.values()]
    ours = [point for by_count in found.values() for point in by_count.values()]
    figure, [axes] = layout.stacked_axes(heading, [1.8], 0.62, legend=(handles, 2), note=note(ours))
    for way, by_count in found.items():
        draw_line(axes, by_count, WAYS[way][0], style=WAYS[way][1])
    shape = shape_text(ours[0].cell.shape) if ours else "300³"
    layout.facet_title(axes, shape, "printed: the backward transform gains more clearly from threads")
    if ours:
        log_axes(
            axes, "worker threads of a node, or rank", "time (ms)", sorted({t for of in found.values() for t in of})
        )
    else:
        axes.set_axis_off()
        text = "The figure's points stand in it alone, and nothing was measured here."
        axes.text(0, 0.5, text, transform=axes.transAxes, va="center", fontsize=7.5, color=colours.SOFT)
    return figure
