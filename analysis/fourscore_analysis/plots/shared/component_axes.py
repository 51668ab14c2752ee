"""What the plots of components alone share: curves of a rate over sizes, two axes a row, with the machine's ceiling."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fourscore_analysis.plots.base import View, mark
from fourscore_analysis.plots.shared import colours, layout
from fourscore_analysis.plots.shared.lines import even_parts, handle, is_power_of_two
from fourscore_analysis.plots.shared.said import curve_text
from fourscore_analysis.plots.shared.ticks import log_axis, log_ticks
from fourscore_analysis.points.components import LEAST_SIZES, TRANSFORMS, Curve, CurveGroup, grouped
from fourscore_analysis.points.units import part_title, rate_text, rate_unit, whole_bytes_text

AXES_A_PAGE = 8
LOG_FROM = 20  # times the least rate
COLUMNS = 2


@dataclass(frozen=True)
class CurvePage:
    """Axes of one program on one page."""

    program: str
    groups: list[CurveGroup]
    labels: list[str]  # for all curves of the program, so that one looks the same on every page


def curve_pages(curves: Iterable[Curve]) -> list[CurvePage]:
    """Pages of the curves of one program that have LEAST_SIZES sizes or more."""
    curves = [curve for curve in curves if len(curve.points) >= LEAST_SIZES]
    if not curves:
        return []
    groups = [part for group in grouped(curves) for part in small_multiples(group)]
    labels = sorted({curve.label for group in groups for curve in group.curves})
    program = curves[0].program
    return [
        CurvePage(program, groups[start : start + AXES_A_PAGE], labels) for start in range(0, len(groups), AXES_A_PAGE)
    ]


def small_multiples(group: CurveGroup) -> list[CurveGroup]:
    """The group on as many axes as its curves take, each with the others in grey behind its own."""
    parts = even_parts(group.curves)
    return [
        CurveGroup(
            part_title(group.title, number, len(parts)),
            group.subtitle,
            part,
            [curve for curve in group.curves if curve not in part],
        )
        for number, part in enumerate(parts, 1)
    ]


def draw_curves(view: View, page: CurvePage, heading: str, ceilings: bool) -> Figure:
    """Each axes in the unit of its largest rate; hollow where the data fit the caches; bars over launches, of a single
    launch over its repetitions."""
    shown = {curve.label for group in page.groups for curve in group.curves}
    labels = [label for label in page.labels if label in shown]
    handles = [handle(label, colours.curve_style(label)) for label in labels]
    hollow = Line2D(
        [],
        [],
        color=colours.INK,
        linestyle="",
        marker="o",
        markersize=3.5,
        markerfacecolor="white",
        label="in the cache",
    )
    if any(point.in_cache for group in page.groups for curve in group.curves for point in curve.points):
        handles.append(hollow)
    found = [_ceiling(view, group) if ceilings else None for group in page.groups]
    if any(found):
        handles.append(Line2D([], [], color=colours.INK, linestyle=(0, (4, 2)), label="copy beyond the cache"))
    if any(group.others for group in page.groups):
        handles.append(Line2D([], [], color=colours.LIGHT_GREY, label="those of the axes beside it"))
    if page.program == TRANSFORMS:
        handles.append(Line2D([], [], color=colours.INK, linewidth=1, label="lengths that are powers of two"))
    rows = -(-len(page.groups) // 2)
    figure, pairs = layout.paired_axes(heading, rows, legend=(handles, COLUMNS))
    all_axes = [axes for pair in pairs for axes in pair]
    for axes in all_axes[len(page.groups) :]:
        axes.set_visible(False)
    for axes, group, ceiling in zip(all_axes, page.groups, found, strict=False):
        _draw_group(axes, page, group, ceiling.rate if ceiling else None)
    return figure


def _ceiling(view: View, group: CurveGroup):
    first = group.curves[0]
    return view.shelf.copy_ceiling(view, first.machine_hash, first.place)


def _draw_group(axes: Axes, page: CurvePage, group: CurveGroup, ceiling: float | None) -> None:
    every = [*group.curves, *group.others]
    rates = [point.rate for curve in every for point in curve.points]
    highest = max([*rates, *([ceiling] if ceiling else [])])
    unit, name = rate_unit(highest, "FLOP/s" if page.program == TRANSFORMS else "B/s")
    for curve in group.others:
        axes.plot(
            [point.x for point in curve.points],
            [point.rate / unit for point in curve.points],
            color=colours.LIGHT_GREY,
            linewidth=0.8,
            zorder=1,
        )
    for curve in group.curves:
        _draw_curve(axes, curve, colours.curve_style(curve.label), unit)
    if ceiling:
        line = axes.axhline(ceiling / unit, color=colours.INK, linestyle=(0, (4, 2)), linewidth=0.9, zorder=1)
        mark(line, f"copy beyond the cache (memory_bench): {rate_text(ceiling, 'B/s')} a rank")
    if highest > LOG_FROM * min(rates):
        low, high = min(rates) / unit / 1.5, highest / unit * 1.5
        log_axis(axes, "y", (low, high))
    else:
        axes.set_ylim(0, highest / unit * 1.08)
        axes.locator_params(axis="y", nbins=6)
    axes.set_ylabel(f"{name} a rank")
    size_axis(axes, page.program, [point.x for curve in every for point in curve.points])
    layout.axes_title(axes, group.title)
    if group.subtitle:
        axes.annotate(
            group.subtitle,
            (1, 1),
            (0, -8),
            xycoords="axes fraction",
            textcoords="offset points",
            ha="right",
            fontsize=6,
        )


def _draw_curve(axes: Axes, curve: Curve, look: colours.LineStyle, unit: float) -> None:
    on_curve = [point for point in curve.points if curve.program != TRANSFORMS or is_power_of_two(int(point.x))]
    if len(on_curve) > 1:
        axes.plot(
            [point.x for point in on_curve],
            [point.rate / unit for point in on_curve],
            color=look.colour,
            linestyle=look.line,
            linewidth=1.0,
        )
    for point in curve.points:
        ends = [point.amount / point.high_s / unit, point.amount / point.low_s / unit]
        axes.plot([point.x, point.x], ends, color=look.colour, linewidth=0.8, alpha=0.6)
        [drawn] = axes.plot(
            [point.x],
            [point.rate / unit],
            linestyle="",
            marker=look.marker,
            markersize=3.4,
            markeredgewidth=0.8,
            color=look.colour,
            markerfacecolor="white" if point.in_cache else look.colour,
        )
        mark(drawn, curve_text(curve, point))


def size_axis(axes: Axes, program: str, xs: Sequence[float]) -> None:
    """Sizes in bytes at powers of two, or lengths of transforms."""
    low, high = min(xs) / 1.4, max(xs) * 1.4
    axes.set_xscale("log", base=2)
    if program == TRANSFORMS:
        ticks = log_ticks(low, high) if high < 1e3 * low else power_ticks(low, high)
        labels = [short_count(tick) for tick in ticks]
        axes.set_xlabel("length of the transform")
    else:
        ticks = power_ticks(low, high, 4)
        labels = [whole_bytes_text(tick) for tick in ticks]
        axes.set_xlabel("message a partner" if program in ("alltoall_bench", "pairwise_bench") else "size")
    axes.set_xticks(ticks, labels)
    axes.set_xticks([], minor=True)
    axes.set_xlim(low, high)


def power_ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Powers of two within [low, high], `most` of them at the most, evenly spaced."""
    first, last = math.ceil(math.log2(low)), math.floor(math.log2(high))
    step = max(1, -(-(last - first + 1) // most))
    return [2.0**power for power in range(first, last + 1, step)]


def short_count(count: float) -> str:
    """4096 as 4096, larger powers of two as 2^20."""
    power = math.log2(count)
    return rf"$2^{{{round(power)}}}$" if count >= 1e4 and power == round(power) else f"{count:g}"
