"""The same point on two sides: the base and the candidate. A launch is one value, the median over its repetitions of
the time of the slowest rank; repetitions of one launch are not independent of each other."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from fourscore_analysis.points.points import contract_terms, method_labels
from fourscore_analysis.points.units import shape_text
from fourscore_analysis.records.basics import Place, Run
from fourscore_analysis.records.components import ComponentRun
from fourscore_analysis.records.google_benchmark import BenchmarkRun
from fourscore_analysis.records.transforms import Launch

BASE, CANDIDATE = "base", "candidate"
TROUBLES = ("wrong", "failed", "timeout", "skipped")


@dataclass(frozen=True, slots=True)
class Timed:
    """One launch with its time, seconds."""

    number: int
    time_s: float
    phase_s: dict[str, float]  # the slowest rank of each repetition; median over repetitions
    run: Run


@dataclass
class Side:
    """The launches of one series on one side."""

    timed: dict[int, Timed] = field(default_factory=dict)  # by launch number
    runs: list[Run] = field(default_factory=list)  # all, of any status

    @property
    def counted(self) -> list[Launch]:
        """Transforms whose declared and simulated numbers can be compared."""
        return [run for run in self.runs if isinstance(run, Launch) and run.status == "ok"]

    @cached_property
    def statuses(self) -> dict[str, int]:
        found = Counter(run.status for run in self.runs)
        return {status: found[status] for status in TROUBLES if found[status]}

    def trouble(self, status: str) -> str:
        """2 failed (exit status 139: Segmentation fault); "" without."""
        runs = [run for run in self.runs if run.status == status]
        if not runs:
            return ""
        reason = next((run.reason for run in runs if run.reason), "")
        word = {"timeout": "timed out"}.get(status, status)
        return f"{len(runs)} {word}" + (f" ({reason})" if reason else "")


@dataclass(frozen=True)
class Confirmation:
    """The fresh pairs of a series that was chosen for the second stage."""

    first: int  # number of the first launch
    pairs: int  # that were planned
    looks: tuple[int, ...] = ()  # pairs at the looks before the last
    stopped: int | None = None  # pairs after which a look ended it

    @property
    def reached(self) -> int:
        """Pairs that the verdict rests on."""
        return self.pairs if self.stopped is None else self.stopped


SeriesKey = tuple[str, Place, bool, str]


@dataclass
class Series:
    """Where `paired`, launch k of the base and launch k of the candidate were measured one after the other."""

    key: SeriesKey
    title: str  # pencil/alltoallv at 128³, 4 ranks
    base: Side
    candidate: Side
    paired: bool
    confirmation: Confirmation | None = None  # where this series was chosen for the second stage
    launch_differences: tuple[str, ...] = ()  # how launches of the two sides were started differently

    @property
    def point_id(self) -> str:
        return self.key[0]

    @property
    def chosen(self) -> bool:
        """For the second stage."""
        return self.confirmation is not None

    def launches(self) -> tuple[list[Timed], list[Timed]]:
        """The launches that the verdict rests on: pairs, one launch of each side a place, or all. A series that was
        chosen rests on the fresh ones alone."""
        if not self.paired:
            return [*self.base.timed.values()], [*self.candidate.timed.values()]
        return self.pairs_at(self.confirmation.reached) if self.confirmation else self._pairs(lambda number: True)

    def pairs_at(self, look: int) -> tuple[list[Timed], list[Timed]]:
        """The first so many fresh pairs of a chosen series, without those that have no time."""
        first = self.confirmation.first if self.confirmation else 0
        return self._pairs(lambda number: first <= number < first + look)

    def _pairs(self, wanted: Callable[[int], bool]) -> tuple[list[Timed], list[Timed]]:
        both = sorted(number for number in self.base.timed if number in self.candidate.timed and wanted(number))
        return [self.base.timed[number] for number in both], [self.candidate.timed[number] for number in both]

    @property
    def has_times(self) -> bool:
        return bool(self.base.timed and self.candidate.timed)


def logs_of(launches: Sequence[Timed]) -> np.ndarray:
    return np.array([math.log(launch.time_s) for launch in launches])


def pair_series(base: Iterable[Run], candidate: Iterable[Run], paired: bool) -> list[Series]:
    """Every series that either side has, in the order of the base, then of the candidate."""
    sides = {BASE: _sides(base), CANDIDATE: _sides(candidate)}
    titles = _titles([run for found in sides.values() for side in found.values() for run in side.runs])
    keys = dict.fromkeys([*sides[BASE], *sides[CANDIDATE]])
    return [
        Series(
            key=key,
            title=f"{titles[key[0]]}{f', {key[3]}' if key[3] else ''}",
            base=sides[BASE].get(key, Side()),
            candidate=sides[CANDIDATE].get(key, Side()),
            paired=paired,
        )
        for key in keys
    ]


def _sides(runs: Iterable[Run]) -> dict[SeriesKey, Side]:
    """Launches by series. A component's program has a series for each of its benchmarks; where it has none, as it
    failed, its launches join those that its others have."""
    found: dict[SeriesKey, Side] = defaultdict(Side)
    without: list[Run] = []
    for run in sorted(runs, key=lambda run: run.launch):
        number = run.launch if run.retry_of is None else run.retry_of
        home = (run.point_id, run.place, "emulated" in run.flags)
        if isinstance(run, Launch):
            side = found[(*home, "")]
            side.runs.append(run)
            if run.status == "ok" and not run.simulated:
                side.timed[number] = Timed(number, run.median_s, run.phase_max_s, run)
        elif isinstance(run, BenchmarkRun) and run.without_time:
            found[run.point_id, run.place, False, run.without_time].runs.append(run)
        elif isinstance(run, ComponentRun) and run.benchmarks:
            for benchmark in run.benchmarks:
                side = found[run.point_id, run.place, benchmark.emulated, benchmark.name]
                side.runs.append(run)
                if not run.simulated:
                    side.timed[number] = Timed(number, benchmark.median_s, {}, run)
        else:
            without.append(run)
    for run in without:
        same = [key for key in found if key[0] == run.point_id]
        for key in same or [(run.point_id, run.place, False, "")]:
            found[key].runs.append(run)
    return _with_troubles_at_home(dict(found))


def _with_troubles_at_home(found: dict[SeriesKey, Side]) -> dict[SeriesKey, Side]:
    """A launch that failed names no stand-in and, before version 3 of the record, no place: it joins the launches of
    its point that ran."""
    for key in [key for key, side in found.items() if not side.counted and not side.timed]:
        homes = [other for other in found if other[0] == key[0] and other[3] == key[3] and found[other].timed]
        if len(homes) == 1 and homes[0] != key:
            found[homes[0]].runs += found.pop(key).runs
    return found


def _titles(runs: Sequence[Run]) -> dict[str, str]:
    """By point: pencil/alltoallv at 128³, 4 ranks; with what tells its contract from the others' where they differ."""
    launches = [run for run in runs if isinstance(run, Launch)]
    labels = method_labels(launch.method for launch in launches)
    terms = [set(contract_terms(launch.cell.contract)) for launch in launches]
    common = set.intersection(*terms) if terms else set()
    names_nodes = not all(run.place.plain for run in runs)
    titles: dict[str, str] = {}
    for run in runs:
        if isinstance(run, Launch):
            words = [f"{labels[run.method]} at {shape_text(run.cell.shape)}", run.place.text(names_nodes)]
            words += [term for term in contract_terms(run.cell.contract) if term not in common]
            titles.setdefault(run.point_id, ", ".join(words))
        elif isinstance(run, ComponentRun):
            titles.setdefault(run.point_id, run.title)
    return titles
