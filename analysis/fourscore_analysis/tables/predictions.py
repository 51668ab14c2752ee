"""Predictions as text and for machines, and the list of published machines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from fourscore_analysis.models.certainty import CONFIDENCE
from fourscore_analysis.models.machines import Machine
from fourscore_analysis.models.predictions import Prediction, Timed
from fourscore_analysis.points.units import digits, percent_text, rate_text, ratio_text, shape_text, time_text
from fourscore_analysis.tables.columns import columns, grid_text, interval_text, network_note, outside_text, timed_text
from fourscore_analysis.tables.fits import measured_text
from fourscore_analysis.views.predictions import Answer

MOST_ELASTICITIES = 3
BALANCES = (("memory_bandwidth", "C/beta_mem"), ("link_bandwidth", "C/beta_link"))


def answers_text(found: Iterable[Answer]) -> str:
    return "\n\n".join("\n".join(_lines(one)) for one in found)


def answers_json(found: Iterable[Answer]) -> list[dict[str, Any]]:
    return [answer_json(one) for one in found]


def _lines(one: Answer) -> list[str]:
    question = one.question
    title = one.source.title or one.source.label
    where = f"{shape_text(question.cell.shape)} on {question.cell.place.text(True)}"
    if len(question.grid) > 1:
        where += f", grid {grid_text(question.grid)}"
    if not one.prediction:
        return [title, f"  {where}: not predicted: {one.reason}", *_measured_lines(one)]
    prediction = one.prediction
    return [
        title,
        f"  {where}, by {prediction.basis.model.name} and {_basis_text(one)}",
        "",
        f"  {timed_text(prediction.total)}, {rate_text(prediction.flops_per_s, 'FLOP/s')}"
        + (f"   {outside_text(prediction)}" if prediction.outside else ""),
        *([f"  {network_note(prediction)}"] if network_note(prediction) else []),
        *_measured_lines(one),
        "",
        *_phase_lines(one, prediction),
        "",
        f"  limited by {_limits(prediction)}",
        *(
            [f"  not told by these points: {', '.join(prediction.undetermined)}; the interval takes them as they are"]
            if prediction.undetermined
            else []
        ),
    ]


def _basis_text(one: Answer) -> str:
    if one.source.fit:
        return f"the fit to {measured_text(one.source.fit)}"
    return f"the parameters of {one.prediction.basis.title}" if one.prediction else ""


def _measured_lines(one: Answer) -> list[str]:
    if one.measured_s is None:
        return []
    launches = "1 launch" if one.launches == 1 else f"{one.launches} launches"
    line = f"  measured {time_text(one.measured_s)}, {launches}"
    if one.prediction:
        line += f"; predicted over measured: {ratio_text(one.prediction.total.seconds / one.measured_s)}"
    return [line]


def _phase_lines(one: Answer, prediction: Prediction) -> list[str]:
    measured = one.measured_phases or {}
    rows = [["phase", "predicted", f"{CONFIDENCE:.0%}", "share", *(["measured"] if measured else [])]]
    for phase, timed in prediction.phases.items():
        share = percent_text(timed.seconds / prediction.total.seconds)
        rows.append([phase, time_text(timed.seconds), interval_text(timed), share])
        if measured:
            rows[-1].append(time_text(measured.get(phase)))
        for term, seconds in prediction.terms:
            if term.phase == phase:
                rows.append([f"  {term.name}", time_text(seconds), *[""] * (len(rows[0]) - 2)])
    return columns(rows)


def _limits(prediction: Prediction) -> str:
    """memory_bandwidth (elasticity -0.61), flop_rate (-0.30)"""
    slopes = list(prediction.elasticity.items())[:MOST_ELASTICITIES]
    words = [f"{name} ({'' if number else 'elasticity '}{slope:+.2f})" for number, (name, slope) in enumerate(slopes)]
    return ", ".join(words)


def timed_json(timed: Timed) -> dict[str, Any]:
    return {"seconds": timed.seconds, "interval": list(timed.interval) if timed.interval else None}


def prediction_json(prediction: Prediction) -> dict[str, Any]:
    return {
        "model": prediction.basis.model.name,
        "forms": prediction.basis.forms,
        "from": prediction.basis.title,
        "total": timed_json(prediction.total),
        "confidence": CONFIDENCE,
        "flops_per_s": prediction.flops_per_s,
        "phases": {phase: timed_json(timed) for phase, timed in prediction.phases.items()},
        "terms": [{"phase": term.phase, "name": term.name, "seconds": seconds} for term, seconds in prediction.terms],
        "limiting": prediction.limiting,
        "elasticity": prediction.elasticity,
        "extrapolated": list(prediction.outside),
        "undetermined": list(prediction.undetermined),
        "note": network_note(prediction),
    }


def answer_json(one: Answer) -> dict[str, Any]:
    cell, method = one.question.cell, one.source.method
    measured = None
    if one.measured_s is not None:
        measured = {"seconds": one.measured_s, "phases": one.measured_phases, "launches": one.launches}
    return {
        "method": one.source.label,
        "variant": method.variant,
        "exchange": method.exchange,
        "parameters": dict(method.options),
        "shape": list(cell.shape),
        "ranks": cell.ranks,
        "nodes": cell.place.nodes,
        "grid": list(one.question.grid),
        "contract": {name: getattr(cell.contract, name) for name in cell.contract.__dataclass_fields__},
        "prediction": prediction_json(one.prediction) if one.prediction else None,
        "reason": one.reason,
        "measured": measured,
    }


def machines_text(machines: Sequence[Machine]) -> str:
    rows = [["name", "year", "nodes", *(title for _, title in BALANCES), "what it is"]]
    for one in machines:
        balances = [_balance_text(one.balance(name)) for name, _ in BALANCES]
        rows.append([one.name, str(one.year or "–"), str(one.nodes or "–"), *balances, one.description])
    return "\n".join([*columns(rows, 0), "", "C/beta: flops for each byte; –: its source does not give both"])


def machines_json(machines: Sequence[Machine]) -> list[dict[str, Any]]:
    return [
        {
            "name": one.name,
            "description": one.description,
            "source": one.source,
            "year": one.year,
            "nodes": one.nodes,
            "ranks_per_node": one.ranks_per_node,
            "forms": one.forms,
            "parameters": {name: _quantity_json(value) for name, value in one.parameters.items()},
            "balance": {title: one.balance(name) for name, title in BALANCES},
        }
        for one in machines
    ]


def _balance_text(value: float | None) -> str:
    return f"{digits(value)} flop/B" if value is not None else "–"


def _quantity_json(one: Any) -> dict[str, Any]:
    return {"value": one.value, "interval": list(one.interval) if one.interval else None, "source": one.source}
