"""What stands between our numbers and a paper's: machine and scale of both, in one line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from fourscore_analysis.points.points import Point
from fourscore_analysis.points.units import shape_text
from fourscore_analysis.records.published import Published

MOST_SHAPES = 3  # that are named one by one


def difference_line(tables: Iterable[Published], points: Sequence[Point]) -> str:
    """Published (lee Table 3.1): Knights Landing, on 4 to 16 nodes, 300³. Here: Imaginary 9000, 8 cores, on 1 node,
    1 to 8 ranks, 64³. "" without a table or without a point; without the shapes where both have the same."""
    known = list(tables)
    if not known or not points:
        return ""
    theirs = {tuple(shape) for table in known for shape in _values(table, "shape") if isinstance(shape, list)}
    ours = {point.cell.shape for point in points}
    named = theirs != ours
    published_text = ", ".join([*_published_parts(known), *(_shapes_text(theirs) if named and theirs else [])])
    here_text = ", ".join([*_here_parts(points), *(_shapes_text(ours) if named else [])])
    return f"Published ({_names(known)}): {published_text}. Here: {here_text}."


def _names(tables: Sequence[Published]) -> str:
    """lee Table 5.2, Table 5.3"""
    papers: dict[str, list[str]] = {}
    for table in tables:
        papers.setdefault(table.paper, []).append(table.source)
    return "; ".join(f"{paper} {', '.join(sources)}" for paper, sources in papers.items())


def _published_parts(tables: Sequence[Published]) -> list[str]:
    machines = dict.fromkeys(str(machine) for table in tables for machine in _values(table, "machine"))
    parts = list(machines) or ["machine not named"]
    for key, one, many in (("nodes", "node", "nodes"), ("cores", "core", "cores")):
        counts = sorted({count for table in tables for count in _values(table, key) if isinstance(count, int)})
        if counts:
            parts.append(_range_text(counts, one, many))
    return parts


def _values(table: Published, key: str) -> list[Any]:
    """The values of the whole table, or of its rows where they differ."""
    if table.setup.get(key) is not None:
        return [table.setup[key]]
    return [row[key] for row in table.rows if row.get(key) is not None]


def _here_parts(points: Sequence[Point]) -> list[str]:
    launches = [point.measured[0] if point.measured else point.launches[0] for point in points]
    machines = [launch.identity.get("machine", {}) for launch in launches]
    models = dict.fromkeys(str(machine["cpu_model"]) for machine in machines if machine.get("cpu_model"))
    platforms = dict.fromkeys(point.cell.contract.platform for point in points)
    models |= {f"simulated {platform}": None for platform in platforms if platform != "none"}
    parts = [*models] or ["machine not known"]
    for values, one, many in (
        ([machine.get("cores") for machine in machines], "core", "cores"),
        ([launch.identity.get("launch", {}).get("nodes") for launch in launches], "node", "nodes"),
        ([point.cell.ranks for point in points], "rank", "ranks"),
    ):
        counts = sorted({value for value in values if isinstance(value, int)})
        if counts:
            parts.append(_range_text(counts, one, many))
    threads = sorted({point.cell.contract.threads for point in points})
    if threads[-1] > 1:
        parts.append(f"{_range_text(threads, 'thread', 'threads')} a rank")
    return parts


def _range_text(counts: Sequence[int], one: str, many: str) -> str:
    """8 cores; on 1 to 4 nodes"""
    on = "on " if one == "node" else ""
    if counts[0] == counts[-1]:
        return f"{on}{counts[0]} {one if counts[0] == 1 else many}"
    return f"{on}{counts[0]} to {counts[-1]} {many}"


def _shapes_text(shapes: Iterable[tuple[int, ...]]) -> list[str]:
    ordered = sorted(shapes, key=lambda shape: (len(shape), shape))
    texts = [f"length {shape[0]}" if len(shape) == 1 else shape_text(shape) for shape in ordered]
    return texts if len(texts) <= MOST_SHAPES else [f"{texts[0]} to {texts[-1].removeprefix('length ')}"]
