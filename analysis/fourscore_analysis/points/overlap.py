"""What other work costs beside a transform: the same point with it and without. What the two differ in else, nothing
does: contract, shape, place and method are equal."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from fourscore_analysis.points.points import Point, group_by
from fourscore_analysis.points.stats import shift_estimate
from fourscore_analysis.records.cells import OTHER_WORK, Contract

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Overlap:
    """`both` is `alone` with other work, which takes `work_s` where nothing else runs."""

    alone: Point
    both: Point
    work_s: float

    @property
    def won_s(self) -> float:
        """By how much both together are shorter than one after the other; negative where they take longer."""
        return self.alone.time_s + self.work_s - self.both.time_s

    @property
    def efficiency(self) -> float | None:
        """What was won over the most that overlap can win, the shorter of the exchange and the work: the overlap of
        IMB-NBC (Intel MPI Benchmarks, Guide and Methodology Description), without its bounds of 0 and 1. None where the
        exchange is not told apart, or there is none."""
        exchange_s = self.alone.phases.get("exchange", 0.0)
        return self.won_s / min(exchange_s, self.work_s) if exchange_s > 0 else None

    @property
    def told(self) -> bool:
        """Whether the launches tell the time of both from the sum."""
        together = [launch.median_s for launch in self.both.measured]
        apart = [launch.median_s + self.work_s for launch in self.alone.measured]
        interval = shift_estimate([(apart, together)], CONFIDENCE).interval
        return interval is not None and (interval[0] > 0 or interval[1] < 0)

    def as_json(self) -> dict[str, Any]:
        contract = self.both.cell.contract
        return {
            "method": self.both.label,
            "shape": list(self.both.cell.shape),
            "ranks": self.both.cell.ranks,
            **{name: value for name in OTHER_WORK if (value := getattr(contract, name))},
            "work_s": self.work_s,
            "alone_s": self.alone.time_s,
            "together_s": self.both.time_s,
            "won_s": self.won_s,
            "efficiency": self.efficiency,
            "told_apart": self.told,
        }


def without_work(contract: Contract) -> Contract:
    return replace(contract, **dict.fromkeys(OTHER_WORK, ""))


def overlaps(points: Iterable[Point]) -> list[Overlap]:
    """One for each point with other work that was also measured without, on the same machine with the same build."""

    def transform(point: Point) -> tuple:
        launch = point.measured[0]
        cell = replace(point.cell, contract=without_work(point.cell.contract))
        return cell, point.method, launch.machine_hash, launch.code_hash

    found = []
    for group in group_by([point for point in points if point.measured], transform):
        alone = next((point for point in group if not point.cell.contract.other_work), None)
        if alone is not None:
            found += [Overlap(alone, point, point.work_s) for point in group if point.work_s is not None]
    return found
