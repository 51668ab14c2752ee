"""What a plot is, and what the plots of single points share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.figure import Figure

from fourscore_analysis.views.view import View


@dataclass(frozen=True)
class Plot:
    """`pages` says what each page shows (nothing: the campaign has no such data) and is cheap; `draw` makes one page,
    in any process. Neither writes a file."""

    name: str  # of its files
    title: str
    caption: str  # how to read it
    order: int
    pages: Callable[[View], Sequence[Any]]
    draw: Callable[[View, Any, str], Figure]  # view, page, heading


def log_ticks(low: float, high: float) -> list[float]:
    """Ticks at 1, 2 and 5 times powers of ten within [low, high]; fewer where they would crowd."""
    for steps in ((1, 2, 5), (1, 3), (1,)):
        ticks, power = [], 1e-12
        while power <= high:
            ticks += [power * step for step in steps if low <= power * step <= high]
            power *= 10
        if len(ticks) <= 7:
            return ticks
    return ticks[:: -(-len(ticks) // 7)]


def time_axis(axis, low_s: float, high_s: float, unit_s: float, unit: str, name: str, log: bool) -> None:
    """Labels the x axis, whose data are in `unit`."""
    axis.set_xlabel(f"{name} ({unit})")
    if log:
        axis.set_xscale("log")
        low, high = low_s / unit_s, high_s / unit_s
        ticks = log_ticks(low, high)
        axis.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axis.set_xticks([], minor=True)
        axis.set_xlim(low, high)
    else:
        axis.locator_params(axis="x", nbins=6)
