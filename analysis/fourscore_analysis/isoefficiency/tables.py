"""Efficiency, isoefficiency and scaled speedup of each method, as text."""

from __future__ import annotations

import math
from collections.abc import Sequence

from fourscore_analysis.isoefficiency.models import Fitted, fitted
from fourscore_analysis.isoefficiency.points import Family, Measured, Need, Value
from fourscore_analysis.points.units import digits, time_text
from fourscore_analysis.tables.row import Texts, of_point
from fourscore_analysis.views.view import View


def isoefficiency_tables(view: View) -> list[Texts]:
    return [_table(view, family) for family in view.isoefficiency[0]]


def lacking(view: View) -> list[tuple[str, str]]:
    """Reason, and the methods on several ranks that have no efficiency for it."""
    found: dict[str, list[str]] = {}
    for one in view.isoefficiency[1]:
        found.setdefault(one.reason, []).append(one.label)
    return [(reason, ", ".join(dict.fromkeys(labels))) for reason, labels in found.items()]


def _table(view: View, family: Family) -> Texts:
    scaled, model = family.scaled, fitted(family)
    return Texts(
        method=" · ".join(part for part in (family.label, family.packing) if part),
        against=family.against,
        contract=view.contract_of(family.first),
        rows=[_row(view, one) for one in family.measured],
        needs=_needs(family, view.efficiencies, model),
        slopes=_slopes(family, view.efficiencies),
        scaled_from=f"{scaled[0]:,}" if scaled else "",
        scaled=[
            Texts(
                ranks=one.ranks,
                size=_count(math.log2(one.elements)),
                speedup=digits(one.speedup.value),
                interval=_interval(one.speedup),
            )
            for one in (scaled[1] if scaled else [])
        ],
        model=f"{model.paper}, {model.text}" if model else "",
    )


def _row(view: View, one: Measured) -> Texts:
    """One point on several ranks."""
    return Texts(
        **of_point(view, one.point) | {"flags": one.flags},
        speedup=digits(one.speedup.value),
        efficiency=digits(one.efficiency.value),
        interval=_interval(one.efficiency),
        overhead=_signed_time(one.overhead_s),
        fraction=_signed(one.serial_fraction.value),
        function=digits(one.overhead_function.value),
    )


def _needs(family: Family, levels: Sequence[float], model: Fitted | None) -> list[Texts]:
    """The sizes that keep the efficiencies."""
    rows = []
    for level in levels:
        for need in family.needs(level):
            rows.append(
                Texts(
                    efficiency=f"{level:g}",
                    ranks=need.ranks,
                    size=size_text(need, need.log2_elements),
                    interval=interval_text(need),
                    model=_count(model.log2_size(level, need.ranks)) if model else "–",
                    remark="the efficiency rises and falls with the size" if need.crossings > 1 else "",
                )
            )
    return rows


def _slopes(family: Family, levels: Sequence[float]) -> str:
    """0.5: 1.02; 0.66: 1.9"""
    found = ((level, family.slope(level)) for level in levels)
    return "; ".join(f"{level:g}: {digits(slope)}" for level, slope in found if slope is not None)


def size_text(need: Need, log2_elements: float) -> str:
    """20,200; or a bound, where it is not between measured sizes."""
    if log2_elements == -math.inf:
        return f"< {round(2**need.least):,}"
    if log2_elements == math.inf:
        return f"> {round(2**need.largest):,}"
    return _count(log2_elements)


def interval_text(need: Need) -> str:
    """18,000 to 23,100; "" without one"""
    return " to ".join(dict.fromkeys(size_text(need, end) for end in need.interval)) if need.interval else ""


def _count(log2_elements: float) -> str:
    """20,200: three digits; 2^50.3 beyond a million million."""
    if not math.isfinite(log2_elements):
        return "none"
    if log2_elements > 40:
        return f"2^{log2_elements:.1f}"
    return f"{float(f'{2**log2_elements:.3g}'):,.0f}"


def _interval(value: Value) -> str:
    return f"{_signed(value.interval[0])} to {_signed(value.interval[1])}" if value.interval else ""


def _signed(value: float) -> str:
    return digits(value) if value >= 0 else f"−{digits(-value)}"


def _signed_time(seconds: float) -> str:
    return time_text(seconds) if seconds >= 0 else f"−{time_text(-seconds)}"
