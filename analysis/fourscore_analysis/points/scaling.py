"""Series of points of one method over counts of ranks or nodes: the same problem (strong) or the same work a rank
(weak)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from fourscore_analysis.points.points import Point, group_by
from fourscore_analysis.records.basics import Place

WEAK_TOLERANCE = 0.02  # elements a rank may differ by so much within one series
RANKS, NODES = "ranks", "nodes"


@dataclass
class Series:
    """Points by rising count of `over`, ranks or nodes. The baseline of speedup and efficiency is the first: the fewest
    measured."""

    points: list[Point]
    over: str = RANKS
    packing: str = ""  # what stays as the count grows: "on 1 node", "8 ranks a node"; "" in a campaign on one node

    @property
    def baseline(self) -> Point:
        return self.points[0]

    @property
    def ranks(self) -> list[int]:
        return [point.cell.ranks for point in self.points]

    @property
    def counts(self) -> list[int]:
        """The counts of ranks or of nodes, as `over` says."""
        return [_count(point, self.over) for point in self.points]

    def speedup(self) -> list[float]:
        """Baseline time over time."""
        return [self.baseline.time_s / point.time_s for point in self.points]

    def strong_efficiency(self) -> list[float]:
        """Speedup over the ratio of counts: 1 is ideal."""
        base = self.counts[0]
        return [speedup * base / count for speedup, count in zip(self.speedup(), self.counts, strict=True)]

    def weak_efficiency(self) -> list[float]:
        """Credited flops a second and rank over that of the baseline: 1 is ideal. (Time alone would charge the method
        for the log2 N that a larger transform costs.)"""
        base = _rate(self.baseline)
        return [_rate(point) / base for point in self.points]


def _count(point: Point, over: str) -> int:
    return point.cell.place.nodes if over == NODES else point.cell.ranks


def _rate(point: Point) -> float:
    return (point.gflops or point.cell.elements / point.time_s) / point.cell.ranks


def strong_series(points: Iterable[Point], over: str = RANKS) -> list[list[Series]]:
    """Series of the same shape at two or more counts of `over`, grouped by contract, shape and packing."""
    measured = [point for point in points if point.measured]
    found = []
    for group in group_by(measured, lambda point: (replace(point.cell, place=Place(1)), point.setting)):
        for packing, packed in packings(group, over):
            series = [
                Series(sorted(of_method, key=lambda point: _count(point, over)), over, packing)
                for of_method in group_by(packed, scaling_method)
            ]
            series = [one for one in series if len(set(one.counts)) == len(one.counts) >= 2]
            if series:
                found.append(series)
    return found


def weak_series(points: Iterable[Point], over: str = RANKS) -> list[list[Series]]:
    """Series with the same elements a rank and as many extents at two or more counts of `over`, grouped by contract,
    packing and elements a rank. Where a series could take several shapes at a count, it takes the most cubic."""
    measured = [point for point in points if point.measured]
    found = []
    for group in group_by(measured, lambda point: (point.cell.contract, point.setting, len(point.cell.shape))):
        for packing, packed in packings(group, over):
            for chain in _equal_work(packed):
                series = []
                for of_method in group_by(chain, scaling_method):
                    best: dict[int, Point] = {}
                    for point in sorted(of_method, key=lambda point: max(point.cell.shape)):
                        best.setdefault(_count(point, over), point)
                    if len(best) >= 2:
                        series.append(Series([best[count] for count in sorted(best)], over, packing))
                if series:
                    found.append(series)
    return found


def packings(points: Sequence[Point], over: str) -> list[tuple[str, list[Point]]]:
    """Points that one curve may join, with what they share in words. Against nodes: as many ranks on each node. Against
    ranks: the same nodes; and as many ranks on each, where that says more than the curves on the same nodes. A point
    may be in two. Those of most counts first."""
    if not any(point.names_nodes for point in points):
        return [("", list(points))] if over == RANKS else []
    even = [point for point in points if point.cell.ranks % point.cell.place.nodes == 0]
    by_node = [
        (group[0].packing, group)
        for group in group_by(even, lambda point: (point.cell.place.placement, point.cell.place.ranks_per_node))
        if len({point.cell.place.nodes for point in group}) > 1
    ]
    if over == NODES:
        return sorted(by_node, key=lambda one: -len({point.cell.place.nodes for point in one[1]}))
    same_nodes = [
        (_nodes_text(group[0].cell.place), group)
        for group in group_by(points, lambda point: (point.cell.place.placement, point.cell.place.nodes))
        if len({point.cell.ranks for point in group}) > 1
    ]
    joined = {id(point) for _, group in same_nodes for point in group}
    more = [one for one in by_node if any(id(point) not in joined for point in one[1])]
    return sorted([*same_nodes, *more], key=lambda one: -len({point.cell.ranks for point in one[1]}))


def _nodes_text(place: Place) -> str:
    """on 1 node; on 4 nodes, cyclic"""
    return place.with_placement("on 1 node" if place.nodes == 1 else f"on {place.nodes} nodes")


def scaling_method(point: Point) -> tuple:
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
