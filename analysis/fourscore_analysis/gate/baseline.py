"""Exact numbers of a campaign, kept in a file of the repository, and what of them a later campaign changed. It takes no
second build and no quiet machine, so any CI machine can hold a change to it.

Counts of a simulation are those of a processor, a compiler and a few libraries: those choose the instructions. A
baseline names them, and elsewhere its counts are not compared."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fourscore_analysis.gate.exact import LESS, MORE, NEW, SAME, VARIES, agree, close, numbers_of
from fourscore_analysis.gate.rates import read_document
from fourscore_analysis.gate.result import GREEN, NOTHING_MEASURED, RED
from fourscore_analysis.gate.series import pair_series
from fourscore_analysis.points.provenance import flatten
from fourscore_analysis.records.archive import InputError
from fourscore_analysis.records.basics import Run
from fourscore_analysis.records.files import write_whole
from fourscore_analysis.records.transforms import Launch
from fourscore_analysis.records.values import RecordError, each, entries, name_of, number_of, read, table_of

SCHEMA, SCHEMA_VERSION = "fourscore.gate-baseline", 1
WRONG, ABSENT, ELSEWHERE = "wrong", "absent", "elsewhere"
WORST_FIRST = (WRONG, MORE, ABSENT, VARIES, ELSEWHERE, NEW, LESS, SAME)
# What decides how many instructions the same source takes.
COUNTED_WITH = (
    "machine.cpu_model",
    "code.compiler",
    "code.flags",
    "code.fftw",
    "code.mpi",
    "code.libraries.libc.so.6",
    "code.libraries.libfftw3.so.3",
)


@dataclass(frozen=True)
class Number:
    """The largest over ranks, the sum over ranks, and by what part it may differ."""

    largest: float
    total: float
    tolerance: float = 0.0


@dataclass(frozen=True)
class Point:
    point_id: str
    title: str
    numbers: dict[str, Number | None]  # None: launches do not agree
    trouble: str = ""  # why there are no numbers
    wrong: bool = False


@dataclass(frozen=True)
class Numbers:
    """The numbers of a campaign or of a baseline; `counted_with` is of its simulated counts, by COUNTED_WITH, and empty
    without any."""

    points: list[Point]
    counted_with: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Change:
    word: str
    title: str
    name: str  # the number's; "" for a whole point
    said: str

    @property
    def blocks(self) -> bool:
        return self.word in (WRONG, MORE)

    def text(self) -> str:
        return f"{self.title}: {f'{self.name} ' if self.name else ''}{self.said}"


@dataclass(frozen=True)
class Checked:
    changes: list[Change]  # worst first; those that are the same too

    @property
    def exit_code(self) -> int:
        if any(one.blocks for one in self.changes):
            return RED
        compared = any(one.name and one.word not in (ABSENT, ELSEWHERE) for one in self.changes)
        return GREEN if compared else NOTHING_MEASURED

    @property
    def counts(self) -> dict[str, int]:
        words = [one.word for one in self.changes]
        return {word: words.count(word) for word in WORST_FIRST if word in words}


def numbers_of_runs(runs: Sequence[Run]) -> Numbers:
    """The exact numbers of every point of transforms, in the order of the records."""
    counted = next((run for run in runs if isinstance(run, Launch) and run.counters and run.simulated), None)
    identity = flatten(counted.identity) if counted else {}
    points = []
    for series in pair_series(runs, [], paired=False):
        side = series.base
        found = [numbers_of(run) for run in side.counted]
        trouble = ", ".join(filter(None, (side.trouble(status) for status in side.statuses)))
        points.append(Point(series.point_id, series.title, _numbers(found), trouble, bool(side.trouble(WRONG))))
    return Numbers(points, {key: _plain(identity[key]) for key in COUNTED_WITH if key in identity})


def _numbers(launches: list[dict[str, Any]]) -> dict[str, Number | None]:
    numbers: dict[str, Number | None] = {}
    for name in dict.fromkeys(name for launch in launches for name in launch):
        values = [launch[name] for launch in launches if name in launch]
        same = len(values) == len(launches) and agree(values, values[0][1])
        numbers[name] = Number(max(values[0][0]), math.fsum(values[0][0]), values[0][1]) if same else None
    return numbers


def write_baseline(file: Path, measured: Numbers, suite: str) -> int:
    """Returns how many numbers the file holds. A line a point, so that a change of it can be read. Raises InputError
    where nothing was measured, or a result was wrong."""
    points = measured.points
    if wrong := next((point for point in points if point.wrong), None):
        raise InputError(f"{wrong.title}: {wrong.trouble}: a wrong result is no baseline")
    lines, count = [], 0
    for point in sorted(points, key=lambda point: (point.title, point.point_id)):
        numbers = {
            name: [one.largest, one.total, *([one.tolerance] if one.tolerance else [])]
            for name, one in sorted(point.numbers.items())
            if one is not None
        }
        if numbers:
            count += len(numbers)
            lines.append(json.dumps({"point_id": point.point_id, "title": point.title, "numbers": numbers}))
    if not lines:
        raise InputError("no point has exact numbers: nothing was measured")
    head = f'{{"schema": "{SCHEMA}", "schema_version": {SCHEMA_VERSION}, "suite": {json.dumps(suite)},\n'
    if measured.counted_with:
        head += f' "counted_with": {json.dumps(measured.counted_with)},\n'
    head += ' "points": [\n'
    write_whole(file, head + ",\n".join(lines) + "\n]}\n")
    return count


def read_baseline(file: Path) -> Numbers:
    """Raises InputError."""
    data = read_document(file, SCHEMA)
    try:
        points = [
            Point(
                read(one, "point_id", name_of),
                read(one, "title", name_of),
                {name: Number(*values) for name, values in read(one, "numbers", entries(_values)).items()},
            )
            for one in read(data, "points", each(table_of))
        ]
        counted_with = read(data, "counted_with", entries(name_of), {})
    except RecordError as error:
        raise InputError(f"'{file}': {error}") from None
    if not points:
        raise InputError(f"'{file}' has no points; write one with `fourscore gate accept`")
    return Numbers(points, counted_with)


def _values(value: Any) -> tuple[float, ...]:
    numbers = each(number_of)(value)
    if not 2 <= len(numbers) <= 3:
        raise RecordError(f"expected the largest, the sum and perhaps a tolerance, found {len(numbers)} numbers")
    return numbers


def check(baseline: Numbers, measured: Numbers) -> Checked:
    now = {point.point_id: point for point in measured.points}
    known = {point.point_id for point in baseline.points}
    elsewhere = _elsewhere(baseline, measured)
    changes = [Change(WRONG, point.title, "", point.trouble) for point in measured.points if point.wrong]
    for point in baseline.points:
        found = now.get(point.point_id)
        if found is None or not found.numbers:
            trouble = found.trouble if found else ""
            changes.append(Change(ABSENT, point.title, "", f"was not measured{f': {trouble}' if trouble else ''}"))
            continue
        names = dict.fromkeys([*point.numbers, *found.numbers])
        counts = [name for name in names if _is_count(point.numbers.get(name) or found.numbers.get(name))]
        if elsewhere and counts:
            changes.append(Change(ELSEWHERE, point.title, "simulated counts", elsewhere))
            names = dict.fromkeys(name for name in names if name not in counts)
        changes += [_compared(point, found, name) for name in names]
    changes += [
        Change(NEW, point.title, "", "is not in the baseline")
        for point in measured.points
        if point.point_id not in known and point.numbers
    ]
    return Checked(sorted(changes, key=lambda one: (WORST_FIRST.index(one.word), one.title, one.name)))


def _plain(value: str) -> str:
    """Flags without the one that leaves AVX-512 out: no program that Valgrind counts has it, asked or not."""
    return " ".join(word for word in value.split() if word != "-mno-avx512f")


def _is_count(number: Number | None) -> bool:
    """Declared numbers have no tolerance."""
    return number is not None and number.tolerance > 0


def _elsewhere(baseline: Numbers, measured: Numbers) -> str:
    """Why the counts of the two cannot be compared; empty where they can, or one has none."""
    before, now = baseline.counted_with, measured.counted_with
    differing = [key for key in COUNTED_WITH if before.get(key, "absent") != now.get(key, "absent")]
    if not (before and now and differing):
        return ""
    said = "; ".join(f"{key}: {before.get(key, 'absent')} | {now.get(key, 'absent')}" for key in differing)
    return f"are of the baseline's processor, compiler and libraries, and not compared: {said}"


def _compared(point: Point, found: Point, name: str) -> Change:
    before, after = point.numbers.get(name), found.numbers.get(name)
    if name not in found.numbers:
        return Change(ABSENT, point.title, name, "is no longer in the record")
    if after is None:
        return Change(VARIES, point.title, name, "varies from launch to launch")
    if before is None:
        return Change(NEW, point.title, name, f"is not in the baseline, and is {after.largest:.15g}")
    ends = (before.largest, after.largest, "at most on a rank")
    if close(*ends[:2], before.tolerance):
        ends = (before.total, after.total, "of all ranks")
    if close(*ends[:2], before.tolerance):
        return Change(SAME, point.title, name, "as before")
    percent = f" ({100 * (ends[1] / ends[0] - 1):+.3g} %)" if ends[0] else ""
    said = f"{ends[2]}: {ends[0]:.15g} to {ends[1]:.15g}{percent}"
    return Change(MORE if ends[1] > ends[0] else LESS, point.title, name, said)


def checked_json(checked: Checked) -> dict[str, Any]:
    return {
        "schema": "fourscore.gate-check",
        "schema_version": 1,
        "exit_code": checked.exit_code,
        "counts": checked.counts,
        "changes": [
            {"change": one.word, "point": one.title, "number": one.name, "said": one.said, "blocks": one.blocks}
            for one in checked.changes
            if one.word != SAME
        ],
    }
