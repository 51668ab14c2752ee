"""The part of a report that is explored: every point as data, from which a script makes filters, a table, a chart and
what a click on a point shows.

Values that many points share stand once (`packed`), and samples become fewer where there are many."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from fourscore_analysis.page.svg import themed_colour
from fourscore_analysis.plots.shared.colours import PHASE_COLOURS, method_style
from fourscore_analysis.points.command import repeating_command
from fourscore_analysis.points.points import Point, contract_terms
from fourscore_analysis.points.scaling import strong_series
from fourscore_analysis.points.units import shape_text
from fourscore_analysis.records.transforms import Launch
from fourscore_analysis.tables.points import points_json
from fourscore_analysis.views.view import View

MOST_SAMPLES = 20_000  # on a page; beyond, each launch keeps some of them
FEWEST_SAMPLES = 5  # a launch: its quartiles and ends
FACETS = {  # what the page filters by: a key of `_row`, and its name
    "shape_text": "shape",
    "ranks": "ranks",
    "nodes_text": "nodes",
    "variant": "variant",
    "exchange": "exchange",
    "local_fft": "local FFT",
    "grid": "process grid",
    "contract_text": "contract",
    "machine": "machine",
    "build": "build",
    "campaign": "campaign",
    "status": "status",
    "flags": "flags",
}
_GLYPHS = dict(zip("os^DvPX<>*hHpd", "●■▲◆▼✚✖◀▶★⬢⬣⬟⬧", strict=True))  # matplotlib draws these markers
_LACKS: dict[str, Any] = {}
_DASHES = {"-": [], "--": [6, 4], "-.": [8, 3, 2, 3], ":": [2, 3]}


def explorer_data(views: Sequence[View], archive: Path, page: Path) -> dict[str, Any] | None:
    """None where no transform was asked for."""
    launches = sum(len(point.measured) for view in views for point in view.points)
    kept = _samples_kept(views, launches)
    names = _machine_names(views)
    rows = [row for view in views for row in _rows(view, kept, names)]
    if not rows:
        return None
    terms = [row.pop("terms") for row in rows]
    common = set.intersection(*map(set, terms))
    for row, own in zip(rows, terms, strict=True):
        row["contract_text"] = ", ".join(term for term in own if term not in common) or "–"
    facets = {key: name for key, name in FACETS.items() if len({str(row[key]) for row in rows}) > 1}
    return {
        "records": os.path.relpath(archive / "records", page.parent),
        "facets": facets,
        "common": ", ".join(term for term in terms[0] if term in common),
        "phases": {phase: themed_colour(colour) for phase, colour in PHASE_COLOURS.items()},
        "samples": kept,
        "count": len(rows),
        "points": packed(rows),
    }


def packed(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Rows as columns, objects within them too. Where values repeat, a column is [each value once, the index of each
    row's value]; else it is [null, the values]. {} stands where a row lacks the key."""
    return {key: _column([row.get(key, _LACKS) for row in rows]) for key in dict.fromkeys(chain.from_iterable(rows))}


def _column(values: list[Any]) -> Any:
    if all(type(value) is dict and value is not _LACKS for value in values):
        return packed(values)
    values = [_brief(value) for value in values]
    keys = [json.dumps(value) if type(value) in (list, dict) else value for value in values]
    distinct: dict[Any, int] = {}
    once: list[Any] = []
    for key, value in zip(keys, values, strict=True):
        if key not in distinct:
            distinct[key] = len(once)
            once.append(value)
    return [once, [distinct[key] for key in keys]] if len(once) <= len(values) // 2 else [None, values]


def _brief(value: Any) -> Any:
    """Six significant digits: finer than any clock. Tuples are brief already."""
    if type(value) is float:
        if not math.isfinite(value):
            return None
        return int(value) if value.is_integer() else float(f"{value:.6g}")
    return [_brief(one) for one in value] if type(value) is list else value


