"""Google Benchmark's JSON as launches of a component: what another project measured, for `fourscore compare`.

Entries of one name with different `repetition_index` are repetitions of one process, and so of one launch. Entries of
one name with the same index, as `fourscore export --format benchmark` writes, are launches each. An entry without a
time that can be used is a launch of its benchmark that has none, with the reason."""

from __future__ import annotations

import hashlib
import json
import math
from collections import defaultdict
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from fourscore_analysis.records.basics import Place
from fourscore_analysis.records.components import Benchmark, ComponentRun
from fourscore_analysis.records.values import (
    RecordError,
    each,
    integer_of,
    name_of,
    read,
    shown,
    table_of,
    text_of,
    time_of,
    truth_of,
)

SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
MACHINE = ("host_name", "num_cpus", "caches")  # keys of the context that tell machines apart
CODE = ("executable", "library_version", "library_build_type")
POINT = "google-benchmark"
LONGEST_REASON = 300  # characters


@dataclass(slots=True, kw_only=True)
class BenchmarkRun(ComponentRun):
    """What one process measured; or one entry that has no time, where `without_time` is the name of its benchmark."""

    without_time: str = ""

    @property
    def title(self) -> str:
        """The program's name alone: the format does not know ranks."""
        return self.component


def is_google_benchmark(data: Any) -> bool:
    return isinstance(data, dict) and "schema" not in data and "context" in data and "benchmarks" in data


def read_google_benchmark(data: dict[str, Any], file: str, first_launch: int = 0) -> list[BenchmarkRun]:
    """Launches, numbered from `first_launch`. Raises RecordError where nothing can be used."""
    context = read(data, "context", table_of)
    times: dict[int, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    without: list[BenchmarkRun] = []
    seen: dict[tuple[str, int], int] = defaultdict(int)
    entries = read(data, "benchmarks", each(table_of))
    iterations = [entry for entry in entries if read(entry, "run_type", name_of, "iteration") == "iteration"]
    if entries and not iterations:
        raise RecordError(
            "holds aggregates alone (mean, median), no times of launches; "
            "expected it to be written without --benchmark_report_aggregates_only"
        )
    for entry in iterations:
        name = read(entry, "run_name", name_of, "") or read(entry, "name", name_of)
        index = read(entry, "repetition_index", integer_of, 0)
        launch = seen[name, index]
        seen[name, index] += 1
        try:
            status, reason = _end(entry)
            if status == "ok":
                seconds = _seconds(entry)
                times[launch][name].append(seconds)
        except RecordError as error:
            status, reason = "failed", f"no time: {error}"
        if status != "ok":
            run = _run(context, file, first_launch + launch, {})
            run.status, run.reason, run.without_time = status, reason[:LONGEST_REASON], name
            without.append(run)
    return [*(_run(context, file, first_launch + k, times[k]) for k in sorted(times)), *without]


def _end(entry: dict[str, Any]) -> tuple[str, str]:
    """Status and reason. Raises RecordError for a number that is none."""
    if read(entry, "error_occurred", truth_of, False):
        return "failed", read(entry, "error_message", text_of, "") or "error_occurred"
    if read(entry, "skipped", truth_of, False):
        return "skipped", read(entry, "skip_message", text_of, "") or "skipped by the program"
    for key, value in entry.items():
        if isinstance(value, float) and not math.isfinite(value):
            raise RecordError(f"{shown(key)} is {value}")
    return "ok", ""


def _seconds(entry: dict[str, Any]) -> float:
    unit = read(entry, "time_unit", name_of, "ns")
    if unit not in SECONDS:
        raise RecordError(f"time_unit is {shown(unit)}, expected {', '.join(SECONDS)}")
    return time_of(read(entry, "real_time", time_of) * SECONDS[unit])


def _run(context: dict[str, Any], file: str, launch: int, times: dict[str, list[float]]) -> BenchmarkRun:
    identity = {
        part: {key: context[key] for key in keys if key in context}
        for part, keys in (("machine", MACHINE), ("code", CODE))
    }
    digest = hashlib.sha256(json.dumps(identity["machine"], sort_keys=True).encode()).hexdigest()[:16]
    executable = read(context, "executable", text_of, "")
    return BenchmarkRun(
        file=file,
        place=Place(ranks=1),
        suite="",
        point_id=POINT,
        launch=launch,
        order=launch,
        status="ok",
        reason="",
        machine_hash=digest,
        identity=identity,
        component=PurePath(executable).name or POINT,
        benchmarks=tuple(
            Benchmark(name=name, kernel=name, labels=(), numbers=(), time_s=tuple(time_s))
            for name, time_s in times.items()
        ),
    )
