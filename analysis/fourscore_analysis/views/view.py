"""One campaign as the report sees it: what plots and tables share, worked out once."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property

from fourscore_analysis.isoefficiency.points import EFFICIENCIES, Family, Lacking, families
from fourscore_analysis.models.constant import Constant, constants
from fourscore_analysis.models.floors import Floors, floors
from fourscore_analysis.models.slow_nodes import NodeEffects, node_effects
from fourscore_analysis.points.components import Bench
from fourscore_analysis.points.counting import CountedPoint, counted_points
from fourscore_analysis.points.energy import EnergyPoint, energy_points
from fourscore_analysis.points.link_loads import LinkLoads, link_loads
from fourscore_analysis.points.points import Comparison, Point, comparisons, contract_terms, group_points
from fourscore_analysis.points.units import part_title
from fourscore_analysis.records.archive import Campaign, InputError
from fourscore_analysis.views.fits import Choice, MethodFit, fits
from fourscore_analysis.views.shelf import Shelf

ROWS_A_FACET = 24
DRAWN_FITS = Choice(first_only=True, least_sizes=5, most_sizes=40, most_methods=8)


@dataclass
class View:
    """`plot_points` is how many points the plots of single points draw at most (0: all). `efficiencies` are those of
    which the report says the size that keeps them. `shelf` holds the other campaigns of the report."""

    campaign: Campaign
    plot_points: int
    efficiencies: tuple[float, ...] = EFFICIENCIES
    shelf: Shelf = field(init=False)

    def __post_init__(self) -> None:
        self.shelf = Shelf([self])

    @cached_property
    def points(self) -> list[Point]:
        for point in self._grouped:
            hosts = {host for launch in point.measured for host in launch.hosts}
            point.slow_nodes = tuple(sorted(hosts & self.node_effects.slow))
        return self._grouped

    @cached_property
    def _grouped(self) -> list[Point]:
        return group_points(self.campaign)

    @cached_property
    def node_effects(self) -> NodeEffects:
        """What each node does to its launches, where launches were on several."""
        return node_effects(self._grouped)

    @cached_property
    def measured(self) -> list[Point]:
        return [point for point in self.points if point.measured]

    @cached_property
    def counted(self) -> list[CountedPoint]:
        """Points whose memory traffic was counted, by whom and how."""
        return counted_points(self.points)

    @cached_property
    def energies(self) -> list[EnergyPoint]:
        """Points whose energy was counted."""
        return energy_points(self.points)

    @cached_property
    def shows_nodes(self) -> bool:
        """Whether a table needs a column for nodes and how the ranks follow each other on them."""
        return any(point.names_nodes for point in self.points)

    @cached_property
    def constants(self) -> list[Constant]:
        return constants(self.counted)

    @cached_property
    def traffic_points(self) -> list[CountedPoint]:
        """Counted points but for lone lines of a constant A, which are drawn against their length alone."""
        lines = {id(one) for constant in self.constants for one in constant.members}
        rivals = Counter((one.point.cell, one.point.setting, one.source) for one in self.counted)
        return [
            one
            for one in self.counted
            if id(one) not in lines or rivals[one.point.cell, one.point.setting, one.source] > 1
        ]

    @cached_property
    def link_loads(self) -> list[LinkLoads]:
        """How busy the links of simulated machines are, in the order of the tables."""
        return link_loads(point for one in self.comparisons for point in one.ranked)

    @cached_property
    def isoefficiency(self) -> tuple[list[Family], list[Lacking]]:
        """Sizes and rank counts of each method with its time on one rank; and methods without one."""
        return families(self.points)

    @cached_property
    def fits(self) -> list[MethodFit]:
        """The papers' models of methods with enough sizes and counts of ranks, as many as a page has time for; none
        where launches are of several machines, or have no times."""
        try:
            return fits([self.campaign], DRAWN_FITS)
        except InputError:
            return []

    @cached_property
    def bench(self) -> Bench:
        """The components that were measured alone."""
        return Bench(self.campaign.components)

    @property
    def point_count(self) -> int:
        """Points of transforms and of components."""
        return len(self.points) + len({run.point_id for run in self.campaign.components})

    @cached_property
    def comparisons(self) -> list[Comparison]:
        return comparisons(self.points)

    @cached_property
    def floors(self) -> list[Floors]:
        """How long each measured point takes at least, by what components reach on its machine; in the order of the
        tables."""
        ranked = [point for one in self.comparisons for point in one.ranked]
        return [floors(point, self.shelf.rates(point.measured[0].machine_hash)) for point in ranked]

    @cached_property
    def drawn(self) -> list[Comparison]:
        """The comparisons that plots draw: all, or the largest problems up to plot_points points, at least one."""
        if not self.plot_points or len(self.measured) <= self.plot_points:
            return self.comparisons
        chosen: set[int] = set()
        room = self.plot_points
        by_size = sorted(range(len(self.comparisons)), key=lambda index: _size(self.comparisons[index]), reverse=True)
        for index in by_size:
            room -= len(self.comparisons[index].ranked)
            if room < 0 and chosen:
                break
            chosen.add(index)
        return [self.comparisons[index] for index in sorted(chosen)]

    @cached_property
    def left_out(self) -> int:
        """Measured points that plots of single points leave out."""
        return len(self.measured) - sum(len(one.ranked) for one in self.drawn)

    @cached_property
    def contracts(self) -> list[str]:
        """Each contract and setting of the measured points in words, in the order of the tables."""
        return list(dict.fromkeys(self.contract_of(one) for one in self.comparisons))

    def contract_of(self, one: Comparison | Point) -> str:
        """transposed, in-place, double, c2c, forward, planner measure"""
        return ", ".join(_terms(one))

    @cached_property
    def common_terms(self) -> set[str]:
        """What all contracts of the measured points share; where nothing has a time, of all points."""
        terms = [set(_terms(one)) for one in self.comparisons or self.points]
        return set.intersection(*terms) if terms else set()

    def subtitle(self, one: Comparison | Point) -> str:
        """What tells this contract from the campaign's others, in words; "" where there is only one."""
        return ", ".join(term for term in _terms(one) if term not in self.common_terms)

    @cached_property
    def facets(self) -> list[Facet]:
        """The drawn comparisons, the largest problem of a contract first; those with too many points in parts."""
        found = []
        order = {contract: number for number, contract in enumerate(self.contracts)}
        for one in sorted(self.drawn, key=lambda one: (order[self.contract_of(one)], *(-n for n in _size(one)))):
            parts = [one.ranked[start : start + ROWS_A_FACET] for start in range(0, len(one.ranked), ROWS_A_FACET)]
            for number, points in enumerate(parts, 1):
                found.append(Facet(part_title(one.title, number, len(parts)), self.subtitle(one), points))
        return found


@dataclass
class Facet:
    """One group of rows of a plot."""

    title: str
    subtitle: str  # the contract, where the campaign has several
    points: list[Point]

    def only(self, points: list[Point]) -> Facet:
        return replace(self, points=points)


def _terms(one: Comparison | Point) -> list[str]:
    return [*contract_terms(one.cell.contract), *([one.setting] if one.setting else [])]


def _size(one: Comparison) -> tuple[int, int]:
    return (one.cell.elements, one.cell.ranks)
