"""Columns of text, and words that tables of predictions share."""

from __future__ import annotations

from collections.abc import Sequence

from fourscore_analysis.models.predictions import Prediction, Timed
from fourscore_analysis.points.units import range_text, time_text

EXTRAPOLATED = "extrapolated"


def columns(rows: Sequence[Sequence[str]], indent: int = 2) -> list[str]:
    """Rows below each other; the last row's cells are as wide as any other's."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    cells = (zip(row, widths, strict=True) for row in rows)
    return [" " * indent + "  ".join(cell.ljust(width) for cell, width in row).rstrip() for row in cells]


def interval_text(timed: Timed) -> str:
    return range_text(*timed.interval) if timed.interval else "–"


def timed_text(timed: Timed) -> str:
    """5.31 ms (4.90–5.77 ms)"""
    return time_text(timed.seconds) + (f" ({interval_text(timed)})" if timed.interval else "")


def outside_text(prediction: Prediction) -> str:
    """extrapolated: size, ranks"""
    return f"{EXTRAPOLATED}: {', '.join(prediction.outside)}" if prediction.outside else ""


def network_note(prediction: Prediction) -> str:
    """What to know of a prediction for more nodes than it rests on; "" of any other."""
    basis = prediction.basis
    if "nodes" not in prediction.outside:
        return ""
    if basis.seen is None:
        count = "1 node" if basis.most_nodes == 1 else f"{basis.most_nodes} nodes"
        return f"{basis.title} has {count}, fewer than this takes"
    if basis.seen.nodes[1] > 1:
        return ""
    return "measured on one node only: link_bandwidth and latency are those within it, not those of a network"


def grid_text(grid: Sequence[int]) -> str:
    return "x".join(str(extent) for extent in grid)
