"""On how many of its ranks a transform is fastest, where that was measured: the same method on several numbers of
active ranks. No model predicts it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from fourscore_analysis.points.apart import shown_slower
from fourscore_analysis.points.points import Point, fastest, group_by, method_labels


@dataclass(frozen=True)
class RanksToUse:
    """One method on one problem and place. `points`: by rising active ranks, as many as there are last."""

    points: tuple[Point, ...]
    best: Point

    @property
    def method(self) -> str:
        method = replace(self.best.method, active_ranks="")
        return method_labels([method])[method]

    @property
    def all_ranks(self) -> Point | None:
        return next((point for point in self.points if not point.method.active_ranks), None)

    @property
    def tied(self) -> list[Point]:
        """Points that their launches do not show to be slower than the best."""
        others = [point for point in self.points if point is not self.best]
        return [point for point in others if not shown_slower(point.measured, self.best.measured)]

    def as_json(self) -> dict[str, Any]:
        cell = self.best.cell
        return {
            "method": self.method,
            "shape": list(cell.shape),
            "ranks": cell.ranks,
            "nodes": cell.place.nodes,
            "active_ranks": active_of(self.best),
            "time_s": self.best.time_s,
            "all_ranks_s": self.all_ranks.time_s if self.all_ranks else None,
            "tied": [active_of(point) for point in self.tied],
            "measured": [{"active_ranks": active_of(point), "time_s": point.time_s} for point in self.points],
        }


def active_of(point: Point) -> int:
    """How many ranks transformed; of an instance on a subset, those of the first."""
    resolved = next((launch.active_ranks for launch in point.measured if launch.active_ranks), None)
    return resolved or point.cell.ranks


def ranks_to_use(points: Iterable[Point]) -> list[RanksToUse]:
    """One for each method and problem that was measured on several numbers of active ranks, on one machine with one
    build, in the order of the points. "auto" is one of the numbers."""

    def transform(point: Point) -> tuple:
        launch = point.measured[0]
        return point.cell, replace(point.method, active_ranks=""), launch.machine_hash, launch.code_hash

    found = []
    for group in group_by([point for point in points if point.measured], transform):
        by_count = {active_of(same[0]): fastest(same) for same in group_by(group, active_of)}
        ordered = tuple(point for _, point in sorted(by_count.items()) if point)
        best = fastest(ordered)
        if best is not None and len(ordered) > 1:
            found.append(RanksToUse(ordered, best))
    return found
