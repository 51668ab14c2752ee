"""Time against the number of pencils that a dimension is cut into."""

from __future__ import annotations

import math

from matplotlib.figure import Figure

from fourscore_analysis.plots.base import Plot, View
from fourscore_analysis.plots.shared.sweeps import SweepGroup, decade_ticks, draw_sweeps, find_sweeps, in_pages
from fourscore_analysis.points.points import Point

PARAMETER = "decomposition"


def pencils(point: Point) -> float | None:
    """Pencils a state: 100 for 10x10; None for methods that have no such parameter or choose it themselves."""
    factors = (point.method.option(PARAMETER) or "").split("x")
    return math.prod(int(factor) for factor in factors) if all(factor.isdecimal() for factor in factors) else None


def method(point: Point) -> str:
    """What stays when the decomposition changes."""
    others = ", ".join(f"{name}={value}" for name, value in point.method.options if name != PARAMETER)
    exchange = "" if point.method.exchange in ("", "none") else f"/{point.method.exchange}"
    return f"{point.method.variant}{exchange}" + (f" {others}" if others else "")


def pages(view: View) -> list[list[SweepGroup]]:
    return in_pages(find_sweeps(view, pencils, lambda point: point.cell, method, lambda point: point.title))


def draw(view: View, groups: list[SweepGroup], heading: str) -> Figure:
    return draw_sweeps(view, groups, heading, "pencils a state", decade_ticks)


PLOT = Plot(
    name="decomposition",
    title="Time against decomposition",
    caption="How finely the data is cut into pencils that are scheduled one by one: finer cuts let a rank work on one "
    "pencil while others wait for messages, and cost more messages. At the right every curve is over its own minimum. "
    "Bars: range over launches.",
    order=42,
    pages=pages,
    draw=draw,
)
