"""Where the phases of counted points lie under the machine's roof (Williams, Waterman and Patterson, Roofline, CACM 52,
2009): flops a byte of memory traffic against flops a second, a rank.

Flops are counted, or those of the card's formula, which the computing phases share; bytes are counted; times are only
ever those of a run that was not simulated."""

from __future__ import annotations

from dataclasses import dataclass

from fourscore_analysis.points.counting import COMPUTATION, CountedPoint
from fourscore_analysis.points.points import Point

LEAST_SHARE = 0.01  # share of the transform's time; a phase below it has no bandwidth worth showing


@dataclass(frozen=True)
class RoofPoint:
    """One phase, or the whole transform, of one method; a second and rank."""

    method: Point
    phase: str  # "" for the whole transform
    intensity: float  # flops a byte
    flops_rate: float | None  # None: no time in this report


@dataclass(frozen=True)
class Reached:
    """The bandwidth that a phase reached: counted bytes over its time, a second and rank."""

    method: Point
    phase: str
    rate: float


def roof_points(one: CountedPoint, timed: Point | None) -> list[RoofPoint]:
    """The computing phases, and the whole transform."""
    ranks, found = one.point.cell.ranks, []
    if one.counts_flops:
        parts = {phase: (one.flops(phase), (phase,)) for phase in one.phases}
    else:
        parts = {"fft": (one.flops("fft"), COMPUTATION)}
    for phase, (flops, members) in parts.items():
        moved = sum(one.phases[name].total for name in members if name in one.phases)
        seconds = sum(timed.phases.get(name, 0.0) for name in members) if timed else 0.0
        if flops and moved:
            found.append(RoofPoint(one.point, phase, flops / moved, flops / ranks / seconds if seconds else None))
    flops = sum(flops for flops, _ in parts.values() if flops)
    if flops and one.total.total:
        rate = flops / ranks / timed.time_s if timed else None
        found.append(RoofPoint(one.point, "", flops / one.total.total, rate))
    return found


def reached(one: CountedPoint, timed: Point | None) -> list[Reached]:
    if timed is None:
        return []
    least, ranks = LEAST_SHARE * timed.time_s, one.point.cell.ranks
    return [
        Reached(one.point, phase, value.total / ranks / timed.phases[phase])
        for phase, value in one.phases.items()
        if value.total and timed.phases.get(phase, 0.0) >= least and phase != "other"
    ]
