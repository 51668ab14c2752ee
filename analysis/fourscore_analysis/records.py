"""One record file as a Launch (or a ComponentRun): validated, reduced to what tables and plots need. The schema is in
results/README.md."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from fourscore_analysis.component_records import ComponentRun, is_component, read_component
from fourscore_analysis.record_basics import HARNESS_STAGES, STATUSES, RecordError, Run, median_of, run_values, text_of
from fourscore_analysis.traffic_records import Counters, read_counters, read_least_bytes

__all__ = ["HARNESS_STAGES", "PHASES", "STATUSES", "Launch", "RecordError", "parse_record", "read_record"]

SCHEMA = "fourscore.run-record"
SCHEMA_VERSION = 1
PHASES = ("fft", "twiddle", "combine", "pack", "exchange", "unpack", "h2d", "d2h", "other")


@dataclass(frozen=True, slots=True)
class Contract:
    """What two measurements must share to be ranked against each other."""

    layout: str
    buffers: str
    normalisation: str
    precision: str
    kind: str
    direction: str
    planner: str
    threads: int
    instances: int


@dataclass(frozen=True, slots=True)
class Method:
    """Who solves the problem, and with which options."""

    variant: str
    exchange: str
    local_fft: str
    grid: str  # "auto" or "2x2"
    parameters: str  # "" or "name=value, ..."
    placement: str = ""  # of several instances: "all" or "subset"; "" for one
    options: tuple[tuple[str, str], ...] = ()  # the same, apart: (name, value), sorted by name

    def option(self, name: str) -> str | None:
        """The value of one of the variant's own parameters, None where it was not given."""
        return dict(self.options).get(name)


@dataclass(frozen=True, slots=True)
class Cell:
    """One comparison: the same problem on the same number of ranks under the same contract."""

    contract: Contract
    shape: tuple[int, ...]
    ranks: int

    @property
    def elements(self) -> int:
        return math.prod(self.shape)


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
class Lane:
    """What one thread of one rank did when: columns of one length, seconds on the axis of all lanes."""

    rank: int
    lane: int
    dropped: int
    phases: tuple[str, ...]
    begin_s: np.ndarray
    end_s: np.ndarray


@dataclass(slots=True)
class Timeline:
    """One traced run; time 0 is when its first rank started."""

    end_s: float
    alignment: str
    uncertainty_s: float  # of the worst rank's clock
    lanes: tuple[Lane, ...]


@dataclass(slots=True, kw_only=True)
class Launch(Run):
    """One record of a transform. Times in seconds; sample arrays are in time order."""

    cell: Cell
    method: Method
    time_s: tuple[float, ...] = ()
    median_s: float = math.nan
    instance_s: tuple[float, ...] = ()  # of several instances: each from the start of all to its own end; medians
    phase_s: dict[str, float] = field(default_factory=dict)  # of the slowest rank of a repetition; median over these
    phase_max_s: dict[str, float] = field(default_factory=dict)  # maximum over ranks; median over repetitions
    components: tuple[Component, ...] = ()
    plan_s: float | None = None
    credited_flops: float | None = None
    formula_flops: float | None = None  # of the whole transform, as the paper counts them
    closure_worst: float | None = None
    memory: Memory = field(default_factory=Memory)
    traffic: Traffic | None = None
    counters: Counters | None = None
    least_bytes: dict[str, float] = field(default_factory=dict)  # by phase, of all ranks
    timeline: Timeline | None = field(default=None, compare=False)

    @property
    def simulated(self) -> bool:
        return "simulated" in self.flags or (self.counters is not None and self.counters.source.simulated)


def _refuse_constant(name: str) -> NoReturn:
    raise RecordError(f"holds {name}, which is not a JSON number")


