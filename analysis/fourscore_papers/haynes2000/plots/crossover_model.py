"""Communication time of both methods of haynes2000 against ranks, with its equations 4 and 5."""

from __future__ import annotations

from dataclasses import dataclass

from fourscore_analysis.models.alpha_beta import alpha_betas, of_exchanges
from fourscore_analysis.plots.base import Plot, View
from fourscore_analysis.plots.shared import colours, layout
from fourscore_analysis.plots.shared.lines import draw_point
from fourscore_analysis.plots.shared.published_marks import measures
from fourscore_analysis.plots.shared.ticks import log_axis, own_ticks
from fourscore_analysis.points.beside_paper import difference_line
from fourscore_analysis.points.points import Point, group_by
from fourscore_analysis.points.units import digits, ratio_text, shape_text, time_text
from fourscore_analysis.records.published import published
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fourscore_papers.haynes2000 import equations
from fourscore_papers.haynes2000.meetings import NEW, TRADITIONAL, Meeting, meetings
from fourscore_papers.haynes2000.numbers import NAME, printed_alpha_beta

MODEL_RANKS = tuple(2**power for power in range(1, 11))
ROWS_A_PAGE = 4
COLUMNS = 2
PAPERS, OURS = ":", "--"  # equations with the paper's product of latency and bandwidth, and with what was measured
LOOKS = {NEW: (colours.PURPLE, "o"), TRADITIONAL: (colours.TEAL, "s")}


@dataclass
class Row:
    """One problem on two or more counts of ranks, by rising ranks."""

    subtitle: str
    found: list[Meeting]

    @property
    def elements(self) -> int:
        return self.found[0].comparison.cell.elements

    @property
    def ranks(self) -> list[int]:
        return [one.comparison.cell.ranks for one in self.found]

    @property
    def unit_s(self) -> float:
        """The traditional method's time on the fewest ranks."""
        return communication_s(self.found[0].traditional)


def communication_s(point: Point) -> float:
    """The time of all exchanges on the slowest rank."""
    return point.phases_max.get("exchange", 0.0)


def pages(view: View) -> list[list[Row]]:
    if not measures(view, NAME):
        return []
    # Simulated networks have a figure of their own (published_latency.py): their alpha and beta are known.
    real = [one for one in meetings(view) if one.comparison.cell.contract.platform == "none"]
    found = [one for one in real if communication_s(one.new) > 0 and communication_s(one.traditional) > 0]
    rows = []
    for group in group_by(
        found,
        lambda one: (one.comparison.cell.shape, one.comparison.cell.contract, one.comparison.setting, one.new.packing),
    ):
        if len(group) > 1:
            ordered = sorted(group, key=lambda one: one.comparison.cell.ranks)
            words = (view.subtitle(group[0].comparison), group[0].new.packing)
            rows.append(Row(", ".join(word for word in words if word), ordered))
    rows.sort(key=lambda row: row.elements)
    return [rows[start : start + ROWS_A_PAGE] for start in range(0, len(rows), ROWS_A_PAGE)]


def measured_lines(view: View, row: Row) -> dict[str, list[float]]:
    """Equations 4 and 5 with the alpha and beta that pairwise_bench measured on the row's machine, over the time of the
    traditional method on the row's fewest ranks. Empty where they were not measured."""
    point = row.found[-1].traditional
    found = of_exchanges(alpha_betas(view.bench.measured), point.measured[0].machine_hash, point.cell.place)
    if found is None:
        return {}
    alpha_s, byte_s = found
    unit = row.unit_s / alpha_s
    methods = {TRADITIONAL: equations.traditional, NEW: equations.new}
    return {
        name: [equation(row.elements, ranks, alpha_s / byte_s) / unit for ranks in MODEL_RANKS]
        for name, equation in methods.items()
    }


def model_lines(row: Row, alpha_beta: float) -> dict[str, list[float]]:
    """Equations 4 and 5 on MODEL_RANKS over equation 4 on the row's fewest ranks."""
    unit = equations.traditional(row.elements, row.ranks[0], alpha_beta)
    return {
        TRADITIONAL: [equations.traditional(row.elements, ranks, alpha_beta) / unit for ranks in MODEL_RANKS],
        NEW: [equations.new(row.elements, ranks, alpha_beta) / unit for ranks in MODEL_RANKS],
    }