def _samples_kept(views: Sequence[View], launches: int) -> int | None:
    """How many samples of a launch the page has; None: all."""
    samples = sum(len(launch.time_s) for view in views for point in view.points for launch in point.measured)
    return max(FEWEST_SAMPLES, MOST_SAMPLES // launches) if samples > MOST_SAMPLES else None


def _rows(view: View, kept: int | None, machines: dict[str, str]) -> Iterable[dict[str, Any]]:
    """In the order of points_json, which is that of the tables."""
    efficiencies = {
        id(point): efficiency
        for group in strong_series(view.points)
        for series in group
        for point, efficiency in zip(series.points, series.strong_efficiency(), strict=True)
    }
    ranked = [point for one in view.comparisons for point in one.ranked]
    seen = {id(point) for point in ranked}
    points = [*ranked, *(point for point in view.points if id(point) not in seen)]
    for point, values in zip(points, points_json(view), strict=True):
        del values["records"]  # the script says them by the launches
        machine = machines[point.launches[0].machine_hash]
        more = {"machine": machine, "efficiency": efficiencies.get(id(point))}
        yield {"json": values} | more | _row(view, point, kept)


def _row(view: View, point: Point, kept: int | None) -> dict[str, Any]:
    first, time, look = point.launches[0], point.time, method_style(point.method)
    terms = [*contract_terms(point.cell.contract), *([point.setting] if point.setting else [])]
    return {
        "label": point.label,
        "shape_text": shape_text(point.cell.shape),
        "elements": point.cell.elements,
        "ranks": point.cell.ranks,
        "nodes": point.cell.place.nodes,
        "nodes_text": point.cell.place.with_placement(str(point.cell.place.nodes)),
        "ranks_per_node": point.cell.place.ranks_per_node,
        "variant": point.method.variant,
        "exchange": point.method.exchange,
        "local_fft": point.method.local_fft,
        "grid": point.method.grid,
        "terms": terms,
        "build": first.code_hash[:8] or "unknown",
        "campaign": view.campaign.name,
        "status": "ok" if time else next(iter(point.statuses), "simulated"),
        "flags": list(point.flags),
        "time_s": time.median if time else None,
        "low_s": time.low if time else None,
        "high_s": time.high if time else None,
        "gflops": point.gflops,
        "exchange_share": point.exchange_share,
        "launches": tuple(_launch(launch, kept) for launch in point.launches),
        "command": repeating_command(point),
        "colour": themed_colour(look.colour),
        "glyph": _GLYPHS[look.marker],
        "dash": _DASHES[look.line],
    }


def _machine_names(views: Iterable[View]) -> dict[str, str]:
    """By hash: the processor's name, which a record without a time may lack, and the hash."""
    found: dict[str, str] = {}
    for launch in (launch for view in views for point in view.points for launch in point.launches):
        model = str(launch.identity.get("machine", {}).get("cpu_model") or "")
        digest = launch.machine_hash[:8] or "unknown"
        if model or launch.machine_hash not in found:
            found[launch.machine_hash] = f"{model} · {digest}" if model else digest
    return found


def _launch(launch: Launch, kept: int | None) -> tuple[Any, ...]:
    """(number, or the record's name where that is not as usual; status; median, seconds; samples as parts in 10,000 of
    the median). Where samples are left out, those that stay are order statistics, evenly spaced."""
    name = launch.file.rsplit("/", 1)[-1]
    usual = name == f"{launch.point_id}-{launch.launch:03}.json"
    found = (launch.launch if usual else name, launch.status)
    if launch.status != "ok" or launch.simulated:
        return found
    samples: Sequence[float] = launch.time_s
    if kept is not None and len(samples) > kept:
        ordered, last = sorted(samples), len(samples) - 1
        samples = [ordered[round(last * number / (kept - 1))] for number in range(kept)]
    return (*found, _brief(launch.median_s), tuple(round(1e4 * one / launch.median_s) for one in samples))
