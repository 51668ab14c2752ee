"""Host-to-host stand-ins for copies to an accelerator: never beside real ones."""

from __future__ import annotations

from matplotlib.figure import Figure

from fourscore_analysis.component_axes import CurvePage, curve_pages, draw_curves
from fourscore_analysis.plots.base import Plot
from fourscore_analysis.view import View


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
    caption="No accelerator took part: copies between host memories stand in, so that the program runs everywhere. "
    "They say nothing about an accelerator and are compared with nothing.",
    order=64,
    pages=pages,
    draw=draw,
)
