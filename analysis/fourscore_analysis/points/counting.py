"""Counted memory traffic of points: by phase, against the least it could be, and how far the counts are to be trusted.

All bytes are of one run of the transform, all ranks together, between memory and the last-level cache."""

from __future__ import annotations

import re
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

from fourscore_analysis.points.points import Point
from fourscore_analysis.points.units import bytes_text, ratio_text, whole_bytes_text
from fourscore_analysis.records.traffic import Moved, Source, joules, metric_sum, moved
from fourscore_analysis.records.transforms import PHASES, Launch

COMPUTATION = ("fft", "twiddle", "combine")  # the phases to which a formula's flops belong
_NUMBER_OF_PART = re.compile(r"-\d+$")


@dataclass
class CountedPoint:
    """The launches of a point that one source has counted."""

    point: Point
    source: Source
    launches: list[Launch]

    @cached_property
    def total(self) -> Moved:
        return _median([moved(launch.counters.total) for launch in self.launches])

    @cached_property
    def phases(self) -> dict[str, Moved]:
        """What moved in the phases whose bytes are known, in the order of PHASES."""
        return self._by_name(lambda launch: {name: moved(one) for name, one in launch.counters.phases.items()})

    @cached_property
    def alone(self) -> dict[str, Moved]:
        """What all components of a phase moved together, each run alone."""

        def of_launch(launch: Launch) -> dict[str, Moved]:
            phase_of = {part.name: part.phase for part in launch.components}
            totals: dict[str, list[Moved]] = defaultdict(list)
            for name, values in launch.counters.components.items():
                totals[phase_of.get(name, _NUMBER_OF_PART.sub("", name))].append(moved(values))
            return {phase: _sum(parts) for phase, parts in totals.items()}

        return self._by_name(of_launch)

    @cached_property
    def least(self) -> dict[str, float]:
        """What a phase must move when nothing stays in a cache, from the record's cost."""
        return self.launches[0].least_bytes

    @property
    def multiplexed(self) -> bool:
        return any(launch.counters.multiplexed for launch in self.launches)

    def over_least(self, phase: str) -> float | None:
        """Counted over minimum bytes of a phase inside the transform; below 1 some of it stayed in the cache."""
        return _ratio(self.phases.get(phase), self.least.get(phase))

    def alone_over_least(self, phase: str) -> float | None:
        return _ratio(self.alone.get(phase), self.least.get(phase))

    @property
    def total_over_least(self) -> float | None:
        return _ratio(self.total, sum(self.least.values()))

    @property
    def bytes_an_element(self) -> float | None:
        return None if self.total.total is None else self.total.total / self.point.cell.elements

    def flops(self, phase: str) -> float | None:
        """The flops of all ranks: counted, else by the formula, whose flops belong to the computing phases together
        (then they stand for `fft`)."""
        counted = _known([metric_sum(launch.counters.phases.get(phase, {}), "flops") for launch in self.launches])
        if counted:
            return counted
        return self.launches[0].formula_flops if phase == "fft" else None

    @property
    def counts_flops(self) -> bool:
        return any("flops" in launch.counters.units for launch in self.launches)

    def _by_name(self, of_launch: Callable[[Launch], dict[str, Moved]]) -> dict[str, Moved]:
        found: dict[str, list[Moved]] = defaultdict(list)
        for launch in self.launches:
            for name, value in of_launch(launch).items():
                found[name].append(value)
        names = [name for name in PHASES if name in found] + sorted(set(found) - set(PHASES))
        medians = {name: _median(found[name]) for name in names}
        return {name: value for name, value in medians.items() if value.total is not None}


def counted_points(points: Iterable[Point]) -> list[CountedPoint]:
    """One for each point and source that has a total, in the order of the points."""
    found = []
    for point in points:
        by_source: dict[Source, list[Launch]] = defaultdict(list)
        for launch in point.counted:
            by_source[launch.counters.source].append(launch)
        for launches in by_source.values():
            one = CountedPoint(point, launches[-1].counters.source, launches)
            if one.total.total is not None:
                found.append(one)
    return found


def uncounted(points: Iterable[Point]) -> dict[tuple[str, str], int]:
    """(backend and group, reason) to how many launches were to be counted and were not."""
    found: dict[tuple[str, str], int] = defaultdict(int)
    for point in points:
        for launch in point.launches:
            counters = launch.counters
            if counters is None:
                continue
            asked = _asked(counters.source)
            if counters.unavailable:
                found[asked, counters.unavailable] += 1
            elif counters.of_energy:
                if joules(counters.with_idle, counters.units) is None:
                    found[asked, "its counters did not move"] += 1
            elif moved(counters.total).total is None:
                found[asked, "the group's events give no bytes of memory traffic"] += 1
    return dict(found)


def source_text(source: Source) -> str:
    """callgrind MEM, a simulated cache of 1.00 MiB (16 ways, lines of 64 B)"""
    text = _asked(source)
    if source.cache:
        cache = source.cache
        text += (
            f", a simulated cache of {bytes_text(cache.size_bytes)} ({cache.ways} ways, lines of {cache.line_bytes} B)"
        )
    elif source.simulated:
        text += ", simulated"
    elif source.scope:
        text += f", of each {source.scope}"
    return text


def short_source_text(source: Source) -> str:
    """callgrind, simulated 1 MiB cache: for a figure"""
    if source.cache:
        return f"{source.backend}, simulated {whole_bytes_text(source.cache.size_bytes)} cache"
    return f"{source.backend}, simulated" if source.simulated else source.backend


def doubts(source: Source, multiplexed: bool = False) -> list[str]:
    """What a reader must know beside the numbers; [] where the backend is qualified and counts each rank by itself."""
    found = []
    if source.fit is None:
        found.append(f"{source.backend} is not qualified on this machine: see fourscore counters qualify")
    elif not source.fit:
        ratio = f": it counts {ratio_text(source.worst_ratio)} of known traffic" if source.worst_ratio else ""
        found.append(f"{source.backend} is unfit on this machine{ratio}")
    if source.attribution == "elected":
        found.append(
            f"counts are of the whole {source.scope or 'socket'}, phases are those of one elected rank there: exact "
            "only where it is alone"
        )
    if multiplexed:
        found.append("events shared the counters (multiplexed): the counts are extrapolations")
    return found


def short_doubt(source: Source) -> str:
    """unqualified, unfit or "": for a figure"""
    return "unqualified" if source.fit is None else "" if source.fit else "unfit"


def _asked(source: Source) -> str:
    return f"{source.backend} {source.group}".strip()


def _ratio(value: Moved | None, least: float | None) -> float | None:
    return value.total / least if value and value.total is not None and least else None


def _known(values: Iterable[float | None]) -> float | None:
    """Median of the values; None where one is missing."""
    values = list(values)
    return None if not values or None in values else statistics.median(values)


def _median(values: list[Moved]) -> Moved:
    """Over launches."""
    return Moved(*(_known(getattr(value, name) for value in values) for name in ("read", "written", "total")))


def _sum(values: list[Moved]) -> Moved:
    def add(name: str) -> float | None:
        parts = [getattr(value, name) for value in values]
        return None if None in parts else sum(parts)

    return Moved(*(add(name) for name in ("read", "written", "total")))
