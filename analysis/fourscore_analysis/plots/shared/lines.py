"""Lines: how many have room on one axes, and through which points they lead."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, TypeVar

from matplotlib.axes import Axes

from fourscore_analysis.plots.base import mark

MOST_CURVES = 8  # in one axes; more become small multiples
Member = TypeVar("Member")


def even_parts(members: Sequence[Member], most: int = MOST_CURVES) -> list[list[Member]]:
    """In order, in as few parts of at most `most` as hold them, of sizes that differ by one at most."""
    count = -(-len(members) // most)
    bounds = [len(members) * number // count for number in range(count + 1)] if count else []
    return [list(members[start:end]) for start, end in pairwise(bounds)]


def is_power_of_two(*extents: int) -> bool:
    """Whether all of them are. A transform of another length takes another algorithm: no line leads from one to the
    other."""
    return all(extent > 0 and extent & (extent - 1) == 0 for extent in extents)


def draw_series(
    axes: Axes,
    xs: Sequence[float],
    ys: Sequence[float],
    smooth: Sequence[bool],
    line: Any,
    said: Sequence[str],
    **look: Any,
) -> None:
    """Markers at all points, each of which says its text, and a line through those that are `smooth`."""
    on_curve = [(x, y) for x, y, one in zip(xs, ys, smooth, strict=True) if one]
    if len(on_curve) > 1:
        axes.plot(*zip(*on_curve, strict=True), color=look["color"], linestyle=line, linewidth=1.1)
    [drawn] = axes.plot(xs, ys, linestyle="", **look)
    mark(drawn, *said)
