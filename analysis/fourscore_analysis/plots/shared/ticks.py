"""Where the ticks of an axis stand."""

from __future__ import annotations

import math
from collections.abc import Iterable


def log_ticks(low: float, high: float) -> list[float]:
    """Ticks at 1, 2 and 5 times powers of ten within [low, high]; fewer where they would crowd."""
    for steps in ((1, 2, 5), (1, 3), (1,)):
        ticks, power = [], 1e-12
        while power <= high:
            ticks += [power * step for step in steps if low <= power * step <= high]
            power *= 10
        if len(ticks) <= 7:
            return ticks
    return ticks[:: -(-len(ticks) // 7)]


def time_axis(axis, low_s: float, high_s: float, unit_s: float, unit: str, name: str, log: bool) -> None:
    """Labels the x axis, whose data are in `unit`."""
    axis.set_xlabel(f"{name} ({unit})")
    if log:
        axis.set_xscale("log")
        low, high = low_s / unit_s, high_s / unit_s
        ticks = log_ticks(low, high)
        axis.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axis.set_xticks([], minor=True)
        axis.set_xlim(low, high)
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
