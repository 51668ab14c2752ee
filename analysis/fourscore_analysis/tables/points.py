"""Rows about one point each, as text: its memory and planning, its phases inside and alone, its exchange. And for
machines, with everything."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fourscore_analysis.points.points import Point, plans_text
from fourscore_analysis.points.units import (
    bytes_text,
    digits,
    range_text,
    rate_text,
    ratio_text,
    time_text,
)
from fourscore_analysis.records.basics import Place
from fourscore_analysis.records.cells import OTHER_WORK, Cell
from fourscore_analysis.tables.row import Texts, of_point
from fourscore_analysis.views.view import View


def _ranked(view: View) -> Iterator[Point]:
    """Every measured point, in the order of the tables."""
    for one in view.comparisons:
        yield from one.ranked


def memory_rows(view: View) -> list[Texts]:
    """Points that say what they hold, or how long they planned."""
    return [
        _memory_row(view, point)
        for point in _ranked(view)
        if point.plan is not None or point.memory("local_data_bytes") is not None
    ]


def _memory_row(view: View, point: Point) -> Texts:
    plan, ratio = point.plan, point.memory("ratio")
    return Texts(
        **of_point(view, point),
        local=bytes_text(point.memory("local_data_bytes")),
        buffers=bytes_text(point.memory("plan_bytes")),
        workspace=bytes_text(point.memory("workspace_bytes")),
        ratio=digits(ratio) if ratio is not None else "–",
        rss=bytes_text(point.memory("peak_rss_bytes")),
        plan=time_text(plan.median if plan else None),
        plan_range=range_text(plan.low, plan.high) if plan and plan.count > 1 else "–",
        plans=plans_text(point) if point.plans else "–",
    )


def component_rows(view: View) -> list[Texts]:
    """A row for each phase that was also timed alone."""
    return [_component_row(view, point, phase) for point in _ranked(view) for phase in point.compared_phases]


def _component_row(view: View, point: Point, phase: str) -> Texts:
    names = {part.name for launch in point.measured for part in launch.components if part.phase == phase}
    return Texts(
        **of_point(view, point),
        phase=phase,
        inside=time_text(point.phases_max[phase]),
        alone=time_text(point.alone[phase]),
        ratio=ratio_text(point.phases_max[phase] / point.alone[phase]),
        parts=", ".join(f"{name} {time_text(point.components[name])}" for name in sorted(names)),
    )


def exchange_rows(view: View) -> list[Texts]:
    """Points whose exchange has a time and declares its bytes."""
    return [row for point in _ranked(view) if (row := _exchange_row(view, point))]


def _exchange_row(view: View, point: Point) -> Texts | None:
    """The exchange phase of a method, and the copy of the same machine."""
    seconds = point.phases_max.get("exchange", 0.0)
    moved = point.traffic.bytes_sent + point.traffic.bytes_read_shared if point.traffic else 0.0
    if not seconds or not moved:
        return None
    ceiling = view.shelf.copy_ceiling(view, point.measured[0].machine_hash, point.cell.place)
    return Texts(
        **of_point(view, point),
        moved=bytes_text(moved),
        time=time_text(seconds),
        rate=rate_text(moved / seconds, "B/s"),
        copy=rate_text(ceiling.rate if ceiling else None, "B/s"),
        over_copy=digits(moved / seconds / ceiling.rate, 2) if ceiling else "–",
    )


def points_json(view: View) -> list[dict[str, Any]]:
    """Every point of the campaign: measured ones in the order of the tables, then those without a time, with the reason
    that their launches give."""
    ratios = {id(point): (point, one.ratio(point)) for one in view.comparisons for point in one.ranked}
    rest = {id(point): (point, None) for point in view.points if id(point) not in ratios}
    return [_point_json(point, ratio) for point, ratio in (ratios | rest).values()]


def _point_json(point: Point, ratio: float | None) -> dict[str, Any]:
    reasons = {launch.reason for launch in point.launches if launch.status != "ok" and launch.reason}
    return {
        **cell_json(point.cell),
        "setting": point.setting or None,
        **point_json(point),
        "time_over_reference": ratio,
        "phases_s": point.phases,
        "phases_largest_s": point.phases_max,
        "alone_s": point.alone,
        "plan_s": point.plan.median if point.plan else None,
        "bytes_sent": point.traffic.bytes_sent if point.traffic else None,
        "messages": point.traffic.messages if point.traffic else None,
        "statuses": point.statuses,
        "reasons": sorted(reasons),
    }


def cell_json(cell: Cell) -> dict[str, Any]:
    """What is compared: problem, place and contract."""
    contract = cell.contract
    return {
        "shape": list(cell.shape),
        **place_json(cell.place),
        **{name: getattr(contract, name) for name in ("precision", "kind", "direction")},
        **{name: getattr(contract, name) for name in ("threads", "instances", "fields")},
        **({"operator": contract.operator} if contract.operator else {}),
        **{name: value for name in OTHER_WORK if (value := getattr(contract, name))},
        "contract": {name: getattr(contract, name) for name in ("layout", "buffers", "normalisation", "planner")},
        **({"wire": contract.wire_text} if contract.wire != "as-is" else {}),
        **dict(contract.further),
    }


def place_json(place: Place) -> dict[str, Any]:
    return {
        "ranks": place.ranks,
        "nodes": place.nodes,
        "ranks_per_node": place.ranks_per_node,
        "placement_of_ranks": place.placement,
    }


def point_json(point: Point) -> dict[str, Any]:
    """Its method and its time, None where it was not measured."""
    method, time = point.method, point.time
    return {
        "method": point.label,
        "variant": method.variant,
        "exchange": method.exchange,
        "local_fft": method.local_fft,
        "grid": method.grid,
        "resolved_grid": resolved_grid(point) or None,
        "placement": method.placement or None,
        "field_order": method.field_order or None,
        **({"active_ranks": method.active_ranks} if method.active_ranks else {}),
        "parameters": dict(method.options),
        "point_id": point.launches[0].point_id,
        "median_s": time.median if time else None,
        "interval_s": list(time.interval) if time and time.interval else None,
        "interval_coverage": time.coverage if time else None,
        "range_s": [time.low, time.high] if time else None,
        "launches": time.count if time else 0,
        "gflops": point.gflops,
        "flags": list(point.flags),
        "records": records_of(point),
    }


def resolved_grid(point: Point) -> str:
    return next((launch.resolved_grid for launch in point.measured if launch.resolved_grid), "")


def records_of(point: Point) -> list[str]:
    return [launch.file for launch in point.measured]
