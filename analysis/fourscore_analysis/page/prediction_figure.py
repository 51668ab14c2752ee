"""Predictions drawn: time over ranks, a line for each method and machine, its interval around it, what was measured as
crosses."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fourscore_analysis.plots.base import mark
from fourscore_analysis.plots.shared.colours import SERIES_COLOURS
from fourscore_analysis.plots.shared.layout import facet_title, stacked_axes
from fourscore_analysis.points.units import ranks_text, rate_text, shape_text, time_text
from fourscore_analysis.tables.columns import outside_text
from fourscore_analysis.tables.predictions import maker_of
from fourscore_analysis.views.predictions import Answer

LEFT_IN, HEIGHT_IN, COLUMNS = 0.8, 3.2, 2
MARKERS = ("o", "s", "^", "D", "v", "P")


def predictions_figure(found: Sequence[Answer]) -> Figure:
    """Predictions for one shape. Methods that nothing predicts are in no line and not in the legend."""
    lines: dict[tuple[str, str], list[Answer]] = {}
    for one in found:
        if one.prediction:
            lines.setdefault((one.source.title or one.source.label, maker_of(one)), []).append(one)
    looks = [(SERIES_COLOURS[n % len(SERIES_COLOURS)], MARKERS[n % len(MARKERS)]) for n in range(len(lines))]
    handles = [
        Line2D([], [], color=colour, marker=marker, markersize=3, label=f"{method}, {maker}")
        for (method, maker), (colour, marker) in zip(lines, looks, strict=True)
    ]
    title = f"{shape_text(found[0].question.cell.shape)}: predicted time over ranks"
    figure, [axes] = stacked_axes(title, [HEIGHT_IN], LEFT_IN, legend=(handles, COLUMNS))
    for members, look in zip(lines.values(), looks, strict=True):
        _draw(axes, members, *look)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.yaxis.set_major_formatter(lambda value, _: time_text(value))
    axes.set_xlabel("ranks")
    axes.set_ylabel("time")
    facet_title(axes, "Time of one transform", "band: 95 %; x: measured")
    return figure


def _draw(axes: Axes, members: Sequence[Answer], colour: str, marker: str) -> None:
    ranks = [one.question.ranks for one in members]
    predictions = [one.prediction for one in members if one.prediction]
    ends = [one.total.interval for one in predictions if one.total.interval]
    if len(ends) == len(ranks):
        low, high = zip(*ends, strict=True)
        axes.fill_between(ranks, low, high, color=colour, alpha=0.15, linewidth=0)
    [line] = axes.plot(ranks, [one.total.seconds for one in predictions], color=colour, marker=marker, markersize=3)
    mark(line, *(_said(one) for one in members))
    measured = [(one.question.ranks, one.measured_s) for one in members if one.measured_s is not None]
    if measured:
        axes.plot(*zip(*measured, strict=True), "x", color=colour, markersize=5)


def _said(one: Answer) -> str:
    prediction = one.prediction
    assert prediction is not None
    who = f"{one.source.label}, {maker_of(one)}, {ranks_text(one.question.ranks)}"
    said = f"{who}: {time_text(prediction.total.seconds)}, {rate_text(prediction.flops_per_s, 'FLOP/s')}"
    return "\n".join(text for text in (said, f"limited by {prediction.limiting}", outside_text(prediction)) if text)
