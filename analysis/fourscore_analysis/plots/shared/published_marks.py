"""How a paper's numbers look: in ink, dotted, with white markers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from fourscore_analysis.plots.base import View, mark
from fourscore_analysis.plots.shared import colours

MARKERS = ("o", "s", "^", "D", "v")
LOOK: dict[str, Any] = {
    "color": colours.INK,
    "linestyle": ":",
    "linewidth": 0.9,
    "markersize": 3.6,
    "markeredgewidth": 0.7,
    "markerfacecolor": "white",
}


def measures(view: View, paper: str) -> bool:
    """Whether the campaign's suite says that it measures after this paper."""
    return any(item.startswith(f"{paper}/") for item in view.campaign.paper)


def published_handle(number: int, label: str) -> Line2D:
    return Line2D([], [], marker=MARKERS[number % len(MARKERS)], label=label, **LOOK)


def model_handle(label: str) -> Line2D:
    return Line2D([], [], color=colours.INK, linestyle=":", linewidth=1.1, label=label)


def draw_published(axes: Axes, number: int, xs: Sequence[float], ys: Sequence[float], said: Sequence[str]) -> None:
    """Points of one published row or curve, joined by a dotted line, each saying its text."""
    [drawn] = axes.plot(xs, ys, marker=MARKERS[number % len(MARKERS)], **LOOK)
    mark(drawn, *said)
