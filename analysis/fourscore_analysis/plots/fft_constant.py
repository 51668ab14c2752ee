"""A against n: the constant of a 1-D FFT's memory traffic, fitted, beside the published one."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fourscore_analysis.models.constant import A_DIGITS, Constant, interval_text, printed_a
from fourscore_analysis.plots.base import Plot, View, mark
from fourscore_analysis.plots.shared import colours, layout
from fourscore_analysis.points.beside_paper import difference_line
from fourscore_analysis.points.counting import short_doubt, short_source_text
from fourscore_analysis.points.units import bytes_text, digits

HEIGHT_IN = 2.3
ROWS_A_PAGE = 3
COLUMNS = 2


def pages(view: View) -> list[list[Constant]]:
    found = view.constants
    return [found[start : start + ROWS_A_PAGE] for start in range(0, len(found), ROWS_A_PAGE)]


def draw(view: View, found: list[Constant], heading: str) -> Figure:
    grey = {"linestyle": "", "markersize": 4.2}
    handles = [
        Line2D([], [], color=colours.BLUE, marker="o", label="A(n), beyond the cache", **grey),
        Line2D([], [], color=colours.BLUE, linewidth=1.2, label="fitted A, 95 % interval"),
    ]
    if any(not sample.fitted for one in found for sample in one.samples):
        white = {"markerfacecolor": "white", "label": "in the cache: not fitted"}
        handles.append(Line2D([], [], color=colours.BLUE, marker="o", **white, **grey))
    printed = printed_a()
    if printed:
        label = f"{printed.table.paper}: {printed.a:g}"
        handles.append(Line2D([], [], color=colours.INK, linestyle=":", linewidth=1.2, label=label))
    left = 0.56
    points = [member.point for one in found for member in one.members]
    figure, all_axes = layout.stacked_axes(
        heading,
        [HEIGHT_IN] * len(found),
        left,
        legend=(handles, COLUMNS),
        note=difference_line([printed.table] if printed else [], points),
    )
    for one, axes in zip(found, all_axes, strict=True):
        _draw_constant(axes, one, printed.a if printed else None)
        doubt = short_doubt(one.source)
        subtitle = ", ".join(part for part in (short_source_text(one.source), doubt) if part)
        layout.facet_title(axes, f"A = {digits(one.fit.a, A_DIGITS)} ({interval_text(one)})", subtitle)
    return figure


def _draw_constant(axes: Axes, one: Constant, paper_a: float | None) -> None:
    look = {"linestyle": "", "marker": "o", "markersize": 4.2, "markeredgewidth": 1.0, "color": colours.BLUE}
    for sample in one.samples:
        fill = colours.BLUE if sample.fitted else "white"
        [drawn] = axes.plot([sample.n], [sample.a], markerfacecolor=fill, **look)
        where = "" if sample.fitted else "\nin the cache: not fitted"
        mark(
            drawn,
            f"n = {sample.n}: A = {digits(sample.a, A_DIGITS)}\n{sample.words:,.0f} words moved\n{one.title}{where}",
        )
    ends = [one.fitted[0].n / 1.2, one.fitted[-1].n * 1.2]
    axes.fill_between(ends, *([value] * 2 for value in one.fit.interval), color=colours.BLUE, alpha=0.15, linewidth=0)
    axes.plot(ends, [one.fit.a] * 2, color=colours.BLUE)
    values = [*(sample.a for sample in one.samples), one.fit.interval[1]]
    if paper_a is not None:
        values.append(paper_a)
        axes.axhline(paper_a, color=colours.INK, linestyle=":", linewidth=1.2)
    axes.axvline(one.z, color=colours.GREY, linewidth=0.8, zorder=0)
    axes.annotate(
        f"Z = {bytes_text(one.cache_bytes)}",
        (one.z, 0),
        (2, 3),
        xycoords=("data", "axes fraction"),
        textcoords="offset points",
        fontsize=6.5,
    )
    ns = [sample.n for sample in one.samples]
    axes.set_xscale("log", base=2)
    step = -(-len(ns) // 10)
    axes.set_xticks(ns[::step], [rf"$2^{{{n.bit_length() - 1}}}$" for n in ns[::step]])
    axes.set_xticks([], minor=True)
    axes.set_xlim(min(*ns, one.z) / 1.3, max(ns) * 1.3)
    axes.set_ylim(0, max(values) * 1.12)
    axes.set_xlabel("n, points of a transform")
    axes.annotate(one.title, (0.99, 0.11), xycoords="axes fraction", ha="right", fontsize=6.5)
    axes.set_ylabel("A = words moved / (n max(log$_Z$ n, 1))")


PLOT = Plot(
    name="fft-constant",
    title="The constant A of Eq. 2",
    caption="Words between memory and the last-level cache in one 1-D transform of n points, over n max(log_Z n, 1). "
    "A word is a complex element, Z the cache in words. The line is the least-squares fit through the origin over the "
    "sizes beyond the cache, with its 95 % interval (Student's t).",
    order=8,
    pages=pages,
    draw=draw,
)
