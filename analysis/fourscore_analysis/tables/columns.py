"""Columns of text, and words that tables of predictions share."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from fourscore_analysis.models.observations import Observation
from fourscore_analysis.models.predictions import Prediction, Timed
from fourscore_analysis.points.units import digits, range_text, ranks_text, time_text

EXTRAPOLATED = "extrapolated"
DO_NOT_USE = "do not use this"


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


def predicted_cells(prediction: Prediction, phases: Sequence[str], measured_s: float | None) -> list[str]:
    """Time and its interval, the time of each phase, what limits it, what was measured, and what else is to be said."""
    seconds = [prediction.phases.get(phase) for phase in phases]
    return [
        time_text(prediction.total.seconds),
        interval_text(prediction.total),
        *(time_text(timed.seconds) if timed else "–" for timed in seconds),
        prediction.limiting,
        time_text(measured_s),
        "; ".join(text for text in (outside_text(prediction), doubt_text(prediction.total)) if text),
    ]


def outside_text(prediction: Prediction) -> str:
    """extrapolated: size, ranks"""
    return f"{EXTRAPOLATED}: {', '.join(prediction.outside)}" if prediction.outside else ""


def network_note(prediction: Prediction) -> str:
    """What to know of a prediction for more nodes than it rests on; "" of any other."""
    basis = prediction.basis
    if "ranks a node" in prediction.outside:
        return f"{basis.title} has {ranks_text(basis.ranks_per_node or 1)} a node, fewer than this takes"
    if "nodes" not in prediction.outside:
        return ""
    if basis.seen is None:
        count = "1 node" if basis.most_nodes == 1 else f"{basis.most_nodes} nodes"
        return f"{basis.title} has {count}, fewer than this takes"
    if basis.seen.nodes[1] > 1:
        return ""
    return "measured on one node only: link_bandwidth and latency are those within it, not those of a network"


def doubt_text(timed: Timed) -> str:
    """do not use this: the interval spans a factor of 3.1; "" of an interval that decides something."""
    if not (timed.interval and timed.too_wide):
        return ""
    span = timed.interval[1] / timed.interval[0] if timed.interval[0] > 0 else math.inf
    return f"{DO_NOT_USE}: the interval spans a factor of {digits(span, 2)}"


def flags_text(observations: Sequence[Observation]) -> str:
    """flagged: oversubscribed in 30 of 54 launches; "" where nothing that was fitted is flagged."""
    counts = Counter(flag for one in observations for flag in one.flags)
    if not counts:
        return ""
    said = ", ".join(f"{flag} in {count}" for flag, count in counts.most_common())
    return f"flagged: {said} of {len(observations)} launches"


def grid_text(grid: Sequence[int]) -> str:
    return "x".join(str(extent) for extent in grid)