def parse_record(text: str | bytes, file: str) -> Launch | ComponentRun:
    """What `text` records: a transform, or a component alone. Raises RecordError with the reason when it is truncated,
    newer, or lacks a key."""
    try:
        data = json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        if error.pos >= len(error.doc.rstrip()) or "Unterminated" in error.msg:
            raise RecordError(f"truncated: JSON ends early, at character {error.pos}") from None
        raise RecordError(f"not JSON: {error.msg} at character {error.pos}") from None
    except UnicodeDecodeError:
        raise RecordError("not UTF-8 text") from None
    except RecursionError:
        raise RecordError("nested too deeply") from None
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        raise RecordError(f'not a record: "schema" is not "{SCHEMA}"')
    version = data.get("schema_version")
    if not isinstance(version, int) or version < 1:
        raise RecordError(f"schema_version is {version!r}, expected {SCHEMA_VERSION}")
    if version > SCHEMA_VERSION:
        raise RecordError(f"schema version {version} is newer than {SCHEMA_VERSION}, which this program reads")
    try:
        return read_component(data, file) if is_component(data) else _launch(data, file)
    except RecordError:
        raise
    except KeyError as error:
        raise RecordError(f"lacks the key {error.args[0]!r}") from None
    except (TypeError, ValueError, AttributeError, IndexError) as error:
        raise RecordError(f"a value has the wrong type or size: {error}") from None


def read_record(path: Path, file: str) -> Launch | ComponentRun:
    """parse_record of a file; a file that cannot be opened is a RecordError too."""
    try:
        with path.open("rb") as stream:
            return parse_record(stream.read(), file)
    except OSError as error:
        raise RecordError(error.strerror or str(error)) from None


def _launch(data: dict[str, Any], file: str) -> Launch:
    point, cost = data["point"], data.get("cost", {})
    launch = Launch(
        **run_values(data, file),
        cell=_cell(point),
        method=_method(point),
        credited_flops=data.get("credited_flops"),
        formula_flops=cost.get("flops"),
    )
    if "plan" in data and "time_s" in data["plan"]:
        launch.plan_s = float(data["plan"]["time_s"])
    _read_memory(launch.memory, data.get("memory", {}))
    if launch.status == "ok":
        _read_samples(launch, data["samples"])
        launch.traffic = _traffic(cost)
        launch.counters = read_counters(data.get("counters"))
        launch.least_bytes = read_least_bytes(cost)
        if "timeline" in data:
            launch.timeline = _timeline(data["timeline"])
        launch.components = tuple(
            Component(text_of(part["name"]), text_of(part["phase"]), median_of(part["time_s"]))
            for part in data.get("isolated", ())
        )
    return launch


def _cell(point: dict[str, Any]) -> Cell:
    if not isinstance(point["shape"], list):
        raise TypeError(f"shape is {point['shape']!r}, expected a list of extents")
    shape = tuple(int(extent) for extent in point["shape"])
    if not 1 <= len(shape) <= 3 or min(shape) < 1:
        raise RecordError(f"shape {point['shape']} is not 1 to 3 positive extents")
    ranks = int(point["ranks"])
    if ranks < 1:
        raise RecordError(f"ranks is {ranks}, expected 1 or more")
    terms = point["contract"]
    contract = Contract(
        layout=text_of(terms["layout"]),
        buffers=text_of(terms["buffers"]),
        normalisation=text_of(terms.get("normalisation", "none")),
        precision=text_of(point["precision"]),
        kind=text_of(point["kind"]),
        direction=text_of(point["direction"]),
        planner=text_of(terms["planner"]),
        threads=int(point.get("threads", 1)),
        instances=int(point.get("instances", 1)),
    )
    return Cell(contract, shape, ranks)


