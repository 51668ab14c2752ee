"""Fitted models as text and for machines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from fourscore_analysis.models.certainty import CONFIDENCE, MOST_SPAN, is_too_wide
from fourscore_analysis.models.fit import Fitted
from fourscore_analysis.models.held_out import SCHEMES, TOTAL, Errors
from fourscore_analysis.models.parameters import parameter
from fourscore_analysis.points.units import (
    bytes_text,
    digits,
    percent_text,
    rate_text,
    shape_text,
    time_text,
)
from fourscore_analysis.records.values import printable
from fourscore_analysis.tables.columns import DO_NOT_USE, columns, flags_text
from fourscore_analysis.views.fits import MethodFit, Tried


def fits_text(found: Sequence[MethodFit]) -> str:
    return "\n\n".join("\n".join(_lines(one)) for one in found)


def fits_json(found: Sequence[MethodFit]) -> list[dict[str, Any]]:
    return [_method_json(one) for one in found]


def value_text(name: str, value: float) -> str:
    """27.9 GFLOP/s; 2.1 µs; 6.3"""
    unit = parameter(name).unit
    if unit in ("flop/s", "B/s"):
        return rate_text(value, unit.replace("flop", "FLOP"))
    if unit == "s":
        return time_text(value)
    if unit == "B":
        return bytes_text(value)
    return digits(value) if unit == "1" else f"{digits(value)} {unit}"


def measured_text(one: MethodFit) -> str:
    """54 launches, 9 sizes from 32³ to 256³, on 1 and 2 ranks"""
    series = one.series
    sizes = [shape_text(shape) for shape in series.sizes]
    span = f"{len(sizes)} sizes from {sizes[0]} to {sizes[-1]}" if len(sizes) > 1 else sizes[0]
    counts = [str(count) for count in series.ranks]
    ranks = " and ".join([", ".join(counts[:-1]), counts[-1]] if len(counts) > 1 else counts)
    return f"{len(series.observations)} launches, {span}, on {ranks} rank{'' if series.ranks == [1] else 's'}"


def _lines(one: MethodFit) -> list[str]:
    lines = [printable(one.series.title), f"  {measured_text(one)}"]
    if flagged := flags_text(one.series.observations):
        lines.append(f"  {flagged}")
    if one.reason:
        return [*lines, f"  not fitted: {one.reason}"]
    lines += ["", *_model_lines(one), "", *_parameter_lines(one.best.fitted)]
    for scheme in SCHEMES:
        lines += _error_lines(scheme, one.best.errors(scheme))
    return lines


def _model_lines(one: MethodFit) -> list[str]:
    rows = [["model", "left out: size", "ranks", "fitted"]]
    for number, tried in enumerate(one.tried):
        totals = [tried.total(scheme) for scheme in SCHEMES]
        cells = [percent_text(total.median) if total else "–" for total in totals]
        rows.append([tried.name, *cells, percent_text(tried.fitted.residual) + ("  <- used" if not number else "")])
    naive = [one.best.total(scheme) for scheme in SCHEMES]
    rows.append(["nearest point", *[percent_text(total.naive_median if total else None) for total in naive], "–"])
    return columns(rows)


def _parameter_lines(fitted: Fitted) -> list[str]:
    forms = ", ".join(f"{name} {choice}" for name, choice in fitted.forms.items())
    lines = [f"  {fitted.model.name}" + (f": {forms}" if forms else "")]
    rows = [["parameter", "", "value", f"{CONFIDENCE:.0%}", "from"]]
    for name in sorted(fitted.values):
        origin = fitted.origin[name]
        value = "–" if origin == "undetermined" else value_text(name, fitted.values[name])
        ends = fitted.intervals.get(name)
        interval = f"{value_text(name, ends[0])} to {value_text(name, ends[1])}" if ends else "–"
        if is_too_wide(ends):
            origin = f"{origin}; {DO_NOT_USE}"
        rows.append([name, parameter(name).symbol, value, interval, origin])
    lines += columns(rows)
    if any(is_too_wide(ends) for ends in fitted.intervals.values()):
        lines.append(f"    {DO_NOT_USE}: the interval spans more than a factor of {MOST_SPAN:g}")
    for refused in fitted.refused:
        lines.append(f"    {', '.join(refused.names)}: {refused.reason}")
    return lines


def _error_lines(scheme: str, found: Sequence[Errors]) -> list[str]:
    if not found:
        return []
    rows = [[f"each of {scheme} left out once", "points", "median", "90 %", "nearest point", "90 %"]]
    for one in found:
        rows.append(
            [
                one.phase,
                str(one.count),
                *[percent_text(value) for value in (one.median, one.p90, one.naive_median, one.naive_p90)],
            ]
        )
    return ["", *columns(rows)]


def _method_json(one: MethodFit) -> dict[str, Any]:
    series = one.series
    return {
        "method": series.label,
        "contract": {name: getattr(series.contract, name) for name in series.contract.__dataclass_fields__},
        "machine_hash": series.machine_hash,
        "launches": len(series.observations),
        "flagged": dict(Counter(flag for one in series.observations for flag in one.flags)),
        "shapes": [list(shape) for shape in series.sizes],
        "ranks": series.ranks,
        "reason": one.reason,
        "models": [_tried_json(tried) for tried in one.tried],
    }


def _tried_json(tried: Tried) -> dict[str, Any]:
    fitted = tried.fitted
    return {
        "model": fitted.model.name,
        "citation": fitted.model.citation,
        "forms": fitted.forms,
        "parameters": [
            {
                "name": name,
                "symbol": parameter(name).symbol,
                "value": None if fitted.origin[name] == "undetermined" else value,
                "unit": parameter(name).unit,
                "interval": list(fitted.intervals[name]) if name in fitted.intervals else None,
                "usable": fitted.origin[name] != "undetermined" and not is_too_wide(fitted.intervals.get(name)),
                "from": fitted.origin[name],
            }
            for name, value in sorted(fitted.values.items())
        ],
        "refused": [{"parameters": list(refused.names), "reason": refused.reason} for refused in fitted.refused],
        "confidence": CONFIDENCE,
        "median_residual": fitted.residual,
        "held_out": {
            scheme: [
                {
                    "phase": one.phase,
                    "points": one.count,
                    "median": one.median,
                    "p90": one.p90,
                    "naive_median": one.naive_median,
                    "naive_p90": one.naive_p90,
                }
                for one in tried.errors(scheme)
            ]
            for scheme in SCHEMES
        },
        "points": [
            {
                "left_out": guess.scheme,
                "shape": list(guess.question.cell.shape),
                "ranks": guess.question.ranks,
                "phase": guess.phase,
                "predicted_s": guess.predicted_s,
                "measured_s": guess.measured_s,
                "naive_s": guess.naive_s,
                "outside": guess.outside,
            }
            for guess in tried.guesses
            if guess.phase == TOTAL
        ],
    }
