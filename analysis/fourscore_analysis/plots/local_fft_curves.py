"""GFLOP/s of local 1-D transforms against their length, contiguous and strided."""

from __future__ import annotations

from matplotlib.figure import Figure

from fourscore_analysis.plots.base import Plot, View
from fourscore_analysis.plots.shared.component_axes import CurvePage, curve_pages, draw_curves
from fourscore_analysis.points.components import TRANSFORMS


def pages(view: View) -> list[CurvePage]:
    return curve_pages(view.bench.curves(TRANSFORMS))


def draw(view: View, page: CurvePage, heading: str) -> Figure:
    return draw_curves(view, page, heading, ceilings=False)


PLOT = Plot(
    name="local-fft",
    title="Local transforms alone",
    caption="Credited 5 N log2 N flops a second of one rank against the length of the transform, batched as the "
    "variants batch them: contiguous and strided, each planner effort. Hollow: the data fit the caches. Bars: "
    "range over launches, of a single launch over its repetitions.",
    order=62,
    pages=pages,
    draw=draw,
)
