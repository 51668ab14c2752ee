"""One record of a component program: benchmarks of one part alone, without a transform around it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fourscore_analysis.records.basics import Run, check_slowest, median_of, run_values
from fourscore_analysis.records.values import (
    amount_of,
    each,
    entries,
    name_of,
    read,
    rows_of,
    some,
    table_of,
    time_of,
    truth_of,
)


@dataclass(frozen=True, slots=True)
class Benchmark:
    """One benchmark of one launch. Sizes, bytes, flops and messages are of one iteration of one rank."""

    name: str
    kernel: str
    labels: tuple[tuple[str, str], ...]  # (name, value), sorted by name
    numbers: tuple[tuple[str, float], ...]
    time_s: tuple[float, ...]  # one a repetition: seconds an iteration, maximum over ranks
    in_cache: bool = False
    emulated: bool = False

    def label(self, name: str) -> str:
        return dict(self.labels).get(name, "")

    def number(self, name: str) -> float | None:
        return dict(self.numbers).get(name)

    @property
    def median_s(self) -> float:
        return median_of(self.time_s)


@dataclass(slots=True, kw_only=True)
class ComponentRun(Run):
    """One launch of one component program."""

    component: str
    parameters: tuple[tuple[str, str], ...] = ()
    benchmarks: tuple[Benchmark, ...] = ()

    @property
    def title(self) -> str:
        """memory_bench · 2 ranks · kernels=copy"""
        asked = ", ".join(f"{name}={value}" for name, value in self.parameters)
        return " · ".join(part for part in (self.component, self.place.text(), asked) if part)


def is_component(data: dict[str, Any]) -> bool:
    return isinstance(data.get("point"), dict) and "component" in data["point"]


def read_component(data: dict[str, Any], file: str) -> ComponentRun:
    """Raises RecordError."""
    point = read(data, "point", table_of)
    run = ComponentRun(
        **run_values(data, file),
        component=read(point, "component", name_of),
        parameters=tuple(read(point, "parameters", entries(name_of), {}).items()),
    )
    if run.status == "ok":
        benchmarks = read(data, "benchmarks", each(table_of))
        synchronised = read(read(data, "sampling", table_of, {}), "synchronised", truth_of, False)
        run.benchmarks = tuple(_benchmark(one, run.flags, synchronised) for one in benchmarks)
    return run


def _benchmark(data: dict[str, Any], flags: tuple[str, ...], synchronised: bool) -> Benchmark:
    time_s = read(data, "time_s", some(time_of))
    if of_ranks := data.get("rank_s"):
        check_slowest(time_s, rows_of(of_ranks), synchronised)
    return Benchmark(
        name=read(data, "name", name_of),
        kernel=read(data, "kernel", name_of),
        labels=tuple(read(data, "labels", entries(name_of), {}).items()),
        numbers=tuple(read(data, "numbers", entries(amount_of), {}).items()),
        time_s=time_s,
        in_cache=read(data, "in_cache", truth_of, False),
        emulated=read(data, "emulated", truth_of, False) or "emulated" in flags,
    )
