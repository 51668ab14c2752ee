"""Bandwidth of each component alone against size, with the machine's copy bandwidth as the ceiling."""

from __future__ import annotations

from matplotlib.figure import Figure

from fourscore_analysis.plots.base import Plot, View
from fourscore_analysis.plots.shared.component_axes import CurvePage, curve_pages, draw_curves
from fourscore_analysis.points.components import TRANSFORMS


def pages(view: View) -> list[CurvePage]:
    """Every program but the one of transforms; what is emulated is in a plot of its own."""
    found = []
    for program in view.bench.programs:
        if program != TRANSFORMS:
            found += curve_pages(curve for curve in view.bench.curves(program) if not curve.emulated)
    return found


def draw(view: View, page: CurvePage, heading: str) -> Figure:
    return draw_curves(view, page, heading.replace(PLOT.title, page.program), ceilings=True)


PLOT = Plot(
    name="component-bandwidth",
    title="Components alone: bandwidth",
    caption="Bytes a second of one rank while all ranks work at once, against the size of one message or array; a page "
    "a program. Dashed: the copy bandwidth of this machine beyond the cache (memory_bench), with as many ranks "
    "at once: a reshuffle out of cache cannot pass it. Hollow: the data fit the caches. Bars: range over "
    "launches, of a single launch over its repetitions. What counts as a byte is in docs/components.md.",
    order=60,
    pages=pages,
    draw=draw,
)
