"""One record file as a Launch (or a ComponentRun): validated, reduced to what tables and plots need. The schema is in
results/README.md."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from fourscore_analysis.records.basics import (
    CORE,
    HARNESS_STAGES,
    STATUSES,
    Run,
    check_slowest,
    check_spans,
    median_of,
    run_values,
)
from fourscore_analysis.records.cells import TUNED, Cell, Method, read_cell, read_method, word_of
from fourscore_analysis.records.components import ComponentRun, is_component, read_component
from fourscore_analysis.records.declared import Declared, read_declared
from fourscore_analysis.records.files import regular_content
from fourscore_analysis.records.link_loads import ExchangeLoad, read_link_loads
from fourscore_analysis.records.nodes import node_of_rank, seconds_by_node, work_of_ranks
from fourscore_analysis.records.rank_columns import read_rank_columns
from fourscore_analysis.records.timelines import Timeline, read_timeline
from fourscore_analysis.records.traffic import Counters, read_counters, read_least_bytes
from fourscore_analysis.records.values import (
    RecordError,
    amount_of,
    count_of,
    each,
    entries,
    name_of,
    parse_json,
    read,
    rows_of,
    shown,
    some,
    table_of,
    text_of,
    time_of,
    truth_of,
)

__all__ = ["HARNESS_STAGES", "PHASES", "STATUSES", "Launch", "RecordError", "parse_record", "read_record"]

SCHEMA = "fourscore.run-record"
SCHEMA_VERSION = CORE["schema_version"]
CLOSURE_TOLERANCE = 1e-4  # the limit is 0.02
PHASES = ("fft", "twiddle", "combine", "pack", "exchange", "unpack", "h2d", "d2h", "product", "work", "other")


@dataclass(slots=True)
class Component:
    """One part of a plan, timed alone: median over repetitions of the maximum over ranks, seconds."""

    name: str
    phase: str
    time_s: float


@dataclass(slots=True)
class Memory:
    """Bytes, the largest over ranks; None where the record does not say."""

    ratio: float | None = None
    local_data_bytes: float | None = None
    plan_bytes: float | None = None
    workspace_bytes: float | None = None
    peak_rss_bytes: float | None = None


@dataclass(slots=True)
class Traffic:
    """What the busiest rank hands to MPI in one transform, as the exchanges declare it, beside the paper's formula."""

    bytes_sent: float
    messages: float
    bytes_read_shared: float = 0.0
    model_bytes: float | None = None
    model_messages: float | None = None


@dataclass(slots=True)
class DeviceWork:
    """What one transform queues on a device: copies there and back, and transforms, of the rank that copies most."""

    h2d_copies: float
    h2d_bytes: float
    ffts: float
    d2h_copies: float
    d2h_bytes: float


@dataclass(frozen=True, slots=True)
class FailedPart:
    """A timeline, the components alone or the counters of a launch whose samples were verified before."""

    part: str
    status: str
    reason: str


