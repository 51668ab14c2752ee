"""Lines: how many have room on one axes, through which points they lead, and how a legend shows them."""

from __future__ import annotations

from collections.abc import Container, Sequence
from itertools import pairwise
from typing import Any, TypeVar

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from fourscore_analysis.plots.base import mark
from fourscore_analysis.plots.shared import colours, lettering
from fourscore_analysis.plots.shared.said import point_text
from fourscore_analysis.points.points import Point

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


def handle(label: str, look: colours.LineStyle, line: str | None = None) -> Line2D:
    """A legend entry of that look, with another `line` where one is given."""
    return Line2D(
        [],
        [],
        color=look.colour,
        marker=look.marker,
        linestyle=look.line if line is None else line,
        markersize=3.5,
        label=lettering.shorten(label, lettering.LEGEND_CHARACTERS),
    )


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


def draw_points(
    axes: Axes,
    xs: Sequence[float],
    ys: Sequence[float],
    flags: Sequence[Container[str]],
    said: Sequence[str],
    colour: str,
    marker: str = "o",
    size: float = 3.8,
) -> None:
    """Markers that say their texts; hollow where more threads than cores took part."""
    for hollow in (False, True):
        chosen = [index for index, one in enumerate(flags) if ("oversubscribed" in one) == hollow]
        look = point_look(colour, marker, hollow) | {"markersize": size}
        [drawn] = axes.plot([xs[index] for index in chosen], [ys[index] for index in chosen], **look)
        mark(drawn, *(said[index] for index in chosen))


def draw_point(axes: Axes, x: float, y: float, point: Point, colour: str, marker: str, *said: str) -> None:
    """One of draw_points()."""
    [drawn] = axes.plot([x], [y], **point_look(colour, marker, "oversubscribed" in point.flags))
    mark(drawn, point_text(point, *said))


def point_look(colour: str, marker: str, hollow: bool) -> dict[str, Any]:
    look = {"linestyle": "", "marker": marker, "markersize": 3.8, "markeredgewidth": 0.9, "color": colour}
    return look | {"markerfacecolor": "white" if hollow else colour}
