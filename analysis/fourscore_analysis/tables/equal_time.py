"""How many nodes of other machines are as fast, as text and for machines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fourscore_analysis.models.projection import memory_over_network
from fourscore_analysis.points.units import digits, rate_text, ratio_text, shape_text, time_text
from fourscore_analysis.tables.columns import columns, grid_text
from fourscore_analysis.tables.predictions import prediction_json
from fourscore_analysis.views.equal_time import EqualTime, Side


def as_text(found: Sequence[EqualTime]) -> str:
    """One line for the machine that is given, and for each other one those of equal peak and of equal time; then the
    same where memory and network work at once."""
    given = found[0].given
    first = given.prediction
    phases = list(first.phases)
    rows = [["", "nodes", "over those", "ranks", "grid", "peak", *phases, "total", "over that", "T_mem/T_net"]]
    rows.append(_row(given.machine.name, given, given, phases))
    for one in found:
        for side, what in ((one.same_peak, "of equal peak"), (one.fewest, "as fast")):
            if side:
                rows.append(_row(f"{one.machine.name}, {what}", side, given, phases))
    at_once = [one.overlapped for one in found if one.overlapped]
    if at_once:
        rows.append(_row(f"{given.machine.name}, overlapped", at_once[0].given, at_once[0].given, phases))
    for one in at_once:
        if one.fewest:
            rows.append(_row(f"{one.machine.name}, as fast, both overlapped", one.fewest, one.given, phases))
    lines = [
        f"{first.question.method.variant}, {shape_text(first.question.cell.shape)}: as fast as {given.machine.name}, "
        f"model {first.basis.model.name}",
        "  " + ", ".join(f"{name} {choice}" for name, choice in first.basis.forms.items()),
        "",
        *columns(rows),
    ]
    for one in found:
        if one.reason:
            lines.append(f"  {one.reason}: {time_text(one.best.seconds)}")
        elif one.machine.nodes and one.fewest and one.fewest.nodes > one.machine.nodes:
            lines.append(f"  {one.machine.name} has {one.machine.nodes} nodes, fewer than this takes")
    return "\n".join(lines)


def _row(name: str, side: Side, given: Side, phases: Sequence[str]) -> list[str]:
    prediction, peak = side.prediction, side.peak_flops_per_s
    seconds = [prediction.phases.get(phase) for phase in phases]
    balance = memory_over_network(prediction)
    return [
        name,
        str(side.nodes),
        ratio_text(side.nodes / given.nodes),
        str(prediction.question.ranks),
        grid_text(prediction.question.grid) or "–",
        rate_text(peak, "FLOP/s") if peak else "–",
        *(time_text(one.seconds) if one else "–" for one in seconds),
        time_text(side.seconds),
        ratio_text(side.seconds / given.seconds),
        digits(balance) if balance else "–",
    ]


def as_json(found: Sequence[EqualTime]) -> dict[str, Any]:
    return {
        "given": side_json(found[0].given),
        "given_overlapped": side_json(found[0].overlapped.given if found[0].overlapped else None),
        "machines": [
            {
                "machine": one.machine.name,
                "as_fast": side_json(one.fewest),
                "as_fast_overlapped": side_json(one.overlapped.fewest if one.overlapped else None),
                "of_equal_peak": side_json(one.same_peak),
                "reason": one.reason,
            }
            for one in found
        ],
    }


def side_json(side: Side | None) -> dict[str, Any] | None:
    if side is None:
        return None
    return {
        "machine": side.machine.name,
        "nodes": side.nodes,
        "ranks": side.prediction.question.ranks,
        "grid": list(side.prediction.question.grid),
        "peak_flops_per_s": side.peak_flops_per_s,
        "memory_over_network": memory_over_network(side.prediction),
        "prediction": prediction_json(side.prediction),
    }
