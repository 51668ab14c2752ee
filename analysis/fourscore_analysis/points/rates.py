"""What a machine was seen to reach: rates of its components alone, on which the floors of a time rest
(models/floors.py). A rate is that of the median over launches; the fastest of several ways to do one thing counts."""

from __future__ import annotations

import math
import re
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fourscore_analysis.points.components import COPY_KERNELS, MEMORY, TRANSFORMS
from fourscore_analysis.points.units import bytes_text, ranks_text
from fourscore_analysis.records.basics import Place
from fourscore_analysis.records.components import Benchmark, ComponentRun

EXCHANGES, MESSAGES = "alltoall_bench", "pairwise_bench"
BANDWIDTH_KERNELS = (*COPY_KERNELS, "triad")
COLLECTIVE = "mpi-"  # how exchanges that are one call of MPI begin; they have no parts
FAR_SIZE = 2.0  # sizes of messages that differ by more than this factor are named


@dataclass(frozen=True)
class Rate:
    """Bytes or flops a second of one rank, or core."""

    rate: float
    source: str  # copy, 2 cores at once
    instead: str = ""  # what was measured in place of what was asked for; "" where it is the same


@dataclass(frozen=True)
class _Measured:
    """One benchmark of one point over its launches."""

    place: Place
    threads: int
    benchmark: Benchmark  # from any launch: they differ in their times alone
    machine: Mapping[str, Any]
    median_s: float

    @property
    def cores(self) -> int:
        """Busy at once on a node."""
        return self.place.ranks_per_node * self.threads

    def per_second(self, amount: str) -> float:
        return (self.benchmark.number(amount) or 0.0) / self.median_s