def draw(view: View, rows: list[Row], heading: str) -> Figure:
    alpha_beta = printed_alpha_beta()
    measured = [measured_lines(view, row) for row in rows]
    handles = [_handle(name, label=name) for name in LOOKS]
    for drawn, style, source in ((True, PAPERS, "2 kB"), (any(measured), OURS, "measured alpha and beta")):
        if drawn:
            labels = {NEW: f"equation 5, {source}", TRADITIONAL: f"equation 4, {source}"}
            handles += [_handle(name, labels[name], style) for name in LOOKS]
    points = [point for row in rows for one in row.found for point in (one.new, one.traditional)]
    figure, pairs = layout.paired_axes(
        heading, len(rows), legend=(handles, COLUMNS), note=difference_line([published(NAME, "section-5")], points)
    )
    for row, ours, (left, right) in zip(rows, measured, pairs, strict=True):
        lines = {PAPERS: model_lines(row, alpha_beta), OURS: ours}
        _draw_times(left, row, lines)
        _draw_ratio(right, row, lines)
        layout.facet_title(left, shape_text(row.found[0].comparison.cell.shape), row.subtitle)
    return figure


def _handle(name: str, label: str, style: str = "-") -> Line2D:
    colour, marker = LOOKS[name]
    if style != "-":
        return Line2D([], [], color=colour, linestyle=style, linewidth=1.1, label=label)
    return Line2D([], [], color=colour, marker=marker, markersize=3.5, label=label)


def _draw_times(axes: Axes, row: Row, lines: dict[str, dict[str, list[float]]]) -> None:
    for name, (colour, marker) in LOOKS.items():
        points = [one.new if name == NEW else one.traditional for one in row.found]
        times = [communication_s(point) / row.unit_s for point in points]
        _line(axes, row, points, times, colour, marker, lambda point: f"exchange: {time_text(communication_s(point))}")
        for style, of_methods in lines.items():
            if of_methods:
                axes.plot(MODEL_RANKS, of_methods[name], color=colour, linestyle=style, linewidth=1.1, zorder=1)
    first = row.ranks[0]
    axes.set_ylabel(f"over {TRADITIONAL} on {first} ranks", fontsize=7)
    _axes(axes, row, any(lines.values()))


def _draw_ratio(axes: Axes, row: Row, lines: dict[str, dict[str, list[float]]]) -> None:
    ratios = [communication_s(one.new) / communication_s(one.traditional) for one in row.found]
    said = {id(one.new): ratio for one, ratio in zip(row.found, ratios, strict=True)}
    points = [one.new for one in row.found]
    _line(axes, row, points, ratios, colours.INK, "o", lambda point: f"{ratio_text(said[id(point)])} of {TRADITIONAL}")
    for style, of_methods in lines.items():
        if of_methods:
            modelled = [new / old for new, old in zip(of_methods[NEW], of_methods[TRADITIONAL], strict=True)]
            axes.plot(MODEL_RANKS, modelled, color=colours.INK, linestyle=style, linewidth=1.1, zorder=1)
    axes.axhline(1, color=colours.GREY, linewidth=0.8, zorder=0)
    axes.set_ylabel(f"{NEW} over {TRADITIONAL}", fontsize=7)
    _axes(axes, row, any(lines.values()))


def _line(axes: Axes, row: Row, points: list[Point], values: list[float], colour: str, marker: str, said) -> None:
    axes.plot(row.ranks, values, color=colour, linewidth=1.1)
    for ranks, value, point in zip(row.ranks, values, points, strict=True):
        draw_point(axes, ranks, value, point, colour, marker, said(point), f"value: {digits(value)}")


def _axes(axes: Axes, row: Row, with_model: bool) -> None:
    ranks = sorted({*row.ranks, *(MODEL_RANKS if with_model else ())})
    log_axis(axes, "x", (ranks[0] / 1.3, ranks[-1] * 1.3), own_ticks(ranks), text=str, base=2)
    axes.set_xlabel("ranks, or nodes")
    low, high = axes.dataLim.y0 / 1.4, axes.dataLim.y1 * 1.4
    log_axis(axes, "y", (low, high))


PLOT = Plot(
    name="crossover-model",
    title="Crossover by equations 4 and 5",
    caption=f"Communication time of the fastest {NEW} and of the fastest {TRADITIONAL} (their exchanges on the slowest "
    f"rank), over that of {TRADITIONAL} on the fewest ranks; right their ratio. Dotted: equations 4 and 5 of "
    "haynes2000 with the product of latency and bandwidth that it prints, 2 kB: set against the traditional method "
    "on the same ranks they need no more of the machine. Dashed, where pairwise_bench was measured with as many ranks "
    "on a node: the equations with its alpha and beta, in seconds. Below 1 at the right the new method wins. Hollow: "
    "more ranks than cores.",
    order=47,
    pages=pages,
    draw=draw,
)
