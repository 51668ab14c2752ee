"""The history of each series over builds of the code: what changed where, by how much, and whether it still holds.

A series is one point on one machine, launched in one way; a change of either starts another, so none is crossed. A
value is the median over the launches of one build, of their medians. Change points are sought in its logarithm."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from fourscore_analysis.gate.acknowledged import Acknowledgement
from fourscore_analysis.gate.change_points import Drift, Segmentation, segment
from fourscore_analysis.gate.modes import in_two_groups
from fourscore_analysis.gate.revisions import Build
from fourscore_analysis.points.shifts import sample_shift
from fourscore_analysis.records.basics import median_of
from fourscore_analysis.records.briefs import Brief, Times
from fourscore_analysis.records.workers import available_cores, pool_of

MARGIN = 0.02  # smaller changes are shown, and count for nothing
MOST_BESIDE = 100  # values on each side of a change that tell its size
LARGEST_P = 0.05  # p of the rank sums of launches around a change
SLOWDOWN, IMPROVEMENT, SMALL = "slowdown", "improvement", "small"
_PARALLEL_FROM = 2000  # values; starting processes costs more than fewer take


@dataclass(frozen=True, slots=True)
class Launched:
    """One launch of one build."""

    times: Times
    file: str


@dataclass
class Series:
    """`builds` are in order; `launches` and `values_s` belong to them."""

    point_id: str
    benchmark: str  # the component's; "" for a transform
    machine_hash: str
    launch_hash: str
    keys: dict[str, str]
    builds: list[Build] = field(default_factory=list)
    launches: list[list[Launched]] = field(default_factory=list)
    title: str = ""
    place: str = ""  # machine or way of launching, where the same point has several

    @property
    def panel(self) -> tuple[str, str]:
        """What is drawn together: the same point on every machine."""
        return self.point_id, self.benchmark

    @cached_property
    def values_s(self) -> np.ndarray:
        return np.array([median_of([one.times.median_s for one in launches]) for launches in self.launches])


@dataclass(slots=True)
class Finding:
    """A change between two consecutive builds of a series (`drift`: from the first of several builds to the last)."""

    series: Series
    drift: bool
    kind: str
    begin: int  # index of a build: the last before the change, the first of a drift
    end: int  # the first after the change, the last of a drift
    ratio: float  # time after over time before
    interval: tuple[float, float] | None
    p: float
    launches_p: float | None  # Mann and Whitney, over launches; of a change
    standing: bool  # not made up for since
    bimodal: bool
    acknowledged: Acknowledgement | None = None

    @property
    def before(self) -> Build:
        return self.series.builds[self.begin]

    @property
    def after(self) -> Build:
        return self.series.builds[self.end]

    @property
    def builds_since(self) -> int:
        return len(self.series.builds) - self.end

    @property
    def counts(self) -> bool:
        """Whether somebody must look at it: a slowdown that stands and that nobody has acknowledged."""
        return self.kind == SLOWDOWN and self.standing and self.acknowledged is None and not self.bimodal

    @property
    def rank(self) -> tuple:
        """What must be looked at first: newest slowdowns first, those of one build by their size."""
        order = (
            0 if self.counts else
            1 if self.kind == SLOWDOWN and self.standing and self.bimodal and self.acknowledged is None else
            2 if self.kind == SLOWDOWN and self.standing else
            3 if self.kind == SLOWDOWN else
            4 if self.kind == IMPROVEMENT else 5
        )  # fmt: skip
        return order, -self.after.place, -abs(math.log(self.ratio)), self.series.title


@dataclass(slots=True)
class Judged:
    """A series with what is said of it. `noise` is the relative spread of its values where nothing changes."""

    series: Series
    bounds: tuple[int, ...]
    findings: list[Finding]
    noise: float
    bimodal: bool


def keys_of(point: dict[str, Any], benchmark: str, machine_hash: str) -> dict[str, str]:
    """A series by names, as --series and acknowledgements have them: the point's own, without levels."""
    keys = {}
    for name, value in point.items():
        if name == "contract" and isinstance(value, dict):
            keys |= {inner: _text(one) for inner, one in value.items()}
        elif name == "parameters" and isinstance(value, dict):
            keys |= {f"parameters.{inner}": _text(one) for inner, one in value.items()}
        else:
            keys[name] = _text(value)
    if benchmark:
        keys["benchmark"] = benchmark
    return keys | {"machine": machine_hash}


def _text(value: Any) -> str:
    return "x".join(str(one) for one in value) if isinstance(value, list) else str(value)


