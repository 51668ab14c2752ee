"""A history as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from fourscore_analysis.gate.archive_history import History
from fourscore_analysis.gate.history import IMPROVEMENT, SLOWDOWN, SMALL, Finding, Judged
from fourscore_analysis.gate.revisions import Build
from fourscore_analysis.points.units import counted, time_text

MOST_LINES = 40  # lines of findings
SCHEMA, SCHEMA_VERSION = "fourscore.history", 1


def change_text(ratio: float) -> str:
    """+5.2 %"""
    return f"{100 * (ratio - 1):+.1f} %"


def interval_text(finding: Finding) -> str:
    """[4.1, 6.3]"""
    if finding.interval is None:
        return ""
    low, high = (100 * (one - 1) for one in finding.interval)
    return f" [{low:+.1f}, {high:+.1f}]"


def p_text(p: float) -> str:
    return f"{p:.2g}" if p >= 1e-4 else f"{p:.0e}"


def range_of_revisions(finding: Finding) -> str:
    """after 1a2b3c4d5e, up to 6f7a8b9c0d (2026-11-20)"""
    if finding.drift:
        return f"from {finding.before.name} to {finding.after.name}"
    day = f" ({finding.after.first_at[:10]})" if finding.after.first_at else ""
    same = " (built again)" if finding.before.name == finding.after.name else ""
    return f"after {finding.before.name}, up to {finding.after.name}{same}{day}"


def finding_text(finding: Finding) -> str:
    """pencil/alltoallv at 128³, 4 ranks: +5.2 % [+4.1, +6.3], p 0.005, 1.23 ms before; 12 builds since"""
    series = finding.series
    before = f"{time_text(float(series.values_s[finding.begin]))} before"
    p = f"p {p_text(finding.p)}"
    if finding.launches_p is not None:
        p += f", of launches {p_text(finding.launches_p)}"
    since = f"drift over {finding.end - finding.begin + 1} builds" if finding.drift else (
        f"{counted(finding.builds_since, 'build')} since"
    )  # fmt: skip
    place = f" ({series.place})" if series.place else ""
    words = [f"{series.title}{place}: {change_text(finding.ratio)}{interval_text(finding)}", p, before, since]
    return ", ".join(words) + "".join(f"; {one}" for one in remarks(finding))


def remarks(finding: Finding) -> list[str]:
    """What else is to be said of it."""
    said = []
    if finding.bimodal:
        said.append("bimodal: counts for nothing")
    if finding.kind == SLOWDOWN and not finding.standing:
        said.append("made up for since")
    if finding.acknowledged is not None:
        said.append(f"acknowledged: {finding.acknowledged.reason} ({finding.acknowledged.where})")
    return said


def summary_text(history: History) -> str:
    """42 series, 5310 launches of 118 builds, 2025-11-01 to 2026-11-23, on 2 machines"""
    days = sorted(build.first_at[:10] for build in history.builds if build.first_at)
    machines = {machine for machine, _ in history.places}
    words = [
        f"{len(history.judged)} series",
        f"{counted(history.launches, 'launch', 'launches')} of {counted(len(history.builds), 'build')}",
        *([f"{days[0]} to {days[-1]}" if days[0] != days[-1] else days[0]] if days else []),
        *([f"on {len(machines)} machines"] if len(machines) > 1 else []),
    ]
    return ", ".join(words)


def counts_text(history: History) -> str:
    """What was found, in a line."""
    findings = history.findings
    kinds = {
        "acknowledged": [one for one in findings if one.acknowledged is not None],
        "made up for": [one for one in findings if one.kind == SLOWDOWN and not one.standing],
        "faster": [one for one in findings if one.kind == IMPROVEMENT],
        f"below {100 * history.margin:g} %": [one for one in findings if one.kind == SMALL],
    }
    parts = [f"{len(found)} {name}" for name, found in kinds.items() if found]
    bimodal = sum(one.bimodal for one in history.judged)
    if bimodal:
        parts.append(f"{bimodal} series bimodal")
    short = sum(len(one.series.builds) < 2 for one in history.judged)
    if short:
        parts.append(f"{short} series of one build")
    return ", ".join(parts)


def history_text(history: History) -> str:
    lines = [f"{summary_text(history)}; revisions {history.order}"]
    lines += [f"note: {note}" for note in history.notes]
    if history.ended:
        lines.append("without times: " + ", ".join(f"{count} {status}" for status, count in history.ended.items()))
    shown = [one for one in history.findings if one.kind != SMALL]
    lines.append(f"{counted(len(history.slowdowns), 'slowdown')} to look at" + (
        f"; also: {others}" if (others := counts_text(history)) else ""
    ))  # fmt: skip
    for heading, group in groupby(shown[:MOST_LINES], key=_heading):
        lines += ["", heading, *(f"  {finding_text(one)}" for one in group)]
    if len(shown) > MOST_LINES:
        lines.append(f"... {len(shown) - MOST_LINES} more: see the page, or --json FILE")
    return "\n".join(lines) + "\n"


def _heading(finding: Finding) -> str:
    what = "slower" if finding.kind == SLOWDOWN else "faster"
    return f"{what} {range_of_revisions(finding)}"


def history_json(history: History) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "archive": str(history.archive),
        "order": history.order,
        "margin": history.margin,
        "notes": history.notes,
        "slowdowns": len(history.slowdowns),
        "launches_without_times": history.ended,
        "unreadable": [{"file": one.file, "reason": one.reason} for one in history.unreadable],
        "series": [_series_json(one) for one in history.judged],
    }


def _series_json(judged: Judged) -> dict[str, Any]:
    series = judged.series
    return {
        "point_id": series.point_id,
        "title": series.title,
        "place": series.place,
        "keys": series.keys,
        "machine_hash": series.machine_hash,
        "launch_hash": series.launch_hash,
        "bimodal": judged.bimodal,
        "noise": judged.noise,
        "findings": [_finding_json(one) for one in judged.findings],
        "builds": list(_builds_json(judged)),
    }


def _builds_json(judged: Judged) -> Iterator[dict[str, Any]]:
    series = judged.series
    for build, value, launches in zip(series.builds, series.values_s, series.launches, strict=True):
        launched = [{"median_s": one.times.median_s, "record": one.file} for one in launches]
        yield _build_json(build) | {"median_s": float(value), "launches": launched}


def _build_json(build: Build) -> dict[str, Any]:
    return {
        "revision": build.revision,
        "dirty": build.dirty,
        "code_hash": build.code_hash,
        "first_measured": build.first_at,
    }


def _finding_json(finding: Finding) -> dict[str, Any]:
    acknowledged = finding.acknowledged
    return {
        "kind": finding.kind,
        "drift": finding.drift,
        "before": _build_json(finding.before),
        "after": _build_json(finding.after),
        "ratio": finding.ratio,
        "interval": finding.interval,
        "p": finding.p,
        "launches_p": finding.launches_p,
        "standing": finding.standing,
        "counts": finding.counts,
        "acknowledged": acknowledged and {"where": acknowledged.where, "reason": acknowledged.reason},
    }
