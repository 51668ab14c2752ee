"""Several arrays of one shape, done in different ways by one method: fields together, in turn, pipelined, or instances.
What else the ways differ in, nothing does: contract, shape, place, exchange, grid, options, machine and build."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from fourscore_analysis.points.apart import shown_slower
from fourscore_analysis.points.points import Point, group_by, method_labels
from fourscore_analysis.records.cells import Method

ORDERS = ("together", "in-turn", "pipelined")
WAYS = (*ORDERS, "instances", "instances on subsets")


@dataclass(frozen=True)
class FieldWays:
    """The ways in which so many arrays were transformed, in the order of WAYS."""

    arrays: int
    ways: dict[str, Point]

    @property
    def fastest(self) -> str:
        return min(self.ways, key=lambda way: self.ways[way].time_s)

    @property
    def best(self) -> Point:
        return self.ways[self.fastest]

    @property
    def method(self) -> str:
        """slab/alltoallv"""
        method = _alone(self.best)
        return method_labels([method])[method]

    @property
    def tied(self) -> list[str]:
        """Ways that their launches do not show to be slower than the fastest."""
        others = {way: point for way, point in self.ways.items() if way != self.fastest}
        return [way for way, point in others.items() if not shown_slower(point.measured, self.best.measured)]

    def ratio(self, way: str) -> float:
        """Time over that of the fastest."""
        return self.ways[way].time_s / self.best.time_s

    def as_json(self) -> dict[str, Any]:
        cell = self.best.cell
        return {
            "method": self.method,
            "arrays": self.arrays,
            "shape": list(cell.shape),
            "ranks": cell.ranks,
            "time_s": {way: point.time_s for way, point in self.ways.items()},
            "messages": {way: point.traffic.messages for way, point in self.ways.items() if point.traffic},
            "fastest": self.fastest,
            "tied": self.tied,
        }


def field_ways(points: Iterable[Point]) -> list[FieldWays]:
    """Each method and number of arrays with fields in one order and another way beside it."""
    several = [point for point in points if point.measured and _way(point)]
    found = []
    for group in group_by(several, lambda point: (_problem(point), _alone(point), point.setting)):
        by_way = {_way(point): point for point in group}
        ways = {way: by_way[way] for way in WAYS if way in by_way}
        if len(ways) > 1 and any(way in ORDERS for way in ways):
            found.append(FieldWays(_arrays(group[0]), ways))
    return found


def _way(point: Point) -> str:
    """ "" for one array, and for fields in several instances."""
    contract, method = point.cell.contract, point.method
    if contract.fields > 1:
        return method.field_order if contract.instances == 1 else ""
    if contract.instances == 1:
        return ""
    return "instances on subsets" if method.placement == "subset" else "instances"


def _arrays(point: Point) -> int:
    return point.cell.contract.instances * point.cell.contract.fields


def _problem(point: Point) -> tuple:
    return replace(point.cell, contract=replace(point.cell.contract, instances=1, fields=1)), _arrays(point)


def _alone(point: Point) -> Method:
    return replace(point.method, placement="", field_order="")
