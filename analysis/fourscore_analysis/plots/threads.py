"""Time against threads a rank."""

from __future__ import annotations

from dataclasses import replace

from matplotlib.figure import Figure

from fourscore_analysis.plots.base import Plot, View
from fourscore_analysis.plots.shared.sweeps import SweepGroup, draw_sweeps, find_sweeps, in_pages
from fourscore_analysis.plots.shared.ticks import own_ticks
from fourscore_analysis.points.points import Point, contract_terms


def _without_threads(point: Point):
    return replace(point.cell, contract=replace(point.cell.contract, threads=1))


def pages(view: View) -> list[list[SweepGroup]]:
    groups = find_sweeps(
        view,
        lambda point: float(point.cell.contract.threads),
        _without_threads,
        lambda point: point.label,
        lambda point: point.title,
    )
    for group in groups:  # the number of threads is the axis, not part of the contract in words
        terms = contract_terms(_without_threads(group.first).contract)
        group.subtitle = ", ".join(term for term in terms if term not in view.common_terms)
    return in_pages(groups)


def draw(view: View, groups: list[SweepGroup], heading: str) -> Figure:
    return draw_sweeps(view, groups, heading, "threads a rank", own_ticks)


PLOT = Plot(
    name="threads",
    title="Time against threads",
    caption="The same ranks with more threads each. At the right every curve is over its own minimum. Hollow: more "
    "threads than cores. Bars: range over launches.",
    order=44,
    pages=pages,
    draw=draw,
)
