"""Time against the number of pencils that a dimension is cut into: Table 2.1 of lee2018."""

from __future__ import annotations

import math

from matplotlib.figure import Figure

from fourscore_analysis.plots.base import Plot, View
from fourscore_analysis.plots.shared.sweeps import (
    Curve,
    SweepGroup,
    decade_ticks,
    draw_sweeps,
    find_sweeps,
    in_pages,
    points_of,
)
from fourscore_analysis.points.beside_paper import difference_line
from fourscore_analysis.points.points import Point
from fourscore_analysis.records.published import published

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
    return in_pages(
        find_sweeps(
            view,
            pencils,
            lambda point: point.cell,
            method,
            lambda point: point.title,
        )
    )


def curves() -> list[Curve]:
    table = published("lee2018", "table-2.1")
    if table is None:
        return []
    counts = tuple(float(row["chares_per_state"]) for row in table.rows)
    return [
        Curve(f"{table.name}, {name}", table.shape, counts, tuple(row[f"{column}_ms"] / 1e3 for row in table.rows))
        for name, column in (("FFT", "forward"), ("IFFT", "backward"))
    ]


def draw(view: View, groups: list[SweepGroup], heading: str) -> Figure:
    note = difference_line([published("lee2018", "table-2.1")], points_of(groups))
    return draw_sweeps(view, groups, heading, "pencils a state", curves(), decade_ticks, note=note)


PLOT = Plot(
    name="decomposition",
    title="Time against decomposition",
    caption="How finely the data is cut into pencils that are scheduled one by one: finer cuts let a rank work on one "
    "pencil while others wait for messages, and cost more messages. As Table 2.1 of lee2018, whose numbers (300³ on "
    "128 cores) are dotted; at the right every curve is over its own minimum. Bars: range over launches.",
    order=42,
    pages=pages,
    draw=draw,
)
