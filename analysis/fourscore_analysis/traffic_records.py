"""What a record says of counted memory traffic: `counters`, and the least that a phase could move."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fourscore_analysis.record_basics import RecordError, text_of

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
    unavailable: str = ""


@dataclass(frozen=True, slots=True)
class Moved:
    """Bytes between memory and the last-level cache, all readers together; None where that cannot be said."""

    read: float | None = None
    written: float | None = None
    total: float | None = None


def read_counters(data: dict[str, Any] | None) -> Counters | None:
    """The object `counters` of a record; None for the backend none. Raises RecordError, KeyError, TypeError."""
    if not data or data.get("backend", "none") == "none":
        return None
    qualification = data.get("qualification") or {}
    worst = qualification.get("worst_ratio")
    cache = data.get("cache")
    counters = Counters(
        source=Source(
            backend=text_of(data["backend"]),
            group=text_of(data.get("group", "")),
            scope=text_of(data.get("scope", "")),
            simulated=bool(data.get("simulated", False)),
            cache=_cache(cache) if cache else None,
            attribution=text_of(data.get("attribution", "own")),
            fit=qualification.get("fit"),
            worst_ratio=None if worst is None else float(worst),
        ),
        multiplexed=bool(data.get("multiplexed", False)),
        readers=len(data.get("readers", ())),
        unavailable=text_of(data.get("unavailable", "")),
    )
    if counters.unavailable:
        return counters
    counters.units = {text_of(metric["name"]): text_of(metric["unit"]) for metric in data["metrics"]}
    counters.total = _values(data["total"], counters.readers)
    counters.phases = {name: _values(values, counters.readers) for name, values in data.get("phases", {}).items()}
    counters.components = {
        name: _values(values, counters.readers) for name, values in data.get("components", {}).items()
    }
    return counters


def read_least_bytes(cost: dict[str, Any]) -> dict[str, float]:
    """Phase to the least bytes that all ranks together must move in it; {} where the record does not say."""
    least = cost.get("least_bytes_per_rank") or {}
    return {text_of(phase): math.fsum(float(value) for value in ranks) for phase, ranks in least.items()}


def metric_sum(values: Mapping[str, Sequence[float | None]], name: str) -> float | None:
    """Of one metric over all readers; None when it is absent or one of them could not count it."""
    readers = values.get(name)
    if not readers or any(value is None for value in readers):
        return None
    return math.fsum(readers)


def moved(values: Mapping[str, Sequence[float | None]]) -> Moved:
    """Read and written bytes and their sum; some backends know the sum alone."""
    read, written = metric_sum(values, "dram_read_bytes"), metric_sum(values, "dram_write_bytes")
    total = metric_sum(values, "dram_bytes") if read is None or written is None else read + written
    return Moved(read, written, total)


def _cache(data: dict[str, Any]) -> SimulatedCache:
    return SimulatedCache(int(data["size_bytes"]), int(data["ways"]), int(data["line_bytes"]))


def _values(data: dict[str, Any], readers: int) -> Values:
    found: Values = {}
    for name, counts in data.items():
        if readers and len(counts) != readers:
            raise RecordError(f"counters: {name} has {len(counts)} values for {readers} readers")
        found[text_of(name)] = tuple(None if count is None else float(count) for count in counts)
    return found
