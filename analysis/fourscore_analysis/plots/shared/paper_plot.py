"""What a figure of a paper's page is: the paper's own axes, with its printed numbers, its equations and ours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fourscore_analysis.papers.here import Here
from fourscore_analysis.plots.shared import colours
from fourscore_analysis.plots.shared.ticks import log_axis, own_ticks
from fourscore_analysis.records.values import plain_name

PRINTED_MARKER = "D"


@dataclass(frozen=True)
class PaperPlot:
    """`draw` makes the figure in any process and writes no file. Without an archive `Here` is empty, and the figure has
    the paper's numbers and equations alone."""

    name: str  # stem of its files, after the paper's: "figure-5"
    title: str
    caption: str  # how to read it
    draw: Callable[[Here, str], Figure]  # what was measured, heading

    def __post_init__(self) -> None:
        plain_name(self.name)


def line_handle(colour: str, label: str, style: str = "-") -> Line2D:
    return Line2D([], [], color=colour, linestyle=style, linewidth=1.2, label=label)


def marker_handle(colour: str, marker: str, label: str, hollow: bool = False) -> Line2D:
    fill = "white" if hollow else colour
    return Line2D([], [], color=colour, marker=marker, markersize=4, markerfacecolor=fill, linestyle="", label=label)


def printed_handle(label: str = "printed") -> Line2D:
    return marker_handle(colours.INK, PRINTED_MARKER, label, hollow=True)


def draw_printed(axes: Axes, xs: Sequence[float], ys: Sequence[float]) -> Line2D:
    [drawn] = axes.plot(
        xs,
        ys,
        color=colours.INK,
        marker=PRINTED_MARKER,
        markersize=4.2,
        markerfacecolor="white",
        linestyle="",
        zorder=4,
    )
    return drawn


def log_axes(
    axes: Axes, x_label: str, y_label: str, xs: Sequence[float], x_text: Callable[[float], str] = "{:g}".format
) -> None:
    """Both axes logarithmic: x with ticks at `xs`, y with as many as have room for what is drawn."""
    log_axis(axes, "x", (min(xs) / 1.2, max(xs) * 1.2), own_ticks(set(xs)), text=x_text, base=2)
    axes.set_xlabel(x_label)
    log_y(axes, y_label)


def log_y(axes: Axes, label: str) -> None:
    low, high = axes.dataLim.minposy / 1.5, axes.dataLim.y1 * 1.5
    log_axis(axes, "y", (low, high))
    axes.set_ylabel(label)
