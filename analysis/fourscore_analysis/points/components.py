"""Benchmarks of components alone: curves of one kernel over sizes, and the ceilings that they give to other numbers."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property

from fourscore_analysis.points.units import ranks_text
from fourscore_analysis.records.basics import Place
from fourscore_analysis.records.components import Benchmark, ComponentRun

TRANSFORMS, MEMORY, COPIES = "local_fft_bench", "memory_bench", "copy_bench"
COPY_KERNELS = ("copy", "streaming-copy")  # the best of them is the ceiling of what moves memory
# What parts the curves of a program into axes, beside ranks; what else differs tells the curves of one axes apart.
FACETS = {
    "memory_bench": ("precision",),
    "local_transpose_bench": ("precision", "kernel"),
    "alltoall_bench": ("communicator", "grid", "shape"),
    "pairwise_bench": ("kernel",),
    "copy_bench": ("direction",),
    "local_fft_bench": ("precision", "kernel", "buffers"),
}
BASELINE = "baseline"  # the label that names the copy of the same run
LEAST_SIZES = 3  # in a curve; what has fewer is shown in rows, each size by itself
IDENTIFYING_NUMBERS = ("blocks",)  # that are no size: they tell benchmarks apart as labels do


@dataclass(frozen=True)
class CurvePoint:
    """One size of a curve: medians over launches of the medians over repetitions."""

    x: float  # bytes, or the length of a transform
    time_s: float
    low_s: float  # over launches; of a single launch over its repetitions
    high_s: float
    amount: float  # bytes or flops of one iteration of one rank
    in_cache: bool
    launches: int = 1
    over_copy: float | None = None  # rate over that of the copy of the same run

    @property
    def rate(self) -> float:
        """Bytes or flops a second and rank."""
        return self.amount / self.time_s


@dataclass
class Curve:
    """One kernel of one program on one machine, by rising size."""

    program: str
    machine_hash: str
    place: Place
    kernel: str
    labels: dict[str, str]
    points: list[CurvePoint]
    flags: tuple[str, ...] = ()
    emulated: bool = False
    label: str = ""  # what tells it from the other curves of its axes

    @property
    def best(self) -> CurvePoint:
        return max(self.points, key=lambda point: point.rate)

    @property
    def best_beyond_cache(self) -> CurvePoint | None:
        beyond = [point for point in self.points if not point.in_cache]
        return max(beyond, key=lambda point: point.rate) if beyond else None


@dataclass
class CurveGroup:
    """Curves of one axes."""

    title: str
    subtitle: str
    curves: list[Curve]
    others: list[Curve] = field(default_factory=list)  # in the same comparison, on axes beside this one


@dataclass(frozen=True)
class Ceiling:
    """A rate, a second and rank, that a machine was seen to reach."""

    rate: float
    ranks: int  # at once on a node
    label: str
    flags: tuple[str, ...] = ()


@dataclass
class Bench:
    """All benchmarks of a campaign."""

    runs: list[ComponentRun]
    _curves: dict[str, list[Curve]] = field(default_factory=dict)

    @cached_property
    def measured(self) -> list[ComponentRun]:
        return [run for run in self.runs if run.status == "ok" and run.benchmarks and not run.simulated]

    @property
    def programs(self) -> list[str]:
        return sorted({run.component for run in self.measured})

    def curves(self, program: str) -> list[Curve]:
        if program not in self._curves:
            runs = [run for run in self.measured if run.component == program]
            self._curves[program] = curves_of(program, runs)
        return self._curves[program]

    def copy_ceiling(self, machine_hash: str, place: Place) -> Ceiling | None:
        """The copy bandwidth beyond the cache, of the most ranks at once on a node that are not more than those of
        `place`: ranks of different nodes do not share it."""
        return _ceiling(self.curves(MEMORY), machine_hash, place.ranks_per_node)

    def transform_peak(self, machine_hash: str, precision: str) -> Ceiling | None:
        """The fastest local transform, flops a second and rank."""
        curves = [
            curve
            for curve in self.curves(TRANSFORMS)
            if _is_of(curve, machine_hash) and curve.labels.get("precision", precision) == precision
        ]
        if not curves:
            return None
        best = max(curves, key=lambda curve: curve.best.rate)
        return Ceiling(best.best.rate, best.place.ranks_per_node, f"local FFT of {best.best.x:g}")


def _is_of(curve: Curve, machine_hash: str) -> bool:
    """Whether it shows what this machine reaches: a foreign one is a mere word."""
    return curve.machine_hash == machine_hash and "foreign" not in curve.flags


def _ceiling(curves: Iterable[Curve], machine_hash: str, ranks: int) -> Ceiling | None:
    usable = [
        curve
        for curve in curves
        if _is_of(curve, machine_hash) and curve.kernel in COPY_KERNELS and curve.best_beyond_cache
    ]
    if not usable:
        return None
    fitting = [curve for curve in usable if curve.place.ranks_per_node <= ranks] or usable
    nearest = min({curve.place.ranks_per_node for curve in fitting}, key=lambda count: abs(count - ranks))
    closest = (curve for curve in fitting if curve.place.ranks_per_node == nearest)
    best = max(closest, key=lambda curve: curve.best_beyond_cache.rate)
    flags = tuple(flag for flag in best.flags if flag != "in-cache")  # "in-cache" is about other sizes of the launch
    return Ceiling(best.best_beyond_cache.rate, nearest, f"copy, {ranks_text(nearest)} at once", flags)


def amount_of(program: str, benchmark: Benchmark) -> float | None:
    return benchmark.number("flops" if program == TRANSFORMS else "bytes")


def x_of(program: str, benchmark: Benchmark) -> float | None:
    return benchmark.number("length" if program == TRANSFORMS else "size_bytes")


def curves_of(program: str, runs: Iterable[ComponentRun]) -> list[Curve]:
    """The benchmarks of all launches as curves; those without a size or an amount are in no curve."""
    found: dict[tuple, dict[float, list[_Measured]]] = defaultdict(lambda: defaultdict(list))
    flags: dict[tuple, set[str]] = defaultdict(set)
    for run in runs:
        by_name = {one.name: one for one in run.benchmarks if one.number("bytes")}
        for one in run.benchmarks:
            x, amount = x_of(program, one), amount_of(program, one)
            if not x or not amount:
                continue
            key = (run.machine_hash, run.place, one.kernel, _labels(one), one.emulated, run.foreign)
            copy = by_name.get(one.label(BASELINE)) if one.number("bytes") else None
            found[key][x].append(_Measured(one, copy, run.parameters))
            flags[key] |= set(run.flags)
    curves = []
    for key, sizes in found.items():
        machine_hash, place, kernel, labels, emulated, _ = key
        for asked, members in _by_parameters(sizes).items():
            points = [_curve_point(program, x, members[x]) for x in sorted(members)]
            told = dict(labels) | {name: value for name, value in asked if name not in dict(labels)}
            all_flags = tuple(sorted(flags[key]))
            curves.append(Curve(program, machine_hash, place, kernel, told, points, all_flags, emulated))
    return curves


@dataclass(frozen=True)
class _Measured:
    """A benchmark of one launch, and the copy of the same launch that it is held against."""

    benchmark: Benchmark
    copy: Benchmark | None
    parameters: tuple[tuple[str, str], ...]  # that the launch was asked for


def _labels(one: Benchmark) -> tuple[tuple[str, str], ...]:
    """Its own, and its numbers that are no size."""
    labels = {name: value for name, value in one.labels if name != BASELINE}
    labels |= {name: f"{name} {one.number(name):g}" for name in IDENTIFYING_NUMBERS if one.number(name) is not None}
    return tuple(sorted(labels.items()))


def _by_parameters(sizes: dict[float, list[_Measured]]) -> dict[tuple, dict[float, list[_Measured]]]:
    """Points that differ in a parameter are one curve, each with sizes of its own, unless two of them have the same
    size: then by the parameters that differ."""
    if all(len({one.parameters for one in members}) == 1 for members in sizes.values()):
        return {(): sizes}
    differing = _varying(dict(one.parameters) for members in sizes.values() for one in members)
    found: dict[tuple, dict[float, list[_Measured]]] = defaultdict(lambda: defaultdict(list))
    for x, members in sizes.items():
        for one in members:
            found[tuple(item for item in one.parameters if item[0] in differing)][x].append(one)
    return found


def _curve_point(program: str, x: float, measured: list[_Measured]) -> CurvePoint:
    medians = [one.benchmark.median_s for one in measured]
    spread = medians if len(medians) > 1 else measured[0].benchmark.time_s
    ratios = [_over_copy(one) for one in measured if one.copy]
    return CurvePoint(
        x=x,
        time_s=statistics.median(medians),
        low_s=min(spread),
        high_s=max(spread),
        amount=amount_of(program, measured[0].benchmark),
        in_cache=any(one.benchmark.in_cache for one in measured),
        launches=len(medians),
        over_copy=statistics.median(ratios) if ratios else None,
    )


def _over_copy(one: _Measured) -> float:
    rates = [each.number("bytes") / each.median_s for each in (one.benchmark, one.copy)]
    return rates[0] / rates[1]


def _varying(tables: Iterable[dict[str, str]]) -> set[str]:
    """Names whose value is not the same in all tables."""
    tables = list(tables)
    names = {name for table in tables for name in table}
    return {name for name in names if len({table.get(name, "") for table in tables}) > 1}


def grouped(curves: Iterable[Curve]) -> list[CurveGroup]:
    """Curves by axes (machine, place, the program's FACETS), each with the label that tells it from its neighbours."""
    axes: dict[tuple, list[Curve]] = defaultdict(list)
    curves = list(curves)
    several = len({curve.machine_hash for curve in curves}) > 1
    names_nodes = not all(curve.place.plain for curve in curves)
    for curve in curves:
        facet = tuple(_value(curve, name) for name in FACETS.get(curve.program, ()))
        axes[curve.machine_hash, curve.place, facet].append(replace(curve))
    differing = [len(set(values)) > 1 for values in zip(*(facet for _, _, facet in axes), strict=True)]
    groups = []
    for (machine_hash, place, facet), members in axes.items():
        words = [word for word, differs in zip(facet, differing, strict=True) if word and differs]
        tell_apart(members)
        subtitle = f"machine {machine_hash[:6]}" if several else ""
        groups.append(CurveGroup(" · ".join([*words, place.text(names_nodes)]), subtitle, members))
    groups.sort(key=lambda group: (group.curves[0].machine_hash, group.curves[0].place))
    return groups


def tell_apart(curves: list[Curve]) -> None:
    """Gives each its label, of as few words as tell them apart, and sorts them by it."""
    names = ["kernel", *sorted({name for curve in curves for name in curve.labels})]
    words: list[tuple[str, ...]] = [() for _ in curves]
    for name in names:
        longer = [(*before, _value(curve, name)) for before, curve in zip(words, curves, strict=True)]
        if len(set(longer)) > len(set(words)):
            words = longer
    for curve, chosen in zip(curves, words, strict=True):
        curve.label = " ".join(word for word in chosen if word) or curve.kernel
    curves.sort(key=lambda curve: curve.label)


def _value(curve: Curve, name: str) -> str:
    return curve.kernel if name == "kernel" else curve.labels.get(name, "")
