"""One record of a component program: benchmarks of one part alone, without a transform around it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fourscore_analysis.record_basics import RecordError, Run, median_of, run_values, text_of


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
    ranks: int
    parameters: tuple[tuple[str, str], ...] = ()
    benchmarks: tuple[Benchmark, ...] = ()

    @property
    def title(self) -> str:
        """memory_bench · 2 ranks · kernels=copy"""
        asked = ", ".join(f"{name}={value}" for name, value in self.parameters)
        ranks = "1 rank" if self.ranks == 1 else f"{self.ranks} ranks"
        return " · ".join(part for part in (self.component, ranks, asked) if part)


def is_component(data: dict[str, Any]) -> bool:
    return isinstance(data.get("point"), dict) and "component" in data["point"]


def read_component(data: dict[str, Any], file: str) -> ComponentRun:
    """Raises RecordError, KeyError, TypeError, ValueError."""
    point = data["point"]
    ranks = int(point["ranks"])
    if ranks < 1:
        raise RecordError(f"ranks is {ranks}, expected 1 or more")
    parameters = point.get("parameters", {})
    run = ComponentRun(
        **run_values(data, file),
        component=text_of(point["component"]),
        ranks=ranks,
        parameters=tuple((name, text_of(parameters[name])) for name in sorted(parameters)),
    )
    if run.status == "ok":
        run.benchmarks = tuple(_benchmark(one, run.flags) for one in data["benchmarks"])
    return run


def _benchmark(data: dict[str, Any], flags: tuple[str, ...]) -> Benchmark:
    times = tuple(float(value) for value in data["time_s"])
    name = text_of(data["name"])
    if not times or min(times) <= 0:
        raise RecordError(f"benchmark {name!r} holds no time, or one that is not positive")
    labels, numbers = data.get("labels", {}), data.get("numbers", {})
    return Benchmark(
        name=name,
        kernel=text_of(data["kernel"]),
        labels=tuple((label, text_of(labels[label])) for label in sorted(labels)),
        numbers=tuple((number, float(numbers[number])) for number in sorted(numbers)),
        time_s=times,
        in_cache=bool(data.get("in_cache", False)),
        emulated=bool(data.get("emulated", False)) or "emulated" in flags,
    )
