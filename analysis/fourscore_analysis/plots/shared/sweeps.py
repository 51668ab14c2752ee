"""Time of one method against one quantity that alone changes, beside the published curve where there is one."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fourscore_analysis.plots.base import View, beside
from fourscore_analysis.plots.shared import colours, layout
from fourscore_analysis.plots.shared.lines import draw_point, even_parts, handle
from fourscore_analysis.plots.shared.published_marks import draw_published, published_handle
from fourscore_analysis.plots.shared.ticks import log_axis, log_ticks
from fourscore_analysis.points.beside_paper import difference_line
from fourscore_analysis.points.points import Point, group_by
from fourscore_analysis.points.units import part_title, time_text, time_unit
from fourscore_analysis.records.published import Published

ROWS_A_PAGE = 4
COLUMNS = 2


@dataclass
class Sweep:
    """Points by rising quantity, two or more."""

    label: str
    quantity: list[float]
    points: list[Point]


@dataclass
class SweepGroup:
    """Sweeps of one problem on one number of ranks under one contract."""

    title: str
    subtitle: str
    sweeps: list[Sweep]

    @property
    def first(self) -> Point:
        return self.sweeps[0].points[0]


@dataclass(frozen=True)
class Curve:
    """A published one."""

    table: Published
    what: str  # in the table
    quantity: tuple[float, ...]
    time_s: tuple[float, ...]

    @property
    def label(self) -> str:
        return f"{self.table.name}, {self.what}"


@dataclass(frozen=True)
class Over:
    """What the times of a curve are set against, from the times themselves in the order of the quantity."""

    label: str
    of: Callable[[Sequence[float]], float]


OVER_MINIMUM = Over("the minimum of its curve", min)
OVER_FIRST = Over("the first of its curve", lambda times: times[0])


@dataclass(frozen=True)
class OtherTime:
    """Another time of a point, where it has one."""

    label: str
    time_s: Callable[[Point], float | None]


def find_sweeps(
    view: View,
    quantity: Callable[[Point], float | None],
    cell: Callable[[Point], Hashable],
    method: Callable[[Point], str],
    title: Callable[[Point], str],
) -> list[SweepGroup]:
    """The drawn points that have the quantity, by cell and method; where two of a method have the same, the faster."""
    points = [point for one in view.drawn for point in one.ranked if quantity(point) is not None]
    groups = []
    for of_cell in group_by(points, lambda point: (cell(point), point.setting)):
        sweeps = []
        for of_method in group_by(of_cell, method):
            best: dict[float, Point] = {}
            for point in sorted(of_method, key=lambda point: point.time_s):
                best.setdefault(quantity(point), point)
            if len(best) >= 2:
                xs = sorted(best)
                sweeps.append(Sweep(method(of_method[0]), xs, [best[x] for x in xs]))
        if sweeps:
            first = sweeps[0].points[0]
            groups.append(SweepGroup(title(first), view.subtitle(first), sweeps))
    return groups


def points_of(groups: Iterable[SweepGroup]) -> list[Point]:
    return [point for group in groups for sweep in group.sweeps for point in sweep.points]


def in_pages(groups: Sequence[SweepGroup]) -> list[list[SweepGroup]]:
    """Groups of more sweeps than one axes has room for in parts."""
    groups = [part for group in groups for part in _in_parts(group)]
    return [list(groups[start : start + ROWS_A_PAGE]) for start in range(0, len(groups), ROWS_A_PAGE)]


def _in_parts(group: SweepGroup) -> list[SweepGroup]:
    parts = even_parts(group.sweeps)
    return [
        replace(group, title=part_title(group.title, number, len(parts)), sweeps=part)
        for number, part in enumerate(parts, 1)
    ]


def draw_sweeps(
    view: View,
    groups: Sequence[SweepGroup],
    heading: str,
    axis_label: str,
    ticks: Callable[[Iterable[float]], list[float]],
    over: Over = OVER_MINIMUM,
    other: OtherTime | None = None,
    time_label: str = "time per transform",
) -> Figure:
    """Left the time, and the `other` time of the same points; right the time `over` one of its own curve: there
    published curves may stand beside ours. `ticks` chooses those of the quantity's axis, which is logarithmic."""
    curves = [curve for one in beside() for curve in one.curves(axis_label)]
    looks = _looks(groups)
    handles = [handle(label, look) for label, look in looks.items()]
    handles += [published_handle(number, curve.label) for number, curve in enumerate(curves)]
    if other:
        handles.append(
            Line2D(
                [],
                [],
                color=colours.INK,
                linestyle="",
                marker="x",
                markersize=4,
                markeredgewidth=0.9,
                label=other.label,
            )
        )
    note = difference_line({curve.table.name: curve.table for curve in curves}.values(), points_of(groups))
    figure, pairs = layout.paired_axes(heading, len(groups), legend=(handles, COLUMNS), note=note)
    for group, (left, right) in zip(groups, pairs, strict=True):
        same_shape = [curve for curve in curves if curve.table.shape == group.first.cell.shape]
        slowest = max(point.time_s for sweep in group.sweeps for point in sweep.points)
        unit_s, unit = time_unit(slowest)
        _lines(left, group, looks, lambda sweep, time_s, unit_s=unit_s: time_s / unit_s)
        _published(left, curves, same_shape, lambda curve, time_s, unit_s=unit_s: time_s / unit_s)
        if other:
            _draw_other(left, group, looks, other, unit_s)
        _lines(right, group, looks, lambda sweep, time_s: time_s / over.of([point.time_s for point in sweep.points]))
        _published(right, curves, curves, lambda curve, time_s: time_s / over.of(curve.time_s))
        for axes, drawn in ((left, same_shape), (right, curves)):
            _quantity_axis(axes, group, drawn, axis_label, ticks)
            axes.set_ylim(0, axes.dataLim.y1 * 1.08)
            axes.locator_params(axis="y", nbins=6)
        left.set_ylabel(f"{time_label} ({unit})")
        right.set_ylabel(f"time over {over.label}")
        right.axhline(1, color=colours.GREY, linewidth=0.8, zorder=0)
        layout.facet_title(left, group.title, group.subtitle)
    return figure