@dataclass(slots=True, kw_only=True)
class Launch(Run):
    """One record of a transform. Times in seconds; sample arrays are in time order."""

    cell: Cell
    method: Method
    resolved_grid: str = ""  # "2x4": what "auto" was; "" where the record does not say
    tuned_exchange: str = ""  # that the launch chose by measurement; "" where the point names one
    active_ranks: int | None = None  # that transformed, where the point says active ranks
    time_s: tuple[float, ...] = ()
    median_s: float = math.nan
    instance_s: tuple[float, ...] = ()  # for several instances: each from the start of all to its own end; medians
    forward_mean_s: float | None = None  # there and back: until the forward half was through on every rank
    # the same of several instances: the means over instances and repetitions of the time until the forward half of one
    # is through, and of the time from there until all of it is
    instance_means_s: tuple[float, float] | None = None
    work_s: float | None = None  # the other work alone: median over repetitions of the longest rank's
    phase_s: dict[str, float] = field(default_factory=dict)  # on the slowest rank of a repetition; median over these
    sample_phase_s: np.ndarray | None = field(default=None, compare=False)  # [phase of phase_s][repetition]
    phase_max_s: dict[str, float] = field(default_factory=dict)  # maximum over ranks; median over repetitions
    computing_s: tuple[float, ...] = ()  # by node, each rank's over its share of the work; () where not known
    components: tuple[Component, ...] = ()
    plan_s: float | None = None
    plan_hash: str = ""  # over the local plans of all ranks; "" in records from before it was recorded
    plan_reused: bool | None = None  # no rank timed anything for its plans; None as above
    credited_flops: float | None = None
    formula_flops: float | None = None  # for the whole transform, as the paper counts them
    closure_worst: float | None = None
    memory: Memory = field(default_factory=Memory)
    traffic: Traffic | None = None
    device: DeviceWork | None = None  # None without a device
    device_models: tuple[str, ...] = ()  # devices that its ranks compute on, each model once
    counters: Counters | None = None
    least_bytes: dict[str, float] = field(default_factory=dict)  # by phase, of all ranks
    declared: Declared = field(default_factory=dict)
    timeline: Timeline | None = field(default=None, compare=False)
    link_loads: tuple[ExchangeLoad, ...] = ()  # where the machine is simulated
    error: float | None = None  # the largest that a check found, relative to what it expected
    failed_parts: tuple[FailedPart, ...] = ()  # what was asked for behind the samples and is not there

    @property
    def simulated(self) -> bool:
        """Whether it only counts. The times of a simulated machine are times, of that machine."""
        flagged = "simulated" in self.flags and self.place.platform == "none"
        return flagged or (self.counters is not None and self.counters.source.simulated)


def parse_record(content: str | bytes, file: str, folder: Path | None = None) -> Launch | ComponentRun:
    """What `content` records: a transform, or a component alone; `folder` has the files that it names. Raises
    RecordError with the reason when it is truncated, newer, lacks a key, or has a value of another type or size than
    expected."""
    data = parse_json(content)
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        raise RecordError(f'not a record: "schema" is not "{SCHEMA}"')
    version = data.get("schema_version")
    if type(version) is not int or version < 1:
        raise RecordError(f"schema_version is {shown(version)}, expected 1 to {SCHEMA_VERSION}")
    if version > SCHEMA_VERSION:
        raise RecordError(f"schema version {version} is newer than {SCHEMA_VERSION}, which this program reads")
    read_rank_columns(data, lambda name: regular_content((folder or Path()) / name))
    return read_component(data, file) if is_component(data) else _launch(data, file)


def read_record(path: Path, file: str) -> Launch | ComponentRun:
    """parse_record of a file; a file that cannot be opened, or is no regular one, is a RecordError too."""
    return parse_record(regular_content(path), file, path.parent)


def _tuned_exchange(point: dict[str, Any], resolved: dict[str, Any]) -> str:
    if read(point, "exchange", name_of, "") != TUNED:
        return ""
    return read(read(resolved, "tuning", table_of, {}), "exchange", name_of, "")