def build_series(launches: Iterable[Brief], builds: Sequence[Build]) -> list[Series]:
    """Series of all launches that have times and were not simulated. Launches of one build stand in the order of their
    files."""
    position = {(one.code_hash, one.revision, one.dirty): at for at, one in enumerate(builds)}
    found: dict[tuple[str, str, str, str], Series] = {}
    values: dict[tuple[str, str, str, str], dict[int, list[Launched]]] = defaultdict(lambda: defaultdict(list))
    for launch in launches:
        if "simulated" in launch.flags:
            continue
        at = position[launch.code_hash, launch.revision, launch.dirty]
        for benchmark, times in launch.times.items():
            key = (launch.point_id, benchmark, launch.machine_hash, launch.launch_hash)
            if key not in found:
                found[key] = Series(*key, keys_of(launch.point, benchmark, launch.machine_hash))
            values[key][at].append(Launched(times, launch.file))
    for key, series in found.items():
        for at in sorted(values[key]):
            series.builds.append(builds[at])
            series.launches.append(values[key][at])
    return list(found.values())


def judge_all(series: Sequence[Series], margin: float = MARGIN, workers: int | None = None) -> list[Judged]:
    """Each of `series`, on all cores."""
    values = [one.values_s for one in series]
    workers = min(workers or available_cores(), len(series))
    if workers > 1 and sum(len(one) for one in values) >= _PARALLEL_FROM:
        import scipy.stats  # noqa: F401  before processes begin, which then share it

        with pool_of(workers) as pool:
            segmented = list(pool.map(_segmented, values, chunksize=max(1, len(values) // (8 * workers))))
    else:
        segmented = [_segmented(one) for one in values]
    return [_judged(one, of_one, margin) for one, of_one in zip(series, segmented, strict=True)]


def _segmented(values_s: np.ndarray) -> Segmentation:
    return segment(np.log(values_s))


def _judged(series: Series, segmented: Segmentation, margin: float) -> Judged:
    values, bounds = np.log(series.values_s), segmented.bounds
    residuals = np.concatenate([values[a:b] - np.median(values[a:b]) for a, b in pairwise(bounds)])
    bimodal = _is_bimodal(series, bounds)
    findings = [
        _change(series, values, bounds, number, change.p, margin, bimodal)
        for number, change in enumerate(segmented.changes)
    ]
    findings += [_drift(series, values, one, margin, bimodal) for one in segmented.drifts]
    return Judged(series, bounds, findings, float(1.4826 * np.median(np.abs(residuals))), bimodal)


def _change(
    series: Series, values: np.ndarray, bounds: Sequence[int], number: int, p: float, margin: float, bimodal: bool
) -> Finding:
    from scipy.stats import mannwhitneyu  # slow to load

    begin, index, end = bounds[number : number + 3]
    before, after = range(max(begin, index - MOST_BESIDE), index), range(index, min(end, index + MOST_BESIDE))
    shift = sample_shift(values[after.start : after.stop], values[before.start : before.stop])
    estimate = float(shift.estimate)
    low, high = (float(one) for one in shift.interval(0.95))
    launches_p = float(mannwhitneyu(_launch_logs(series, after), _launch_logs(series, before)).pvalue)
    kind = SMALL
    if launches_p <= LARGEST_P and abs(estimate) >= math.log1p(margin):
        kind = SLOWDOWN if estimate > 0 else IMPROVEMENT
    now = float(np.median(values[bounds[-2] :]) - np.median(values[begin:index]))
    return Finding(
        series=series,
        drift=False,
        kind=kind,
        begin=index - 1,
        end=index,
        ratio=math.exp(estimate),
        interval=(math.exp(low), math.exp(high)) if math.isfinite(low) else None,
        p=p,
        launches_p=launches_p,
        standing=math.copysign(1, estimate) * now >= math.log1p(margin),
        bimodal=bimodal,
    )


def _drift(series: Series, values: np.ndarray, drift: Drift, margin: float, bimodal: bool) -> Finding:
    large = abs(drift.total) >= math.log1p(margin)
    now = float(values[-1] - values[drift.begin])
    return Finding(
        series=series,
        drift=True,
        kind=SMALL if not large else SLOWDOWN if drift.total > 0 else IMPROVEMENT,
        begin=drift.begin,
        end=drift.end - 1,
        ratio=math.exp(drift.total),
        interval=None,
        p=drift.p,
        launches_p=None,
        standing=drift.end == len(values) or math.copysign(1, drift.total) * now >= math.log1p(margin),
        bimodal=bimodal,
    )


def _launch_logs(series: Series, positions: range) -> np.ndarray:
    return np.log([one.times.median_s for at in positions for one in series.launches[at]])


def _is_bimodal(series: Series, bounds: Sequence[int]) -> bool:
    """Whether the launches of a segment, in which nothing changed, fall into two groups."""
    return any(bool(in_two_groups(_launch_logs(series, range(begin, end)))) for begin, end in pairwise(bounds))
