"""The keys of a point."""

from __future__ import annotations

from typing import Any

from fourscore_analysis.records.cells import POINT_KEYS, Cell, Method


def point_keys(cell: Cell, method: Method) -> dict[str, Any]:
    """The keys of a point by name, in the order of core/point_keys.cpp, as `fourscore export` writes them."""
    contract, place = cell.contract, cell.place
    known = dict(contract.further) | {
        "shape": "x".join(map(str, cell.shape)),
        "placement_of_ranks": place.placement,
        "placement": method.placement or "all",
        "field_order": method.field_order or "together",
    }
    for name in POINT_KEYS.keys() - known.keys():
        known[name] = next((getattr(one, name) for one in (contract, method, place) if hasattr(one, name)), "")
    return {name: known[name] for name in POINT_KEYS} | {"parameters": method.parameters}