def _launch(data: dict[str, Any], file: str) -> Launch:
    point, cost = read(data, "point", table_of), read(data, "cost", table_of, {})
    resolved, values = read(data, "resolved", table_of, {}), run_values(data, file)
    launch = Launch(
        **values,
        cell=read_cell(point, values["place"]),
        method=read_method(point),
        resolved_grid=read(resolved, "grid", word_of, ""),
        tuned_exchange=_tuned_exchange(point, resolved),
        active_ranks=read(resolved, "active_ranks", count_of, None),
        device_models=read(resolved, "devices", _device_models, ()),
        credited_flops=read(data, "credited_flops", amount_of, None),
        formula_flops=read(cost, "flops", amount_of, None),
    )
    if launch.credited_flops is not None and not math.isclose(
        launch.credited_flops, launch.cell.credited_flops, rel_tol=1e-6
    ):
        raise RecordError(f"credited_flops is {launch.credited_flops:g}, expected {launch.cell.credited_flops:g}")
    plan = read(data, "plan", table_of, {})
    launch.plan_s = read(plan, "time_s", amount_of, None)
    launch.plan_hash = read(plan, "hash", name_of, "")
    launch.plan_reused = read(plan, "reused", truth_of, None)
    _read_memory(launch.memory, read(data, "memory", table_of, {}))
    if launch.status == "ok":
        _read_samples(launch, data)
        launch.traffic = _traffic(cost)
        launch.device = _device_work(cost)
        launch.counters = read(data, "counters", read_counters, None)
        launch.least_bytes = read_least_bytes(cost)
        launch.declared = read_declared(data)
        launch.error = read(data, "verification", _largest_error, None)
        launch.failed_parts = read(data, "failed_parts", _failed_parts, ())
        launch.timeline = read(data, "timeline", read_timeline, None)
        launch.link_loads = read(data, "link_loads", read_link_loads, ())
        launch.components = read(data, "isolated", each(_component), ())
    return launch


def _device_models(value: Any) -> tuple[str, ...]:
    kinds = [read(table_of(kind), "device", table_of) for kind in each(table_of)(value)]
    return tuple(dict.fromkeys(read(read(kind, "identity", table_of), "model", name_of) for kind in kinds))


def _failed_parts(value: Any) -> tuple[FailedPart, ...]:
    ends = {name_of(part): table_of(end) for part, end in sorted(table_of(value).items())}
    return tuple(
        FailedPart(part, read(end, "status", name_of), read(end, "reason", text_of)) for part, end in ends.items()
    )


def _largest_error(value: Any) -> float | None:
    """Checks without a tolerance count something, as messages."""
    checks = read(table_of(value), "checks", each(table_of), ())
    errors = [read(check, "error", amount_of, None) for check in checks if read(check, "tolerance", amount_of) > 0]
    return max((error for error in errors if error is not None), default=None)


def _component(value: Any) -> Component:
    part = table_of(value)
    time_s = read(part, "time_s", some(amount_of))
    if of_ranks := part.get("rank_s"):
        check_slowest(time_s, rows_of(of_ranks))
    return Component(read(part, "name", name_of), read(part, "phase", name_of), median_of(time_s))


def _read_memory(memory: Memory, data: dict[str, Any]) -> None:
    memory.ratio = read(data, "ratio", amount_of, None)
    for name in ("local_data_bytes", "plan_bytes", "workspace_bytes", "peak_rss_bytes"):
        if of_ranks := read(data, name, each(amount_of), ()):
            setattr(memory, name, max(of_ranks))


def _traffic(cost: dict[str, Any]) -> Traffic | None:
    if not read(cost, "bytes_sent_per_rank", each(amount_of), ()):
        return None
    return Traffic(
        bytes_sent=max(read(cost, "bytes_sent_per_rank", each(amount_of))),
        messages=max(read(cost, "messages_per_rank", some(amount_of))),
        bytes_read_shared=max(read(cost, "bytes_read_shared_per_rank", each(amount_of), ()), default=0.0),
        model_bytes=read(cost, "model_bytes_per_rank", amount_of, None),
        model_messages=read(cost, "model_messages_per_rank", amount_of, None),
    )


def _device_work(cost: dict[str, Any]) -> DeviceWork | None:
    device = read(cost, "device", table_of, {})
    names = ("h2d_copies", "h2d_bytes", "ffts", "d2h_copies", "d2h_bytes")
    columns = [read(device, f"{name}_per_rank", each(amount_of), ()) for name in names]
    if not all(columns):
        return None
    if len({len(column) for column in columns}) > 1:
        raise RecordError("columns of cost.device differ in length")
    return DeviceWork(*max(zip(*columns, strict=True), key=lambda one: one[1] + one[4]))


