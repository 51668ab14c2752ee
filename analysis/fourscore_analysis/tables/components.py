"""Rows of the table of components alone, as text."""

from __future__ import annotations

import math

from fourscore_analysis.models.alpha_beta import Estimate, alpha_betas
from fourscore_analysis.points.components import TRANSFORMS, Ceiling, Curve, grouped
from fourscore_analysis.points.units import bytes_text, percent_text, range_text, rate_text, ratio_text, time_text
from fourscore_analysis.tables.row import Texts
from fourscore_analysis.views.view import View


def alpha_beta_rows(view: View) -> list[Texts]:
    """Messages between two ranks, T = alpha + m / beta: one for each kind of message, place and phase of
    pairwise_bench."""
    found = alpha_betas(view.bench.measured)
    names_nodes = not all(one.place.plain for one in found)
    return [
        Texts(
            what=f"{one.kernel}, phase {one.phase}",
            where=one.place.text(names_nodes),
            alpha=time_text(one.alpha_s.value),
            alpha_interval=_interval_text(one.alpha_s),
            beta=rate_text(one.beta, "B/s") if math.isfinite(one.beta) else "–",
            word=time_text(one.t_w),
            replicates=f"{one.replicates} {'launches' if one.of_launches else 'repetitions of one launch'}",
            worst=f"{percent_text(one.worst)} at {bytes_text(one.worst_bytes)}",
        )
        for one in found
    ]


def _interval_text(one: Estimate) -> str:
    return range_text(*one.interval) if one.interval else "–"


def bench_tables(view: View) -> list[Texts]:
    """One a program: all curves."""
    found = []
    for program in view.bench.programs:
        rows = []
        for group in grouped(view.bench.curves(program)):
            for number, curve in enumerate(group.curves):
                ceiling = view.shelf.copy_ceiling(view, curve.machine_hash, curve.place)
                axes = " · ".join(part for part in (group.title, group.subtitle) if part)
                rows.append(_row(curve, axes, ceiling, number == 0))
        if rows:
            found.append(Texts(program=program, has_copy=any(row.over_copy for row in rows), rows=rows))
    return found


def size_text(program: str, x: float) -> str:
    return f"{x:g}" if program == TRANSFORMS else bytes_text(x)


def curve_rate_text(program: str, rate: float | None) -> str:
    """8.12 GB/s, or 3.20 GFLOP/s"""
    return rate_text(rate, "FLOP/s" if program == TRANSFORMS else "B/s")


def _row(curve: Curve, axes: str, ceiling: Ceiling | None, first: bool) -> Texts:
    """One curve: its fastest size, in the cache and beyond it, and the copy of memory_bench. `first`: on its axes."""
    program, best, beyond = curve.program, curve.best, curve.best_beyond_cache
    over = ""
    if beyond and beyond.over_copy is not None:
        over = ratio_text(beyond.over_copy)
    elif ceiling and beyond and not curve.emulated and program != TRANSFORMS:
        over = ratio_text(beyond.rate / ceiling.rate)
    sizes = [size_text(program, curve.points[index].x) for index in (0, -1)]
    return Texts(
        axes=axes,
        kernel=curve.label,
        sizes="–".join(dict.fromkeys(sizes)),
        least_time=time_text(min(point.time_s for point in curve.points)),
        best=curve_rate_text(program, best.rate),
        best_at=size_text(program, best.x),
        beyond=curve_rate_text(program, beyond.rate if beyond else None),
        copy=rate_text(ceiling.rate, "B/s") if ceiling and program != TRANSFORMS and not curve.emulated else "–",
        over_copy=over,
        flags=tuple(sorted({*curve.flags, *(["emulated"] if curve.emulated else [])} - {"in-cache"})),
        first=first,
    )
