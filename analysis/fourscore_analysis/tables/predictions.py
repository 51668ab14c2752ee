"""Predictions as text and for machines, and the list of published machines."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

from fourscore_analysis.models.certainty import CONFIDENCE
from fourscore_analysis.models.predictions import Prediction, Timed
from fourscore_analysis.points.points import contract_terms
from fourscore_analysis.points.units import percent_text, rate_text, ratio_text, shape_text, time_text
from fourscore_analysis.tables.columns import (
    columns,
    doubt_text,
    flags_text,
    grid_text,
    interval_text,
    network_note,
    outside_text,
    predicted_cells,
    timed_text,
)
from fourscore_analysis.tables.costs import cost_cells, cost_json, cost_line, cost_of
from fourscore_analysis.tables.fits import measured_text
from fourscore_analysis.views.predictions import Answer

MOST_ELASTICITIES = 3


def answers_text(found: Iterable[Answer], runs: int) -> str:
    """`runs`: transforms of a job, for what it costs."""
    return "\n\n".join("\n".join(_lines(one) + cost_line(one, runs)) for one in found)


def answers_json(found: Iterable[Answer], runs: int) -> list[dict[str, Any]]:
    return [answer_json(one, runs) for one in found]


def answers_table(found: Sequence[Answer], runs: int) -> str:
    """A line for each; the phases side by side."""
    heads, costs = cost_cells(found, runs)
    predictions = [one.prediction for one in found if one.prediction]
    phases = list(dict.fromkeys(phase for prediction in predictions for phase in prediction.phases))
    titles = list(dict.fromkeys(", ".join(contract_terms(one.question.cell.contract)) for one in found))
    rows = [["method", "by", "ranks", "nodes", "grid", "time", f"{CONFIDENCE:.0%}", *phases, "limited by", "measured"]]
    rows[0] += [*heads, ""]
    for one, cells in zip(found, costs, strict=True):
        *row, said = _row(one, phases)
        rows.append([*row, *cells, said])
    lines = [f"{shape_text(found[0].question.cell.shape)}: {'; '.join(titles)}", *columns(rows)]
    notes = dict.fromkeys(network_note(prediction) for prediction in predictions)
    return "\n".join([*lines, *(f"  {note}" for note in notes if note)])


def _row(one: Answer, phases: Sequence[str]) -> list[str]:
    place, prediction = one.question.cell.place, one.prediction
    where = [one.source.label, maker_of(one), str(place.ranks), str(place.nodes), grid_text(one.question.grid) or "–"]
    if not prediction:
        nothing = ["–"] * (len(phases) + 3)
        return [*where, *nothing, time_text(one.measured_s), f"not predicted: {one.reason}"]
    return [*where, *predicted_cells(prediction, phases, one.measured_s)]


def maker_of(one: Answer) -> str:
    """The machine whose parameters predict, or the archive that was fitted."""
    return one.source.machine.name if one.source.machine else "the archive"


def answers_csv(found: Sequence[Answer], runs: int) -> str:
    """A line for each, seconds; of what cannot be predicted the reason."""
    phases = list(dict.fromkeys(phase for one in found if one.prediction for phase in one.prediction.phases))
    contract = list(found[0].question.cell.contract.__dataclass_fields__)
    head = ["method", "variant", "by", "model", "shape", "ranks", "nodes", "grid", *contract, "predicted_s", "low_s"]
    head += ["high_s", "flops_per_s", *(f"{phase}_s" for phase in phases), "limited_by", "extrapolated", "usable"]
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    costed = any(cost_of(one, runs) for one in found)
    cost = ["runs", "node_hours", "price", "currency", "joules", "joules_above_idle"] if costed else []
    lines.writerow([*head, "measured_s", "launches", "reason", *cost])
    for one in found:
        cell, prediction = one.question.cell, one.prediction
        row = [
            one.source.label,
            one.source.method.variant,
            maker_of(one),
            prediction.basis.model.name if prediction else "",
        ]
        row += [grid_text(cell.shape), cell.ranks, cell.place.nodes, grid_text(one.question.grid)]
        row += [getattr(cell.contract, name) for name in contract]
        if prediction:
            row += [prediction.total.seconds, *(prediction.total.interval or ("", "")), prediction.flops_per_s]
            row += [prediction.phases[phase].seconds if phase in prediction.phases else "" for phase in phases]
            row += [prediction.limiting, " ".join(prediction.outside), "no" if prediction.total.too_wide else "yes"]
        else:
            row += [""] * (4 + len(phases) + 3)
        job = cost_json(cost_of(one, runs)) or {}
        costs = ["" if job.get(key) is None else job[key] for key in cost]
        lines.writerow([*row, "" if one.measured_s is None else one.measured_s, one.launches, one.reason, *costs])
    return text.getvalue()


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
        *(
            f"  {note}"
            for note in (doubt_text(prediction.total), flags_text(one.source.observations), network_note(prediction))
            if note
        ),
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
    interval = list(timed.interval) if timed.interval else None
    return {"seconds": timed.seconds, "interval": interval, "usable": not timed.too_wide}


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


def answer_json(one: Answer, runs: int) -> dict[str, Any]:
    cell, method = one.question.cell, one.source.method
    measured = None
    if one.measured_s is not None:
        measured = {"seconds": one.measured_s, "phases": one.measured_phases, "launches": one.launches}
    return {
        "method": one.source.label,
        "machine": one.source.machine.name if one.source.machine else None,
        "variant": method.variant,
        "exchange": method.exchange,
        "parameters": dict(method.options),
        "shape": list(cell.shape),
        "ranks": cell.ranks,
        "nodes": cell.place.nodes,
        "grid": list(one.question.grid),
        "contract": {name: getattr(cell.contract, name) for name in cell.contract.__dataclass_fields__},
        "prediction": prediction_json(one.prediction) if one.prediction else None,
        "cost": cost_json(cost_of(one, runs)),
        "reason": one.reason,
        "measured": measured,
    }
