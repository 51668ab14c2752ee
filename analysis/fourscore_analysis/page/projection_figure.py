"""A projection drawn: seconds by phase and year, and below it memory against network; a real machine as a star."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fourscore_analysis.models.projection import memory_over_network
from fourscore_analysis.plots.base import mark
from fourscore_analysis.plots.shared.colours import GREY, INK, SKY, phase_colour
from fourscore_analysis.plots.shared.layout import facet_title, stacked_axes
from fourscore_analysis.points.units import digits, rate_text, time_text
from fourscore_analysis.tables.projections import phases_of, title_of
from fourscore_analysis.views.projections import Projection

LEFT_IN, HEIGHT_IN, RATIO_HEIGHT_IN = 0.8, 2.4, 1.2
COLUMNS = 4
SHUFFLE = "shuffle"  # packing and unpacking together


def projection_figure(found: Projection) -> Figure:
    ratios = [year.memory_over_network for year in found.years]
    heights = [HEIGHT_IN, *([RATIO_HEIGHT_IN] if all(ratios) else [])]
    handles = _handles(found)
    title = f"{title_of(found.years[0].prediction)} · {found.machine.name} by the trends {found.trends.name}"
    figure, axes = stacked_axes(title, heights, LEFT_IN, legend=(handles, COLUMNS))
    _draw_times(axes[0], found)
    if all(ratios):
        _draw_ratio(axes[1], found)
    return figure


def colour_of(phase: str) -> str:
    return SKY if phase == SHUFFLE else phase_colour(phase)


def _handles(found: Projection) -> list[Line2D]:
    handles = [Line2D([], [], color=INK, marker="o", markersize=3, label="total")]
    handles += [Line2D([], [], color=colour_of(phase), label=phase) for phase in phases_of(found)]
    if found.beside:
        handles.append(_star([], [], f"{found.beside.machine.name}, predicted"))
    return handles


def _star(x: list[int], y: list[float], label: str = "") -> Line2D:
    return Line2D(x, y, color=INK, marker="*", markersize=9, linestyle="none", label=label, zorder=4)


def _draw_times(axes: Axes, found: Projection) -> None:
    years = [year.year for year in found.years]
    predictions = [year.prediction for year in found.years]
    for phase in phases_of(found):
        seconds = [one.phases[phase].seconds if phase in one.phases else float("nan") for one in predictions]
        [line] = axes.plot(years, seconds, color=colour_of(phase))
        mark(line, *(f"{phase}, {year}: {time_text(value)}" for year, value in zip(years, seconds, strict=True)))
    ends = [one.total.interval for one in predictions if one.total.interval]
    if len(ends) == len(years):
        low, high = zip(*ends, strict=True)
        axes.fill_between(years, low, high, color=GREY, alpha=0.25, linewidth=0)
    [line] = axes.plot(years, [one.total.seconds for one in predictions], "o-", color=INK, markersize=3)
    mark(
        line,
        *(
            f"{year}: {time_text(one.total.seconds)}, {rate_text(one.flops_per_s, 'FLOP/s')}, limited by {one.limiting}"
            for year, one in zip(years, predictions, strict=True)
        ),
    )
    if found.beside:
        _draw_beside(
            axes, found, found.beside.prediction.total.seconds, time_text(found.beside.prediction.total.seconds)
        )
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(lambda value, _: time_text(value))
    axes.set_ylabel("time")
    facet_title(axes, "Time of one transform", "on all ranks of the year")
    _year_axis(axes)


def _draw_ratio(axes: Axes, found: Projection) -> None:
    years = [year.year for year in found.years]
    ratios = [year.memory_over_network or 0.0 for year in found.years]
    [line] = axes.plot(years, ratios, "o-", color=INK, markersize=3)
    mark(line, *(f"{year}: T_mem/T_net {digits(value)}" for year, value in zip(years, ratios, strict=True)))
    real = memory_over_network(found.beside.prediction) if found.beside else None
    if real:
        _draw_beside(axes, found, real, digits(real))
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.yaxis.set_minor_formatter(lambda value, _: f"{value:g}")
    axes.tick_params(axis="y", which="minor", labelsize=6.5)
    axes.set_ylabel("T_mem / T_net")
    facet_title(axes, "Memory against network", "1: as slow as each other")
    _year_axis(axes)


def _draw_beside(axes: Axes, found: Projection, value: float, said: str) -> None:
    """In the year of the real machine, where it has one."""
    if found.beside and found.beside.machine.year:
        [star] = axes.plot([found.beside.machine.year], [value], color=INK, marker="*", markersize=9, zorder=4)
        mark(star, f"{found.beside.machine.name}: {said}, predicted from its peaks")


def _year_axis(axes: Axes) -> None:
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set_xlabel("year")
