"""Launches of one measurement point together, points of one comparison together, and what is read off them."""

from __future__ import annotations

import statistics
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

import numpy as np

from fourscore_analysis.points.apart import shown_slower
from fourscore_analysis.points.stats import Spread, resampled_medians, spread
from fourscore_analysis.points.units import shape_text
from fourscore_analysis.records.archive import Campaign
from fourscore_analysis.records.basics import Place
from fourscore_analysis.records.cells import TUNED, Cell, Contract, Method
from fourscore_analysis.records.transforms import PHASES, STATUSES, DeviceWork, Launch, Traffic

REFERENCE = "fftw-mpi"
LEAST_SHARE = 0.01  # share of the transform; a phase below it is not compared with its components alone
Member = TypeVar("Member")


@dataclass
class Point:
    """All launches of one measurement point on one machine with one build."""

    cell: Cell
    method: Method
    label: str  # names the method, as short as the campaign allows
    setting: str  # names machine and build where the campaign mixes them, and what is a stand-in's; else ""
    launches: list[Launch] = field(default_factory=list)
    slow_nodes: tuple[str, ...] = ()  # hosts of its launches that models/slow_nodes.py found slow
    names_nodes: bool = False  # whether one node is worth a word: others of the campaign are on more

    @property
    def where(self) -> str:
        """8 ranks; 8 ranks on 2 nodes, where the campaign has points on several."""
        return self.cell.place.text(self.names_nodes)

    @property
    def title(self) -> str:
        """128³ · 8 ranks"""
        return f"{shape_text(self.cell.shape)} · {self.where}"

    @property
    def packing(self) -> str:
        """8 ranks a node, cyclic; "" where the campaign is on one node. What stays while nodes are added."""
        place = self.cell.place
        if not self.names_nodes:
            return ""
        count = "1 rank" if place.ranks_per_node == 1 else f"{place.ranks_per_node} ranks"
        return place.with_placement(f"{count} a node")

    @cached_property
    def measured(self) -> list[Launch]:
        """Launches with a time. The times of a simulated run are of no machine: it only counts."""
        return [launch for launch in self.launches if launch.status == "ok" and not launch.simulated]

    @cached_property
    def counted(self) -> list[Launch]:
        """Launches that counted their memory traffic, simulated or not."""
        return [
            launch
            for launch in self.launches
            if launch.status == "ok" and launch.counters and not launch.counters.unavailable
        ]

    @cached_property
    def time(self) -> Spread | None:
        """Over the launches' medians, seconds; None when nothing was measured."""
        return spread([launch.median_s for launch in self.measured]) if self.measured else None

    @cached_property
    def resampled_s(self) -> np.ndarray:
        """Its time by resample of the launches, seconds; the same for the same records. Only for measured points."""
        first = self.measured[0]
        seed = zlib.crc32(f"{first.point_id} {first.machine_hash} {first.code_hash}".encode())
        return resampled_medians([launch.median_s for launch in self.measured], seed)

    @property
    def time_s(self) -> float:
        """Median over launches of the launch medians. Only for measured points."""
        assert self.time is not None
        return self.time.median

    @cached_property
    def mean_s(self) -> float | None:
        """Mean over the repetitions of a launch, median over launches: to set beside papers that print means."""
        means = [statistics.fmean(launch.time_s) for launch in self.measured if launch.time_s]
        return statistics.median(means) if means else None

    @property
    def gflops(self) -> float | None:
        """Credited flops (5 N log2 N, half for real data, of all instances) over time_s, in 1e9 a second."""
        credited = self.measured[0].credited_flops if self.measured else None
        return credited / self.time_s / 1e9 if credited else None

    @cached_property
    def phases(self) -> dict[str, float]:
        """Seconds of each phase on the slowest rank, median over launches."""
        return _medians(launch.phase_s for launch in self.measured)

    @cached_property
    def phases_max(self) -> dict[str, float]:
        """Seconds of each phase, maximum over ranks, median over launches: to set beside the component alone."""
        return _medians(launch.phase_max_s for launch in self.measured)

    @cached_property
    def alone(self) -> dict[str, float]:
        """Seconds of all components of a phase timed alone, summed; median over launches."""
        sums = []
        for launch in self.measured:
            total: dict[str, float] = defaultdict(float)
            for part in launch.components:
                total[part.phase] += part.time_s
            sums.append(total)
        return _medians(sums)

    @property
    def compared_phases(self) -> list[str]:
        """Phases that were timed inside and alone, and take LEAST_SHARE of the transform or more."""
        least = LEAST_SHARE * self.time_s
        return [phase for phase in PHASES if self.phases_max.get(phase, 0) >= least and self.alone.get(phase, 0) > 0]

    @cached_property
    def components(self) -> dict[str, float]:
        """Seconds of each component alone, by name; median over launches."""
        return _medians({part.name: part.time_s for part in launch.components} for launch in self.measured)

    @property
    def exchange_share(self) -> float | None:
        """Part of the time spent in exchanges, 0 to 1; None where none was seen (one rank, one library call)."""
        total = sum(self.phases.values())
        return self.phases["exchange"] / total if total > 0 and "exchange" in self.phases else None

    @cached_property
    def plan(self) -> Spread | None:
        """Planning time over launches, seconds."""
        times = [launch.plan_s for launch in self.launches if launch.plan_s is not None and not launch.simulated]
        return spread(times) if times else None

    @cached_property
    def plans(self) -> int:
        """How many different local plans the measured launches ran; 0 where no record says which."""
        return len({launch.plan_hash for launch in self.measured if launch.plan_hash})

    @cached_property
    def flags(self) -> tuple[str, ...]:
        """Flags of any measured launch, "mixed-launch" when the launches were bound or placed differently, and
        "slow-node"."""
        found = {flag for launch in self.measured for flag in launch.flags}
        if len({launch.launch_hash for launch in self.measured if launch.launch_hash}) > 1:
            found.add("mixed-launch")
        if self.slow_nodes:
            found.add("slow-node")
        return tuple(sorted(found))

    @cached_property
    def statuses(self) -> dict[str, int]:
        return {
            status: count for status in STATUSES if (count := sum(launch.status == status for launch in self.launches))
        }

    @property
    def device(self) -> DeviceWork | None:
        """What one transform queues on a device; the same in each launch."""
        return next((launch.device for launch in self.measured if launch.device), None)

    @property
    def on_device(self) -> bool:
        """Whether its ranks compute on a device, or on what stands in for one."""
        return any(launch.device or launch.device_models for launch in self.measured)

    @cached_property
    def traffic(self) -> Traffic | None:
        """The traffic of the busiest rank; the same in every launch."""
        return next((launch.traffic for launch in self.measured if launch.traffic), None)

    @cached_property
    def traced(self) -> Launch | None:
        """The first launch with a timeline."""
        return next((launch for launch in self.measured if launch.timeline), None)

    @cached_property
    def instance_mean_s(self) -> float | None:
        """The mean, over several instances, of the time until one is done; median over launches."""
        means = [statistics.mean(launch.instance_s) for launch in self.measured if launch.instance_s]
        return statistics.median(means) if means else None

    @cached_property
    def forward_mean_s(self) -> float | None:
        """The mean time of a round trip until its forward half is through on every rank; median over launches."""
        means = [launch.forward_mean_s for launch in self.measured if launch.forward_mean_s is not None]
        return statistics.median(means) if means else None

    @cached_property
    def error(self) -> float | None:
        """The largest that a check of a measured launch found, relative to what it expected; None where none says."""
        return max((launch.error for launch in self.measured if launch.error is not None), default=None)

    @cached_property
    def instance_means_s(self) -> tuple[float, float] | None:
        """The mean times of both directions of several instances, there and back; medians over launches."""
        means = [launch.instance_means_s for launch in self.measured if launch.instance_means_s]
        there, back = zip(*means, strict=True) if means else ((), ())
        return (statistics.median(there), statistics.median(back)) if means else None

    @cached_property
    def work_s(self) -> float | None:
        """The other work of a rank alone, the longest rank's; median over launches. None where there is none."""
        times = [launch.work_s for launch in self.measured if launch.work_s is not None]
        return statistics.median(times) if times else None

    def memory(self, name: str) -> float | None:
        """Largest over launches of a value of records.Memory."""
        values = [value for launch in self.measured if (value := getattr(launch.memory, name)) is not None]
        return max(values) if values else None


