"""Communication time over the latency alpha against nodes: Eqs 4 and 5 of haynes2000, and simulated points."""

from __future__ import annotations

from collections.abc import Sequence

from fourscore_analysis.plots.base import mark
from fourscore_analysis.plots.shared import colours
from fourscore_analysis.plots.shared.paper_plot import line_handle, log_axes, marker_handle
from fourscore_analysis.plots.shared.said import point_text
from fourscore_analysis.points.points import Point
from fourscore_analysis.points.simulated import network_of
from fourscore_analysis.points.units import digits, time_text
from fourscore_analysis.records.cells import Method
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from fourscore_papers.haynes2000 import equations

NODES = tuple(2**power for power in range(1, 13))
NEW, TRADITIONAL = colours.PURPLE, colours.TEAL
COLUMNS = 2


def communication_s(point: Point) -> float:
    """The time of all exchanges on the slowest rank."""
    return point.phases_max.get("exchange", 0.0)


def over_alpha(point: Point) -> float | None:
    """None where the record does not know the latency between any two hosts, or nothing was exchanged."""
    network = network_of(point)
    seconds = communication_s(point)
    return seconds / network.alpha_s if network and network.alpha_s and seconds else None


def alpha_beta_bytes(point: Point) -> float | None:
    """The bytes that take alpha on a link of the simulated network."""
    network = network_of(point)
    return network.alpha_s * network.link_bytes_per_s if network and network.alpha_s else None


def legend(points: Sequence[Point]) -> list[Line2D]:
    handles = [
        line_handle(NEW, "new, Eq. 5"),
        line_handle(TRADITIONAL, "traditional, Eq. 4"),
        line_handle(TRADITIONAL, "Eq. 4 for many nodes", ":"),
    ]
    methods = {(method.variant, method.exchange): method for method in (point.method for point in points)}
    return handles + [
        marker_handle(*_look(method), f"{_name(method)}, simulated", hollow=True)
        for _, method in sorted(methods.items())
    ]


def draw_communication(axes: Axes, elements: int, alpha_beta: float, points: Sequence[Point]) -> None:
    """One cube: the equations' lines, and a hollow marker for each simulated point."""
    for method, colour, style in (
        (equations.new, NEW, "-"),
        (equations.traditional, TRADITIONAL, "-"),
        (equations.traditional_on_many, TRADITIONAL, ":"),
    ):
        axes.plot(NODES, [method(elements, count, alpha_beta) for count in NODES], color=colour, linestyle=style)
    for point in points:
        value = over_alpha(point)
        if value is not None:
            colour, marker = _look(point.method)
            look = {"color": colour, "marker": marker, "markerfacecolor": "white", "markersize": 4.5, "linestyle": ""}
            [drawn] = axes.plot([point.cell.place.nodes], [value], zorder=4, **look)
            said = f"exchange: {time_text(communication_s(point))}, {digits(value)} times alpha"
            mark(drawn, point_text(point, said))
    log_axes(axes, "nodes", "time over alpha", NODES)


def _look(method: Method) -> tuple[str, str]:
    look = colours.method_style(method)
    return look.colour, look.marker


def _name(method: Method) -> str:
    exchange = method.exchange or "none"
    return method.variant if exchange == "none" else f"{method.variant}/{exchange}"
