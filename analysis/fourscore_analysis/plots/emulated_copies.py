"""Stand-ins for hardware that is not there, as host-to-host copies for an accelerator: never beside real ones."""

from __future__ import annotations

from matplotlib.figure import Figure

from fourscore_analysis.plots.base import Plot, View
from fourscore_analysis.plots.shared.component_axes import CurvePage, curve_pages, draw_curves


def pages(view: View) -> list[CurvePage]:
    found = []
    for program in view.bench.programs:
        found += curve_pages(curve for curve in view.bench.curves(program) if curve.emulated)
    return found


def draw(view: View, page: CurvePage, heading: str) -> Figure:
    return draw_curves(view, page, f"EMULATED {heading.replace(PLOT.title, page.program)}", ceilings=False)


PLOT = Plot(
    name="emulated-copies",
    title="Emulated copies",
    caption="Something stands in for hardware that is not there: copies between host memories for an accelerator, "
    "or groups of ranks of one node for several nodes. They say nothing about it and are compared with nothing.",
    order=64,
    pages=pages,
    draw=draw,
)
