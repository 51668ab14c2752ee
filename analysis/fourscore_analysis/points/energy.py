"""Counted energy of points: joules of one run with the machine's idle power and above it, and who beats whom.

A point is Pareto-optimal where no other of its problem takes less time and less energy."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fourscore_analysis.points.points import Point, group_by
from fourscore_analysis.records.traffic import Counters, Source, joules
from fourscore_analysis.records.transforms import PHASES, Launch


@dataclass
class EnergyPoint:
    """The launches of a point whose energy one source has counted; every value is the median over them, and None where
    one of them lacks it."""

    point: Point
    source: Source
    launches: list[Launch]

    @cached_property
    def with_idle_j(self) -> float:
        """What all that was counted took over one run."""
        found = self._median(lambda counters: joules(counters.with_idle, counters.units))
        assert found is not None  # energy_points() takes no other launches
        return found

    @cached_property
    def above_idle_j(self) -> float | None:
        """The same without what the machine takes at rest over the time of a run; None where nothing remains."""
        return self._median(_above_idle_j)

    @cached_property
    def idle_w(self) -> float | None:
        return self._median(lambda counters: joules(counters.idle_per_s, counters.units))

    @cached_property
    def run_s(self) -> float | None:
        """How long a counted run took."""
        return self._median(lambda counters: counters.run_s)

    @cached_property
    def runs(self) -> int:
        """The fewest runs that a launch counted together."""
        return min(launch.counters.runs for launch in self.launches if launch.counters)

    @property
    def time_s(self) -> float | None:
        """As timed without counters; else that of the counted runs."""
        return self.point.time_s if self.point.measured else self.run_s

    @property
    def watts(self) -> float | None:
        """Mean power of the counted runs, idle power included."""
        return self.with_idle_j / self.run_s if self.run_s else None

    @cached_property
    def phases_j(self) -> dict[str, float]:
        """Above idle, of the phases that last long enough to be counted by themselves."""
        found: dict[str, list[float]] = defaultdict(list)
        for launch in self.launches:
            for phase, values in launch.counters.phases.items() if launch.counters else ():
                value = joules(values, launch.counters.units)
                if value is not None:
                    found[phase].append(value)
        return {phase: statistics.median(found[phase]) for phase in PHASES if len(found[phase]) == len(self.launches)}

    @property
    def refused(self) -> str:
        """Why phases have no joules; "" where all have."""
        return next((one.counters.phases_refused for one in self.launches if one.counters), "")

    def gflop_per_j(self, spent_j: float | None) -> float | None:
        """Credited flops of a run, in 1e9, over joules."""
        credited = self.launches[0].credited_flops
        return credited / spent_j / 1e9 if credited and spent_j else None

    def as_json(self, best: Iterable[EnergyPoint]) -> dict[str, Any]:
        return {
            "method": self.point.label,
            "shape": list(self.point.cell.shape),
            "ranks": self.point.cell.ranks,
            "nodes": self.point.cell.place.nodes,
            "backend": self.source.backend,
            "joules_above_idle": self.above_idle_j,
            "joules_with_idle": self.with_idle_j,
            "idle_w": self.idle_w,
            "time_s": self.time_s,
            "gflop_per_j_above_idle": self.gflop_per_j(self.above_idle_j),
            "gflop_per_j_with_idle": self.gflop_per_j(self.with_idle_j),
            "phases_j": self.phases_j,
            "launches": len(self.launches),
            "pareto": any(one is self for one in best),
            "flags": sorted({flag for launch in self.launches for flag in launch.flags}),
        }

    def _median(self, of: Callable[[Counters], float | None]) -> float | None:
        values = [of(launch.counters) for launch in self.launches if launch.counters]
        known = [value for value in values if value is not None]
        return statistics.median(known) if known and len(known) == len(values) else None


def _above_idle_j(counters: Counters) -> float | None:
    spent, idle_w = (joules(values, counters.units) for values in (counters.with_idle, counters.idle_per_s))
    if spent is None or idle_w is None or counters.run_s is None:
        return None
    return spent - idle_w * counters.run_s if spent > idle_w * counters.run_s else None


def energy_points(points: Iterable[Point]) -> list[EnergyPoint]:
    """One for each point and source, in the order of the points."""
    found = []
    for point in points:
        by_source: dict[Source, list[Launch]] = defaultdict(list)
        for launch in point.counted:
            counters = launch.counters
            if counters and counters.of_energy and joules(counters.with_idle, counters.units) is not None:
                by_source[counters.source].append(launch)
        found += [EnergyPoint(point, source, launches) for source, launches in by_source.items()]
    return found


def energy_groups(points: Iterable[EnergyPoint]) -> list[list[EnergyPoint]]:
    """Points of one problem under one contract, counted by one source, on any ranks and nodes; the largest problem
    first, and in each the fastest."""
    groups = group_by(
        [one for one in points if one.time_s],
        lambda one: (one.point.cell.shape, one.point.cell.contract, one.point.setting, one.source),
    )
    groups.sort(key=lambda group: -group[0].point.cell.elements)
    return [sorted(group, key=lambda one: (one.time_s or 0, one.with_idle_j)) for group in groups]


def pareto(group: Sequence[EnergyPoint]) -> list[EnergyPoint]:
    """The points that no other of the group beats in time and in joules with idle power; fastest first."""
    best: list[EnergyPoint] = []
    for one in sorted(group, key=lambda one: (one.time_s or 0, one.with_idle_j)):
        if not best or one.with_idle_j < best[-1].with_idle_j:
            best.append(one)
    return best
