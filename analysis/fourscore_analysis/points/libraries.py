"""The same method with one local FFT library in the place of another: is it the FFT or the exchange that takes the
time? What else the two points differ in, nothing does: contract, shape, place, exchange, grid and options are equal."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from fourscore_analysis.points.apart import shown_slower
from fourscore_analysis.points.points import Point, group_by, method_labels

USUAL = "fftw"  # what others are put in the place of, where it was measured


@dataclass(frozen=True)
class Substitution:
    """`other` is `usual` with another library."""

    usual: Point
    other: Point

    @property
    def library(self) -> str:
        return self.other.method.local_fft

    @property
    def method(self) -> str:
        """slab/alltoallv: without a library."""
        method = replace(self.other.method, local_fft="")
        return method_labels([method])[method]

    @property
    def ratio(self) -> float:
        """Time with the other library over that with the usual one."""
        return self.other.time_s / self.usual.time_s

    @property
    def told(self) -> bool:
        """Whether the launches tell the two times apart."""
        pair = (self.usual.measured, self.other.measured)
        return shown_slower(*pair) or shown_slower(*reversed(pair))

    def as_json(self) -> dict[str, Any]:
        cell = self.other.cell
        return {
            "method": self.method,
            "library": self.library,
            "usual": self.usual.method.local_fft,
            "shape": list(cell.shape),
            "ranks": cell.ranks,
            "time_s": self.other.time_s,
            "usual_time_s": self.usual.time_s,
            "ratio": self.ratio,
            "told_apart": self.told,
            "exchange_share": self.other.exchange_share,
            "usual_exchange_share": self.usual.exchange_share,
        }


def substitutions(points: Iterable[Point]) -> list[Substitution]:
    """The substitutions of every method measured with several libraries, in the order of the points."""
    measured = [point for point in points if point.measured]
    groups = group_by(measured, lambda point: (point.cell, point.setting, replace(point.method, local_fft="")))
    found = []
    for group in groups:
        usual = next((point for point in group if point.method.local_fft == USUAL), group[0])
        found += [Substitution(usual, point) for point in group if point is not usual]
    return found
