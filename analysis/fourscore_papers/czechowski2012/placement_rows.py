"""Communication time of the pencil method on tori: Eqs 4 and 5 of czechowski2012 beside simulated points, a row for
each number of dimensions and order of the hosts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fourscore_analysis.plots.base import mark
from fourscore_analysis.plots.shared import colours, layout, lettering
from fourscore_analysis.plots.shared.paper_plot import line_handle, marker_handle
from fourscore_analysis.plots.shared.said import point_text
from fourscore_analysis.plots.shared.ticks import log_axis
from fourscore_analysis.points.points import Point, group_by
from fourscore_analysis.points.simulated import network_of
from fourscore_analysis.points.units import ratio_text, shape_text, time_text, time_unit
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fourscore_papers.czechowski2012 import equations

IDEAL, USUAL = "sub-cube", "row-major"  # the placement that Eq. 4 supposes, and nodes in the order of the network
ORDERS = ("random", "hilbert", USUAL, IDEAL)
MODELLED, SIMULATED = (colours.INK, "D"), (colours.BLUE, "o")
INJECTION, OWN_TIME = "--", ":"
ROW_IN = 0.21
COLUMNS = 2


@dataclass(frozen=True)
class Row:
    """One way to place the nodes on one torus. Without a point there are the equations alone."""

    dimensions: int
    order: str
    extent: int
    nodes: int
    link_bytes_per_s: float
    point: Point | None = None
    injection_s: float = 0.0  # what the busiest rank takes to get its bytes into the network; 0 where nothing limits it
    own_time_s: float = 0.0  # what it takes to send and receive its messages, without the network

    @property
    def label(self) -> str:
        return f"{self.dimensions}-D torus, {self.order}"

    @property
    def equation(self) -> str:
        dimensions = "" if self.dimensions == 3 else f" for {self.dimensions} dimensions"
        return f"{'Eq. 4' if self.order == IDEAL else 'Eq. 5'}{dimensions}, both exchanges"

    @property
    def modelled_s(self) -> float:
        ideal, bisection = equations.torus_ideal, equations.torus_bisection
        kappa = (ideal if self.order == IDEAL else bisection)(self.dimensions)
        return equations.network_time_s(self.extent, self.nodes, self.link_bytes_per_s, kappa)

    @property
    def simulated_s(self) -> float:
        """The time of both exchanges on the slowest rank; 0 without a point."""
        return self.point.phases_max.get("exchange", 0.0) if self.point else 0.0


@dataclass(frozen=True)
class Facet:
    """One cube on one number of nodes."""

    rows: Sequence[Row]

    @property
    def title(self) -> str:
        first = self.rows[0]
        return f"{shape_text((first.extent,) * 3)} on {first.nodes:,} nodes"

    @property
    def height_in(self) -> float:
        return ROW_IN * len(self.rows)

    @property
    def points(self) -> list[Point]:
        return [row.point for row in self.rows if row.point]

    @property
    def gain_text(self) -> str:
        """How many times as fast the ideal placement is as nodes in the order of the network."""
        of = {row.order: row for row in self.rows if row.dimensions == 3}
        if IDEAL not in of or USUAL not in of:
            return ""
        ideal, usual = of[IDEAL], of[USUAL]
        text = f"{IDEAL}: {ratio_text(usual.modelled_s / ideal.modelled_s)} times as fast by the equations"
        if not ideal.point or not usual.point:
            return text
        return f"{text}, {ratio_text(usual.simulated_s / ideal.simulated_s)} simulated"


def facets(points: Iterable[Point]) -> list[Facet]:
    """Facets of cubes of double-complex numbers by the pencil method, a rank a node, on tori that the records describe.
    Few nodes and small cubes first; those with one row alone compare nothing."""
    rows = [row for row in map(_row, points) if row is not None]
    found = []
    for group in group_by(rows, lambda row: (row.extent, row.nodes, row.link_bytes_per_s)):
        fastest = {row.label: row for row in sorted(group, key=lambda row: -row.simulated_s)}
        if len(fastest) > 1:
            found.append(Facet(sorted(fastest.values(), key=_order)))
    return sorted(found, key=lambda facet: (facet.rows[0].nodes, facet.rows[0].extent))


def _row(point: Point) -> Row | None:
    cell, network, traffic = point.cell, network_of(point), point.traffic
    usual = (point.method.variant, cell.contract.precision, cell.contract.kind, cell.place.ranks_per_node)
    if usual != ("pencil", "double", "c2c", 1) or len(cell.shape) != 3 or len(set(cell.shape)) > 1:
        return None
    if network is None or network.topology != "torus" or not point.phases_max.get("exchange"):
        return None
    rate = network.injection_bytes_per_s
    return Row(
        dimensions=network.dimensions,
        order=cell.place.host_order,
        extent=cell.shape[0],
        nodes=cell.ranks,
        link_bytes_per_s=network.link_bytes_per_s,
        point=point,
        injection_s=traffic.bytes_sent / rate if traffic and rate else 0.0,
        own_time_s=traffic.messages * network.overhead_s if traffic else 0.0,
    )


def equations_alone(extent: int, nodes: int, link_bytes_per_s: float) -> Facet:
    """What the paper has equations for: both placements in three dimensions, and more dimensions."""
    ways = ((3, USUAL), (3, IDEAL), (4, USUAL), (5, USUAL))
    return Facet([Row(dimensions, order, extent, nodes, link_bytes_per_s) for dimensions, order in ways])


def _order(row: Row) -> tuple[int, int]:
    return row.dimensions, ORDERS.index(row.order) if row.order in ORDERS else -1


def figure_of(found: Sequence[Facet], heading: str, note: str) -> Figure:
    handles = _legend(any(facet.points for facet in found))
    figure, all_axes = layout.stacked_axes(
        heading,
        [facet.height_in for facet in found],
        lettering.label_width_in(row.label for facet in found for row in facet.rows),
        legend=(handles, COLUMNS),
        note=note,
    )
    for facet, axes in zip(found, all_axes, strict=True):
        _draw_facet(axes, facet)
        layout.facet_title(axes, facet.title, facet.gain_text)
    return figure


def in_pages(found: Sequence[Facet]) -> list[list[Facet]]:
    top_in = layout.legend_room_in(_legend(True), COLUMNS)
    return [[found[i] for i in page] for page in layout.paginate([one.height_in for one in found], top_in)]


def _legend(is_simulated: bool) -> list[Line2D]:
    handles = [marker_handle(*MODELLED, "Eqs 4 and 5")]
    if is_simulated:
        handles += [
            marker_handle(*SIMULATED, "simulated", hollow=True),
            line_handle(colours.SOFT, "into the network", INJECTION),
            line_handle(colours.SOFT, "own time of the messages", OWN_TIME),
        ]
    return handles


def _draw_facet(axes: Axes, facet: Facet) -> None:
    modelled = [row.modelled_s for row in facet.rows]
    bounds = [(facet.rows[0].injection_s, INJECTION), (facet.rows[0].own_time_s, OWN_TIME)]
    bounds = [(seconds, style) for seconds, style in bounds if seconds > 0]
    times = [*modelled, *(row.simulated_s for row in facet.rows if row.point), *(seconds for seconds, _ in bounds)]
    unit_s, unit = time_unit(max(times))
    for seconds, style in bounds:
        axes.axvline(seconds / unit_s, color=colours.SOFT, linestyle=style, linewidth=0.9, zorder=0)
    look = {"linestyle": "", "markersize": 4.5, "zorder": 3}
    for place, row in enumerate(facet.rows):
        colour, marker = MODELLED
        [drawn] = axes.plot([row.modelled_s / unit_s], [place], color=colour, marker=marker, **look)
        mark(drawn, f"{row.label}\n{row.equation}: {time_text(row.modelled_s)}")
        if row.point:
            colour, marker = SIMULATED
            ends = [row.simulated_s / unit_s, row.modelled_s / unit_s]
            axes.plot(ends, [place] * 2, color=colours.LIGHT_GREY, zorder=1)
            [drawn] = axes.plot(ends[:1], [place], color=colour, marker=marker, markerfacecolor="white", **look)
            mark(drawn, point_text(row.point, f"exchanges, simulated: {time_text(row.simulated_s)}"))
    low, high = min(times) / unit_s / 1.5, max(times) / unit_s * 1.5
    log_axis(axes, "x", (low, high))
    axes.set_xlabel(f"communication time ({unit})")
    layout.row_axis(axes, [row.label for row in facet.rows], range(len(facet.rows)), (-0.6, len(facet.rows) - 0.4))
