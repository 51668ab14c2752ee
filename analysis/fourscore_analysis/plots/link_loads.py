"""How busy each kind of link of a simulated machine is in each exchange, as a map."""

from __future__ import annotations

from dataclasses import dataclass, replace

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from fourscore_analysis.plots.base import AS_DRAWN, Plot, View, mark
from fourscore_analysis.plots.shared import colours, layout, lettering
from fourscore_analysis.plots.shared.lines import even_parts
from fourscore_analysis.plots.shared.said import point_text
from fourscore_analysis.points.link_loads import SATURATED, LinkLoads, kind_order
from fourscore_analysis.points.points import Point, contract_terms, group_by
from fourscore_analysis.points.units import part_title, percent_text, shape_text, time_text
from fourscore_analysis.records.link_loads import ExchangeLoad, KindLoad

ROW_IN = 0.25
NAME_IN = 0.115  # height of a line of a block's name
NAME_POINTS = 6.2
GAP = 0.3  # between blocks, in columns
MOST_COLUMNS, LEAST_COLUMNS = 8, 5  # exchanges side by side; fewer than the latter do not fill the axes
MOST_ROWS = 24
MOST_MAPS = 12  # in a campaign; the table has the others
SHADES = "YlOrRd"
DEEPEST = 0.85  # place in the shades: a link that is always busy
DARK = 0.6  # shades from here on take white letters


@dataclass
class Map:
    """One problem on one simulated machine: kinds of link are rows, the exchanges of each method and host order stand
    side by side."""

    title: str
    subtitle: str
    kinds: list[str]
    blocks: list[tuple[str, LinkLoads]]  # what tells the point from the others of the group

    @property
    def columns(self) -> float:
        return sum(len(one.exchanges) for _, one in self.blocks) + GAP * (len(self.blocks) - 1)

    @property
    def column_in(self) -> float:
        return (layout.width_in() - self.left_in - layout.RIGHT_IN) / max(self.columns, LEAST_COLUMNS)

    @property
    def left_in(self) -> float:
        return lettering.label_width_in(self.kinds) + 0.2

    def name_lines(self, name: str, one: LinkLoads) -> tuple[list[str], float]:
        return lettering.fitted(name, (len(one.exchanges) + GAP / 2) * self.column_in, NAME_POINTS)

    @property
    def names_in(self) -> float:
        lines = max(len(self.name_lines(*block)[0]) if block[0] else 0 for block in self.blocks)
        return NAME_IN * max(0.5, lines)

    @property
    def height_in(self) -> float:
        return ROW_IN * len(self.kinds) + self.names_in


@dataclass
class Page:
    maps: list[Map]
    left_out: int  # points that no page shows


def maps(view: View) -> tuple[list[Map], int]:
    """The largest problems first, up to MOST_MAPS, and how many points are in none."""
    groups = group_by(view.link_loads, _group)
    groups.sort(key=lambda group: (-group[0].point.cell.elements, -group[0].point.cell.ranks))
    found = [one for group in groups for one in _maps_of(view, group)]
    shown = found[:MOST_MAPS]
    drawn = {id(one) for part in shown for _, one in part.blocks}
    return shown, sum(id(one) not in drawn for one in view.link_loads)


def _group(one: LinkLoads) -> tuple:
    cell = one.point.cell
    return (replace(cell, place=replace(cell.place, host_order="")), one.point.setting)


def _maps_of(view: View, group: list[LinkLoads]) -> list[Map]:
    """One, or more where it has too many exchanges or kinds of link."""
    first = group[0].point
    methods = len({one.point.label for one in group}) > 1
    orders = len({one.point.cell.place.host_order for one in group}) > 1
    blocks = [(_name(one.point, methods, orders), one) for one in group]
    kinds = sorted({kind.kind for one in group for load in one.exchanges for kind in load.kinds}, key=kind_order)
    where = replace(first.cell.place, host_order="row-major").text(first.names_nodes)
    title = f"{shape_text(first.cell.shape)} · {where}"
    terms = [*contract_terms(replace(first.cell.contract, platform="none")), first.setting]
    contract = [term for term in terms if term and term not in view.common_terms]
    same = _name(first, not methods, not orders and first.cell.place.host_order != "row-major")
    subtitle = ", ".join(word for word in (same, *contract) if word)
    parts = [(rows, columns) for columns in _side_by_side(blocks) for rows in even_parts(kinds, MOST_ROWS)]
    return [
        Map(part_title(title, number, len(parts)), subtitle, rows, columns)
        for number, (rows, columns) in enumerate(parts, 1)
    ]


def _name(point: Point, method: bool, order: bool) -> str:
    words = ([point.label] if method else []) + ([point.cell.place.host_order] if order else [])
    return ", ".join(words)


def _side_by_side(blocks: list[tuple[str, LinkLoads]]) -> list[list[tuple[str, LinkLoads]]]:
    """In order; as many as have room, one at least."""
    found: list[list[tuple[str, LinkLoads]]] = []
    room = 0
    for block in blocks:
        room -= len(block[1].exchanges)
        if room < 0:
            found.append([])
            room = MOST_COLUMNS - len(block[1].exchanges)
        found[-1].append(block)
    return found


