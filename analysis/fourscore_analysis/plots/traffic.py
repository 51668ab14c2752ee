"""Messages and bytes that a rank sends, by method."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from fourscore_analysis.plots.base import Facet, Plot, View, mark
from fourscore_analysis.plots.shared import colours, layout, lettering
from fourscore_analysis.plots.shared.said import point_text
from fourscore_analysis.points.points import Point
from fourscore_analysis.points.units import bytes_text

ROW_IN = 0.19
COLUMNS = 2
BYTES_STEPS = (2**40, 2**30, 2**20, 2**10, 1)


def _moves(point: Point) -> bool:
    traffic = point.traffic
    return traffic is not None and (traffic.messages > 0 or traffic.bytes_read_shared > 0)


def _facets(view: View) -> list[Facet]:
    """By bytes, then messages: the order of the table would be that of time."""
    facets = []
    for facet in view.facets:
        points = [point for point in facet.points if _moves(point)]
        points.sort(key=lambda point: (_bytes(point), point.traffic.messages, point.label))
        if points:
            facets.append(facet.only(points))
    return facets


def _bytes(point: Point) -> float:
    return point.traffic.bytes_sent + point.traffic.bytes_read_shared


def pages(view: View) -> list[list[Facet]]:
    facets = _facets(view)
    return [[facets[i] for i in page] for page in layout.paginate([ROW_IN * len(facet.points) for facet in facets])]


def draw(view: View, facets: list[Facet], heading: str) -> Figure:
    points = [point for facet in facets for point in facet.points]
    handles = [Patch(color=colours.phase_colour("exchange"), label="handed to MPI by the busiest rank")]
    if any(point.traffic.bytes_read_shared for point in points):
        handles.append(Patch(color=colours.SKY, label="read from a neighbour's memory"))
    handles.append(
        Line2D([], [], linestyle="", marker="|", markersize=8, markeredgewidth=1.4, color=colours.INK, label="formula")
    )
    figure, pairs = layout.row_pairs(
        heading,
        [ROW_IN * len(facet.points) for facet in facets],
        lettering.label_width_in(point.label for point in points),
        legend=(handles, COLUMNS),
    )
    for facet, (left, right) in zip(facets, pairs, strict=True):
        rows = range(len(facet.points))
        limits = (-0.6, len(facet.points) - 0.4)
        _draw_bytes(left, facet.points)
        _draw_messages(right, facet.points)
        layout.row_axis(left, [point.label for point in facet.points], rows, limits)
        layout.row_axis(right, [""] * len(rows), rows, limits)
        layout.facet_title(left, facet.title, facet.subtitle)
    return figure


def _draw_bytes(axes: Axes, points: list[Point]) -> None:
    most = max(max(_bytes(point), point.traffic.model_bytes or 0) for point in points)
    unit = next(step for step in BYTES_STEPS if most >= step or step == 1)
    for row, point in enumerate(points):
        sent, read = point.traffic.bytes_sent / unit, point.traffic.bytes_read_shared / unit
        [bar] = axes.barh([row], [sent], height=0.72, color=colours.phase_colour("exchange"), linewidth=0)
        if sent:
            mark(bar, point_text(point, f"{bytes_text(point.traffic.bytes_sent)} handed to MPI by the busiest rank"))
        [bar] = axes.barh([row], [read], left=[sent], height=0.72, color=colours.SKY, linewidth=0)
        if read:
            mark(
                bar, point_text(point, f"{bytes_text(point.traffic.bytes_read_shared)} read from a neighbour's memory")
            )
        _end(axes, row, (sent + read), bytes_text(_bytes(point)))
        _formula(axes, row, point.traffic.model_bytes, unit)
    axes.set_xlim(0, most / unit * 1.5)
    axes.locator_params(axis="x", nbins=4)
    axes.set_xlabel(f"bytes a rank ({bytes_text(unit).split()[1]})")


def _draw_messages(axes: Axes, points: list[Point]) -> None:
    most = max(max(point.traffic.messages, point.traffic.model_messages or 0) for point in points)
    for row, point in enumerate(points):
        look = {"height": 0.72, "color": colours.phase_colour("exchange"), "linewidth": 0}
        [bar] = axes.barh([row], [point.traffic.messages], **look)
        mark(bar, point_text(point, f"{point.traffic.messages:,.0f} messages of the busiest rank"))
        _end(axes, row, point.traffic.messages, f"{point.traffic.messages:,.0f}")
        _formula(axes, row, point.traffic.model_messages, 1)
    axes.set_xlim(0, max(most, 1) * 1.3)
    axes.locator_params(axis="x", nbins=4, integer=True)
    axes.set_xlabel("messages a rank")


def _end(axes: Axes, row: int, value: float, text: str) -> None:
    axes.annotate(text, (value, row), (4, 0), textcoords="offset points", va="center", fontsize=6.5)


def _formula(axes: Axes, row: int, value: float | None, unit: float) -> None:
    if value:
        axes.plot([value / unit] * 2, [row - 0.45, row + 0.45], color=colours.INK, linewidth=1.2)


PLOT = Plot(
    name="traffic",
    title="Messages and bytes of a rank",
    caption="What the busiest rank sends in one transform, as its exchanges declare it (tests hold it equal to what "
    "MPI is given), fewest bytes first. The tick: the paper's formula, where the variant has one; a collective "
    "counts the messages it stands for. Exchanges through shared memory send nothing and read instead.",
    order=48,
    pages=pages,
    draw=draw,
)
