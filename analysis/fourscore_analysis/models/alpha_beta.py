"""Latency alpha and bandwidth beta of messages between two ranks, from what pairwise_bench measured.

A message of m bytes takes T = alpha + m / beta, in a simultaneous send and receive, so that beta is the bandwidth of
one direction while the other is used too. In words, elements of the transform: T = t_s + t_w m, t_s = alpha,
t_w = word / beta.

Least squares of the relative deviations: an ordinary fit would see nothing but the largest messages, and alpha is told
by the smallest. What a straight line cannot follow (MPI changes its protocol with the size) shows in `worst`."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from fourscore_analysis.records.basics import Place

PROGRAM = "pairwise_bench"
CONFIDENCE = 0.95
WORD_BYTES = 16  # one complex element in double precision


class Timed(Protocol):
    """A benchmark of one launch: as fourscore_analysis.records.components.Benchmark."""

    @property
    def kernel(self) -> str: ...
    @property
    def time_s(self) -> tuple[float, ...]: ...
    def label(self, name: str) -> str: ...
    def number(self, name: str) -> float | None: ...


class Launch(Protocol):
    """One launch of a component program: as fourscore_analysis.records.components.ComponentRun."""

    component: str
    place: Place
    machine_hash: str
    benchmarks: Sequence[Timed]


@dataclass(frozen=True, slots=True)
class Estimate:
    """The mean over replicates, with the interval of Student's t; None with fewer than two."""

    value: float
    interval: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class AlphaBeta:
    """One kind of message in one phase of partners. Seconds, and seconds a byte."""

    machine_hash: str
    place: Place
    kernel: str  # sendrecv or pingpong
    phase: str  # k of rank ^ 2^k
    replicates: int
    of_launches: bool  # replicates are launches; else the repetitions of the one launch there is
    alpha_s: Estimate
    byte_s: Estimate
    worst: float  # largest |measured - fitted| / measured, of the medians
    worst_bytes: float  # the size where it is

    @property
    def beta(self) -> float:
        """Bytes a second."""
        return 1 / self.byte_s.value if self.byte_s.value > 0 else math.inf

    @property
    def t_s(self) -> float:
        """Seconds to start a message."""
        return self.alpha_s.value

    @property
    def t_w(self) -> float:
        """Seconds a word."""
        return WORD_BYTES * self.byte_s.value

    def as_json(self) -> dict[str, Any]:
        low_high = self.byte_s.interval
        beta_interval = [1 / low_high[1], 1 / low_high[0]] if low_high and low_high[0] > 0 else None
        return {
            "machine_hash": self.machine_hash,
            "ranks": self.place.ranks,
            "nodes": self.place.nodes,
            "placement_of_ranks": self.place.placement,
            "kernel": self.kernel,
            "phase": int(self.phase),
            "alpha_s": self.alpha_s.value,
            "alpha_interval_s": list(self.alpha_s.interval) if self.alpha_s.interval else None,
            "beta_bytes_per_s": self.beta if math.isfinite(self.beta) else None,
            "beta_interval": beta_interval,
            "t_s": self.t_s,
            "t_w": self.t_w,
            "word_bytes": WORD_BYTES,
            "confidence": CONFIDENCE,
            "replicates": self.replicates,
            "replicates_are": "launches" if self.of_launches else "repetitions",
            "worst_deviation": self.worst,
            "worst_at_bytes": self.worst_bytes,
        }


def line(sizes: Sequence[float], times: Sequence[float]) -> tuple[float, float]:
    """(a, b) of times = a + b sizes that make the sum of ((a + b m - T) / T)^2 least. Raises ValueError with fewer than
    two different sizes, or a time that is not positive."""
    if len(sizes) != len(times) or len(set(sizes)) < 2:
        raise ValueError(f"a line through {len(set(sizes))} sizes and {len(times)} times")
    if min(times) <= 0:
        raise ValueError("a time that is not positive")
    weights = [1 / time**2 for time in times]
    total = math.fsum(weights)
    size = math.fsum(w * m for w, m in zip(weights, sizes, strict=True)) / total
    time = math.fsum(w * t for w, t in zip(weights, times, strict=True)) / total
    across = math.fsum(w * (m - size) * (t - time) for w, m, t in zip(weights, sizes, times, strict=True))
    slope = across / math.fsum(w * (m - size) ** 2 for w, m in zip(weights, sizes, strict=True))
    return time - slope * size, slope


