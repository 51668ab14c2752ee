"""Figure 3.2 of lee2018: messages that each worker receives over time, from timelines.

A message received is a stretch `unpack`: overdecomposed unpacks each message by itself, and so does node with
style = "charm"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from fourscore_analysis.papers.base import Measured
from fourscore_analysis.papers.here import Here, what_text
from fourscore_analysis.plots.base import mark
from fourscore_analysis.plots.shared import colours, layout
from fourscore_analysis.plots.shared.paper_plot import line_handle
from fourscore_analysis.points.points import Point
from fourscore_analysis.points.units import digits, time_unit
from fourscore_analysis.records.timelines import Lane
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fourscore_papers.lee2018 import readings
from fourscore_papers.lee2018.measured import CHARM, LARGE, NODE, SMALL

CORES = 128  # both programs ran on as many in the figure
DECOMPOSITION = "10x10"
LOOKS = {CHARM: (colours.ORANGE, "Charm-FFT's method"), NODE: (colours.SKY, "Charm-NodeFFT's method")}
FIRST = colours.INK  # the worker that a run begins on


@dataclass(frozen=True)
class Received:
    """Messages of one worker: seconds at which each was unpacked."""

    rank: int
    thread: int
    at_s: np.ndarray


def received(point: Point) -> list[Received]:
    """By each worker that the timeline kept; [] without a timeline."""
    if point.traced is None or point.traced.timeline is None:
        return []
    return [Received(lane.rank, lane.lane, _unpacked(lane)) for lane in point.traced.timeline.lanes]


def _unpacked(lane: Lane) -> np.ndarray:
    return np.sort([end for phase, end in zip(lane.phases, lane.end_s, strict=True) if phase == "unpack"])


def traced_here(here: Here, variant: str, direction: str = "backward") -> Point | None:
    """On the most cores, of the largest shape of the thesis that was traced."""
    found = [
        point
        for shape in (LARGE, SMALL)
        for point in here.transforms(variant, shape, direction=direction)
        if received(point) and _as_the_thesis(point)
    ]
    return max(found, key=lambda point: (_cores(point), point.cell.elements), default=None)


def _as_the_thesis(point: Point) -> bool:
    if point.method.variant == CHARM:
        return point.method.option("decomposition") == DECOMPOSITION
    return point.method.option("style") == "charm"


def _cores(point: Point) -> int:
    return point.cell.ranks * point.cell.contract.threads


def figure_3_2_here(here: Here) -> Iterator[Measured]:
    """As many transforms as the reading of the figure has, on as many cores: of Charm-FFT's workers but the first the
    average, of Charm-NodeFFT all of a node's workers together, since any of them takes what arrives."""
    for row, variant in ((1, CHARM), (2, NODE)):
        ways = [point for way in ("forward", "backward") if (point := traced_here(here, variant, way))]
        if len(ways) == 2 and all(_cores(point) == CORES for point in ways):
            count = readings.PAIRS * sum(_messages(point) for point in ways)
            said = f"of {readings.PAIRS} transforms there and back, {what_text(ways[0])}"
            yield Measured(row, "messages", count, len(ways[0].measured), said)


def _messages(point: Point) -> float:
    workers = received(point)
    if point.method.variant == CHARM:
        others = [one for one in workers if one.rank > 0]
        return float(np.mean([len(one.at_s) for one in others]))
    ranks = {one.rank for one in workers}
    return sum(len(one.at_s) for one in workers) / len(ranks)


def draw_receives(here: Here, heading: str) -> Figure:
    found = [point for variant in LOOKS if (point := traced_here(here, variant))]
    expected = dict(
        zip(LOOKS, (count / 2 / readings.PAIRS for count in readings.messages(readings.PAIRS)), strict=True)
    )
    handles = [line_handle(colour, f"{name}, a worker") for colour, name in LOOKS.values()]
    handles += [
        line_handle(FIRST, "the first worker"),
        line_handle(colours.GREY, "by the decomposition of the thesis", ":"),
    ]
    figure, all_axes = layout.stacked_axes(heading, [1.7] * len(LOOKS), 0.62, legend=(handles, 2))
    for (variant, (colour, name)), axes in zip(LOOKS.items(), all_axes, strict=True):
        point = next((one for one in found if one.method.variant == variant), None)
        cores = "10x10 on 128 PEs" if variant == CHARM else "8 nodes of 16 PEs"
        layout.facet_title(axes, name, what_text(point) if point else f"in the thesis {cores}")
        level = axes.axhline(expected[variant], color=colours.GREY, linestyle=":", linewidth=1)
        mark(level, f"{digits(expected[variant])} messages in a transform, {cores}")
        if point is not None:
            _draw_workers(axes, received(point), colour)
        axes.set_ylim(0, max(axes.dataLim.y1, expected[variant]) * 1.15)
        axes.set_ylabel("messages received")
        if point is None:
            axes.set_xticks([])
    return figure


def _draw_workers(axes: Axes, workers: Sequence[Received], colour: str) -> None:
    last_s = max((float(one.at_s[-1]) for one in workers if len(one.at_s)), default=0.0)
    unit_s, unit = time_unit(last_s or 1.0)
    for one in workers:
        first = (one.rank, one.thread) == (0, 0)
        times = np.concatenate(([0.0], one.at_s, [last_s])) / unit_s
        counts = np.concatenate((np.arange(len(one.at_s) + 1), [len(one.at_s)]))
        look = {"color": FIRST if first else colour, "linewidth": 1.2 if first else 0.7}
        [drawn] = axes.step(times, counts, where="post", zorder=3 if first else 2, **look)
        mark(drawn, f"rank {one.rank}, thread {one.thread}: {len(one.at_s)} messages")
    axes.set_xlabel(f"time since the first rank started ({unit})")
