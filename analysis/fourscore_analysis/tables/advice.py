"""Advice as text, for machines, and as a suite of what to measure next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fourscore_analysis.models.advice import Next
from fourscore_analysis.models.certainty import CONFIDENCE
from fourscore_analysis.points.points import contract_terms
from fourscore_analysis.points.units import percent_text, ranks_text, shape_text, time_text
from fourscore_analysis.tables.columns import columns, flags_text, grid_text, network_note, predicted_cells
from fourscore_analysis.tables.costs import cost_cells
from fourscore_analysis.tables.predictions import answer_json
from fourscore_analysis.tables.suggested import sweep_text, whole_suite
from fourscore_analysis.views.active_ranks import RanksToUse, active_of
from fourscore_analysis.views.advice import Advice, Ranked
from fourscore_analysis.views.predictions import Answer

SPREAD_NOTE = (
    "  spread: of the predicted times for the parameters alone; the rest of an interval is the model's own error"
)


def advice_text(advice: Advice, most: int, runs: int) -> str:
    """`most`: rows of a table. `runs`: transforms of a job, for what it costs."""
    lines: list[str] = []
    for group in advice.groups:
        lines += [*_group_lines(advice, group, most, runs), ""]
    if advice.suggestions:
        lines += _suggestion_lines(advice)
    else:
        lines.append(
            "no further point would make the parameters much surer; the rest of an interval is the model's own error"
            if any(one.prediction and one.prediction.total.interval for group in advice.groups for one in group.answers)
            else "these parameters have no intervals, so no point can make them surer"
        )
    return "\n".join(lines)


def _group_lines(advice: Advice, group: Ranked, most: int, runs: int) -> list[str]:
    where = ranks_text(group.ranks) + (f" on {group.nodes} nodes" if group.nodes > 1 else "")
    lines = [f"{advice.title} on {where}: {', '.join(contract_terms(group.contract))}"]
    if not group.answers:
        return [*lines, "  nothing can be predicted", *_refused_lines(group)]
    phases = list(dict.fromkeys(phase for one in group.answers for phase in (_prediction(one).phases)))
    heads, costs = cost_cells(group.answers[:most], runs)
    rows = [["", "method", "grid", "time", f"{CONFIDENCE:.0%}", *phases, "limited by", "measured", *heads, ""]]
    for number, (one, cells) in enumerate(zip(group.answers[:most], costs, strict=True), 1):
        *row, said = _row(group, number, one, phases)
        rows.append([*row, *cells, said])
    lines += columns(rows)
    more = len(group.answers) - most
    if more > 0:
        lines.append(f"  and {more} more; --top {len(group.answers)} shows all")
    ties = [one for one in group.answers if group.ties(one)]
    if ties:
        first = _prediction(group.answers[0]).total.interval
        why = "their intervals overlap" if first else "the model gives them the same time"
        lines.append(f"  {len(ties)} cannot be told from the first: {why} (≈)")
    for labels in group.told_apart_by_nothing:
        lines.append(f"  told apart by nothing: {', '.join(labels)}: the models count the same for them; measure them")
    notes = dict.fromkeys(network_note(_prediction(one)) for one in group.answers[:most])
    flagged = {one.source.label: flags_text(one.source.observations) for one in group.answers[:most]}
    notes |= dict.fromkeys(f"{label}: {text}" for label, text in flagged.items() if text)
    return [*lines, *(f"  {note}" for note in notes if note), *_refused_lines(group)]


def _row(group: Ranked, number: int, one: Answer, phases: Sequence[str]) -> list[str]:
    return [
        "≈" if group.ties(one) else str(number),
        one.source.label,
        grid_text(one.question.grid) or "–",
        *predicted_cells(_prediction(one), phases, one.measured_s),
    ]


def _prediction(one: Answer):
    assert one.prediction is not None
    return one.prediction


def _refused_lines(group: Ranked) -> list[str]:
    return [f"  {one.source.label}: not predicted: {one.reason}" for one in group.refused]


def _suggestion_lines(advice: Advice) -> list[str]:
    lines = ["to be surer, measure next:"]
    rows = [["method", "shape", "ranks", "one run", "spread before", "after"]]
    for suggestion in advice.suggestions:
        for point in suggestion.points:
            cell = point.question.cell
            spreads = [percent_text(value) for value in (point.before, point.after)]
            rows.append(
                [suggestion.source.label, shape_text(cell.shape), str(cell.ranks), time_text(point.seconds), *spreads]
            )
    return [*lines, *columns(rows), SPREAD_NOTE]


def ranks_to_use_text(found: Sequence[RanksToUse]) -> str:
    """A row for each method that was measured on several numbers of active ranks; "" without any."""
    if not found:
        return ""
    rows = [["method", "shape", "ranks", "active", "time", "on all ranks", "not told apart from", "contract"]]
    for one in found:
        cell = one.best.cell
        rows.append(
            [
                one.method,
                shape_text(cell.shape),
                str(cell.ranks),
                str(active_of(one.best)),
                time_text(one.best.time_s),
                time_text(one.all_ranks.time_s if one.all_ranks else None),
                ", ".join(str(active_of(point)) for point in one.tied) or "none",
                ", ".join(contract_terms(cell.contract)),
            ]
        )
    return "\n".join(["", "ranks to use, as measured:", *columns(rows)])


def advice_json(advice: Advice, runs: int) -> dict[str, Any]:
    return {
        "shape": list(advice.shape),
        "groups": [
            {
                "ranks": group.ranks,
                "nodes": group.nodes,
                "contract": {name: getattr(group.contract, name) for name in group.contract.__dataclass_fields__},
                "answers": [answer_json(one, runs) | {"tied": group.ties(one)} for one in group.answers],
                "refused": [answer_json(one, runs) for one in group.refused],
                "told_apart_by_nothing": [list(labels) for labels in group.told_apart_by_nothing],
            }
            for group in advice.groups
        ],
        "measure_next": [
            _next_json(suggestion.source.label, point)
            for suggestion in advice.suggestions
            for point in suggestion.points
        ],
    }


def _next_json(method: str, point: Next) -> dict[str, Any]:
    cell = point.question.cell
    return {
        "method": method,
        "shape": list(cell.shape),
        "ranks": cell.ranks,
        "nodes": cell.place.nodes,
        "predicted_s": point.seconds,
        "spread_before": point.before,
        "spread_after": point.after,
    }


def advice_suite(advice: Advice) -> str:
    """TOML for `fourscore run`; "" where nothing is to be measured."""
    sweeps = [
        sweep_text(suggestion.source.method, suggestion.source.contract, point.question.ranks, [point.question])
        for suggestion in advice.suggestions
        for point in suggestion.points
    ]
    return whole_suite(sweeps, "fourscore advise --suggest", "points that make predictions surer")
