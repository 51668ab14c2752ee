"""How many nodes of other machines cost as much an hour, as text and for machines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fourscore_analysis.models.cost import job_cost
from fourscore_analysis.points.units import digits, ratio_text, shape_text, time_text
from fourscore_analysis.tables.columns import columns, grid_text
from fourscore_analysis.tables.costs import energy_text, price_text, runs_text
from fourscore_analysis.tables.equal_time import side_json
from fourscore_analysis.views.equal_cost import EqualCost, cost_of, price_of
from fourscore_analysis.views.equal_time import Side


def as_text(found: Sequence[EqualCost], runs: int) -> str:
    """One line for the machine that is given, and one for each other."""
    given = found[0].given
    first = given.prediction
    of = runs_text(runs)
    rows = [
        ["", "nodes", "an hour", "ranks", "grid", "time of a run", "over that", f"price of {of}", f"energy of {of}"]
    ]
    rows += [_row(side, given, runs) for side in (given, *(one.side for one in found)) if side]
    lines = [
        f"{first.question.method.variant}, {shape_text(first.question.cell.shape)}: as many nodes as cost what "
        f"those of {given.machine.name} cost an hour, model {first.basis.model.name}; estimates",
        "",
        *columns(rows),
    ]
    for one in found:
        if one.reason:
            lines.append(f"  {one.reason}")
        else:
            lines.append(f"  {one.faster} is faster" if one.faster else "  both take the same time")
        if one.side and one.machine.nodes and one.side.nodes > one.machine.nodes:
            lines.append(f"  {one.machine.name} has {one.machine.nodes} nodes, fewer than this takes")
    return "\n".join(lines)


def _row(side: Side, given: Side, runs: int) -> list[str]:
    job = job_cost(cost_of(side.machine), side.nodes, side.seconds, runs)
    return [
        side.machine.name,
        str(side.nodes),
        f"{digits(side.nodes * price_of(side.machine))} {job.currency}",
        str(side.prediction.question.ranks),
        grid_text(side.prediction.question.grid) or "–",
        time_text(side.seconds),
        ratio_text(side.seconds / given.seconds),
        price_text(job),
        energy_text(job) or "–",
    ]


def as_json(found: Sequence[EqualCost], runs: int) -> dict[str, Any]:
    return {
        "given": _side(found[0].given, runs),
        "machines": [
            {
                "machine": one.machine.name,
                "as_expensive": _side(one.side, runs) if one.side else None,
                "faster": one.faster or None,
                "reason": one.reason,
            }
            for one in found
        ],
    }


def _side(side: Side, runs: int) -> dict[str, Any]:
    cost = cost_of(side.machine)
    price = side.nodes * price_of(side.machine)
    job = job_cost(cost, side.nodes, side.seconds, runs)
    return (side_json(side) or {}) | {"price_an_hour": price, "currency": cost.currency, "cost": job.as_json()}