def _method(point: dict[str, Any]) -> Method:
    grid = point.get("grid", "auto")
    parameters = point.get("parameters", {})
    return Method(
        variant=text_of(point["variant"]),
        exchange=text_of(point.get("exchange", "none")),
        local_fft=text_of(point.get("local_fft", "")),
        grid=grid if isinstance(grid, str) else "x".join(str(int(extent)) for extent in grid),
        parameters=", ".join(f"{name}={parameters[name]}" for name in sorted(parameters)),
        placement=text_of(point.get("placement", "all")) if int(point.get("instances", 1)) > 1 else "",
        options=tuple((name, text_of(parameters[name])) for name in sorted(parameters)),
    )


def _read_memory(memory: Memory, data: dict[str, Any]) -> None:
    if "ratio" in data:
        memory.ratio = float(data["ratio"])
    for name in ("local_data_bytes", "plan_bytes", "workspace_bytes", "peak_rss_bytes"):
        if data.get(name):
            setattr(memory, name, float(max(data[name])))


def _traffic(cost: dict[str, Any]) -> Traffic | None:
    if not cost.get("bytes_sent_per_rank"):
        return None
    return Traffic(
        bytes_sent=float(max(cost["bytes_sent_per_rank"])),
        messages=float(max(cost["messages_per_rank"])),
        bytes_read_shared=float(max(cost.get("bytes_read_shared_per_rank") or [0])),
        model_bytes=cost.get("model_bytes_per_rank"),
        model_messages=cost.get("model_messages_per_rank"),
    )


def _timeline(data: dict[str, Any]) -> Timeline:
    lanes = []
    for lane in data["lanes"]:
        begin_s, end_s = np.asarray(lane["begin_s"], dtype=float), np.asarray(lane["end_s"], dtype=float)
        phases = tuple(text_of(phase) for phase in lane["phase"])
        if not len(phases) == len(begin_s) == len(end_s):
            raise RecordError("timeline: columns of a lane differ in length")
        lanes.append(Lane(int(lane["rank"]), int(lane["lane"]), int(lane["dropped"]), phases, begin_s, end_s))
    clock = data["clock"]
    return Timeline(
        end_s=float(max(data["rank_end_s"])),
        alignment=text_of(clock["alignment"]),
        uncertainty_s=float(max(clock["uncertainty_s"])),
        lanes=tuple(lanes),
    )


def median_rows(values: np.ndarray) -> np.ndarray:
    """Median over the last axis; several times faster than numpy.median on the short rows of a record."""
    ordered = np.sort(values, axis=-1)
    count = ordered.shape[-1]
    return (ordered[..., (count - 1) // 2] + ordered[..., count // 2]) / 2


def _read_samples(launch: Launch, samples: dict[str, Any]) -> None:
    launch.time_s = tuple(float(value) for value in samples["time_s"])
    launch.median_s = median_of(samples["time_s"])
    if min(launch.time_s) <= 0:
        raise RecordError("samples.time_s holds a time that is not positive")
    launch.instance_s = tuple(median_of(times) for times in samples.get("instance_time_s", ()))
    if "closure" in samples:
        launch.closure_worst = float(samples["closure"]["worst"])
    by_phase = samples.get("rank_phase_s", {})
    names = [name for name in PHASES if name in by_phase] + sorted(set(by_phase) - set(PHASES))
    if not names:
        return
    totals = np.asarray(samples["rank_total_s"], dtype=float)  # [rank][repetition]
    phases = np.asarray([by_phase[name] for name in names], dtype=float)  # [phase][rank][repetition]
    if phases.shape[1:] != totals.shape or totals.shape[1] != len(launch.time_s):
        raise RecordError(
            f"samples disagree in size: time_s has {len(launch.time_s)} repetitions, rank_total_s is "
            f"{totals.shape}, rank_phase_s is {phases.shape[1:]}"
        )
    of_slowest_rank = phases[:, totals.argmax(axis=0), np.arange(totals.shape[1])]
    launch.phase_s = dict(zip(names, median_rows(of_slowest_rank).tolist(), strict=True))
    launch.phase_max_s = dict(zip(names, median_rows(phases.max(axis=1)).tolist(), strict=True))