def _draw_other(axes: Axes, group: SweepGroup, looks, other: OtherTime, unit_s: float) -> None:
    for sweep in group.sweeps:
        pairs = [(x, other.time_s(point)) for x, point in zip(sweep.quantity, sweep.points, strict=True)]
        pairs = [(x, time_s / unit_s) for x, time_s in pairs if time_s is not None]
        if pairs:
            colour = looks[sweep.label].colour
            axes.plot(
                *zip(*pairs, strict=True),
                color=colour,
                linestyle=(0, (1, 2)),
                linewidth=0.9,
                marker="x",
                markersize=4,
                markeredgewidth=0.9,
            )


def _looks(groups: Sequence[SweepGroup]) -> dict[str, colours.LineStyle]:
    """The look of each label's method: colour by variant, marker and line by what else the label says."""
    found: dict[str, colours.LineStyle] = {}
    for group in groups:
        for sweep in group.sweeps:
            method = sweep.points[0].method
            bare = method.variant if method.exchange in ("", "none") else f"{method.variant}/{method.exchange}"
            told = sweep.label.removeprefix(bare).strip(" ,")  # the swept option is no part of the label
            found.setdefault(sweep.label, colours.method_style(replace(method, parameters=told, placement="")))
    return found


def _lines(axes: Axes, group: SweepGroup, looks, value: Callable[[Sweep, float], float]) -> None:
    """A line a method, with the range over launches; hollow where more threads than cores took part."""
    for sweep in group.sweeps:
        look = looks[sweep.label]
        axes.plot(
            sweep.quantity,
            [value(sweep, point.time_s) for point in sweep.points],
            color=look.colour,
            linestyle=look.line,
            linewidth=1.1,
        )
        for x, point in zip(sweep.quantity, sweep.points, strict=True):
            ends = [value(sweep, point.time.low), value(sweep, point.time.high)]
            axes.plot([x, x], ends, color=look.colour, linewidth=0.8, alpha=0.6)
            draw_point(axes, x, value(sweep, point.time_s), point, look.colour, look.marker, f"at {x:g}")


def _published(axes: Axes, all_curves, curves, value: Callable[[Curve, float], float]) -> None:
    for curve in curves:
        said = [
            f"{curve.label}, published\nat {x:g}: {time_text(time_s)}"
            for x, time_s in zip(curve.quantity, curve.time_s, strict=True)
        ]
        times = [value(curve, time_s) for time_s in curve.time_s]
        draw_published(axes, list(all_curves).index(curve), curve.quantity, times, said)


def _quantity_axis(axes: Axes, group: SweepGroup, curves: Iterable[Curve], label: str, ticks) -> None:
    values = {x for sweep in group.sweeps for x in sweep.quantity} | {x for curve in curves for x in curve.quantity}
    low, high = min(values) / 1.2, max(values) * 1.2
    log_axis(axes, "x", (low, high), ticks(values), text="{:g}".format)
    axes.set_xlabel(label)


def decade_ticks(values: Iterable[float]) -> list[float]:
    """1, 2, 5, 10 ...: of quantities that are anything."""
    values = list(values)
    ticks = log_ticks(min(values) / 1.2, max(values) * 1.2)
    return ticks[:: -(-len(ticks) // 5)]