def estimate(values: Sequence[float], confidence: float = CONFIDENCE) -> Estimate:
    """Raises ValueError without values."""
    if not values:
        raise ValueError("an estimate of no values")
    mean = statistics.fmean(values)
    if len(values) == 1:
        return Estimate(mean, None)
    from scipy.special import stdtrit  # slow to load

    half = float(stdtrit(len(values) - 1, (1 + confidence) / 2)) * statistics.stdev(values) / math.sqrt(len(values))
    return Estimate(mean, (mean - half, mean + half))


def alpha_betas(launches: Iterable[Launch]) -> list[AlphaBeta]:
    """One for each machine, place, kernel and phase that was measured at two or more sizes."""
    # (machine, place, kernel, phase) -> launch -> size -> seconds a message, by repetition
    found: dict[tuple[str, Place, str, str], dict[int, dict[float, list[float]]]] = defaultdict(dict)
    for number, launch in enumerate(launches):
        if launch.component != PROGRAM:
            continue
        for benchmark in launch.benchmarks:
            size, steps = benchmark.number("size_bytes"), benchmark.number("steps")
            if size is None or not steps:
                continue
            key = (launch.machine_hash, launch.place, benchmark.kernel, benchmark.label("phase"))
            of_launch = found[key].setdefault(number, {})
            of_launch.setdefault(size, []).extend(time / steps for time in benchmark.time_s)
    results = [_fitted(key, list(of_launches.values())) for key, of_launches in sorted(found.items())]
    return [result for result in results if result is not None]


def of_exchanges(found: Iterable[AlphaBeta], machine_hash: str, place: Place) -> tuple[float, float] | None:
    """Seconds a message and seconds a byte of a simultaneous send and receive on this machine, the mean over phases: on
    the most ranks that are not more than those of `place`, with as many of them on a node and as they follow each other
    there. None where that was not measured, or a fit gives no positive seconds."""
    fitting = [
        one
        for one in found
        if (one.machine_hash, one.kernel) == (machine_hash, "sendrecv")
        and one.place.ranks <= place.ranks
        and (one.place.ranks_per_node, one.place.placement) == (place.ranks_per_node, place.placement)
    ]
    most = max((one.place.ranks for one in fitting), default=0)
    chosen = [one for one in fitting if one.place.ranks == most]
    if not chosen:
        return None
    alpha_s = statistics.fmean(one.alpha_s.value for one in chosen)
    byte_s = statistics.fmean(one.byte_s.value for one in chosen)
    return (alpha_s, byte_s) if alpha_s > 0 and byte_s > 0 else None


def _fitted(key: tuple[str, Place, str, str], launches: list[Mapping[float, Sequence[float]]]) -> AlphaBeta | None:
    sizes = sorted(set.intersection(*(set(launch) for launch in launches)))
    if len(sizes) < 2:
        return None
    medians = [[statistics.median(launch[size]) for size in sizes] for launch in launches]
    replicates = medians
    if len(launches) == 1:
        repetitions = min(len(launches[0][size]) for size in sizes)
        replicates = [[launches[0][size][i] for size in sizes] for i in range(repetitions)]
    lines = [line(sizes, times) for times in replicates]
    alpha, byte = estimate([a for a, _ in lines]), estimate([b for _, b in lines])
    centre = [statistics.median(of_size) for of_size in zip(*medians, strict=True)]
    deviations = [abs(alpha.value + byte.value * size - time) / time for size, time in zip(sizes, centre, strict=True)]
    worst = max(range(len(sizes)), key=deviations.__getitem__)
    return AlphaBeta(*key, len(replicates), len(launches) > 1, alpha, byte, deviations[worst], sizes[worst])
