"""A projection as text and for machines: each year by phase, and the last one beside a real machine."""

from __future__ import annotations

from typing import Any

from fourscore_analysis.models.machines import WHOLE, Machine
from fourscore_analysis.models.parameters import PARAMETERS
from fourscore_analysis.models.predictions import Prediction
from fourscore_analysis.models.projection import Year, memory_over_network
from fourscore_analysis.points.units import digits, rate_text, shape_text, time_text
from fourscore_analysis.tables.columns import columns, interval_text
from fourscore_analysis.tables.machines import BALANCES
from fourscore_analysis.tables.predictions import prediction_json
from fourscore_analysis.views.projections import Beside, Projection

OF_NODE = ("cache_bytes",)  # what the ranks of a node share


def projection_text(found: Projection) -> str:
    first = found.years[0].prediction
    shape = shape_text(first.question.cell.shape)
    grows = f" in {found.years[0].year}, as many elements a node" if is_weak(found) else ""
    lines = [
        f"{first.question.method.variant}, {shape}{grows}: {found.machine.name} by the trends {found.trends.name}, "
        f"model {first.basis.model.name}",
        "  " + ", ".join(f"{name} {choice}" for name, choice in first.basis.forms.items()),
        "",
        *_trend_lines(found),
        "",
        *_year_lines(found),
    ]
    if found.beside:
        lines += ["", *_beside_lines(found.years[-1], found.beside)]
    return "\n".join(lines)


def _trend_lines(found: Projection) -> list[str]:
    rows = [["trend", "", "source"]]
    for name, trend in found.trends.trends.items():
        note = f"{found.machine.name} does not have it" if name in found.idle else trend.source
        rows.append([name, trend.written, note])
    return columns(rows)


def phases_of(found: Projection) -> list[str]:
    return list(dict.fromkeys(phase for year in found.years for phase in year.prediction.phases))


def is_weak(found: Projection) -> bool:
    """Whether each year has a problem of its own."""
    return len({year.prediction.question.cell.shape for year in found.years}) > 1


def _year_lines(found: Projection) -> list[str]:
    phases, weak = phases_of(found), is_weak(found)
    drawn = any(year.prediction.total.interval for year in found.years)
    shown = ["year", *(["shape"] if weak else []), "ranks", *phases, "total", *(["95%"] if drawn else [])]
    rows = [[*shown, "FLOP/s", "T_mem/T_net", "limited by"]]
    for year in found.years:
        prediction = year.prediction
        seconds = [prediction.phases.get(phase) for phase in phases]
        rows.append(
            [
                str(year.year),
                *([shape_text(prediction.question.cell.shape)] if weak else []),
                str(prediction.question.ranks),
                *(time_text(one.seconds) if one else "–" for one in seconds),
                time_text(prediction.total.seconds),
                *([interval_text(prediction.total)] if drawn else []),
                rate_text(prediction.flops_per_s, "FLOP/s"),
                digits(year.memory_over_network) if year.memory_over_network else "–",
                prediction.limiting,
            ]
        )
    return columns(rows)


