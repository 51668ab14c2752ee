"""Bandwidth of components that were measured at few sizes: a row each, size by size, methods side by side."""

from __future__ import annotations

from dataclasses import dataclass, replace

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fourscore_analysis.plots.base import Plot, View, mark
from fourscore_analysis.plots.shared import colours, layout, lettering
from fourscore_analysis.plots.shared.said import curve_text
from fourscore_analysis.points.components import (
    COPIES,
    COPY_KERNELS,
    LEAST_SIZES,
    MEMORY,
    TRANSFORMS,
    Curve,
    CurveGroup,
    grouped,
)
from fourscore_analysis.points.units import bytes_text, rate_unit

ROW_IN, ROWS_A_FACET, COLUMNS = 0.19, 30, 3
METHOD = "method"  # the label whose values stand side by side


@dataclass
class RateFacet:
    """Rows of one program on one number of ranks at one size."""

    title: str
    subtitle: str
    rows: dict[str, list[Curve]]
    ceiling: float | None  # bytes a second and rank

    @property
    def height_in(self) -> float:
        return ROW_IN * max(2, len(self.rows))


def _facets(view: View) -> list[RateFacet]:
    facets = []
    for program in view.bench.programs:
        copies = [curve for curve in view.bench.curves(program) if curve.kernel in COPY_KERNELS]
        by_size: dict[tuple[str, float], list[Curve]] = {}  # messages of exchanges may differ in size within one shape
        for curve in view.bench.curves(program):
            of_program = curve in copies and program not in (MEMORY, COPIES)  # there a copy is the ceiling alone
            if len(curve.points) < LEAST_SIZES and not curve.emulated and not of_program and program != TRANSFORMS:
                shape = curve.labels.get("shape", "")
                for point in curve.points:
                    by_size.setdefault((shape, 0.0 if shape else point.x), []).append(replace(curve, points=[point]))
        for size in sorted(by_size, reverse=True):
            for group in grouped(by_size[size]):
                facets += _facets_of(view, program, group, copies)
    return facets


def _facets_of(view: View, program: str, group: CurveGroup, copies: list[Curve]) -> list[RateFacet]:
    """One, or more where it has too many rows."""
    first = group.curves[0]
    rows: dict[str, list[Curve]] = {}
    for curve in group.curves:
        rows.setdefault(_row_label(curve), []).append(curve)
    cached = "in the cache" if first.points[0].in_cache else ""
    words = (first.labels.get("shape", ""), bytes_text(first.points[0].x), cached, group.subtitle)
    subtitle = ", ".join(word for word in words if word)
    ceiling, names = _ceiling(view, first, copies), list(rows)
    parts = [names[start : start + ROWS_A_FACET] for start in range(0, len(names), ROWS_A_FACET)]
    title = f"{program} · {group.title}"
    return [RateFacet(title, subtitle, {name: rows[name] for name in part}, ceiling) for part in parts]


def _row_label(curve: Curve) -> str:
    method = curve.labels.get(METHOD, "")
    return " ".join(word for word in curve.label.split(" ") if word != method) or curve.label


def _ceiling(view: View, curve: Curve, copies: list[Curve]) -> float | None:
    """The copy of the same program, else that of memory_bench."""
    same = [copy for copy in copies if (copy.machine_hash, copy.place) == (curve.machine_hash, curve.place)]
    rates = [point.rate for copy in same for point in copy.points if point.x == curve.points[0].x]
    if rates:
        return max(rates)
    ceiling = view.shelf.copy_ceiling(view, curve.machine_hash, curve.place)
    return ceiling.rate if ceiling else None


def pages(view: View) -> list[list[RateFacet]]:
    facets = _facets(view)
    return [[facets[i] for i in page] for page in layout.paginate([facet.height_in for facet in facets])]


def draw(view: View, facets: list[RateFacet], heading: str) -> Figure:
    curves = [curve for facet in facets for row in facet.rows.values() for curve in row]
    methods = sorted({curve.labels.get(METHOD, "") for curve in curves})
    handles = []
    for method in methods:
        look = colours.curve_style(method) if method else colours.LineStyle(colours.INK, "o", "-")
        handles.append(
            Line2D(
                [], [], color=look.colour, marker=look.marker, linestyle="", markersize=4, label=method or "measured"
            )
        )
    if any(facet.ceiling for facet in facets):
        handles.append(Line2D([], [], color=colours.INK, linestyle=(0, (4, 2)), label="copy"))
    figure, all_axes = layout.stacked_axes(
        heading,
        [facet.height_in for facet in facets],
        lettering.label_width_in(label for facet in facets for label in facet.rows),
        legend=(handles, COLUMNS),
    )
    for facet, axes in zip(facets, all_axes, strict=True):
        _draw_facet(axes, facet, methods)
        layout.facet_title(axes, facet.title, facet.subtitle)
    return figure


def _draw_facet(axes: Axes, facet: RateFacet, methods: list[str]) -> None:
    points = [curve.points[0] for row in facet.rows.values() for curve in row]
    highest = max([point.rate for point in points] + ([facet.ceiling] if facet.ceiling else []))
    unit, name = rate_unit(highest, "B/s")
    for row, curves in enumerate(facet.rows.values()):
        for curve in curves:
            look, [point] = colours.curve_style(curve.labels.get(METHOD) or curve.label), curve.points
            ends = [point.amount / point.high_s / unit, point.amount / point.low_s / unit]
            axes.plot(ends, [row, row], color=look.colour, linewidth=0.8, alpha=0.6)
            [drawn] = axes.plot(
                [point.rate / unit],
                [row],
                linestyle="",
                marker=look.marker,
                markersize=4,
                markeredgewidth=0.9,
                color=look.colour,
                markerfacecolor="white" if point.in_cache else look.colour,
            )
            mark(drawn, curve_text(curve, point))
    if facet.ceiling:
        axes.axvline(facet.ceiling / unit, color=colours.INK, linestyle=(0, (4, 2)), linewidth=0.9, zorder=1)
    axes.set_xlim(0, max([highest, *(point.amount / point.low_s for point in points)]) / unit * 1.04)
    axes.set_xlabel(f"{name} a rank")
    layout.row_axis(axes, list(facet.rows), range(len(facet.rows)), (-0.6, max(2, len(facet.rows)) - 0.4))


PLOT = Plot(
    name="component-rates",
    title="Components alone, size by size",
    caption="Bytes a second of one rank while all ranks work at once, of what was measured at one size or two. "
    "Dashed: the copy of the same program, else that of memory_bench on the same machine. Hollow: the data fit the "
    "caches. Lines: range over launches, of a single launch over its repetitions.",
    order=61,
    pages=pages,
    draw=draw,
)
