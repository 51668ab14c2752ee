"""Columns side by side as files for a paper or a spreadsheet, and for machines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from fourscore_analysis.points.apart import RATIO_CONFIDENCE
from fourscore_analysis.points.claims import Claim
from fourscore_analysis.points.keys import point_keys
from fourscore_analysis.records.transforms import PHASES
from fourscore_analysis.tables.across import Line, findings, map_entry, map_lines, time_lines
from fourscore_analysis.tables.exported import csv_text, latex_table, latex_text
from fourscore_analysis.tables.points import cell_json, point_json
from fourscore_analysis.views.across import Across, Column, Group, Row, Side

CSV_TIMES = ("time_s", "low_s", "high_s", "launches", "gflops")
CSV_RATIOS = ("ratio", "ratio_low", "ratio_high", "told_apart")
CSV_FLOORS = ("largest_floor", "largest_floor_s", "fraction_of_floor")


def files(report: Across) -> dict[str, str]:
    """Tables by the name of their file: every side of every row as CSV, and times and winners as LaTeX."""
    found = {f"across-{report.name}.csv": _csv(report)}
    for number, group in enumerate(report.groups, 1):
        stem = f"across-{report.name}" + (f"-{number}" if len(report.groups) > 1 else "")
        for name, lines in (("times", time_lines(group)), ("map", map_lines(group))):
            if lines:
                found[f"{stem}-{name}.tex"] = _latex(report, group, name, lines)
    return found


def _csv(report: Across) -> str:
    keys: list[str] = []
    lines = []
    for group in report.groups:
        for row in group.rows:
            named = point_keys(row.cell, row.method)
            keys = list(named)
            for column, side in zip(group.columns, row.sides, strict=True):
                if side:
                    lines.append([*_known(group, column), row.label, *named.values(), *_csv_side(side)])
    phases = [f"{phase}_s" for phase in PHASES]
    heads = ["column", "machine", "machine_hash", "base", "method", *keys]
    return csv_text([*heads, *CSV_TIMES, *CSV_RATIOS, *CSV_FLOORS, *phases, "flags"], lines)


def _known(group: Group, column: Column) -> list[Any]:
    return [column.title, column.card.name, column.card.digest, group.columns[group.base].title]


def _csv_side(side: Side) -> list[Any]:
    point, time, ratio, largest = side.point, side.point.time, side.ratio, side.floors.largest
    bounds = list(ratio.interval) if ratio and ratio.interval else [None, None]
    ratios = [ratio.value, *bounds, side.told] if ratio else [None] * len(CSV_RATIOS)
    floors = [largest.name, largest.seconds, side.fraction] if largest else [None] * len(CSV_FLOORS)
    phases = [point.phases.get(phase) for phase in PHASES]
    times = [time.median, time.low, time.high, time.count, point.gflops]
    return [*times, *ratios, *floors, *phases, ", ".join(point.flags) or None]


def _latex(report: Across, group: Group, name: str, lines: Sequence[Line]) -> str:
    contracts = any(line.contract for line in lines)
    heads = ["shape", "ranks", *(["method"] if lines[0].what else []), *(["contract"] if contracts else [])]
    titles = [column.title for column in group.columns]
    groups: dict[tuple[str, str, str], list[list[str]]] = {}
    for line in lines:
        known = [line.shape, line.where, *line.what, *([line.contract] if contracts else [])]
        entries = [" ".join(part for part in (one.text, one.small) if part) for one in line.entries]
        row = [latex_text(text) for text in (*known, *entries)]
        groups.setdefault((line.shape, line.where, line.contract), []).append(row)
    remarks = [f"{name} across {report.name}{f' of {group.machine}' if group.machine else ''}, by fourscore"]
    remarks.append(f"base: {group.columns[group.base].title}" if name == "times" else "≈: not told apart")
    return latex_table(remarks, [*heads, *titles], "l" * (len(heads) + len(titles)), groups.values())


def across_json(report: Across) -> dict[str, Any]:
    return {
        "across": report.name,
        "confidence": RATIO_CONFIDENCE,
        "findings": findings(report),
        "left_out": report.apart,
        "identity_changed": [
            {"archive": archive, "host": host, "fields": {one.field: dict(one.values) for one in differing}}
            for archive, host, differing in report.changed
        ],
        "machines": [asdict(card) for card in report.cards],
        "groups": [_group_json(group) for group in report.groups],
    }


def _group_json(group: Group) -> dict[str, Any]:
    return {
        "machine": group.machine or None,
        "columns": [
            {"title": column.title, "machine_hash": column.card.digest, "older_left_out": column.older}
            for column in group.columns
        ],
        "base": group.columns[group.base].title,
        "builds_differ_in": [one.field for one in group.differing],
        "rows": [_row_json(row) for row in group.rows],
        "map": [
            {**cell_json(cell), "winners": [_claim_json(one) if one else None for one in claims]}
            for cell, claims in group.problems
        ],
        "points_of_one_column": group.alone,
    }


def _row_json(row: Row) -> dict[str, Any]:
    sides: list[Mapping[str, Any] | None] = []
    for side in row.sides:
        if side is None:
            sides.append(None)
            continue
        ratio, largest = side.ratio, side.floors.largest
        said = {
            "ratio": ratio.value if ratio else None,
            "ratio_interval": list(ratio.interval) if ratio and ratio.interval else None,
            "told_apart": side.told if ratio else None,
            "phases_s": side.point.phases,
            "largest_floor": largest.name if largest else None,
            "fraction_of_floor": side.fraction,
        }
        sides.append(point_json(side.point) | said)
    return {**cell_json(row.cell), "method": row.label, "sides": sides}


def _claim_json(one: Claim) -> dict[str, Any]:
    entry = map_entry(one)
    return {
        "method": one.best.label,
        "verdict": entry.mark,
        "said": entry.small,
        "tied": [point.label for point in one.tied],
        "doubts": list(one.doubts),
        "flags": list(one.best.flags),
    }
