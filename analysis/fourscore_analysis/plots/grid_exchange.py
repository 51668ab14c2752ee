"""Time of every process grid with every exchange, as a map."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from fourscore_analysis.plots.base import AS_DRAWN, Plot, View, mark
from fourscore_analysis.plots.shared import colours, layout, lettering
from fourscore_analysis.plots.shared.lines import even_parts
from fourscore_analysis.plots.shared.said import point_text
from fourscore_analysis.points.points import Point, group_by
from fourscore_analysis.points.units import digits, part_title, ratio_text, time_unit

ROW_IN = 0.36
MOST_ROWS, MOST_COLUMNS = 18, 6  # in one axes; more become several
SHADES = "cividis"  # reads alike with every common colour blindness
LEAST_SCALE = 1.2  # slowest over fastest that the shades span at least: less is no difference to look at


@dataclass
class Map:
    """One problem and variant: grids are rows, exchanges columns."""

    title: str
    subtitle: str
    grids: list[str]
    exchanges: list[str]
    points: dict[tuple[str, str], Point]  # by grid and exchange; of the whole problem, also beyond this part

    @property
    def fastest(self) -> Point:
        return min(self.points.values(), key=lambda point: point.time_s)

    @property
    def slowest_s(self) -> float:
        return max(point.time_s for point in self.points.values())

    @property
    def height_in(self) -> float:
        return ROW_IN * len(self.grids)


def maps(view: View) -> list[Map]:
    """Maps of what was measured on two grids and with two exchanges or more; the largest problems first."""
    points = [point for one in view.drawn for point in one.ranked]
    groups = group_by(points, lambda point: (point.cell, point.setting, replace(point.method, grid="", exchange="")))
    groups.sort(key=lambda group: (-group[0].cell.elements, -group[0].cell.ranks))
    return [one for group in groups for one in _maps_of(view, group)]


def _maps_of(view: View, group: list[Point]) -> list[Map]:
    """One, or more where it has too many rows or columns."""
    grids = sorted({point.method.grid for point in group}, key=_grid_order)
    exchanges = sorted({point.method.exchange for point in group})
    if len(grids) < 2 or len(exchanges) < 2:
        return []
    first = group[0]
    words = (first.method.variant, first.title, first.method.parameters)
    title = " · ".join(word for word in words if word)
    points = {(point.method.grid, point.method.exchange): point for point in group}
    parts = [
        (rows, columns) for rows in even_parts(grids, MOST_ROWS) for columns in even_parts(exchanges, MOST_COLUMNS)
    ]
    return [
        Map(part_title(title, number, len(parts)), view.subtitle(first), rows, columns, points)
        for number, (rows, columns) in enumerate(parts, 1)
    ]


def _grid_order(grid: str) -> tuple[int, ...]:
    """The program's own choice (auto) first, then by extents."""
    return tuple(int(extent) for extent in grid.split("x")) if grid[:1].isdecimal() else ()


def pages(view: View) -> list[list[Map]]:
    found = maps(view)
    return [[found[i] for i in page] for page in layout.paginate([one.height_in for one in found])]


def draw(view: View, found: list[Map], heading: str) -> Figure:
    handles = [Patch(facecolor="white", edgecolor=colours.VERMILLION, linewidth=1.4, label="lowest median")]
    figure, all_axes = layout.stacked_axes(
        heading,
        [one.height_in for one in found],
        lettering.label_width_in(grid for one in found for grid in one.grids) + 0.2,
        legend=(handles, 1),
    )
    for one, axes in zip(found, all_axes, strict=True):
        _draw_map(axes, one)
    return figure


def _draw_map(axes: Axes, one: Map) -> None:
    unit_s, unit = time_unit(one.slowest_s)
    for row, grid in enumerate(one.grids):
        for column, exchange in enumerate(one.exchanges):
            point = one.points.get((grid, exchange))
            if point is None:
                axes.annotate("–", (column, row), ha="center", va="center", fontsize=7, color=colours.SOFT)
            else:
                _draw_cell(axes, one, point, (column, row), unit_s)
    axes.set_xticks(range(len(one.exchanges)), [name.replace("-", "-\n") for name in one.exchanges], fontsize=6.5)
    axes.set_xlim(-0.5, len(one.exchanges) - 0.5)
    axes.set_xlabel("exchange")
    axes.grid(visible=False)
    layout.row_axis(axes, one.grids, range(len(one.grids)), (-0.5, len(one.grids) - 0.5))
    axes.set_ylabel("process grid")
    subtitle = f"median time in {unit}" + (f", {one.subtitle}" if one.subtitle else "")
    layout.facet_title(axes, one.title, subtitle)


def _draw_cell(axes: Axes, one: Map, point: Point, place: tuple[int, int], unit_s: float) -> None:
    """Bright: fast. The range over launches stands below the median."""
    ratio = point.time_s / one.fastest.time_s
    scale = math.log(max(LEAST_SCALE, one.slowest_s / one.fastest.time_s))
    bright = 1 - math.log(ratio) / scale
    ink = colours.INK if bright > 0.5 else "white"
    best = point is one.fastest
    cell = Rectangle(
        (place[0] - 0.48, place[1] - 0.46),
        0.96,
        0.92,
        facecolor=mpl.colormaps[SHADES](bright),
        edgecolor=colours.VERMILLION if best else "none",
        linewidth=1.6 if best else 0,
        zorder=2 if best else 1,
    )
    axes.add_patch(cell)
    mark(cell, point_text(point, f"{ratio_text(ratio)} of the lowest median"))
    middle = {"ha": "center", "va": "center", "color": ink, "zorder": 3, "gid": AS_DRAWN}
    several = point.time.count > 1
    axes.annotate(digits(point.time_s / unit_s), (place[0], place[1] - 0.14 * several), fontsize=7, **middle)
    if several:
        ends = f"{digits(point.time.low / unit_s)}–{digits(point.time.high / unit_s)}"
        axes.annotate(ends, (place[0], place[1] + 0.24), fontsize=5.2, **middle)


PLOT = Plot(
    name="grid-exchange",
    title="Process grid against exchange",
    caption="The same problem on every process grid with every exchange: median time, and below it the range over "
    "launches. Brighter is faster. The frame marks the lowest median; the tables say whether it may be called fastest.",
    order=38,
    pages=pages,
    draw=draw,
)
