"""What a record says of counted memory traffic and energy: `counters`, and the minimum bytes of a phase."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fourscore_analysis.records.values import (
    RecordError,
    amount_of,
    count_of,
    each,
    entries,
    list_of,
    name_of,
    number_of,
    read,
    table_of,
    text_of,
    truth_of,
)

JOULE = "J"

Values = dict[str, tuple[float | None, ...]]  # by metric, one value a reader; None: could not be counted


@dataclass(frozen=True, slots=True)
class SimulatedCache:
    size_bytes: int
    ways: int
    line_bytes: int


@dataclass(frozen=True, slots=True)
class Source:
    """Who counted what, and how far that is to be trusted. Two counts compare only if it is equal."""

    backend: str
    group: str
    scope: str = ""  # thread, process, socket, node
    simulated: bool = False
    cache: SimulatedCache | None = None
    attribution: str = "own"  # elected: phases are those of one rank, counts those of its socket or node
    # The qualification on this machine: within its limit (None: never qualified here), and the ratio of counted to
    # known traffic that is farthest from 1. Qualifying a backend later does not make other counts of its.
    fit: bool | None = field(default=None, compare=False)
    worst_ratio: float | None = field(default=None, compare=False)


@dataclass(slots=True)
class Counters:
    """Counts of one run of the transform. `unavailable`: why there are none."""

    source: Source
    multiplexed: bool = False
    readers: int = 0
    units: dict[str, str] = field(default_factory=dict)
    total: Values = field(default_factory=dict)
    phases: dict[str, Values] = field(default_factory=dict)
    components: dict[str, Values] = field(default_factory=dict)  # each alone
    # Where a socket or node is counted: the total before what the machine takes at rest was subtracted, that by the
    # second, over how many seconds it was read, and how long a counted run took.
    with_idle: Values = field(default_factory=dict)
    idle_per_s: Values = field(default_factory=dict)
    idle_s: float | None = None
    run_s: float | None = None
    runs: int = 1
    phases_refused: str = ""  # why phases have no numbers
    unavailable: str = ""

    @property
    def of_energy(self) -> bool:
        return JOULE in self.units.values()


@dataclass(frozen=True, slots=True)
class Moved:
    """Bytes between memory and the last-level cache, all readers together; None where that cannot be said."""

    read: float | None = None
    written: float | None = None
    total: float | None = None


def read_counters(value: Any) -> Counters | None:
    """The object `counters` of a record; None for the backend none. Raises RecordError."""
    data = table_of(value)
    if read(data, "backend", name_of, "none") == "none":
        return None
    counters = Counters(
        source=_source(data),
        multiplexed=read(data, "multiplexed", truth_of, False),
        readers=len(read(data, "readers", list_of, ())),
        unavailable=read(data, "unavailable", text_of, ""),
    )
    if counters.unavailable:
        return counters
    metrics = read(data, "metrics", each(table_of))
    counters.units = {read(metric, "name", name_of): read(metric, "unit", name_of) for metric in metrics}
    values = entries(_counts(counters.readers))
    counters.total = read(data, "total", values)
    counters.phases = read(data, "phases", entries(values), {})
    counters.components = read(data, "components", entries(values), {})
    counters.with_idle = read(data, "with_idle", values, {})
    counters.idle_per_s = read(data, "idle_per_s", values, {})
    counters.idle_s = read(data, "idle_s", amount_of, None)
    counters.run_s = read(data, "run_s", amount_of, None)
    counters.runs = read(data, "runs", count_of, 1)
    counters.phases_refused = read(data, "phases_refused", text_of, "")
    return counters


def _source(data: dict[str, Any]) -> Source:
    qualification = read(data, "qualification", _unless_none(table_of), None) or {}
    return Source(
        backend=read(data, "backend", name_of),
        group=read(data, "group", name_of, ""),
        scope=read(data, "scope", name_of, ""),
        simulated=read(data, "simulated", truth_of, False),
        cache=read(data, "cache", _unless_none(_cache), None),
        attribution=read(data, "attribution", name_of, "own"),
        fit=read(qualification, "fit", _unless_none(truth_of), None),
        worst_ratio=read(qualification, "worst_ratio", _unless_none(number_of), None),
    )


def read_least_bytes(cost: dict[str, Any]) -> dict[str, float]:
    """Phase to the minimum bytes that all ranks together must move in it; {} where the record does not say."""
    least = read(cost, "least_bytes_per_rank", entries(each(amount_of)), {})
    return {phase: math.fsum(ranks) for phase, ranks in least.items()}


def metric_sum(values: Mapping[str, Sequence[float | None]], name: str) -> float | None:
    """The sum of one metric over all readers; None when it is absent or one of them could not count it."""
    readers = values.get(name)
    if not readers or any(value is None for value in readers):
        return None
    return math.fsum(readers)


def joules(values: Mapping[str, Sequence[float | None]], units: Mapping[str, str]) -> float | None:
    """All readers and all that takes energy together. What no reader has (a processor without counters of its DRAM) is
    left out; None where a reader lacks what others have, or nothing was counted."""
    parts = [values.get(name, ()) for name, unit in units.items() if unit == JOULE]
    parts = [part for part in parts if any(value is not None for value in part)]
    if not parts or any(value is None for part in parts for value in part):
        return None
    return math.fsum(value for part in parts for value in part if value is not None)


def moved(values: Mapping[str, Sequence[float | None]]) -> Moved:
    """Read and written bytes and their sum; some backends know the sum alone."""
    read, written = metric_sum(values, "dram_read_bytes"), metric_sum(values, "dram_write_bytes")
    total = metric_sum(values, "dram_bytes") if read is None or written is None else read + written
    return Moved(read, written, total)


def _unless_none(kind: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: None if value is None else kind(value)


def _cache(value: Any) -> SimulatedCache:
    data = table_of(value)
    return SimulatedCache(*(read(data, key, count_of) for key in ("size_bytes", "ways", "line_bytes")))


def _counts(readers: int) -> Callable[[Any], tuple[float | None, ...]]:
    """The counts of one metric: one a reader, None where it could not be counted."""

    def read_counts(value: Any) -> tuple[float | None, ...]:
        counts = each(_unless_none(amount_of))(value)
        if readers and len(counts) != readers:
            raise RecordError(f"{len(counts)} values for {readers} readers")
        return counts

    return read_counts
