"""Efficiency and isoefficiency of what was measured: W is the time on one rank, T_o = p T_p - W,
E = W / (p T_p). The size that keeps an efficiency is read off between measured sizes, never beyond them."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from fourscore_analysis.points.points import Point, group_by
from fourscore_analysis.points.scaling import RANKS, packings, scaling_method
from fourscore_analysis.points.stats import INTERVAL_FROM
from fourscore_analysis.records.basics import Place

EFFICIENCIES = (0.5, 0.66, 0.83)  # unless others are asked for
CONFIDENCE = 0.95
SERIAL = "serial"  # the variant that is the sequential algorithm


@dataclass(frozen=True)
class Value:
    """A number, and its interval where every point that it comes from has INTERVAL_FROM launches."""

    value: float
    interval: tuple[float, float] | None


@dataclass(frozen=True)
class Measured:
    """A point on several ranks, with the point on one rank that it is held against."""

    point: Point
    serial: Point

    @property
    def ranks(self) -> int:
        return self.point.cell.ranks

    @property
    def elements(self) -> int:
        return self.point.cell.elements

    @property
    def log2_elements(self) -> float:
        return math.log2(self.elements)

    @property
    def flags(self) -> tuple[str, ...]:
        return tuple(sorted({*self.point.flags, *self.serial.flags}))

    @property
    def from_launches(self) -> bool:
        """Whether there are launches enough for an interval."""
        return min(len(self.point.measured), len(self.serial.measured)) >= INTERVAL_FROM

    @cached_property
    def resampled_efficiency(self) -> np.ndarray | None:
        """By resample; None with too few launches."""
        if not self.from_launches:
            return None
        return self.serial.resampled_s / (self.ranks * self.point.resampled_s)

    @cached_property
    def efficiency(self) -> Value:
        value = self.serial.time_s / (self.ranks * self.point.time_s)
        return Value(value, interval_of(self.resampled_efficiency))

    @property
    def speedup(self) -> Value:
        return self._of_efficiency(lambda e: self.ranks * e)

    @property
    def serial_fraction(self) -> Value:
        """The serial fraction of Karp and Flatt: (1/S - 1/p) / (1 - 1/p)."""
        return self._of_efficiency(lambda e: (1 / (self.ranks * e) - 1 / self.ranks) / (1 - 1 / self.ranks))

    @property
    def overhead_function(self) -> Value:
        """The overhead function of Zorbas, where all work can be done in parallel: 1 / E."""
        return self._of_efficiency(lambda e: 1 / e)

    @property
    def overhead_s(self) -> float:
        return self.ranks * self.point.time_s - self.serial.time_s

    def _of_efficiency(self, function) -> Value:
        """The value of a function that rises or falls throughout."""
        ends = self.efficiency.interval
        return Value(function(self.efficiency.value), tuple(sorted(map(function, ends))) if ends else None)


@dataclass(frozen=True)
class Need:
    """The size that keeps an efficiency on so many ranks, as its log2. -inf: less than the least size measured; inf:
    more than the largest."""

    ranks: int
    log2_elements: float
    interval: tuple[float, float] | None  # may end in -inf or inf
    least: float  # log2 of the least size that was measured on so many ranks
    largest: float
    crossings: int  # how often the efficiency rises or falls through the level

    @property
    def inside(self) -> bool:
        return math.isfinite(self.log2_elements)


@dataclass(frozen=True)
class Scaled:
    """Speedup on so many ranks at the size with as many times the work."""

    ranks: int
    elements: float
    speedup: Value


@dataclass(frozen=True)
class Family:
    """All sizes and rank counts of one method that may stand in one curve, by ranks, then size."""

    measured: list[Measured]
    packing: str  # as that of points.scaling.Series

    @property
    def first(self) -> Point:
        return self.measured[0].point

    @property
    def label(self) -> str:
        return self.first.label

    @property
    def variant(self) -> str:
        return self.first.method.variant

    @property
    def against(self) -> str:
        """serial; or: itself on 1 rank"""
        return SERIAL if self.measured[0].serial.method.variant == SERIAL else "itself on 1 rank"

    @cached_property
    def by_ranks(self) -> dict[int, list[Measured]]:
        found: dict[int, list[Measured]] = defaultdict(list)
        for one in self.measured:
            found[one.ranks].append(one)
        return dict(found)

    @property
    def has_curve(self) -> bool:
        """Whether there are two sizes on as many ranks, between which a size can be read off."""
        return any(len(found) > 1 for found in self.by_ranks.values())

    def needs(self, efficiency: float) -> list[Need]:
        """One for each rank count with two sizes or more."""
        return [_need(found, efficiency) for found in self.by_ranks.values() if len(found) > 1]

    def slope(self, efficiency: float) -> float | None:
        """The slope of log n against log p over the rank counts whose size was read off, by least squares.
        None with fewer than two."""
        inside = [need for need in self.needs(efficiency) if need.inside]
        if len(inside) < 2:
            return None
        line = statistics.linear_regression(
            [math.log2(need.ranks) for need in inside], [need.log2_elements for need in inside]
        )
        return line.slope

    @cached_property
    def scaled(self) -> tuple[int, list[Scaled]] | None:
        """Elements on one rank, and the speedup where n log2 n grows as the ranks do, between measured sizes. Takes
        the size on one rank that reaches most rank counts, and the largest of these. None where none does."""
        best: tuple[int, list[Scaled]] | None = None
        for base in sorted({one.elements for one in self.measured}):
            found = [one for ranks, of in self.by_ranks.items() if (one := _scaled(base, ranks, of))]
            if found and (best is None or len(found) >= len(best[1])):
                best = (base, found)
        return best

    def only(self, points: Iterable[Point]) -> Family:
        """What of it is among `points`."""
        chosen = {id(point) for point in points}
        return replace(self, measured=[one for one in self.measured if id(one.point) in chosen])


@dataclass(frozen=True)
class Lacking:
    """A method on several ranks that has no efficiency."""

    label: str
    point: Point
    reason: str


def families(points: Iterable[Point]) -> tuple[list[Family], list[Lacking]]:
    """The families of all methods measured on several ranks, and the methods that lack something, with the reason."""
    measured = [point for point in points if point.measured and point.cell.elements > 1]
    found, lacking = [], []
    for alike in group_by(measured, lambda point: (point.cell.contract, point.setting, len(point.cell.shape))):
        serial = _on_one_rank([point for point in alike if point.method.variant == SERIAL])
        for of_method in group_by(alike, scaling_method):
            several = [point for point in of_method if point.cell.ranks > 1]
            own = _on_one_rank(of_method)
            if not several:
                continue
            base = max((serial, own), key=lambda one: sum(point.cell.shape in one for point in several))
            held = [point for point in several if point.cell.shape in base]
            if not held:
                lacking.append(Lacking(several[0].label, several[0], _lacks(several)))
                continue
            for packing, packed in packings([*base.values(), *held], RANKS):
                chosen = _one_a_size([point for point in packed if point.cell.ranks > 1])
                if chosen:
                    found.append(Family([Measured(point, base[point.cell.shape]) for point in chosen], packing))
    return found, lacking


def _on_one_rank(points: Iterable[Point]) -> dict[tuple[int, ...], Point]:
    """By shape; the fastest where a method has several."""
    found: dict[tuple[int, ...], Point] = {}
    for point in sorted(points, key=lambda point: point.time_s):
        if replace(point.cell.place, platform="none", host_order="row-major") == Place(1):
            found.setdefault(point.cell.shape, point)
    return found


def _lacks(points: Sequence[Point]) -> str:
    shapes = {point.cell.shape for point in points}
    of = "this shape" if len(shapes) == 1 else "any of its shapes"
    return f"no time on 1 rank under the same contract, of itself or of {SERIAL}, for {of}"


def _one_a_size(points: Sequence[Point]) -> list[Point]:
    """One for each count of ranks and of elements, in this order: the most cubic of several shapes, the grid of
    several that was not given, else the fastest."""
    ordered = sorted(
        points,
        key=lambda point: (
            point.cell.ranks,
            point.cell.elements,
            max(point.cell.shape),
            point.method.grid != "auto",
            point.time_s,
        ),
    )
    found: dict[tuple[int, int], Point] = {}
    for point in ordered:
        found.setdefault((point.cell.ranks, point.cell.elements), point)
    return list(found.values())


# ---- intervals


def interval_of(values: np.ndarray | None) -> tuple[float, float] | None:
    """Between the percentiles of the resamples (efron1979); values may be infinite."""
    if values is None:
        return None
    ordered = np.sort(values)
    outside = round((1 - CONFIDENCE) / 2 * (len(ordered) + 1))
    return float(ordered[outside - 1]), float(ordered[-outside])


# ---- sizes between measured ones


def _need(measured: Sequence[Measured], efficiency: float) -> Need:
    xs = np.array([one.log2_elements for one in measured])
    values = np.array([[one.efficiency.value for one in measured]])
    resampled = [one.resampled_efficiency for one in measured]
    interval = None
    if all(one is not None for one in resampled):
        interval = interval_of(size_kept(xs, np.stack(resampled, axis=1), efficiency))
    above = values[0] >= efficiency
    return Need(
        ranks=measured[0].ranks,
        log2_elements=float(size_kept(xs, values, efficiency)[0]),
        interval=interval,
        least=float(xs[0]),
        largest=float(xs[-1]),
        crossings=int(np.count_nonzero(above[1:] != above[:-1])),
    )


def size_kept(xs: np.ndarray, efficiencies: np.ndarray, level: float) -> np.ndarray:
    """For each row of `efficiencies` (rows x sizes) the least x from which on all of it, with straight lines between
    the sizes `xs`, is at `level` or above: -inf where all is, inf where the last is not."""
    below = efficiencies < level
    last = len(xs) - 1 - np.argmax(below[:, ::-1], axis=1)  # the last size below, where there is one
    found = np.full(len(efficiencies), -np.inf)
    found[below[:, -1]] = np.inf
    rows = np.flatnonzero(below.any(axis=1) & ~below[:, -1])
    at = last[rows]
    low, high = efficiencies[rows, at], efficiencies[rows, at + 1]
    found[rows] = xs[at] + (level - low) / (high - low) * (xs[at + 1] - xs[at])
    return found


def _scaled(base: int, ranks: int, measured: Sequence[Measured]) -> Scaled | None:
    x = log2_of_work(ranks * base * math.log2(base)) if base > 1 else 0.0
    xs = [one.log2_elements for one in measured]
    if not xs[0] - 1e-9 <= x <= xs[-1] + 1e-9:
        return None
    value = float(np.interp(x, xs, [one.efficiency.value for one in measured]))
    at = max(0, min(len(xs) - 2, int(np.searchsorted(xs, x, side="right")) - 1))
    ends = [one.resampled_efficiency for one in measured[at : at + 2]]
    interval = None
    if all(one is not None for one in ends):
        share = (x - xs[at]) / (xs[at + 1] - xs[at]) if len(xs) > 1 else 0.0
        low, high = interval_of(ends[0] + share * (ends[-1] - ends[0]))
        interval = (ranks * low, ranks * high)
    return Scaled(ranks, 2**x, Value(ranks * value, interval))


def log2_of_work(work: float) -> float:
    """log2 n of n log2 n = work, by bisection; 0 of none."""
    low, high = 0.0, max(1.0, math.log2(max(work, 1.0))) + 1
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if 2**middle * middle < work else (low, middle)
    return high


def as_json(family: Family, efficiencies: Sequence[float]) -> dict[str, Any]:
    """For `fourscore report --json`. A size of which only a bound is known has null and the bound."""
    return {
        "method": family.label,
        "against": family.against,
        "points": [
            {
                "shape": list(one.point.cell.shape),
                "ranks": one.ranks,
                "nodes": one.point.cell.place.nodes,
                "time_s": one.point.time_s,
                "serial_s": one.serial.time_s,
                "overhead_s": one.overhead_s,
            }
            | {
                name: {"value": value.value, "interval": list(value.interval) if value.interval else None}
                for name in ("efficiency", "speedup", "serial_fraction", "overhead_function")
                for value in [getattr(one, name)]
            }
            for one in family.measured
        ],
        "isoefficiency": [
            {
                "efficiency": level,
                "ranks": need.ranks,
                "log2_elements": need.log2_elements if need.inside else None,
                "below_log2": need.least if need.log2_elements == -math.inf else None,
                "above_log2": need.largest if need.log2_elements == math.inf else None,
                "interval_log2": [end if math.isfinite(end) else None for end in need.interval]
                if need.interval
                else None,
                "slope": family.slope(level),
            }
            for level in efficiencies
            for need in family.needs(level)
        ],
        "scaled_speedup": {
            "elements_on_one_rank": family.scaled[0],
            "ranks": [
                {"ranks": one.ranks, "elements": one.elements, "speedup": one.speedup.value} for one in family.scaled[1]
            ],
        }
        if family.scaled
        else None,
        "confidence": CONFIDENCE,
    }
