"""Figures 2 to 6 of czechowski2012: its equations, the numbers that its text prints, and ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fourscore_analysis.papers.here import Here, comparable, what_text
from fourscore_analysis.plots.base import mark
from fourscore_analysis.plots.shared import colours, layout
from fourscore_analysis.plots.shared.paper_plot import PaperPlot, line_handle, log_axes, log_y, marker_handle
from fourscore_analysis.points.points import Point
from fourscore_analysis.points.units import digits, percent_text, time_text
from fourscore_analysis.records.published import published
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from fourscore_papers.czechowski2012 import equations
from fourscore_papers.czechowski2012.numbers import KAPPAS, PARTS, as_digpufft, gpu_gains, largest, memory_over_network
from fourscore_papers.czechowski2012.placement_rows import equations_alone, facets, figure_of
from fourscore_papers.czechowski2012.readings import AS_PRINTED, FOUND, keeneland_parts_s, node_of, outcome

NAME = "czechowski2012"
COMPUTATION, COMMUNICATION, TRANSPOSE, COPIES = colours.BLUE, colours.VERMILLION, colours.SKY, colours.ORANGE
HOPPER_NODES, HOPPER_PROCESSORS = 4096, 4  # a node has four chips of six cores, as Table 1's CPU
EXTENTS = (1024, 2048, 4096, 8192)
ALONE = ((128, 64), (512, 4096))  # extents and nodes without simulated points: those of papers/czechowski2012/torus
MOST_FACETS = 4  # in a figure, those on most nodes
MEASURED = {"computation": (PARTS[1], COMPUTATION), "communication": (("exchange",), COMMUNICATION)}


def draw_figure_2(here: Here, heading: str) -> Figure:
    handles = [
        line_handle(COMMUNICATION, "T_net, Eq. 5"),
        line_handle(COMMUNICATION, "T_net, Eq. 3 (fully connected)", ":"),
        line_handle(COMPUTATION, "T_mem, Eq. 2"),
        line_handle(TRANSPOSE, "T_shuffle, Eq. 8", "--"),
    ]
    ours = pencils(here)
    if ours:
        handles += [marker_handle(colour, "o", f"{name} here") for name, (_, colour) in MEASURED.items()]
        handles += [marker_handle(colour, "o", f"{name} alone", hollow=True) for name, (_, colour) in MEASURED.items()]
    library = p3dfft_at(here, ours)
    handles += [marker_handle(colours.INK, "D", "P3DFFT here, all of it")] * bool(library)
    figure, all_axes = layout.stacked_axes(heading, [2.3] + [2.3] * bool(ours), 0.62, legend=(handles, 2))
    _equations_2(all_axes[0])
    layout.facet_title(all_axes[0], "By the equations", "4,096 nodes of 4 processors, Table 1 of 2010")
    if ours:
        for name, (phases, colour) in MEASURED.items():
            _ours_2(all_axes[1], ours, phases, colour, name)
        if library:
            [drawn] = all_axes[1].plot(
                [point.cell.shape[0] for point in library], [point.time_s for point in library], color=colours.INK,
                marker="D", markersize=4, linestyle="",
            )  # fmt: skip
            mark(drawn, *(f"{what_text(point)}: {time_text(point.time_s)}" for point in library))
        log_axes(all_axes[1], "n", "time (s)", [point.cell.shape[0] for point in ours])
        layout.facet_title(all_axes[1], "Here", f"pencil, {ours[0].cell.place.text()}")
    return figure


def p3dfft_at(here: Here, beside: Sequence[Point]) -> list[Point]:
    """P3DFFT on the cubes and nodes of these points, on as many ranks as is best."""
    same = [(point.cell.shape, point.cell.place.nodes) for point in beside]
    found = [point for point in here.transforms("p3dfft") if (point.cell.shape, point.cell.place.nodes) in same]
    return comparable(found, lambda point: point.cell.shape[0])


def pencils(here: Here) -> list[Point]:
    """Cubes by rising extent, on the ranks that have most of them."""
    cubes = [
        point for point in here.transforms("pencil") if len(point.cell.shape) == 3 and len(set(point.cell.shape)) == 1
    ]
    cubes = [point for point in cubes if point.phases_max.get("exchange")]
    found = comparable(cubes, lambda point: point.cell.shape[0], also=lambda point: point.cell.place)
    return found if len(found) > 1 else []


def _equations_2(axes: Axes) -> None:
    cpu = node_of("CPU", 0)
    node_bytes_per_s = cpu.memory_bytes_per_s * HOPPER_PROCESSORS
    net = [equations.network_time_s(n, HOPPER_NODES, cpu.link_bytes_per_s) for n in EXTENTS]
    full = [equations.network_time_s(n, HOPPER_NODES, cpu.link_bytes_per_s, equations.FULLY_CONNECTED) for n in EXTENTS]
    memory = [equations.memory_time_s(n, HOPPER_NODES, node_bytes_per_s, cpu.cache_bytes) for n in EXTENTS]
    shuffle = [equations.shuffle_time_s(n, HOPPER_NODES, node_bytes_per_s) for n in EXTENTS]
    for values, colour, style in (
        (net, COMMUNICATION, "-"),
        (full, COMMUNICATION, ":"),
        (memory, COMPUTATION, "-"),
        (shuffle, TRANSPOSE, "--"),
    ):
        axes.plot(EXTENTS, values, color=colour, linestyle=style)
    log_axes(axes, "n", "time (s)", EXTENTS)


def _ours_2(axes: Axes, points: Sequence[Point], phases: tuple[str, ...], colour: str, name: str) -> None:
    extents = [point.cell.shape[0] for point in points]
    inside = [sum(point.phases_max.get(phase, 0.0) for phase in phases) for point in points]
    [drawn] = axes.plot(extents, inside, color=colour, marker="o", markersize=4, linewidth=1)
    mark(
        drawn, *(f"{name}, {what_text(point)}: {time_text(value)}" for point, value in zip(points, inside, strict=True))
    )
    alone = [
        (extent, sum(point.alone.get(phase, 0.0) for phase in phases))
        for extent, point in zip(extents, points, strict=True)
    ]
    alone = [one for one in alone if one[1] > 0]
    if alone:
        axes.plot(
            *zip(*alone, strict=True), color=colour, marker="o", markersize=4, markerfacecolor="white", linestyle=":"
        )


def _keeneland(link_bytes_per_s: float, on_gpus: bool = True, n: int = 2048) -> dict[str, float]:
    pcie = published(NAME, "section-5.3.1").rows[0]["bandwidth_bytes_per_s"]
    return keeneland_parts_s(published(NAME, "figure-4").setup["nodes"], n, link_bytes_per_s, pcie, on_gpus)


LINKS = {"link 10 GB/s (Table 1)": 10e9, "link 4 GB/s (QDR)": 4e9}


def draw_figure_3(here: Here, heading: str) -> Figure:
    """Time on CPUs over time on GPUs, less 1: printed as a band; by the equations it does not depend on n."""
    row = published(NAME, "figure-3").rows[0]
    low, high = row["gain_low_percent"], row["gain_high_percent"]
    ours = gpu_gains(here)
    handles = [Patch(color=colours.LIGHT_GREY, label=f"printed: {low} to {high} %")]
    styles = dict(zip(LINKS, ("-", "--"), strict=True))
    handles += [line_handle(colours.INK, f"Eqs 2, 3, 8, 9, {name}", styles[name]) for name in LINKS]
    handles += [marker_handle(colours.PURPLE, "o", "pencil-gpu here")] * bool(ours)
    figure, [axes] = layout.stacked_axes(heading, [2.0], 0.62, legend=(handles, 1))
    extents = sorted({256, 512, 1024, 2048, *(point.cell.shape[0] for point, _ in ours)})
    axes.axhspan(low, high, color=colours.LIGHT_GREY, linewidth=0, zorder=0)
    for name, link in LINKS.items():
        gains = [
            100 * (sum(_keeneland(link, False, n).values()) / sum(_keeneland(link, True, n).values()) - 1)
            for n in extents
        ]
        axes.plot(extents, gains, color=colours.INK, linestyle=styles[name])
    for point, gain in ours:
        [drawn] = axes.plot([point.cell.shape[0]], [gain], color=colours.PURPLE, marker="o", markersize=4, linestyle="")
        mark(drawn, what_text(point))
    axes.set_xscale("log", base=2)
    axes.set_xticks(extents, [str(extent) for extent in extents])
    axes.set_xticks([], minor=True)
    axes.set_xlabel("n")
    axes.set_ylim(min(0, axes.dataLim.y0 * 1.1), max(32, axes.dataLim.y1 * 1.1))
    axes.set_ylabel("gain of the GPUs (%)")
    return figure


def draw_figure_4(here: Here, heading: str) -> Figure:
    """Shares of the time: printed, by the equations, and ours: on the CPU without copies, on GPUs with them."""
    names = ("FFT", "local transpose", "copies", "the rest")
    of_name = dict(zip(names, (COMPUTATION, TRANSPOSE, COPIES, COMMUNICATION), strict=True))
    shares = [row["share_percent"] / 100 for row in published(NAME, "figure-4").rows]
    bars: dict[str, Sequence[float]] = {"printed": [*shares, 1 - sum(shares)]}
    for name, link in LINKS.items():
        parts = list(_keeneland(link).values())
        bars[f"Eqs, {name.partition(' (')[0]}"] = [part / sum(parts) for part in parts]
    said = []
    ours = {"pencil here, on the CPU": here.transforms("pencil"), "pencil-gpu here": as_digpufft(here)}
    for label, points in ours.items():
        point = largest(points)
        if point is None:
            continue
        total = sum(point.phases.values())
        parts = [sum(point.phases.get(phase, 0) for phase in phases) / total for phases in PARTS.values()]
        bars[label] = [*parts, 1 - sum(parts)]
        said.append(what_text(point))
    note = f"Here: {'; '.join(said)}." if said else ""
    figure, [axes] = layout.stacked_axes(
        heading,
        [0.3 * len(bars)],
        1.75,
        legend=([Patch(color=colour, label=name) for name, colour in of_name.items()], 4),
        note=note,
    )
    for place, values in enumerate(bars.values()):
        left = 0.0
        for (name, colour), value in zip(of_name.items(), values, strict=True):
            [drawn] = axes.barh([place], [100 * value], left=100 * left, height=0.72, color=colour, linewidth=0)
            mark(drawn, f"{name}: {percent_text(value)}")
            if value > 0.06:
                patch = {"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none"}
                middle = (100 * (left + value / 2), place)
                axes.annotate(percent_text(value), middle, ha="center", va="center", fontsize=6.5, bbox=patch)
            left += value
    layout.row_axis(axes, list(bars), range(len(bars)), (-0.6, len(bars) - 0.4))
    axes.set_xlim(0, 100)
    axes.set_xlabel("share of the time (%)")
    return figure


def printed_bars_s() -> dict[str, tuple[float, float]]:
    """T_mem and T_net of each system as the text prints them, or as what it prints needs."""
    rows = published(NAME, "figure-5").rows
    network = rows[3]["max_s"]
    memory = network / rows[0]["net_over_mem"]
    cpu_1 = rows[1]["network_over_gpu"] * network
    return {"GPU": (memory, network), "CPU-1": ((memory + network) / rows[1]["speedup_over_gpu"] - cpu_1, cpu_1)}


def draw_figure_5(here: Here, heading: str) -> Figure:
    sets: list[tuple[str, Mapping[str, tuple[float, float]]]] = [
        ("printed", printed_bars_s()),
        ("as printed in Eqs 2 and 5", outcome(AS_PRINTED).bars_s),
        (f"read otherwise: {FOUND.name}", outcome(FOUND).bars_s),
    ]
    handles = [Patch(color=COMPUTATION, label="T_mem"), Patch(color=COMMUNICATION, label="T_net")]
    figure, all_axes = layout.stacked_axes(heading, [1.5] * 3, 0.62, legend=(handles, 2))
    systems = ("GPU", "CPU-1", "CPU-2", "CPU-3")
    highest = max(sum(times) for _, bars in sets for times in bars.values())
    for axes, (title, bars) in zip(all_axes, sets, strict=True):
        for place, system in enumerate(systems):
            memory, network = bars.get(system, (0.0, 0.0))
            axes.bar([place], [memory], width=0.55, color=COMPUTATION, linewidth=0)
            axes.bar([place], [network], bottom=[memory], width=0.55, color=COMMUNICATION, linewidth=0)
            said = f"{digits(memory, 3)} + {digits(network, 3)}" if system in bars else "not printed"
            axes.annotate(
                said, (place, memory + network), (0, 2), textcoords="offset points", ha="center", fontsize=6.5
            )
        axes.set_xticks(range(len(systems)), systems)
        axes.grid(axis="x", visible=False)
        axes.set_ylim(0, highest * 1.2)
        axes.set_ylabel("time (s)")
        layout.facet_title(axes, title)
    return figure


def draw_figure_6(here: Here, heading: str) -> Figure:
    years = range(11)
    looks = dict(
        zip(
            KAPPAS,
            ((colours.VERMILLION, "-"), (colours.VERMILLION, "--"), (colours.BLUE, "-"), (colours.GREEN, "-")),
            strict=True,
        )
    )
    handles = [line_handle(colour, name, style) for name, (colour, style) in looks.items()]
    handles.append(line_handle(colours.GREY, "3-D ideal, Eq. 4 as printed", ":"))
    figure, [axes] = layout.stacked_axes(heading, [2.6], 0.62, legend=(handles, 2))
    for name, (colour, style) in looks.items():
        values = [memory_over_network(year, KAPPAS[name], equations.EXCHANGES) for year in years]
        [drawn] = axes.plot([2010 + year for year in years], values, color=colour, linestyle=style)
        printed = next(row["mem_over_net_trend"] for row in published(NAME, "figure-6").rows if row["network"] == name)
        mark(drawn, f"{name}: printed that it {printed}")
        axes.annotate(f"{printed}", (2020, values[-1]), (3, 0), textcoords="offset points", va="center", fontsize=6.5)
    ideal = [memory_over_network(year, KAPPAS["3-D torus, ideal mapping"], 1) for year in years]
    axes.plot([2010 + year for year in years], ideal, color=colours.GREY, linestyle=":")
    axes.axhline(1, color=colours.INK, linewidth=0.8)
    log_y(axes, "T_mem / T_net")
    axes.set_xlim(2010, 2021)
    axes.set_xticks(range(2010, 2021, 2))
    axes.set_xlabel("year")
    return figure


def draw_placement(here: Here, heading: str) -> Figure:
    found = facets(here.points)
    if found:
        platforms = dict.fromkeys(point.cell.contract.platform for facet in found for point in facet.points)
        return figure_of(found[-MOST_FACETS:], heading, f"Simulated: {', '.join(platforms)}.")
    link = node_of("CPU", 0).link_bytes_per_s
    alone = [equations_alone(extent, nodes, link) for extent, nodes in ALONE]
    return figure_of(alone, heading, "By the bandwidth of Table 1's link of 2010.")


PLOTS = (
    PaperPlot(
        "figure-2",
        "Figure 2: communication and computation against size",
        "4,096 nodes of Hopper by the equations, with Table 1's bandwidths of 2010. The paper prints no times. Ours "
        "below, where an archive has the pencil method at two sizes or more: inside the transform, and alone.",
        draw_figure_2,
    ),
    PaperPlot(
        "figure-3",
        "Figure 3: what the GPUs gain",
        "Time on the CPUs of Keeneland over that on its GPUs, less 1. The text prints 10 to 20 %. The equations' "
        "gain does not depend on n. Ours where an archive has pencil and pencil-gpu on the same ranks.",
        draw_figure_3,
    ),
    PaperPlot(
        "figure-4",
        "Figure 4: where the time goes",
        "2048³ on 64 nodes of Keeneland. The rest is not printed; it is the network. Ours: the pencil method at the "
        "largest cube of the archive, on the CPU, so without copies, and on GPUs where there are any.",
        draw_figure_4,
    ),
    PaperPlot(
        "figure-5",
        "Figure 5: four systems in 2020",
        "Seconds for memory and network, 21,000³. At the top what the text prints, and what it needs: T_mem of GPU is "
        "0.528 s / 2.8.",
        draw_figure_5,
    ),
    PaperPlot(
        "figure-6",
        "Figure 6: memory over network through the years",
        "T_mem / T_net by Eqs 2, 4 and 5 for Table 1's CPU, n³ growing as the nodes from 4096³ in 2010. "
        "Lines count both exchanges; dotted, Eq. 4 as printed counts none. At the right what the text prints.",
        draw_figure_6,
    ),
    PaperPlot(
        "placement",
        "Equations 4 and 5: placement and topology",
        "Both exchanges by Eq. 4 for the ideal placement, by Eq. 5 for a global all-to-all, and by Eq. 5 for tori of "
        "more dimensions. Circles: the pencil method simulated on such tori, where an archive has it, with the links "
        "of Hopper. Dashed: what the bytes of a rank take to get into the network; dotted: the ranks' own time for "
        "their messages. The text says that the ideal placement could be as much as 10 times as fast in 2020.",
        draw_placement,
    ),
)
