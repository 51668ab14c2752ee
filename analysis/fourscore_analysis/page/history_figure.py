"""The large figure of one point's history: every launch, the median of each build, and what changed, named."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fourscore_analysis.gate.history import IMPROVEMENT, SLOWDOWN, Finding, Judged
from fourscore_analysis.page.small_plot import Panel, colour_of
from fourscore_analysis.plots.base import mark
from fourscore_analysis.plots.shared.colours import BLUE, INK, SKY
from fourscore_analysis.plots.shared.layout import TITLE_IN, legend_room_in, page_legend, stacked_axes
from fourscore_analysis.plots.shared.lettering import shorten
from fourscore_analysis.points.units import time_text, time_unit
from fourscore_analysis.tables.history import change_text, finding_text, range_of_revisions

HEIGHT_IN, LEFT_IN = 2.2, 0.62
COLUMNS = 4  # in the legend
NAME_DIGITS = 7
MOST_NAMED = 6  # builds below the axis


def history_figure(panel: Panel) -> Figure:
    """Times over builds, in order and evenly spaced; the vertical axis is logarithmic."""
    legend = _legend(panel)
    room_in = legend_room_in(legend, COLUMNS) - TITLE_IN  # no title stands above these axes
    figure, [axes] = stacked_axes(panel.title, [HEIGHT_IN], LEFT_IN, right_in=0.3, top_in=room_in + 0.08)
    all_s = np.concatenate([one.series.values_s for one in panel.judged])
    unit_s, unit = time_unit(float(np.median(all_s)))
    for judged in panel.judged:
        _draw_series(axes, panel, judged, unit_s)
    for at, _ in panel.place_changes():
        axes.axvline(at, color=INK, linewidth=0.9, linestyle=(0, (3, 3)))
    for judged in panel.judged:
        for finding in judged.findings:
            if not finding.drift and finding.kind in (SLOWDOWN, IMPROVEMENT):
                _draw_change(axes, panel, judged, finding)
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:.3g}")
    axes.yaxis.set_minor_formatter(lambda value, _: f"{value:.3g}")
    axes.tick_params(axis="y", which="minor", labelsize=6.5)
    low, high = axes.get_ylim()
    if high < 1.1 * low:
        middle = math.sqrt(low * high)
        axes.set_ylim(middle / math.sqrt(1.1), middle * math.sqrt(1.1))
    axes.set_ylabel(f"time ({unit})")
    axes.set_xlabel("build of the code, by revision")
    _name_builds(axes, panel)
    page_legend(figure, legend, COLUMNS)
    return figure


def _draw_series(axes: Axes, panel: Panel, judged: Judged, unit_s: float) -> None:
    series, positions = judged.series, panel.positions(judged)
    at = [x for x, launches in zip(positions, series.launches, strict=True) for _ in launches]
    launched = [one.times.median_s / unit_s for launches in series.launches for one in launches]
    values = series.values_s / unit_s
    axes.plot(at, launched, ".", color=SKY, markersize=3, alpha=0.6, zorder=1)
    [line] = axes.plot(positions, values, "o-", color=BLUE, markersize=2.6, linewidth=0.7, zorder=2)
    texts = [
        f"{build.name} {build.first_at[:10]}\n{time_text(float(value))}, {len(launches)} launch(es)"
        for build, value, launches in zip(series.builds, series.values_s, series.launches, strict=True)
    ]
    mark(line, *texts)
    drifts = [one for one in judged.findings if one.drift]
    for begin, end in pairwise(judged.bounds):
        if not any(one.begin <= begin and end - 1 <= one.end for one in drifts):
            middle = float(np.median(values[begin:end]))
            axes.plot([positions[begin], positions[end - 1]], [middle] * 2, color=INK, linewidth=1.6, zorder=3)
    for one in drifts:
        middle, half = float(np.median(np.log(values[one.begin : one.end + 1]))), math.log(one.ratio) / 2
        ends = [math.exp(middle - half), math.exp(middle + half)]
        colour = colour_of(one) if one.kind in (SLOWDOWN, IMPROVEMENT) else INK
        [drawn] = axes.plot([positions[one.begin], positions[one.end]], ends, color=colour, linewidth=1.8, zorder=3)
        mark(drawn, f"{range_of_revisions(one)}\n{finding_text(one)}")


def _draw_change(axes: Axes, panel: Panel, judged: Judged, finding: Finding) -> None:
    at = panel.positions(judged)[finding.end] - 0.5
    line = axes.axvline(at, color=colour_of(finding), linewidth=1.4, zorder=1.5)
    mark(line, f"{range_of_revisions(finding)}\n{finding_text(finding)}")
    place = ("right", -2) if at > 0.6 * len(panel.builds) else ("left", 2)
    axes.annotate(
        change_text(finding.ratio),
        (at, 1),
        xycoords=("data", "axes fraction"),
        xytext=(place[1], -2),
        textcoords="offset points",
        ha=place[0],
        va="top",
        fontsize=7,
        color=colour_of(finding),
    )


def _name_builds(axes: Axes, panel: Panel) -> None:
    """The first and the last build, and those that changed something, as far as there is room."""
    last = len(panel.builds) - 1
    named = [0, last]
    room = max(1, len(panel.builds) / MOST_NAMED)
    for finding in panel.findings:
        judged = next(one for one in panel.judged if one.series is finding.series)
        at = panel.positions(judged)[finding.end]
        if all(abs(at - other) >= room for other in named):
            named.append(at)
    named = sorted(set(named))
    labels = [shorten(panel.builds[at].revision[:NAME_DIGITS]) for at in named]
    axes.set_xticks(named, labels, fontsize=6.8)
    margin = max(0.6, 0.02 * last)
    axes.set_xlim(-margin, last + margin)


def _legend(panel: Panel) -> list[Line2D]:
    handles = [
        Line2D([], [], color=BLUE, marker="o", markersize=2.6, linewidth=0.7, label="median of a build"),
        Line2D([], [], color=SKY, marker=".", linestyle="", label="launch"),
        Line2D([], [], color=INK, linewidth=1.6, label="between changes"),
    ]
    if panel.place_changes():
        handles.append(Line2D([], [], color=INK, linestyle=(0, (3, 3)), linewidth=0.9, label="another machine"))
    return handles
