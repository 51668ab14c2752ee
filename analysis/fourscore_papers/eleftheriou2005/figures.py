"""Figures 2 to 5 and Table 1 of eleftheriou2005: its bounds, the numbers that its text prints, and ours."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fourscore_analysis.papers.here import Here, comparable, what_text
from fourscore_analysis.plots.base import mark
from fourscore_analysis.plots.shared import colours, layout
from fourscore_analysis.plots.shared.paper_plot import PaperPlot, line_handle, log_axes, marker_handle
from fourscore_analysis.points.points import Point
from fourscore_analysis.points.units import digits, time_text
from fourscore_analysis.records.published import published
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from fourscore_papers.eleftheriou2005 import equations
from fourscore_papers.eleftheriou2005.numbers import CYCLES_FOUND, EXTENT, setup

NAME = "eleftheriou2005"
NODES = tuple(2**power for power in range(0, 11))
SLAB, VOLUME = colours.BLACK, colours.GREEN
LAYERS = {"active packets": (colours.ORANGE, "D"), "MPI collective": (colours.BLUE, "s"), "model": (colours.GREY, "v")}
OURS = {"volumetric": (VOLUME, "o"), "fftw-mpi": (SLAB, "^")}
BOUND = "bound on the mesh"


def bound_s(extent: int, nodes: int) -> float:
    """On the mesh, with the cycles that Table 1 has; on one node nothing is sent."""
    _, clock_hz = setup()
    if nodes == 1:
        return equations.computation_time_s(extent, 1, clock_hz, CYCLES_FOUND)
    return equations.mesh_time_s(extent, nodes, clock_hz, CYCLES_FOUND)


def rows() -> Sequence[dict]:
    return published(NAME, "table-1").rows


def ours(here: Here, variant: str, extent: int) -> list[Point]:
    """The fastest on each number of ranks, of one contract, by rising ranks."""
    return comparable(here.transforms(variant, (extent,) * 3), lambda point: point.cell.ranks)


def draw_ours(axes: Axes, points: list[Point], value: Callable[[Point], float], colour: str, marker: str) -> None:
    if points:
        [drawn] = axes.plot(
            [point.cell.ranks for point in points], [value(point) for point in points], color=colour, marker=marker,
            markersize=4, linewidth=1,
        )  # fmt: skip
        mark(
            drawn,
            *(f"{what_text(point)}\n{time_text(point.time_s)}, {len(point.measured)} launches" for point in points),
        )


def ours_handles(here: Here, extents: Sequence[int]) -> list:
    return [
        marker_handle(*look, f"{variant} here")
        for variant, look in OURS.items()
        if any(ours(here, variant, extent) for extent in extents)
    ]


def draw_figure_2(here: Here, heading: str) -> Figure:
    handles = [
        line_handle(colours.GREY, "ideal"),
        line_handle(colours.INK, "by the bounds", ":"),
        marker_handle(colours.INK, "^", "printed: above 250", hollow=True),
        line_handle(SLAB, "printed: FFTW good up to 128", "--"),
        *ours_handles(here, [EXTENT]),
    ]
    figure, [axes] = layout.stacked_axes(heading, [2.6], 0.62, legend=(handles, 2))
    axes.plot(NODES, NODES, color=colours.GREY, linewidth=1)
    axes.plot(NODES, [bound_s(EXTENT, 1) / bound_s(EXTENT, nodes) for nodes in NODES], color=colours.INK, linestyle=":")
    [drawn] = axes.plot(
        [1024], [250], marker="^", markersize=5, color=colours.INK, markerfacecolor="white", linestyle="", zorder=4
    )
    mark(drawn, "Figure 4, printed: above 250 on both layers")
    axes.axvline(equations.most_nodes_of_slabs(EXTENT), color=SLAB, linestyle="--", linewidth=0.9)
    for variant, (colour, marker) in OURS.items():
        points = ours(here, variant, EXTENT)
        draw_ours(axes, points, lambda point, first=points: first[0].time_s / point.time_s, colour, marker)
    log_axes(axes, "nodes, or ranks", "speedup, 128³", NODES)
    return figure


def draw_figure_3(here: Here, heading: str) -> Figure:
    return _times(here, heading, [EXTENT], tuple(OURS))


def draw_figure_4(here: Here, heading: str) -> Figure:
    return _times(here, heading, [32, 64, 128], ("volumetric",))


def _times(here: Here, heading: str, extents: Sequence[int], variants: Sequence[str]) -> Figure:
    handles = [line_handle(colours.INK, BOUND, ":")]
    handles += [marker_handle(*look, f"Table 1, mesh: {layer}", hollow=True) for layer, look in LAYERS.items()]
    handles += [
        one for one in ours_handles(here, extents) if any(one.get_label().startswith(name) for name in variants)
    ]
    height = 2.6 if len(extents) == 1 else 1.7
    figure, all_axes = layout.stacked_axes(heading, [height] * len(extents), 0.62, legend=(handles, 2))
    for extent, axes in zip(extents, all_axes, strict=True):
        axes.plot(NODES, [1e3 * bound_s(extent, nodes) for nodes in NODES], color=colours.INK, linestyle=":")
        for row in rows():
            if row["shape"][0] == extent:
                colour, marker = LAYERS[row["layer"]]
                [drawn] = axes.plot(
                    [setup()[0]], [1e3 * row["mesh_s"]], color=colour, marker=marker, markersize=5,
                    markerfacecolor="white", linestyle="", zorder=4,
                )  # fmt: skip
                mark(drawn, f"Table 1, printed, {row['layer']}: {time_text(row['mesh_s'])} on the mesh")
        for variant in variants:
            draw_ours(axes, ours(here, variant, extent), lambda point: 1e3 * point.time_s, *OURS[variant])
        log_axes(axes, "nodes, or ranks", "time (ms)", NODES)
        layout.facet_title(axes, f"{extent}³")
    return figure


def draw_figure_5(here: Here, heading: str) -> Figure:
    """A bar for each time of Table 1: the measured time over the bandwidth bound, on the torus and on the mesh."""
    nodes, clock_hz = setup()
    bars = []
    for row in rows():
        bound = equations.bandwidth_time_s(row["shape"][0], nodes, clock_hz)
        for network, factor in (("torus", 1), ("mesh", 2)):
            label = f"{row['layer'].split()[0]}, {row['shape'][0]}³, {network}"
            bars.append((label, row[f"{network}_s"] / (factor * bound), LAYERS[row["layer"]][0]))
    handles = [Patch(color=colour, label=layer) for layer, (colour, _) in LAYERS.items()]
    figure, [axes] = layout.stacked_axes(heading, [0.2 * len(bars)], 1.9, legend=(handles, 3))
    for place, (_, value, colour) in enumerate(bars):
        axes.barh([place], [value], height=0.72, color=colour, linewidth=0)
        axes.annotate(digits(value, 3), (value, place), (3, 0), textcoords="offset points", va="center", fontsize=6.5)
    axes.axvline(1, color=colours.INK, linestyle=":", linewidth=1)
    layout.row_axis(axes, [label for label, _, _ in bars], range(len(bars)), (-0.6, len(bars) - 0.4))
    axes.set_xlim(0, max(value for _, value, _ in bars) * 1.12)
    axes.set_xlabel("time over the bandwidth bound, 512 nodes")
    return figure


def simulated_parts(here: Here, extent: int, nodes: int) -> tuple[float, float] | None:
    """Seconds that do not depend on bandwidth, and those that do, on the simulated torus: what the mesh takes longer,
    for as the paper has it T_mesh = T_non + 2 T_bw and T_torus = T_non + T_bw. None without both."""
    times = []
    for platform in ("bluegene-l", "bluegene-l-mesh"):
        found = here.simulated(platform, "volumetric", (extent,) * 3)
        times += [one.time_s for one in found if one.cell.ranks == one.cell.place.nodes == nodes]
    if len(times) < 2:
        return None
    torus_s, mesh_s = times
    return 2 * torus_s - mesh_s, mesh_s - torus_s


def draw_table_1(here: Here, heading: str) -> Figure:
    """Both parts of each time on the torus: printed, and the model with 8 and with 2 n log2 n cycles."""
    nodes, clock_hz = setup()
    bars = [
        (f"{row['layer']}, {row['shape'][0]}³", row["non_bandwidth_s"], row["bandwidth_s"], row["shape"][0])
        for row in rows()
    ]
    for extent in (32, 64, 128):
        bound = equations.bandwidth_time_s(extent, nodes, clock_hz)
        for cycles in (equations.CYCLES, CYCLES_FOUND):
            rest = equations.computation_time_s(extent, nodes, clock_hz, cycles)
            bars.append((f"{cycles:g} N log2 N cycles, {extent}³", rest, bound, extent))
        if parts := simulated_parts(here, extent, nodes):
            bars.append((f"simulated, {extent}³", *parts, extent))
    bars.sort(key=lambda bar: bar[3])
    colour_of = {"does not depend on bandwidth": colours.BLUE, "bandwidth": colours.VERMILLION}
    handles = [Patch(color=colour, label=label) for label, colour in colour_of.items()]
    figure, [axes] = layout.stacked_axes(heading, [0.2 * len(bars)], 1.75, legend=(handles, 2))
    for place, (_, rest, network, extent) in enumerate(bars):
        unit = extent**3 * 1e-9  # nanoseconds an element, so that all sizes have room
        for left, width, colour in ((0, rest, colours.BLUE), (rest, network, colours.VERMILLION)):
            [drawn] = axes.barh([place], [width / unit], left=left / unit, height=0.72, color=colour, linewidth=0)
            mark(drawn, time_text(width))
    layout.row_axis(axes, [bar[0] for bar in bars], range(len(bars)), (-0.6, len(bars) - 0.4))
    axes.set_xlabel("time on the torus, 512 nodes, over N³ (ns)")
    return figure


PLOTS = (
    PaperPlot(
        "figure-2",
        "Figure 2: speedup",
        "128³ on more nodes. Dotted: the speedup of the paper's own bounds on the mesh, with the cycles of its "
        "Table 1. The text prints no speedup but that it is above 250 on 1,024 nodes, and that FFTW's is good up "
        "to 128, which is as many slabs as there are. The printed speedup is above the dotted line because one "
        "node is far slower than its bound: the paper blames the memory hierarchy.",
        draw_figure_2,
    ),
    PaperPlot(
        "figure-3",
        "Figure 3: time to solution",
        "128³: the bound on the mesh, the times of Table 1 on 512 nodes (hollow), and ours, each the fastest exchange "
        "of its variant.",
        draw_figure_3,
    ),
    PaperPlot("figure-4", "Figure 4: execution times", "32³, 64³ and 128³, as Figure 3.", draw_figure_4),
    PaperPlot(
        "figure-5",
        "Figure 5: how near to the bandwidth bound",
        "The times of Table 1 over the bound of bandwidth alone, torus and mesh. The text prints no other number "
        "of the figure. Ours are not here: the links of our machine are no torus.",
        draw_figure_5,
    ),
    PaperPlot(
        "table-1",
        "Table 1: parts of the time",
        "The part that does not depend on bandwidth and the part that does, for each element. The table has the "
        "model with 2 N log2 N cycles; the 8 N log2 N of the text would take longer than active packets did at 128³.",
        draw_table_1,
    ),
)