def median_rows(values: np.ndarray) -> np.ndarray:
    """Median over the last axis; several times faster than numpy.median on the short rows of a record."""
    ordered = np.sort(values, axis=-1)
    count = ordered.shape[-1]
    return (ordered[..., (count - 1) // 2] + ordered[..., count // 2]) / 2


def _read_halves(launch: Launch, samples: dict[str, Any]) -> None:
    """The times of both directions of several instances."""
    forward = read(samples, "instance_forward_s", each(some(amount_of)), ())
    if not forward:
        return
    whole = read(samples, "instance_time_s", each(some(amount_of)))
    if [len(times) for times in whole] != [len(times) for times in forward]:
        raise RecordError("samples disagree in size: instance_time_s and instance_forward_s")
    there, all_of_it = (statistics.fmean(statistics.fmean(times) for times in of_each) for of_each in (forward, whole))
    launch.instance_means_s = there, all_of_it - there


def _read_samples(launch: Launch, data: dict[str, Any]) -> None:
    samples = read(data, "samples", table_of)
    launch.time_s = read(samples, "time_s", some(time_of))
    launch.median_s = median_of(launch.time_s)
    launch.instance_s = tuple(median_of(times) for times in read(samples, "instance_time_s", each(some(amount_of)), ()))
    forward_s = read(samples, "forward_s", each(amount_of), ())
    launch.forward_mean_s = statistics.fmean(forward_s) if forward_s else None
    _read_halves(launch, samples)
    work = read(data, "other_work", table_of, {})
    launch.work_s = median_of(read(work, "time_s", some(amount_of))) if work else None
    launch.closure_worst = read(read(samples, "closure", table_of, {}), "worst", amount_of, None)
    totals = read(samples, "rank_total_s", rows_of, None)  # [rank][repetition]
    if totals is not None and totals.size:
        if read(samples, "time_is", name_of, "") == "span":
            uncertainty_s = read(read(samples, "clock", table_of, {}), "uncertainty_s", amount_of, 0.0)
            check_spans(launch.time_s, totals, read(samples, "start_skew_s", each(amount_of)), uncertainty_s)
        else:
            check_slowest(launch.time_s, totals)
    by_phase = read(samples, "rank_phase_s", entries(rows_of), {})  # [rank][repetition]
    names = [name for name in PHASES if name in by_phase] + sorted(set(by_phase) - set(PHASES))
    if not names:
        return
    if totals is None:
        raise RecordError("lacks the key 'rank_total_s'")
    for name in names:
        if by_phase[name].shape != totals.shape:
            raise RecordError(
                f"samples disagree in size: rank_total_s is {totals.shape}, rank_phase_s of {name} is "
                f"{by_phase[name].shape}"
            )
    phases = np.asarray([by_phase[name] for name in names])  # [phase][rank][repetition]
    if launch.closure_worst is not None and totals.min() > 0:
        gap = float(np.abs(phases.sum(axis=0) / totals - 1).max())
        if abs(gap - launch.closure_worst) > CLOSURE_TOLERANCE:
            raise RecordError(f"closure.worst is {launch.closure_worst:g}, by its own samples {gap:g}")
    of_slowest_rank = phases[:, totals.argmax(axis=0), np.arange(totals.shape[1])]
    launch.sample_phase_s = of_slowest_rank
    launch.phase_s = dict(zip(names, median_rows(of_slowest_rank).tolist(), strict=True))
    launch.phase_max_s = dict(zip(names, median_rows(phases.max(axis=1)).tolist(), strict=True))
    nodes = node_of_rank(launch.identity.get("launch", {}), launch.place) if launch.place.nodes > 1 else None
    if nodes is not None and len(nodes) == len(totals):
        work = work_of_ranks(data, launch.place.ranks)
        launch.computing_s = seconds_by_node(by_phase, work, nodes, launch.place.nodes)
