"""Where the ticks of an axis stand."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator


def log_ticks(low: float, high: float) -> list[float]:
    """Ticks at 1, 2 and 5 times powers of ten within [low, high]; fewer where they would crowd, and evenly spaced ones
    where less than two of them lie within."""
    powers = [10.0**exponent for exponent in range(math.floor(math.log10(low)), math.floor(math.log10(high)) + 1)]
    for steps in ((1, 2, 5), (1, 3), (1,)):
        ticks = [power * step for power in powers for step in steps if low <= power * step <= high]
        if len(ticks) < 2:
            return [tick for tick in MaxNLocator(5).tick_values(low, high) if low <= tick <= high]
        if len(ticks) <= 7:
            return ticks
    return ticks[:: -(-len(ticks) // 7)]


def log_axis(
    axes: Axes,
    name: str,
    ends: tuple[float, float],
    ticks: Sequence[float] | None = None,
    text: Callable[[float], str] | None = None,
    base: int = 10,
) -> None:
    """Makes the axis "x" or "y" logarithmic, with these ticks alone, or those of log_ticks()."""
    shown = log_ticks(*ends) if ticks is None else ticks
    getattr(axes, f"set_{name}scale")("log", base=base)
    getattr(axes, f"set_{name}ticks")(shown, [(text or tick_text)(tick) for tick in shown])
    getattr(axes, f"set_{name}ticks")([], minor=True)
    getattr(axes, f"set_{name}lim")(*ends)


def time_axis(axis, low_s: float, high_s: float, unit_s: float, unit: str, name: str, log: bool) -> None:
    """Labels the x axis, whose data are in `unit`."""
    axis.set_xlabel(f"{name} ({unit})")
    if log:
        log_axis(axis, "x", (low_s / unit_s, high_s / unit_s), text="{:g}".format)
    else:
        axis.locator_params(axis="x", nbins=6)


def ratio_ticks(low: float, high: float) -> list[float]:
    """Ticks for ratios within [low, high], 1 always among them when it is inside."""
    if high > 4 * low:
        return log_ticks(low, high)
    for hundredths in (1, 2, 5, 10, 20, 50):
        ticks = [n / 100 for n in range(hundredths, 400, hundredths) if low <= n / 100 <= high]
        if len(ticks) <= 8:
            break
    return ticks


def tick_text(tick: float) -> str:
    """0.5, 20; beyond four digits as a power of ten, so that it has room beside its axis."""
    exponent = round(math.log10(tick))
    if 0.01 <= tick < 1e4 or not math.isclose(tick, 10.0**exponent):
        return f"{tick:g}"
    return rf"$10^{{{exponent}}}$"


def own_ticks(values: Iterable[float]) -> list[float]:
    """The values themselves, the largest first, as long as their labels have room."""
    shown: list[float] = []
    ordered = sorted(values)
    room = (ordered[-1] / ordered[0]) ** (1 / 7)
    for value in reversed(ordered):
        if not shown or shown[-1] / value >= max(room, 1.15):
            shown.append(value)
    return shown[::-1]
