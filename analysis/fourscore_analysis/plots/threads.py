"""Time against threads a rank: Table 3.1 of lee2018."""

from __future__ import annotations

from dataclasses import replace

from matplotlib.figure import Figure

from fourscore_analysis.plots.base import Plot, View
from fourscore_analysis.plots.shared.sweeps import (
    Curve,
    SweepGroup,
    draw_sweeps,
    find_sweeps,
    in_pages,
    points_of,
)
from fourscore_analysis.plots.shared.ticks import own_ticks
from fourscore_analysis.points.beside_paper import difference_line
from fourscore_analysis.points.points import Point, contract_terms
from fourscore_analysis.records.published import published


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


def curves() -> list[Curve]:
    table = published("lee2018", "table-3.1")
    if table is None:
        return []
    found = []
    for nodes in dict.fromkeys(row["nodes"] for row in table.rows):
        rows = [row for row in table.rows if row["nodes"] == nodes]
        threads = tuple(float(row["threads"]) for row in rows)
        times = tuple(row["backward_ms"] / 1e3 for row in rows)
        found.append(Curve(f"{table.name}, {nodes} nodes", table.shape, threads, times))
    return found


def draw(view: View, groups: list[SweepGroup], heading: str) -> Figure:
    note = difference_line([published("lee2018", "table-3.1")], points_of(groups))
    return draw_sweeps(view, groups, heading, "threads a rank", curves(), own_ticks, note=note)


PLOT = Plot(
    name="threads",
    title="Time against threads",
    caption="The same ranks with more threads each. The numbers of Table 3.1 of lee2018 (inverse transform of 300³, "
    "one process a node) are dotted. At the right every curve is over its own minimum. Hollow: more threads than "
    "cores. Bars: range over launches.",
    order=44,
    pages=pages,
    draw=draw,
)
