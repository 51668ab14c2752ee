"""A small plot of one point's history as SVG: values over builds, and what changed. Written directly: a page has
hundreds, and matplotlib takes longer for one than all of them take here."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

import numpy as np

from fourscore_analysis.gate.history import IMPROVEMENT, SLOWDOWN, Finding, Judged
from fourscore_analysis.gate.revisions import Build
from fourscore_analysis.page.svg import themed
from fourscore_analysis.plots.shared.colours import BLUE, GREEN, GREY, INK, LIGHT_GREY, ORANGE, SOFT, VERMILLION
from fourscore_analysis.points.units import time_text
from fourscore_analysis.tables.history import finding_text, range_of_revisions

WIDTH, HEIGHT = 320, 112
LEFT, RIGHT, TOP, BOTTOM = 6, 6, 16, 14
LEAST_SPAN = math.log(1.1)  # height of the vertical axis: noise of 1 % must not fill it


def colour_of(finding: Finding) -> str:
    """The colour of a mark: red where somebody must look, green where it got faster, else grey."""
    if finding.kind == IMPROVEMENT:
        return GREEN
    if finding.kind != SLOWDOWN or finding.acknowledged is not None or not finding.standing:
        return GREY
    return ORANGE if finding.bimodal else VERMILLION


@dataclass
class Panel:
    """One point: its series, one for each machine and way of launching, over the builds of all of them."""

    judged: list[Judged]

    def __post_init__(self) -> None:
        builds = {build for one in self.judged for build in one.series.builds}
        ordered = sorted(builds, key=lambda one: (one.place, one.dirty, one.first_at, one.code_hash))
        self.builds: list[Build] = ordered
        self._position = {build: at for at, build in enumerate(ordered)}

    @property
    def title(self) -> str:
        return self.judged[0].series.title

    @property
    def findings(self) -> list[Finding]:
        return sorted((finding for one in self.judged for finding in one.findings), key=lambda one: one.rank)

    def positions(self, judged: Judged) -> list[int]:
        """The positions of its builds on the horizontal axis."""
        return [self._position[build] for build in judged.series.builds]

    def place_changes(self) -> list[tuple[float, Judged]]:
        """Where a series of another machine, or of another way of launching, begins or goes on: between two builds."""
        owners: dict[int, Judged] = {}
        for one in self.judged:
            for at in self.positions(one):
                owners.setdefault(at, one)
        order = sorted(owners)
        return [
            (second - 0.5, owners[second]) for first, second in pairwise(order) if owners[first] is not owners[second]
        ]


def panels_of(judged: Sequence[Judged]) -> list[Panel]:
    """In the order of `judged`."""
    members: dict[tuple[str, str], list[Judged]] = {}
    for one in judged:
        members.setdefault(one.series.panel, []).append(one)
    return [Panel(of_panel) for of_panel in members.values()]


class _Axes:
    """Maps builds and logarithms of seconds to the plot's own units."""

    def __init__(self, panel: Panel) -> None:
        logs = np.concatenate([np.log(one.series.values_s) for one in panel.judged])
        low, high = float(logs.min()), float(logs.max())
        pad = max(0.04 * (high - low), (LEAST_SPAN - (high - low)) / 2)
        self._low, self._span = low - pad, high - low + 2 * pad
        self._count = max(1, len(panel.builds) - 1)
        self.ends_s = math.exp(low), math.exp(high)

    def x(self, at: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * min(max(at / self._count, 0), 1)

    def y(self, log: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (1 - (log - self._low) / self._span)


def small_plot(panel: Panel) -> str:
    """The SVG. Texts of records are escaped."""
    axes = _Axes(panel)
    parts = [
        f'<svg class="plot" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(panel.title)}">',
        f'<rect x="{LEFT}" y="{TOP}" width="{WIDTH - LEFT - RIGHT}" height="{HEIGHT - TOP - BOTTOM}" fill="none" '
        f'stroke="{LIGHT_GREY}"/>',
    ]
    for at, judged in panel.place_changes():
        parts.append(_mark(axes.x(at), INK, "3 3", f"measured elsewhere from here: {judged.series.machine_hash[:8]}"))
    for judged in panel.judged:
        parts += _series(panel, judged, axes)
    for finding in panel.findings:
        if not finding.drift and finding.kind in (SLOWDOWN, IMPROVEMENT):
            at = panel.positions(_of(panel, finding))[finding.end] - 0.5
            said = f"{range_of_revisions(finding)}\n{finding_text(finding)}"
            parts.append(_mark(axes.x(at), colour_of(finding), "", said))
    low, high = axes.ends_s
    parts += [
        _text(LEFT, 11, "start", f"{time_text(low)} to {time_text(high)}" if low < high else time_text(low)),
        _text(LEFT, HEIGHT - 3, "start", panel.builds[0].name),
        _text(WIDTH - RIGHT, HEIGHT - 3, "end", panel.builds[-1].name if len(panel.builds) > 1 else ""),
        "</svg>",
    ]
    return themed("".join(parts))


def _of(panel: Panel, finding: Finding) -> Judged:
    return next(one for one in panel.judged if one.series is finding.series)


def _series(panel: Panel, judged: Judged, axes: _Axes) -> list[str]:
    logs, positions = np.log(judged.series.values_s), panel.positions(judged)
    points = [(axes.x(at), axes.y(log)) for at, log in zip(positions, logs, strict=True)]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    parts = [f'<polyline points="{line}" fill="none" stroke="{BLUE}" stroke-opacity="0.55" stroke-width="0.8"/>']
    if len(points) <= 60:
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="1.6" fill="{BLUE}"/>' for x, y in points]
    drifts = [one for one in judged.findings if one.drift]
    for begin, end in pairwise(judged.bounds):
        if any(one.begin <= begin and end - 1 <= one.end for one in drifts):
            continue
        height = axes.y(float(np.median(logs[begin:end])))
        parts.append(_line(points[begin][0], height, points[end - 1][0], height, INK))
    for one in drifts:
        middle, half = float(np.median(logs[one.begin : one.end + 1])), math.log(one.ratio) / 2
        ends = axes.y(middle - half), axes.y(middle + half)
        colour = INK if one.kind not in (SLOWDOWN, IMPROVEMENT) else colour_of(one)
        line = _line(points[one.begin][0], ends[0], points[one.end][0], ends[1], colour)
        parts.append(f'<g class="mark"><title>{escape(finding_text(one))}</title>{line}</g>')
    return parts


def _line(x1: float, y1: float, x2: float, y2: float, colour: str) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" stroke-width="1.6"/>'


def _mark(x: float, colour: str, dashes: str, said: str) -> str:
    dash = f' stroke-dasharray="{dashes}"' if dashes else ""
    return (
        f'<g class="mark"><title>{escape(said)}</title><line x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" '
        f'y2="{HEIGHT - BOTTOM}" stroke="{colour}" stroke-width="1.4"{dash}/></g>'
    )


def _text(x: float, y: float, anchor: str, text: str) -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="{SOFT}" font-size="9">{escape(text)}</text>'
