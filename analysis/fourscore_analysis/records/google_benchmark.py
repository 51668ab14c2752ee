"""Google Benchmark's JSON as launches of a component: what another project measured, for `fourscore compare`.

Entries of one name with different `repetition_index` are repetitions of one process, and so of one launch. Entries of
one name with the same index, as `fourscore export --format benchmark` writes, are launches each."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
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


def is_google_benchmark(data: Any) -> bool:
    return isinstance(data, dict) and "schema" not in data and "context" in data and "benchmarks" in data


def read_google_benchmark(data: dict[str, Any], file: str, first_launch: int = 0) -> list[ComponentRun]:
    """Launches, numbered from `first_launch`. An entry that says `error_occurred` makes its launch one that failed.
    Raises RecordError."""
    context = read(data, "context", table_of)
    times: dict[int, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    errors: dict[int, str] = {}
    seen: dict[tuple[str, int], int] = defaultdict(int)
    for entry in read(data, "benchmarks", each(table_of)):
        if read(entry, "run_type", name_of, "iteration") != "iteration":
            continue  # a mean, a median: of the entries before
        name = read(entry, "run_name", name_of, "") or read(entry, "name", name_of)
        index = read(entry, "repetition_index", integer_of, 0)
        launch = seen[name, index]
        seen[name, index] += 1
        if read(entry, "error_occurred", truth_of, False):
            errors.setdefault(launch, f"{name}: {read(entry, 'error_message', text_of, 'error_occurred')}"[:300])
            continue
        times[launch][name].append(_seconds(entry, name))
    runs = [_run(context, file, first_launch + k, times[k]) for k in sorted(times)]
    return runs + [
        _run(context, file, first_launch + len(times) + number, {}, reason)
        for number, reason in enumerate(errors.values())
    ]


def _seconds(entry: dict[str, Any], name: str) -> float:
    unit = read(entry, "time_unit", name_of, "ns")
    if unit not in SECONDS:
        raise RecordError(f"{name}: time_unit is {shown(unit)}, expected {', '.join(SECONDS)}")
    try:
        return time_of(read(entry, "real_time", time_of) * SECONDS[unit])
    except RecordError as error:
        raise RecordError(f"{name}: {error}") from None


def _run(
    context: dict[str, Any], file: str, launch: int, times: dict[str, list[float]], error: str = ""
) -> ComponentRun:
    identity = {
        part: {key: context[key] for key in keys if key in context}
        for part, keys in (("machine", MACHINE), ("code", CODE))
    }
    digest = hashlib.sha256(json.dumps(identity["machine"], sort_keys=True).encode()).hexdigest()[:16]
    executable = read(context, "executable", text_of, "")
    return ComponentRun(
        file=file,
        place=Place(ranks=1),
        suite="",
        point_id=POINT,
        launch=launch,
        order=launch,
        status="failed" if error else "ok",
        reason=error,
        machine_hash=digest,
        identity=identity,
        component=PurePath(executable).name or POINT,
        benchmarks=tuple(
            Benchmark(name=name, kernel=name, labels=(), numbers=(), time_s=tuple(time_s))
            for name, time_s in times.items()
        ),
    )