def pages(view: View) -> list[Page]:
    found, left_out = maps(view)
    return [Page([found[i] for i in page], left_out) for page in layout.paginate([one.height_in for one in found])]


def draw(view: View, page: Page, heading: str) -> Figure:
    handles = [
        Patch(facecolor=mpl.colormaps[SHADES](0.5), label="colour and number: the busiest link of the kind"),
        Line2D([], [], color=colours.INK, linewidth=1.4, label="line: the mean of all links of the kind"),
        Patch(facecolor="white", edgecolor=colours.BLUE, linewidth=1.4, label=f"{percent_text(SATURATED)} or more"),
    ]
    note = ""
    if page.left_out:
        points = "point is" if page.left_out == 1 else "points are"
        note = f"{page.left_out} more {points} in the table alone: the maps show the largest problems."
    figure, all_axes = layout.stacked_axes(
        heading,
        [one.height_in for one in page.maps],
        max(one.left_in for one in page.maps),
        legend=(handles, 1),
        note=note,
    )
    for one, axes in zip(page.maps, all_axes, strict=True):
        _draw_map(axes, one)
    return figure


def _draw_map(axes: Axes, one: Map) -> None:
    start, ticks, labels = 0.0, [], []
    for name, loads in one.blocks:
        lines, points = one.name_lines(name, loads)
        axes.annotate(
            "\n".join(lines),
            (start - 0.46, -0.55),
            ha="left",
            va="bottom",
            fontsize=points,
            color=colours.INK,
            linespacing=1.05,
        )
        for number, load in enumerate(loads.exchanges):
            ticks.append(start + number)
            labels.append(f"{number + 1}\n{time_text(load.seconds)}")
            _draw_column(axes, one, loads, number, start + number)
        start += len(loads.exchanges) + GAP
    axes.set_xticks(ticks, labels, fontsize=6)
    axes.set_xlim(-0.5, max(one.columns, LEAST_COLUMNS) - 0.5)
    axes.grid(visible=False)
    layout.row_axis(axes, one.kinds, range(len(one.kinds)), (-0.5 - one.names_in / ROW_IN, len(one.kinds) - 0.5))
    axes.set_ylabel("links")
    axes.set_xlabel("exchange, in order, and its time", fontsize=7, labelpad=1)
    layout.facet_title(axes, one.title, one.subtitle)


def _draw_column(axes: Axes, one: Map, loads: LinkLoads, number: int, x: float) -> None:
    load = loads.exchanges[number]
    of_kind = {kind.kind: kind for kind in load.kinds}
    for row, name in enumerate(one.kinds):
        kind = of_kind.get(name)
        if kind is None:
            axes.annotate("–", (x, row), ha="center", va="center", fontsize=6, color=colours.SOFT)
        else:
            _draw_cell(axes, kind, (x, row), _said(loads, number, load, kind))


def _draw_cell(axes: Axes, kind: KindLoad, place: tuple[float, int], said: str) -> None:
    """Yellow: idle. Red: busy. The line below the number is as long as the mean, across the cell."""
    x, row = place
    shade, full = DEEPEST * min(1.0, kind.most_busy), kind.most_busy >= SATURATED
    ink = "white" if shade >= DARK else colours.INK
    cell = Rectangle(
        (x - 0.47, row - 0.45),
        0.94,
        0.9,
        facecolor=mpl.colormaps[SHADES](shade) if shade > 0 else "#F4F4F4",
        edgecolor=colours.BLUE if full else "none",
        linewidth=1.4 if full else 0,
        zorder=2 if full else 1,
    )
    axes.add_patch(cell)
    mark(cell, said)
    look = {"color": ink, "zorder": 3, "gid": AS_DRAWN}
    axes.annotate(percent_text(kind.most_busy), (x, row - 0.06), ha="center", va="center", fontsize=6, **look)
    if kind.mean_busy > 0:
        end = x - 0.42 + 0.84 * min(1.0, kind.mean_busy)
        axes.plot([x - 0.42, end], [row + 0.34] * 2, linewidth=1.4, solid_capstyle="butt", **look)


def _said(loads: LinkLoads, number: int, load: ExchangeLoad, kind: KindLoad) -> str:
    links = "1 link" if kind.links == 1 else f"{kind.links} links"
    return point_text(
        loads.point,
        f"exchange {number + 1}, {time_text(load.seconds)}: {links} {kind.kind}",
        f"the busiest {percent_text(kind.most_busy)}, on average {percent_text(kind.mean_busy)}",
        f"busiest of all kinds: {load.busiest_link or 'none'}",
    )


PLOT = Plot(
    name="link-loads",
    title="Which links are busy",
    caption="How much of each exchange the links of each kind of a simulated machine have bytes to carry. A kind is a "
    "dimension and direction of a torus (+0), a bit of a hypercube, a level of a fat tree. Where the busiest link is "
    "near 100 %, the exchange waits for it; where the mean is far below, other links of the kind stand idle meanwhile. "
    "The eighth exchange is with all that follow.",
    order=65,
    pages=pages,
    draw=draw,
)
