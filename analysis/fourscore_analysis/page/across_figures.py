"""Figures of columns side by side: scaling of all of them on one axis, and where the time goes in each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fourscore_analysis.plots import phases
from fourscore_analysis.plots.base import Facet
from fourscore_analysis.plots.shared import colours, layout
from fourscore_analysis.plots.shared.lines import handle
from fourscore_analysis.plots.shared.scaling_axes import Group as Axis
from fourscore_analysis.plots.shared.scaling_axes import count_axis, draw_lines, efficiency_axis
from fourscore_analysis.plots.shared.ticks import log_axis
from fourscore_analysis.points.scaling import NODES, RANKS, Series
from fourscore_analysis.points.units import part_title, shape_text, time_unit
from fourscore_analysis.views.across import METHODS_A_PROBLEM, Group, Numbered

MOST_AXES = 9  # for each kind of scaling; the largest problems
MOST_BARS = 24  # columns times points of the figure of phases
ROWS_A_PAGE = 3
COLUMNS = 2  # a legend has: machines have long names
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*")


@dataclass(frozen=True)
class AcrossFigure:
    """`draw` makes the figure."""

    name: str  # stem of its files
    title: str
    caption: str  # where a figure has several pages, the first has it
    draw: Callable[[], Figure]


def figures_of(group: Group) -> list[AcrossFigure]:
    return [*_scalings(group), *_phases(group)]


def _look(number: int) -> colours.LineStyle:
    """One colour and marker for a column in all figures."""
    palette = colours.SERIES_COLOURS
    return colours.LineStyle(palette[number % len(palette)], MARKERS[number % len(MARKERS)], "-")


def _scalings(group: Group) -> Iterator[AcrossFigure]:
    for weak, over in ((False, RANKS), (False, NODES), (True, RANKS), (True, NODES)):
        found = group.scaling(over, weak)
        kept, left_out = found[:MOST_AXES], max(0, len(found) - MOST_AXES)
        pages = [kept[start : start + ROWS_A_PAGE] for start in range(0, len(kept), ROWS_A_PAGE)]
        name = f"{'weak' if weak else 'strong'}-scaling" + ("-nodes" if over == NODES else "")
        title = f"{'Weak' if weak else 'Strong'} scaling over {over}"
        what = "As many elements on each rank" if weak else "The same problem"
        caption = f"{what}, one method, a line for each {group.noun}: its time, and its efficiency against itself "
        caption += f"on the fewest {over} that it was measured on. Small dots: launches. Of each problem up to "
        caption += f"{METHODS_A_PROBLEM} methods."
        if left_out:
            caption += f" The largest problems are drawn; {left_out} more would have an axis."
        for number, rows in enumerate(pages, 1):
            heading = part_title(title, number, len(pages))
            stem = name + (f"-{number}" if len(pages) > 1 else "")
            said = caption if number == 1 else ""
            yield AcrossFigure(stem, heading, said, lambda rows=rows, heading=heading: _draw(group, rows, heading))


def _draw(group: Group, rows: Sequence[Sequence[Numbered]], heading: str) -> Figure:
    numbers = sorted({number for row in rows for number, _ in row})
    handles = [handle(group.columns[number].title, _look(number)) for number in numbers]
    handles.append(Line2D([], [], color=colours.GREY, linewidth=1, label="ideal"))
    figure, pairs = layout.paired_axes(heading, len(rows), legend=(handles, COLUMNS))
    for row, (left, right) in zip(rows, pairs, strict=True):
        looks = {id(series): _look(number) for number, series in row}
        axis = Axis([series for _, series in row])
        first = axis.series[0].baseline
        unit_s, unit = time_unit(max(point.time_s for series in axis.series for point in series.points))
        weak = len({point.cell.shape for point in axis.series[0].points}) > 1

        def look_of(series: Series, looks: dict[int, colours.LineStyle] = looks) -> colours.LineStyle:
            return looks[id(series)]

        def times(series: Series, unit_s: float = unit_s) -> list[float]:
            return [point.time_s / unit_s for point in series.points]

        count_axis(left, axis)
        values = draw_lines(left, axis, times, f"time in {unit}", of_time=True, look_of=look_of)
        log_axis(left, "y", (min(values) / 1.2, max(values) * 1.2))
        left.set_ylabel(f"time per transform ({unit})")
        count_axis(right, axis)
        efficiency = Series.weak_efficiency if weak else Series.strong_efficiency
        efficiency_axis(right, draw_lines(right, axis, efficiency, "efficiency", look_of=look_of))
        shape = f"{first.cell.elements // first.cell.ranks:,} elements a rank" if weak else shape_text(first.cell.shape)
        layout.facet_title(left, axis.title(f"{first.label} · {shape}"), group.subtitle(first.cell))
    return figure


def _phases(group: Group) -> Iterator[AcrossFigure]:
    """The largest problems, each by the first of its methods that most columns have."""
    chosen: dict[object, Facet] = {}
    ordered = sorted(group.rows, key=lambda row: (-row.cell.elements, -row.cell.ranks, -len(row.measured)))
    for row in ordered:
        points = [side.point for side in row.measured if side.point.phases]
        if len(points) > 1 and row.cell not in chosen:
            bars = [replace(point, label=point.setting) for point in points]
            title = f"{row.label} · {points[0].title}"
            chosen[row.cell] = Facet(title, group.subtitle(row.cell), bars)
    facets = list(chosen.values())[: max(1, MOST_BARS // len(group.columns))]
    pages = layout.paginate([phases.ROW_IN * len(facet.points) for facet in facets])
    caption = "The phases of the slowest rank, as in a report of one machine, a bar for each "
    caption += f"{group.noun}. Of each problem one method that most of them have; the largest problems."
    for number, page in enumerate(pages, 1):
        heading = part_title("Where the time goes", number, len(pages))
        stem = "phases" + (f"-{number}" if len(pages) > 1 else "")
        shown = [facets[index] for index in page]
        view = group.columns[group.base].view
        yield AcrossFigure(
            stem,
            heading,
            caption if number == 1 else "",
            lambda view=view, shown=shown, heading=heading: phases.draw(view, shown, heading),
        )
