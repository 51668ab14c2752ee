"""What the tables of a page are made of."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from fourscore_analysis.points.points import Point
from fourscore_analysis.points.units import shape_text
from fourscore_analysis.views.view import View


class Texts(SimpleNamespace):
    """A row of a table, or a table with its rows: texts by the name at which the page's template places them."""


def of_point(view: View, point: Point) -> dict[str, Any]:
    """Which point a row is about."""
    return {
        "shape": shape_text(point.cell.shape),
        "ranks": point.cell.ranks,
        "nodes": point.cell.place.with_placement(str(point.cell.place.nodes)),
        "where": point.where,
        "method": point.label,
        "contract": view.contract_of(point),
        "flags": point.flags,
    }