def last_level_bytes(machine: Mapping[str, Any], cores: int) -> float:
    """Bytes of last-level cache that so many busy cores of a node reach together; 0 where the record does not say."""
    caches = machine.get("caches")
    known = [cache for cache in (caches if isinstance(caches, list) else ()) if isinstance(cache, dict)]
    rows = [tuple(cache.get(name) for name in ("level", "bytes", "shared_by")) for cache in known]
    rows = [row for row in rows if all(type(value) is int and 0 < value < 2**63 for value in row)]
    if not rows:
        return 0.0
    _, size, shared_by = max(rows)
    of_node = machine.get("cores")
    there = max(1, of_node // shared_by) if type(of_node) is int else 1
    return float(size * min(there, max(1, cores)))


class Rates:
    """The rates of the components measured on one machine."""

    def __init__(self, runs: Iterable[ComponentRun]) -> None:
        found: dict[tuple, list[tuple[ComponentRun, Benchmark]]] = defaultdict(list)
        for run in runs:
            for one in run.benchmarks:
                if not one.emulated and not run.foreign:
                    found[run.component, run.place, run.parameters, one.name].append((run, one))
        self._measured: dict[str, list[_Measured]] = defaultdict(list)
        for (program, *_), members in found.items():
            run, one = members[0]
            median_s = statistics.median(each.median_s for _, each in members)
            machine = run.identity.get("machine", {})
            self._measured[program].append(_Measured(run.place, _threads(run), one, machine, median_s))
        self._known: dict[tuple, Rate | None] = {}

    def bandwidth(self, cores: int) -> Rate | None:
        """The bandwidth of a core to memory beyond the caches, with so many at once; else with the most below that,
        which share it with fewer. None where that was not measured."""
        return self._once(_bandwidth, MEMORY, cores)

    def transform(self, cores: int, library: str, precision: str, kind: str, length: int) -> Rate | None:
        """Credited flops a second and core of local transforms whose data fit the caches: of this library, this kind
        and this length, as far as they were measured, else of the fastest of the others."""
        return self._once(_transform, TRANSFORMS, cores, library, precision, kind, length)

    def exchange(self, place: Place, exchange: str, group: int, message_bytes: float) -> Rate | None:
        """Bytes a second that a rank sends to the others of its group, all groups of `place` at once: by this exchange,
        among so many ranks, in messages of the size nearest to this one. Where the exchange was not measured, or is
        not known ("none"), the fastest of all; where none was, messages between two ranks. None where nothing was
        measured with as many ranks."""
        by_exchange = self._once(_exchange, EXCHANGES, place, exchange, group, message_bytes)
        return by_exchange or self._once(_exchange, MESSAGES, place, exchange, group, message_bytes)

    def _once(self, find: Callable[..., Rate | None], program: str, *asked: Any) -> Rate | None:
        key = (program, *asked)
        if key not in self._known:
            self._known[key] = find(self._measured[program], *asked)
        return self._known[key]


def _bandwidth(measured: Sequence[_Measured], cores: int) -> Rate | None:
    found = [
        one
        for one in measured
        if one.benchmark.kernel in BANDWIDTH_KERNELS and not one.benchmark.in_cache and one.per_second("bytes")
    ]
    found = _most_at_once(found, cores)
    if not found:
        return None
    best = max(found, key=lambda one: one.per_second("bytes"))
    at_once = _cores_text(best.cores)
    source = f"{best.benchmark.kernel}, {at_once}"
    return Rate(best.per_second("bytes"), source, "" if best.cores == cores else at_once)


def _transform(
    measured: Sequence[_Measured], cores: int, library: str, precision: str, kind: str, length: int
) -> Rate | None:
    found = [
        one
        for one in measured
        if one.benchmark.label("precision") == precision
        and one.cores <= cores
        and one.per_second("flops")
        and _fits_caches(one)
    ]
    asked: tuple[tuple[Callable[[Benchmark], object], object, str], ...] = (
        (lambda one: one.label("library"), library, "library {}"),
        (lambda one: one.kernel, kind, "{}"),
        (lambda one: one.number("length"), length, "length {:g}"),
    )
    for value_of, wanted, _ in asked:
        found = [one for one in found if value_of(one.benchmark) == wanted] or found
    found = _most_at_once(found, cores)
    if not found:
        return None
    best = max(found, key=lambda one: one.per_second("flops") / one.threads)
    chosen, at_once = best.benchmark, _cores_text(best.cores)
    instead = [text.format(value_of(chosen)) for value_of, wanted, text in asked if value_of(chosen) != wanted]
    if best.cores != cores:
        instead.append(at_once)
    source = f"{chosen.label('library')} {chosen.kernel} of {chosen.number('length'):g}, {at_once}"
    return Rate(best.per_second("flops") / best.threads, source, ", ".join(instead))


def _exchange(
    measured: Sequence[_Measured], place: Place, exchange: str, group: int, message_bytes: float
) -> Rate | None:
    found = [one for one in measured if _is_exchange(one, place)]
    for is_wanted in (
        lambda one: one.benchmark.label("exchange") == exchange,
        lambda one: one.benchmark.number("ranks_in_communicator") == group,
    ):
        found = [one for one in found if is_wanted(one)] or found
    if not found:
        return None

    def apart(one: _Measured) -> float:
        return abs(math.log((one.benchmark.number("size_bytes") or math.inf) / message_bytes))

    nearest = min(map(apart, found))
    best = max((one for one in found if apart(one) <= nearest + 1e-9), key=lambda one: one.per_second("bytes"))
    name = best.benchmark.label("exchange") or best.benchmark.kernel
    size = f"messages of {bytes_text(best.benchmark.number('size_bytes'))}"
    among = best.benchmark.number("ranks_in_communicator")
    instead = [] if name == exchange else [f"{name}, the fastest measured"]
    if best.benchmark.label("parts") == "whole" and not name.startswith(COLLECTIVE):
        instead.append("with its packing")
    if among and among != group:
        instead.append(f"among {ranks_text(int(among))}")
    if nearest > math.log(FAR_SIZE):
        instead.append(size)
    return Rate(best.per_second("bytes"), f"{name}, {size}", ", ".join(instead))


def _is_exchange(one: _Measured, place: Place) -> bool:
    return (
        one.place == place
        and one.benchmark.kernel != "pingpong"  # only one of the two sends at a time
        and one.per_second("bytes") > 0
        and bool(one.benchmark.number("size_bytes"))
    )


def _threads(run: ComponentRun) -> int:
    text = dict(run.parameters).get("threads", "1")
    return int(text) if re.fullmatch(r"[1-9][0-9]{0,3}", text) else 1


def _fits_caches(one: _Measured) -> bool:
    held = (one.benchmark.number("working_set_bytes") or math.inf) * one.place.ranks_per_node
    return held <= last_level_bytes(one.machine, one.cores)


def _most_at_once(found: Sequence[_Measured], cores: int) -> list[_Measured]:
    """Rates at the most cores at once up to `cores`: more would leave less to each, and that is no floor."""
    most = max((one.cores for one in found if one.cores <= cores), default=0)
    return [one for one in found if one.cores == most]


def _cores_text(cores: int) -> str:
    return "1 core" if cores == 1 else f"{cores} cores at once"