def _medians(values: Iterable[dict[str, float]]) -> dict[str, float]:
    """Median of each key over the dictionaries that have it."""
    collected: dict[str, list[float]] = defaultdict(list)
    for one in values:
        for key, value in one.items():
            collected[key].append(value)
    return {key: statistics.median(found) for key, found in collected.items()}


def fastest(points: Sequence[Point]) -> Point | None:
    """The fastest of the points with as many launches as any: a single lucky launch is no result."""
    most = max((len(point.measured) for point in points), default=0)
    return min((point for point in points if len(point.measured) == most), key=lambda one: one.time_s, default=None)


@dataclass
class Comparison:
    """Points that may be ranked against each other: same cell, same machine and build."""

    cell: Cell
    setting: str
    points: list[Point]

    @cached_property
    def ranked(self) -> list[Point]:
        """Measured points, fastest first."""
        return sorted((point for point in self.points if point.measured), key=lambda point: point.time_s)

    @property
    def fastest(self) -> Point:
        return self.ranked[0]

    @cached_property
    def reference(self) -> Point | None:
        """The fastest point of the reference library, if it was measured."""
        return next((point for point in self.ranked if point.method.variant == REFERENCE), None)

    def ratio(self, point: Point) -> float | None:
        """Time of `point` over that of the reference."""
        return point.time_s / self.reference.time_s if self.reference and point.measured else None

    @cached_property
    def tied(self) -> list[Point]:
        """Points other than the fastest that their launches do not show to be slower."""
        return [point for point in self.ranked[1:] if not shown_slower(point.measured, self.fastest.measured)]

    @property
    def where(self) -> str:
        return self.points[0].where

    @property
    def title(self) -> str:
        return self.points[0].title


