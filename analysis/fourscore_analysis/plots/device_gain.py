"""What nodes gain from their devices: a row for each problem and number of nodes, with the fastest of either side."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fourscore_analysis.plots.base import Plot, View, mark
from fourscore_analysis.plots.shared import colours, layout, lettering
from fourscore_analysis.plots.shared.said import point_text
from fourscore_analysis.plots.shared.scaling_axes import COLUMNS, method_handles
from fourscore_analysis.plots.shared.ticks import log_axis, ratio_ticks
from fourscore_analysis.points.device_gain import DeviceGain, device_gains
from fourscore_analysis.points.points import Point
from fourscore_analysis.points.units import part_title, ratio_text, shape_text

ROW_IN = 0.25
ROWS_A_FACET = 30

Facet = tuple[str, str, list[DeviceGain]]  # title, contract where there are several, rows


def pages(view: View) -> list[list[Facet]]:
    by_contract: dict[str, list[DeviceGain]] = {}
    for one in device_gains(view.points):
        by_contract.setdefault(view.subtitle(one.device), []).append(one)
    facets = []
    for contract, gains in by_contract.items():
        ordered = sorted(gains, key=lambda one: (one.device.cell.place.nodes, one.device.cell.elements))
        parts = [ordered[start : start + ROWS_A_FACET] for start in range(0, len(ordered), ROWS_A_FACET)]
        facets += [
            (part_title("Equal nodes", number, len(parts)), contract, rows) for number, rows in enumerate(parts, 1)
        ]
    return [[facets[i] for i in page] for page in layout.paginate([ROW_IN * len(rows) for _, _, rows in facets])]


def draw(view: View, facets: list[Facet], heading: str) -> Figure:
    gains = [one for _, _, rows in facets for one in rows]
    handles = method_handles([point for one in gains for point in (one.device, one.processors)])
    figure, all_axes = layout.stacked_axes(
        heading,
        [ROW_IN * len(rows) for _, _, rows in facets],
        lettering.label_width_in(_label(one) for one in gains),
        legend=(handles, COLUMNS),
    )
    for (title, contract, rows), axes in zip(facets, all_axes, strict=True):
        _draw_facet(axes, rows)
        layout.facet_title(axes, title, contract)
    return figure


def _label(one: DeviceGain) -> str:
    """2048³, 64 nodes"""
    nodes = one.device.cell.place.nodes
    return f"{shape_text(one.device.cell.shape)}, {nodes} node{'s' if nodes > 1 else ''}"


def _draw_facet(axes: Axes, rows: list[DeviceGain]) -> None:
    limits = [1.0]
    for row, one in enumerate(rows):
        for point, lane in ((one.processors, -0.14), (one.device, 0.14)):
            limits += _draw_side(axes, one, point, row + lane)
    axes.axvline(1, color=colours.BLACK, linewidth=0.8, zorder=0)
    low, high = min(limits) / 1.05, max(limits) * 1.05
    log_axis(axes, "x", (low, high), ratio_ticks(low, high), text="{:g}".format)
    axes.set_xlabel("times as fast as the processors")
    layout.row_axis(axes, [_label(one) for one in rows], range(len(rows)), (-0.5, len(rows) - 0.5))


def _draw_side(axes: Axes, one: DeviceGain, point: Point, y: float) -> list[float]:
    """The median and the range over launches, whose ends are returned."""
    look, processors_s = colours.method_style(point.method), one.processors.time_s
    ends = [processors_s / point.time.high, processors_s / point.time.low]
    axes.plot(ends, [y, y], color=look.colour, linewidth=0.9, alpha=0.6)
    [drawn] = axes.plot([processors_s / point.time_s], [y], marker=look.marker, markersize=3.4, color=look.colour)
    mark(drawn, point_text(point, f"{ratio_text(processors_s / point.time_s)} times as fast as the processors"))
    return ends


PLOT = Plot(
    name="device-gain",
    title="What nodes gain from their devices",
    caption="The fastest way to use the devices beside the fastest way to use the processors of as many nodes, each "
    "with its own ranks a node and threads; right of the line is faster. Lines are the range over launches.",
    order=7,
    pages=pages,
    draw=draw,
)
