"""Models against points that they had not seen."""

from __future__ import annotations

import math
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fourscore_analysis.models.held_out import TOTAL, Guess, interval
from fourscore_analysis.models.observations import MODELLED
from fourscore_analysis.plots.base import Plot, View, mark
from fourscore_analysis.plots.shared import colours, layout
from fourscore_analysis.plots.shared.ticks import log_axis, ratio_ticks
from fourscore_analysis.points.points import contract_terms
from fourscore_analysis.points.units import percent_text, shape_text, time_text
from fourscore_analysis.views.fits import MethodFit

ROWS_A_PAGE = 4
COLUMNS = 4
BAND = 0.1  # relative error
COLOUR_OF = {"shuffle": colours.phase_colour("pack")}
MARKERS = ("o", "s", "^", "D", "v", "P", "X")  # by rising ranks


@dataclass
class Row:
    fit: MethodFit

    @property
    def guesses(self) -> list[Guess]:
        """Guesses of sizes left out."""
        return [guess for guess in self.fit.best.guesses if guess.scheme == "size"]

    @property
    def ranks(self) -> list[int]:
        return sorted({guess.question.ranks for guess in self.guesses})


def pages(view: View) -> list[list[Row]]:
    rows = [Row(one) for one in view.fits if one.tried]
    rows = [row for row in rows if row.guesses]
    return [rows[start : start + ROWS_A_PAGE] for start in range(0, len(rows), ROWS_A_PAGE)]


def draw(view: View, rows: list[Row], heading: str) -> Figure:
    ranks = sorted({count for row in rows for count in row.ranks})
    phases = [phase for phase in MODELLED if any(guess.phase == phase for row in rows for guess in row.guesses)]
    grey = {"linestyle": "", "color": colours.INK, "markersize": 4}
    handles = [
        Line2D([], [], marker=_marker(count, ranks), label=f"{count} rank{'' if count == 1 else 's'}", **grey)
        for count in ranks
    ]
    handles.append(Line2D([], [], linestyle="", marker="_", color=colours.GREY, markersize=7, label="nearest point"))
    handles += [Line2D([], [], color=_colour(phase), linewidth=3, label=phase) for phase in phases]
    figure, pairs = layout.paired_axes(heading, len(rows), legend=(handles, COLUMNS))
    for row, (left, right) in zip(rows, pairs, strict=True):
        _draw(left, [guess for guess in row.guesses if guess.phase == TOTAL], ranks, naive=True)
        _draw(right, [guess for guess in row.guesses if guess.phase != TOTAL], ranks, naive=False)
        left.set_ylabel("predicted over measured", fontsize=7)
        total = row.fit.best.total("size")
        said = f"{row.fit.best.name}: median error {percent_text(total.median)}" if total else row.fit.best.name
        layout.facet_title(left, row.fit.series.label, f"{said}; {', '.join(contract_terms(row.fit.series.contract))}")
    return figure


def _draw(axes: Axes, guesses: list[Guess], ranks: list[int], naive: bool) -> None:
    values = [1 / (1 + BAND), 1 + BAND]
    for guess in guesses:
        ratio = 1 + guess.error
        values.append(ratio)
        colour = colours.INK if guess.phase == TOTAL else _colour(guess.phase)
        fill = "white" if guess.outside else colour
        look = {"linestyle": "", "markersize": 3.6, "markeredgewidth": 0.9, "color": colour}
        place = _marker(guess.question.ranks, ranks)
        [drawn] = axes.plot([guess.question.elements], [ratio], marker=place, markerfacecolor=fill, **look)
        ends = interval(guess, guesses) if guess.outside else None
        if ends:
            ratios = [one / guess.measured_s for one in ends]
            values += ratios
            axes.plot([guess.question.elements] * 2, ratios, color=colour, linewidth=0.8, zorder=1.5)
        mark(drawn, _said(guess, ends))
        if naive and guess.naive_error is not None:
            values.append(1 + guess.naive_error)
            axes.plot([guess.question.elements], [1 + guess.naive_error], marker="_", color=colours.GREY, markersize=7)
    axes.axhspan(1 / (1 + BAND), 1 + BAND, color=colours.LIGHT_GREY, alpha=0.5, zorder=0, linewidth=0)
    axes.axhline(1, color=colours.GREY, linewidth=0.8, zorder=0)
    low, high = min(values) / 1.1, max(values) * 1.1
    log_axis(axes, "y", (low, high), ratio_ticks(low, high), text="{:g}".format)
    elements = [guess.question.elements for guess in guesses]
    decades = [
        10**power for power in range(math.floor(math.log10(min(elements))), math.ceil(math.log10(max(elements))) + 1)
    ]
    log_axis(axes, "x", (min(elements) / 1.4, max(elements) * 1.4), decades)
    axes.set_xlabel("elements: total" if naive else "elements: by phase")


def _said(guess: Guess, ends: tuple[float, float] | None) -> str:
    cell = guess.question.cell
    lines = [
        f"{shape_text(cell.shape)} · {cell.place.text()}: {guess.phase}",
        f"predicted {time_text(guess.predicted_s)}, measured {time_text(guess.measured_s)}",
    ]
    if guess.outside:
        lines.append("beyond what was seen: extrapolated")
    if ends:
        lines.append(f"{time_text(ends[0])} to {time_text(ends[1])} by the errors on the other points")
    return "\n".join(lines)


def _colour(phase: str) -> str:
    return COLOUR_OF.get(phase) or colours.phase_colour(phase)


def _marker(count: int, ranks: list[int]) -> str:
    return MARKERS[ranks.index(count) % len(MARKERS)]


PLOT = Plot(
    name="held-out",
    title="Models on sizes left out",
    caption="Each size is left out once, the model is fitted to the others and predicts it. Left: the total, beside a "
    "model that says no more than the nearest point (as many credited flops a second and rank); right: phases, where "
    "shuffle is packing and unpacking. Band: within 10 %. Hollow: smaller or larger than all that was seen, with the "
    "interval (95 %) that the errors on the others give it. At most 8 methods with 5 to 40 sizes, each by its first "
    "model; `fourscore fit` has all, with parameters.",
    order=49,
    pages=pages,
    draw=draw,
)