def plans_text(point: Point) -> str:
    """2 in 5 launches: different local plans that a point's launches ran."""
    launches = sum(1 for launch in point.measured if launch.plan_hash)
    return f"{point.plans} in {launches} launch{'es' if launches > 1 else ''}"


def method_labels(methods: Iterable[Method]) -> dict[Method, str]:
    """A label for each method: variant/exchange, and what else tells methods of this campaign apart."""
    methods = set(methods)
    libraries: dict[str, set[str]] = defaultdict(set)
    for method in methods:
        libraries[method.variant].add(method.local_fft)
    labels = {}
    for method in methods:
        label = method.variant if method.exchange in ("", "none") else f"{method.variant}/{method.exchange}"
        if len(libraries[method.variant]) > 1 or _names_library(method):
            label += f" {method.local_fft}"
        if method.grid != "auto":
            label += " grid tuned" if method.grid == TUNED else f" {method.grid}"
        if method.parameters:
            label += f" {method.parameters}"
        if method.placement:
            label += f" {method.placement}"
        if method.field_order:
            label += f" {method.field_order}"
        if method.active_ranks:
            label += f" on {method.active_ranks} active"
        labels[method] = label
    return labels


def _names_library(method: Method) -> bool:
    """Whether its library is worth a word where its variant has but one: another than FFTW, and none that the variant
    is called after."""
    library = method.local_fft
    return library not in ("", "none", "fftw") and not method.variant.startswith(library)


