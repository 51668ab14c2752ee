"""Where the phases of counted points lie under the machine's roof (Williams, Waterman and Patterson, Roofline, CACM 52,
2009): flops a byte of memory traffic against flops a second, a rank.

Flops are counted, or those of the card's formula, which the computing phases share; bytes are counted; times are only
ever those of a run that was not simulated."""

from __future__ import annotations

from dataclasses import dataclass

from fourscore_analysis.points.components import Ceiling
from fourscore_analysis.points.counting import COMPUTATION, CountedPoint, doubts, short_doubt, short_source_text
from fourscore_analysis.points.points import Point, group_by
from fourscore_analysis.points.units import ranks_text, shape_text
from fourscore_analysis.views.view import View

LEAST_SHARE = 0.01  # of the transform's time; a phase below it has no bandwidth worth showing


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


@dataclass
class RoofFacet:
    """Points of one problem on one number of ranks, counted by one source."""

    title: str
    subtitle: str
    notes: list[str]
    ceiling: Ceiling | None
    peak: Ceiling | None
    points: list[RoofPoint]
    reached: list[Reached]
    counts_flops: bool

    @property
    def timed(self) -> bool:
        return any(point.flops_rate for point in self.points)


def roof_facets(view: View) -> list[RoofFacet]:
    """Only where there is something to set the points against: a time, or both ceilings. Largest problems first."""
    facets = []
    groups = group_by(view.traffic_points, lambda one: (one.point.cell, one.point.setting, one.source))
    groups.sort(key=lambda group: (-group[0].point.cell.elements, -group[0].point.cell.ranks))
    for group in groups:
        facet = _facet(view, group)
        if facet.points and (facet.timed or (facet.ceiling and facet.peak)):
            facets.append(facet)
    return facets


def _facet(view: View, group: list[CountedPoint]) -> RoofFacet:
    first = group[0]
    cell, machine = first.point.cell, first.launches[0].machine_hash
    facet = RoofFacet(
        title=f"{shape_text(cell.shape)} · {ranks_text(cell.ranks)}",
        subtitle=", ".join(
            part
            for part in (view.subtitle(first.point), short_source_text(first.source), short_doubt(first.source))
            if part
        ),
        notes=doubts(first.source, any(one.multiplexed for one in group)),
        ceiling=view.shelf.copy_ceiling(view, machine, cell.ranks),
        peak=view.shelf.transform_peak(view, machine, cell.contract.precision),
        points=[],
        reached=[],
        counts_flops=any(one.counts_flops for one in group),
    )
    for one in group:
        timed = view.shelf.timed(one.point)
        facet.points += roof_points(one, timed)
        facet.reached += reached(one, timed)
    return facet


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
