"""Series of points of one method over rank counts: the same problem (strong) or the same work a rank (weak)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from fourscore_analysis.points.points import Point, group_by

WEAK_TOLERANCE = 0.02  # elements a rank may differ by so much within one series


@dataclass
class Series:
    """Points by rising rank count. The baseline of speedup and efficiency is the first: the fewest ranks measured."""

    points: list[Point]

    @property
    def baseline(self) -> Point:
        return self.points[0]

    @property
    def ranks(self) -> list[int]:
        return [point.cell.ranks for point in self.points]

    def speedup(self) -> list[float]:
        """Baseline time over time."""
        return [self.baseline.time_s / point.time_s for point in self.points]

    def strong_efficiency(self) -> list[float]:
        """Speedup over the ratio of ranks: 1 is ideal."""
        return [
            speedup * self.baseline.cell.ranks / ranks
            for speedup, ranks in zip(self.speedup(), self.ranks, strict=True)
        ]

    def weak_efficiency(self) -> list[float]:
        """Credited flops a second and rank over that of the baseline: 1 is ideal. (Time alone would charge the method
        for the log2 N that a larger transform costs.)"""
        base = _rate(self.baseline)
        return [_rate(point) / base for point in self.points]


def _rate(point: Point) -> float:
    return (point.gflops or point.cell.elements / point.time_s) / point.cell.ranks


def strong_series(points: Iterable[Point]) -> list[list[Series]]:
    """Series of the same shape at two or more rank counts, grouped by contract and shape."""
    measured = [point for point in points if point.measured]
    groups = group_by(measured, lambda point: (replace(point.cell, ranks=0), point.setting))
    found = []
    for group in groups:
        series = [
            Series(sorted(of_method, key=lambda point: point.cell.ranks))
            for of_method in group_by(group, lambda point: _scaling_method(point))
        ]
        series = [one for one in series if len(set(one.ranks)) == len(one.ranks) >= 2]
        if series:
            found.append(series)
    return found


def weak_series(points: Iterable[Point]) -> list[list[Series]]:
    """Series with the same elements a rank and as many extents at two or more rank counts, grouped by contract and
    elements a rank. Where a series could take several shapes at a rank count, it takes the most cubic."""
    measured = [point for point in points if point.measured]
    found = []
    for group in group_by(measured, lambda point: (point.cell.contract, point.setting, len(point.cell.shape))):
        for chain in _equal_work(group):
            series = []
            for of_method in group_by(chain, lambda point: _scaling_method(point)):
                best: dict[int, Point] = {}
                for point in sorted(of_method, key=lambda point: max(point.cell.shape)):
                    best.setdefault(point.cell.ranks, point)
                if len(best) >= 2:
                    series.append(Series([best[ranks] for ranks in sorted(best)]))
            if series:
                found.append(series)
    return found


def _scaling_method(point: Point) -> tuple:
    """A given grid belongs to one rank count, so a series may change it."""
    return (point.method.variant, point.method.exchange, point.method.local_fft, point.method.parameters, point.label)


def _equal_work(points: list[Point]) -> list[list[Point]]:
    chains: list[list[Point]] = []
    for point in sorted(points, key=lambda point: point.cell.elements / point.cell.ranks):
        work = point.cell.elements / point.cell.ranks
        first = chains[-1][0].cell if chains else None
        if first and work <= first.elements / first.ranks * (1 + WEAK_TOLERANCE):
            chains[-1].append(point)
        else:
            chains.append([point])
    return chains