def _beside_rows(year: Year, beside: Beside) -> list[tuple[str, float, float, str]]:
    """(what, projected, real, unit): what both have."""
    then, real = year.machine, beside.machine
    found: list[tuple[str, float, float, str]] = []
    if then.nodes and real.nodes:
        found.append(("nodes", float(then.nodes), float(real.nodes), "1"))
        found.append(("ranks", float(_ranks(then)), float(_ranks(real)), "1"))
    for name in WHOLE:
        if name in then.whole and name in real.whole:
            found.append((f"{name}, of all", then.whole[name].value, real.whole[name].value, WHOLE[name]))
    for name, one in then.parameters.items():
        if name in real.parameters and PARAMETERS[name].unit != "1":
            what = f"{name}, of a {'node' if name in OF_NODE else 'rank'}"
            found.append((what, one.value, real.parameters[name].value, PARAMETERS[name].unit))
    for name, title in BALANCES:
        ours, theirs = then.balance(name), real.balance(name)
        if ours and theirs:
            found.append((title, ours, theirs, "flop/B"))
    predictions = (year.prediction, beside.prediction)
    totals = [one.total.seconds for one in predictions]
    found.append(("predicted time", totals[0], totals[1], "s"))
    found.append(("predicted FLOP/s", *(one.flops_per_s for one in predictions), "flop/s"))
    fractions = [_fraction(one.flops_per_s, machine) for one, machine in zip(predictions, (then, real), strict=True)]
    if all(fractions):
        found.append(("predicted, of the peak", fractions[0] or 0.0, fractions[1] or 0.0, "1"))
    ratios = [memory_over_network(one) for one in predictions]
    if all(ratios):
        found.append(("T_mem/T_net", ratios[0] or 0.0, ratios[1] or 0.0, "1"))
    return found


def _beside_lines(year: Year, beside: Beside) -> list[str]:
    rows = [["", f"projected for {year.year}", beside.machine.name, f"{beside.machine.name} over projected"]]
    for what, ours, theirs, unit in _beside_rows(year, beside):
        rows.append([what, _value(what, ours, unit), _value(what, theirs, unit), digits(theirs / ours, 2)])
    lines = columns(rows)
    other = [(name, one) for name, one in beside.machine.whole.items() if name not in year.machine.whole]
    lines += [
        f"  {beside.machine.name}: {name} {_value('', one.value, WHOLE[name])} ({one.source})" for name, one in other
    ]
    lines.append(f"  {beside.machine.name}: {beside.machine.source}; its time is predicted too, from peaks")
    return lines


def _value(what: str, value: float, unit: str) -> str:
    if unit == "flop/B":
        return f"{digits(value)} flop/B"
    if unit in ("flop/s", "B/s"):
        return rate_text(value, unit.replace("flop", "FLOP"))
    if what in ("nodes", "ranks"):
        return f"{value:.0f}"
    if unit == "s":
        return time_text(value)
    if unit == "B":
        return rate_text(value, "B")
    return digits(value)


def _ranks(machine: Machine) -> int:
    return (machine.nodes or 0) * machine.ranks_per_node


def _fraction(flops_per_s: float, machine: Machine) -> float | None:
    peak = machine.whole.get("peak")
    return flops_per_s / peak.value if peak else None


def projection_json(found: Projection) -> dict[str, Any]:
    return {
        "machine": found.machine.name,
        "trends": {name: {"yearly": one.yearly, "written": one.written} for name, one in found.trends.trends.items()},
        "without_effect": list(found.idle),
        "years": [_year_json(year) for year in found.years],
        "beside": _beside_json(found.years[-1], found.beside) if found.beside else None,
    }


def _year_json(year: Year) -> dict[str, Any]:
    machine = year.machine
    return {
        "year": year.year,
        "shape": list(year.prediction.question.cell.shape),
        "nodes": machine.nodes,
        "ranks": year.prediction.question.ranks,
        "grid": list(year.prediction.question.grid),
        "parameters": machine.values,
        "whole": {name: one.value for name, one in machine.whole.items()},
        "memory_over_network": year.memory_over_network,
        "prediction": prediction_json(year.prediction),
    }


def _beside_json(year: Year, beside: Beside) -> dict[str, Any]:
    rows = _beside_rows(year, beside)
    return {
        "machine": beside.machine.name,
        "year": year.year,
        "rows": [
            {"what": what, "unit": unit, "projected": ours, "real": theirs, "ratio": theirs / ours}
            for what, ours, theirs, unit in rows
        ],
        "prediction": prediction_json(beside.prediction),
    }


def title_of(prediction: Prediction) -> str:
    return f"{prediction.question.method.variant} · {shape_text(prediction.question.cell.shape)}"
