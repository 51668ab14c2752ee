"""The keys of a point."""

from __future__ import annotations

from typing import Any

from fourscore_analysis.records.cells import Cell, Method


def point_keys(cell: Cell, method: Method) -> dict[str, Any]:
    """The keys of a point by name, in the order of core/point_keys.cpp, as `fourscore export` writes them."""
    contract, place = cell.contract, cell.place
    return {
        "variant": method.variant,
        "exchange": method.exchange,
        "local_fft": method.local_fft,
        "shape": "x".join(map(str, cell.shape)),
        "precision": contract.precision,
        "kind": contract.kind,
        "direction": contract.direction,
        "operator": contract.operator,
        "ranks": place.ranks,
        "nodes": place.nodes,
        "ranks_per_node": place.ranks_per_node,
        "placement_of_ranks": place.placement,
        "platform": place.platform,
        "host_order": place.host_order,
        "grid": method.grid,
        "active_ranks": method.active_ranks,
        "threads": contract.threads,
        "instances": contract.instances,
        "placement": method.placement or "all",
        "fields": contract.fields,
        "field_order": method.field_order or "together",
        "layout": contract.layout,
        "buffers": contract.buffers,
        "planner": contract.planner,
        "wire": contract.wire,
        "other_work": contract.other_work,
        "other_work_load": contract.other_work_load,
        "other_work_place": contract.other_work_place,
        "parameters": method.parameters,
    }
