"""What each node does to its launches: ratios with intervals, and every launch."""

from __future__ import annotations

from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from fourscore_analysis.models.slow_nodes import COMPUTING, LAUNCHES, MARGIN, SLOW, UNKNOWN, Effect
from fourscore_analysis.plots.base import Plot, View, mark
from fourscore_analysis.plots.shared import colours, layout, lettering
from fourscore_analysis.plots.shared.ticks import log_axis, ratio_ticks
from fourscore_analysis.points.units import part_title, ratio_text

ROW_IN = 0.2
ROWS_A_FACET = 32
MOST_ROWS = 96  # per measure; the slowest
TITLES = {
    COMPUTING: ("Computing", "time of a node over that of the other nodes of the launch"),
    LAUNCHES: ("Launches", "time of launches with the node over launches of the same point without it"),
}
LOOKS = {SLOW: (colours.VERMILLION, "s"), UNKNOWN: (colours.GREY, "o")}
ALIKE_LOOK = (colours.BLUE, "o")


@dataclass
class Rows:
    """Nodes of one measure, the slowest first."""

    measure: str
    title: str
    subtitle: str
    effects: list[Effect]


def pages(view: View) -> list[list[Rows]]:
    facets = []
    for measure, (title, subtitle) in TITLES.items():
        every = [effect for effect in view.node_effects.effects if effect.measure == measure]
        effects = every[:MOST_ROWS]
        if len(every) > MOST_ROWS:
            subtitle = f"the {MOST_ROWS} slowest of {len(every)}"
        parts = [effects[start : start + ROWS_A_FACET] for start in range(0, len(effects), ROWS_A_FACET)]
        facets += [
            Rows(measure, part_title(title, number, len(parts)), subtitle, part) for number, part in enumerate(parts, 1)
        ]
    return [[facets[i] for i in page] for page in layout.paginate([ROW_IN * len(one.effects) for one in facets])]


def draw(view: View, facets: list[Rows], heading: str) -> Figure:
    handles = [
        Line2D([], [], color=colour, marker=marker, markersize=4, linewidth=1.4, label=label)
        for label, (colour, marker) in (
            ("slow", LOOKS[SLOW]),
            ("as the others", ALIKE_LOOK),
            ("cannot tell", LOOKS[UNKNOWN]),
        )
    ]
    handles.append(Line2D([], [], color=colours.SOFT, linestyle="", marker="o", markersize=2, label="a launch"))
    handles.append(Patch(color=colours.LIGHT_GREY, label=f"within {100 * MARGIN:g} %"))
    figure, all_axes = layout.stacked_axes(
        heading,
        [ROW_IN * len(one.effects) for one in facets],
        lettering.label_width_in(_name(effect) for one in facets for effect in one.effects),
        legend=(handles, 3),
    )
    for one, axes in zip(facets, all_axes, strict=True):
        _draw_rows(axes, one)
    return figure


def _name(effect: Effect) -> str:
    return " + ".join(effect.hosts)


def _draw_rows(axes: Axes, one: Rows) -> None:
    axes.axvspan(1 / (1 + MARGIN), 1 + MARGIN, color=colours.LIGHT_GREY, alpha=0.5, linewidth=0, zorder=0)
    axes.axvline(1, color=colours.INK, linewidth=0.8, zorder=1)
    values = [1 / (1 + MARGIN), 1 + MARGIN]
    for row, effect in enumerate(one.effects):
        colour, marker = LOOKS.get(effect.verdict, ALIKE_LOOK)
        dots = {"marker": "o", "markersize": 2, "markeredgewidth": 0, "linestyle": ""}
        axes.plot(effect.ratios, [row] * effect.launches, color=colours.SOFT, alpha=0.5, zorder=2, **dots)
        if effect.interval:
            axes.plot(effect.interval, [row, row], color=colour, linewidth=1.4, zorder=3)
        [drawn] = axes.plot([effect.ratio], [row], marker=marker, markersize=4, color=colour, linestyle="", zorder=4)
        mark(drawn, _said(effect))
        values += [effect.ratio, *effect.ratios, *(effect.interval or ())]
    low, high = min(values) / 1.02, max(values) * 1.02
    log_axis(axes, "x", (low, high), ratio_ticks(low, high), text="{:g}".format)
    axes.set_xlabel("ratio of times (right of 1 is slower)")
    layout.row_axis(
        axes, [_name(effect) for effect in one.effects], range(len(one.effects)), (-0.6, len(one.effects) - 0.4)
    )
    layout.facet_title(axes, one.title, one.subtitle)


def _said(effect: Effect) -> str:
    interval = "too few launches for an interval"
    if effect.interval:
        interval = f"interval {ratio_text(effect.interval[0])} to {ratio_text(effect.interval[1])}"
    launches = f"{effect.launches} launches with it" + (f", {effect.without} without" if effect.without else "")
    return "\n".join([f"{_name(effect)}: {ratio_text(effect.ratio)}, {effect.verdict}", interval, launches])


PLOT = Plot(
    name="node-effects",
    title="Does a node slow its launches down?",
    caption="Computing: how long the ranks of a node compute, over those of the other nodes of the same launch. "
    "Launches: the time of launches with a node over that of launches of the same point without it. A node is called "
    "slow only where its whole interval lies right of the grey band; all intervals together hold with 95 %.",
    order=58,
    pages=pages,
    draw=draw,
)