def contract_terms(contract: Contract) -> list[str]:
    """transposed; in-place; double; c2c; forward, or convolution poisson; planner measure"""
    terms = [contract.layout, contract.buffers, contract.precision, contract.kind, contract.direction]
    if contract.operator:
        terms[-1] += f" {contract.operator}"
    terms.append(f"planner {contract.planner}")
    if contract.normalisation != "none":
        terms.append(f"normalised {contract.normalisation}")
    if contract.threads != 1:
        terms.append(f"{contract.threads} threads a rank")
    if contract.instances != 1:
        terms.append(f"{contract.instances} instances")
    if contract.fields != 1:
        terms.append(f"{contract.fields} fields")
    if contract.wire != "as-is":
        terms.append(f"wire {contract.wire_text}")
    if contract.other_work:
        place, load = contract.other_work_place or "between", contract.other_work_load or "compute"
        terms.append(f"{contract.other_work} of other work {place} transforms ({load})")
    if contract.platform != "none":
        terms.append(f"simulated {contract.platform}")
    return terms + [f"{key} {value}" for key, value in contract.further]


_Home = tuple[str, str, bool, bool, Place]


def _home(launch: Launch) -> _Home:
    """What launches of one point share: machine, build, whether they are a stand-in's or foreign, and their place,
    which the point's id does not tell in records before version 3."""
    return (launch.machine_hash, launch.code_hash, "emulated" in launch.flags, launch.foreign, launch.place)


def group_points(campaign: Campaign) -> list[Point]:
    """Launches by point, place, machine and build; sorted by contract (that of the largest problem first), size, ranks
    and method. Records that know neither machine nor build (nothing ran) join the point's others."""
    labels = method_labels(launch.method for launch in campaign.launches)
    settings = setting_names(campaign.launches)
    names_nodes = not all(run.place.plain for run in campaign.runs)
    at_home: dict[str, Launch] = {}
    for launch in campaign.launches:
        if launch.status == "ok":
            at_home.setdefault(launch.point_id, launch)
    found: dict[tuple[str, _Home], Point] = {}
    for launch in sorted(campaign.launches, key=lambda launch: launch.launch):
        known = launch if launch.status == "ok" else at_home.get(launch.point_id, launch)
        home = _home(known)
        key = (launch.point_id, home)
        if key not in found:
            words = [settings.get(home[:2], ""), "emulated" if home[2] else "", "foreign" if home[3] else ""]
            setting = ", ".join(word for word in words if word)
            found[key] = Point(known.cell, launch.method, labels[launch.method], setting, names_nodes=names_nodes)
        found[key].launches.append(launch)
    largest: dict[object, int] = defaultdict(int)
    for point in found.values():
        largest[point.cell.contract] = max(largest[point.cell.contract], point.cell.elements)
    return sorted(
        found.values(),
        key=lambda point: (-largest[point.cell.contract], _order(point.cell, point.setting), point.label),
    )


def setting_names(launches: Iterable[Launch]) -> dict[tuple[str, str], str]:
    """A short name for each (machine, build) when measured launches have more than one: "A", "B" ..., by first use.
    Simulated machines have the names of their platforms, so that they need one where their build differs."""
    found: dict[tuple[str, str], str] = {}
    for launch in sorted(launches, key=lambda launch: str(launch.volatile.get("started_at", ""))):
        if launch.status == "ok":
            found.setdefault((launch.machine_hash, launch.code_hash), launch.place.platform)
    shared = Counter(found.values())
    pairs = [pair for pair, platform in found.items() if shared[platform] > 1]
    return {pair: f"setting {chr(65 + number) if number < 26 else number}" for number, pair in enumerate(pairs)}


def _order(cell: Cell, setting: str) -> tuple:
    return (contract_terms(cell.contract), setting, cell.elements, cell.shape, cell.place)


def group_by(members: Iterable[Member], key: Callable[[Member], object]) -> list[list[Member]]:
    """Members with an equal key together, in order of first appearance."""
    found: dict[object, list[Member]] = defaultdict(list)
    for member in members:
        found[key(member)].append(member)
    return list(found.values())


def comparisons(points: Iterable[Point]) -> list[Comparison]:
    """Points by cell and setting, in the order of the points; only those with a measured point."""
    groups = group_by(points, lambda point: (point.cell, point.setting))
    found = [Comparison(group[0].cell, group[0].setting, group) for group in groups]
    return [comparison for comparison in found if comparison.ranked]
