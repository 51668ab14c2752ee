"""All campaigns of a report together: where the numbers of one find those of another that belong beside them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property
from typing import Protocol

from fourscore_analysis.points.components import Bench, Ceiling
from fourscore_analysis.points.points import Point
from fourscore_analysis.points.rates import Rates
from fourscore_analysis.records.basics import Place


class Shelved(Protocol):
    """What the shelf asks of a campaign."""

    @property
    def measured(self) -> list[Point]: ...
    @property
    def bench(self) -> Bench: ...


class Shelf:
    """Counts of a simulated run have no time of their own, and bandwidths are measured by themselves."""

    def __init__(self, views: Sequence[Shelved]) -> None:
        self.views = views
        self._rates: dict[str, Rates] = {}

    @cached_property
    def _timed(self) -> dict[tuple[str, Place, str], list[Point]]:
        found: dict[tuple[str, Place, str], list[Point]] = defaultdict(list)
        for view in self.views:
            for point in view.measured:
                found[point.launches[0].point_id, point.cell.place, point.measured[0].machine_hash].append(point)
        return found

    def timed(self, point: Point) -> Point | None:
        """The same point on the same machine with a time: itself, else with the same build, else the one with most
        launches. None where no campaign of the report has measured it."""
        if point.measured:
            return point
        first = point.launches[0]
        found = self._timed.get((first.point_id, point.cell.place, first.machine_hash), [])
        return max(
            found,
            key=lambda other: (other.measured[0].code_hash == first.code_hash, len(other.measured)),
            default=None,
        )

    def _benches(self, view: Shelved) -> list[Bench]:
        return [view.bench, *(other.bench for other in self.views if other is not view)]

    def copy_ceiling(self, view: Shelved, machine_hash: str, place: Place) -> Ceiling | None:
        """The ceiling from the same campaign, else from another on the same machine."""
        found = (bench.copy_ceiling(machine_hash, place) for bench in self._benches(view))
        return next((ceiling for ceiling in found if ceiling), None)

    def transform_peak(self, view: Shelved, machine_hash: str, precision: str) -> Ceiling | None:
        found = (bench.transform_peak(machine_hash, precision) for bench in self._benches(view))
        return next((ceiling for ceiling in found if ceiling), None)

    def rates(self, machine_hash: str) -> Rates:
        """The rates of the components that any campaign measured on this machine."""
        if machine_hash not in self._rates:
            runs = (run for view in self.views for run in view.bench.measured)
            self._rates[machine_hash] = Rates(run for run in runs if run.machine_hash == machine_hash)
        return self._rates[machine_hash]
