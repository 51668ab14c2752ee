"""The launches of one series of a comparison as SVG: the ratio of each pair in the order in which they were measured,
or the time of each launch where they are not paired. A dot leads to its record."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

from fourscore_analysis.gate.scatter import Pair, pairs_of, signed_percent
from fourscore_analysis.gate.series import BASE, CANDIDATE, Timed
from fourscore_analysis.gate.verdict import Verdict
from fourscore_analysis.page.svg import themed
from fourscore_analysis.plots.shared.colours import BLUE, INK, LIGHT_GREY, SKY, SOFT, VERMILLION
from fourscore_analysis.points.units import time_text

WIDTH, HEIGHT = 560, 230
LEFT, RIGHT, TOP, BOTTOM = 62, 10, 12, 34
LEAST_SPAN = math.log(1.04)  # height of the vertical axis: noise of 1 % must not fill it
TICKS = 5
Link = Callable[[str, Timed], str]  # from a side and its launch to an address, "" without


@dataclass(frozen=True)
class _Axes:
    low: float  # logarithms
    high: float
    places: int

    def x(self, at: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (at + 0.5) / max(1, self.places)

    def y(self, log: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (self.high - log) / (self.high - self.low)


def _axes(logs: Sequence[float], places: int) -> _Axes:
    low, high = min(logs), max(logs)
    room = max(0.06 * (high - low), (LEAST_SPAN - (high - low)) / 2)
    return _Axes(low - room, high + room, places)


def pair_plot(one: Verdict, link: Link) -> str:
    """Empty where there is nothing to show. Texts of records are escaped."""
    pairs = pairs_of(one)
    base, candidate = one.series.launches()
    if pairs:
        drawn, axis, label = _of_pairs(one, pairs, link)
    elif base and candidate:
        drawn, axis, label = _of_launches(base, candidate, link)
    else:
        return ""
    said = escape(f"{one.series.title}: {label}")
    frame = (
        f'<rect x="{LEFT}" y="{TOP}" width="{WIDTH - LEFT - RIGHT}" height="{HEIGHT - TOP - BOTTOM}" fill="none" '
        f'stroke="{LIGHT_GREY}"/>'
    )
    label = _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, "middle", label)
    head = f'<svg class="plot" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{said}">'
    return themed("".join([head, frame, *axis, *drawn, label, "</svg>"]))


def _of_pairs(one: Verdict, pairs: Sequence[Pair], link: Link) -> tuple[list[str], list[str], str]:
    logs = [math.log(pair.ratio) for pair in pairs]
    ends = [math.log(end) for end in (one.change.interval or ())] if one.change else []
    axes = _axes([*logs, *ends, 0.0], len(pairs))
    parts = []
    if ends:
        top, bottom = axes.y(ends[1]), axes.y(ends[0])
        parts.append(
            f'<rect x="{LEFT}" y="{top:.1f}" width="{WIDTH - LEFT - RIGHT}" height="{max(1.0, bottom - top):.1f}" '
            f'fill="{SKY}" fill-opacity="0.3"/>'
        )
    parts.append(_across(axes.y(0.0), INK, "4 3"))
    if one.change:
        parts.append(_across(axes.y(math.log(one.change.ratio)), BLUE, ""))
    for at, (pair, log) in enumerate(zip(pairs, logs, strict=True)):
        parts.append(_dot(axes.x(at), axes.y(log), VERMILLION, pair.text(), link(CANDIDATE, pair.candidate)))
    axis = [_tick(axes.y(log), signed_percent(math.exp(log))) for log in _steps(axes)]
    first, last = pairs[0].base.number, pairs[-1].base.number
    label = f"pairs {first} to {last}, in order: candidate over base; line: estimate, band: interval, dashes: no change"
    return parts, axis, label


def _of_launches(base: Sequence[Timed], candidate: Sequence[Timed], link: Link) -> tuple[list[str], list[str], str]:
    axes = _axes([math.log(one.time_s) for one in (*base, *candidate)], max(len(base), len(candidate)))
    parts = []
    for name, launches, colour, aside in ((BASE, base, BLUE, -0.12), (CANDIDATE, candidate, VERMILLION, 0.12)):
        for at, launch in enumerate(launches):
            said = f"{name}, launch {launch.number}: {time_text(launch.time_s)}"
            parts.append(_dot(axes.x(at + aside), axes.y(math.log(launch.time_s)), colour, said, link(name, launch)))
    axis = [_tick(axes.y(log), time_text(math.exp(log))) for log in _steps(axes)]
    return parts, axis, "launches in order: base blue, candidate red"


def _steps(axes: _Axes) -> list[float]:
    return [axes.low + (axes.high - axes.low) * (step + 0.5) / TICKS for step in range(TICKS)]


def _across(y: float, colour: str, dashes: str) -> str:
    dash = f' stroke-dasharray="{dashes}"' if dashes else ""
    return (
        f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" stroke="{colour}" stroke-width="1.2"{dash}/>'
    )


def _dot(x: float, y: float, colour: str, said: str, address: str) -> str:
    dot = (
        f'<circle class="mark" cx="{x:.1f}" cy="{y:.1f}" r="3.2" fill="{colour}"><title>{escape(said)}</title></circle>'
    )
    return f'<a href="{escape(address)}">{dot}</a>' if address else dot


def _tick(y: float, text: str) -> str:
    line = f'<line x1="{LEFT - 4}" y1="{y:.1f}" x2="{LEFT}" y2="{y:.1f}" stroke="{SOFT}"/>'
    return line + _text(LEFT - 7, y + 3.5, "end", text)


def _text(x: float, y: float, anchor: str, text: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{SOFT}" font-size="10.5">{escape(text)}</text>'
