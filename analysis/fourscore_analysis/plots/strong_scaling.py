"""Speedup and parallel efficiency against ranks, the same problem."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fourscore_analysis.plots.base import Plot, View
from fourscore_analysis.plots.shared import colours, layout
from fourscore_analysis.plots.shared.scaling_axes import Group, draw_lines, draw_scaling, drawn_points, in_pages
from fourscore_analysis.points.scaling import Series, strong_series
from fourscore_analysis.points.units import ranks_text, shape_text


def pages(view: View) -> list[list[Group]]:
    return in_pages(strong_series(drawn_points(view)))


def draw(view: View, groups: list[Group], heading: str) -> Figure:
    return draw_scaling(view, groups, heading, _draw_speedup, Series.strong_efficiency)


def _draw_speedup(view: View, axes: Axes, group: Group, ranks: list[int]) -> None:
    bases = sorted({series.baseline.cell.ranks for series in group.series})
    for base in bases:
        ideal_ranks = [count for count in ranks if count >= base]
        axes.plot(ideal_ranks, [count / base for count in ideal_ranks], color=colours.GREY, linewidth=1)
    draw_lines(view, axes, group, Series.speedup, "speedup")
    axes.set_yscale("log", base=2)
    ticks = [2.0**power for power in range(-6, 20)]
    axes.set_yticks(ticks, [f"{tick:g}" if tick >= 1 else f"1/{1 / tick:g}" for tick in ticks])
    values = [value for series in group.series for value in series.speedup()]
    axes.set_ylim(min(values) / 1.2, max([*values, ranks[-1] / bases[0]]) * 1.2)
    axes.set_ylabel(f"speedup over {ranks_text(bases[0])}" if len(bases) == 1 else "speedup over own baseline")
    first = group.series[0].baseline
    layout.facet_title(axes, group.title(shape_text(first.cell.shape)), view.subtitle(first))


PLOT = Plot(
    name="strong-scaling",
    title="Strong scaling",
    caption="The same problem on more ranks. Each method is set against itself on the fewest ranks it was measured "
    "on (its baseline), so the lines say how well a method scales, not which is fastest. Hollow markers: "
    "more ranks than cores.",
    order=30,
    pages=pages,
    draw=draw,
)
