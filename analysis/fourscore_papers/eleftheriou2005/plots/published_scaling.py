"""Time and speedup against ranks beside those of Blue Gene/L: Figs 2 to 4 and Table 1 of eleftheriou2005."""

from __future__ import annotations

from fourscore_analysis.plots.base import Plot, View, mark
from fourscore_analysis.plots.shared import colours, layout
from fourscore_analysis.plots.shared.published_marks import draw_published, measures, published_handle
from fourscore_analysis.plots.shared.scaling_axes import Group, draw_lines, drawn_points, in_pages, legend_handles
from fourscore_analysis.plots.shared.ticks import log_axis, own_ticks
from fourscore_analysis.points.beside_paper import difference_line
from fourscore_analysis.points.scaling import Series, strong_series
from fourscore_analysis.points.units import ranks_text, shape_text, time_text, time_unit
from fourscore_analysis.records.published import Published, published
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

PAPER = "eleftheriou2005"
COLUMNS = 2


def pages(view: View) -> list[list[Group]]:
    return in_pages(strong_series(drawn_points(view))) if measures(view, PAPER) else []


def layers(table: Published) -> list[str]:
    """active packets, MPI collective, model"""
    return list(dict.fromkeys(row["layer"] for row in table.rows))


def draw(view: View, groups: list[Group], heading: str) -> Figure:
    table, speedups = published(PAPER, "table-1"), published(PAPER, "figure-4")
    handles = legend_handles(groups)
    handles.append(
        Line2D([], [], color=colours.INK, marker="x", linestyle="", markersize=3.8, label="mean of repetitions")
    )
    handles += [
        published_handle(number, f"{table.source}: {layer}, torus to mesh")
        for number, layer in enumerate(layers(table))
    ]
    handles.append(published_handle(len(layers(table)), f"{speedups.source}: speedup is above this"))
    points = [point for group in groups for series in group.series for point in series.points]
    figure, pairs = layout.paired_axes(
        heading, len(groups), legend=(handles, COLUMNS), note=difference_line([table, speedups], points)
    )
    for group, (left, right) in zip(groups, pairs, strict=True):
        _draw_times(view, left, group, table)
        _draw_speedup(view, right, group, speedups, len(layers(table)))
        first = group.series[0].baseline
        layout.facet_title(left, group.title(shape_text(first.cell.shape)), view.subtitle(first))
    return figure


def times(series: Series) -> list[float]:
    return [point.time_s for point in series.points]


def _rows_of(table: Published, group: Group) -> list[dict]:
    """The rows of the group's shape. The paper transforms double-complex numbers."""
    cell = group.series[0].baseline.cell
    if cell.contract.precision != "double" or cell.contract.kind != "c2c":
        return []
    shape = list(cell.shape)
    return [row for row in table.rows if row.get("shape", table.setup.get("shape")) == shape]


def _draw_times(view: View, axes: Axes, group: Group, table: Published) -> None:
    unit_s, unit = time_unit(max(time_s for series in group.series for time_s in times(series)))
    seconds = draw_lines(
        axes, group, lambda series: [time_s / unit_s for time_s in times(series)], f"time in {unit}", of_time=True
    )
    means = _draw_means(axes, group, unit_s)
    rows = [(layers(table).index(row["layer"]), row) for row in _rows_of(table, group)]
    values = [*means, *seconds]
    ranks = {count for series in group.series for count in series.ranks}
    for number, row in rows:
        nodes, ends = table.setup["nodes"], [row["torus_s"] / unit_s, row["mesh_s"] / unit_s]
        said = [
            f"{table.name}, published\n{row['layer']}, {nodes} nodes, {name}: {time_text(row[f'{name}_s'])}"
            for name in ("torus", "mesh")
        ]
        draw_published(axes, number, [nodes] * 2, ends, said)
        values += ends
        ranks.add(nodes)
    low, high = min(values) / 1.5, max(values) * 1.5
    log_axis(axes, "y", (low, high))
    axes.set_ylabel(f"time per transform ({unit})")
    _rank_axis(axes, ranks)


def _draw_means(axes: Axes, group: Group, unit_s: float) -> list[float]:
    """The paper's policy: the mean of ten repetitions behind one that is dropped. Our lines are medians."""
    drawn = []
    for series in group.series:
        found = [(point.cell.ranks, point.mean_s) for point in series.points if point.mean_s is not None]
        [crosses] = axes.plot(
            [ranks for ranks, _ in found],
            [mean_s / unit_s for _, mean_s in found],
            color=colours.method_style(series.baseline.method).colour,
            marker="x",
            markersize=3.8,
            linestyle="",
        )
        label = series.baseline.label
        mark(crosses, *(f"{label}\n{ranks_text(ranks)}: mean {time_text(mean_s)}" for ranks, mean_s in found))
        drawn += [mean_s / unit_s for _, mean_s in found]
    return drawn


def _draw_speedup(view: View, axes: Axes, group: Group, speedups: Published, number: int) -> None:
    ranks = {count for series in group.series for count in series.ranks}
    bases = sorted({series.baseline.cell.ranks for series in group.series})
    values = draw_lines(axes, group, Series.speedup, "speedup")
    least = {row["nodes"]: row["speedup_above"] for row in _rows_of(speedups, group)}  # both layers have the same
    for nodes, speedup in least.items():
        said = f"{speedups.name}, published\n{nodes} nodes: speedup above {speedup}, of both layers"
        draw_published(axes, number, [nodes], [speedup], [said])
        values.append(speedup)
        ranks.add(nodes)
    ideal = sorted(count for count in ranks if count >= bases[0])
    axes.plot(ideal, [count / bases[0] for count in ideal], color=colours.GREY, linewidth=1, zorder=1)
    low, high = min(values) / 1.3, max([*values, ideal[-1] / bases[0]]) * 1.3
    log_axis(axes, "y", (low, high))
    axes.set_ylabel(f"speedup over {ranks_text(bases[0])}" if len(bases) == 1 else "speedup over own baseline")
    _rank_axis(axes, ranks)


def _rank_axis(axes: Axes, ranks: set[int]) -> None:
    log_axis(axes, "x", (min(ranks) / 1.3, max(ranks) * 1.3), own_ticks(ranks), text=str, base=2)
    axes.set_xlabel("ranks, or nodes")


PLOT = Plot(
    name="published-scaling",
    title="Time against ranks beside Blue Gene/L",
    caption="As Figs 2 to 4 of eleftheriou2005: time (left) and speedup (right) of the same problem on more ranks. "
    "The text prints the paper's times of Table 1, on 512 nodes: each dotted line leads from the torus to the mesh. "
    "It says only that the speedups are above 250 for 128³ on 1,024 nodes. Hollow markers of ours: more "
    "ranks than cores. Crosses: the mean of the repetitions, as the paper has it; our lines are medians.",
    order=31,
    pages=pages,
    draw=draw,
)
