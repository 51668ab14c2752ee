"""What a page narrower than usual takes beyond its layout: numbers at ticks are thinned out, and words that would leave
their place are moved or made smaller."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

from fourscore_analysis.plots.shared.layout import WIDTH_IN, width_in

SMALLEST_POINTS = 5.0
GAP_PT = 3.0  # between labels of ticks


def fit(figure: Figure) -> Figure:
    """The same figure. Nothing is done at the usual width, where all has room."""
    if width_in() >= WIDTH_IN:
        return figure
    figure.draw_without_rendering()
    for axes, low, high in _places(figure):
        _fit_ticks(axes)
        _shrink(axes.xaxis.label, high - low)
        _move_between(axes, low, high)
        for text in axes.texts:
            _shrink(text, high - text.get_window_extent().x0)
    return figure


def _places(figure: Figure) -> Iterator[tuple[Axes, float, float]]:
    """Each axes with the left and right end of its place in pixels: those of the page, or half way to its neighbour."""
    rows: dict[int, list[Axes]] = {}
    for axes in figure.axes:
        rows.setdefault(round(axes.bbox.y0), []).append(axes)
    for row in rows.values():
        row.sort(key=lambda axes: axes.bbox.x0)
        middles = [(left.bbox.x1 + right.bbox.x0) / 2 for left, right in pairwise(row)]
        yield from zip(row, [0.0, *middles], [*middles, figure.bbox.x1], strict=True)


def _fit_ticks(axes: Axes) -> None:
    """Every so many of numbers are left out, the same everywhere; names are all kept, in smaller letters."""
    labels = [tick.label1 for tick in axes.xaxis.get_major_ticks() if tick.label1.get_text()]
    labels.sort(key=lambda label: label.get_window_extent().x0)
    boxes = [label.get_window_extent() for label in labels]
    gap = GAP_PT * axes.figure.dpi / 72
    steps = [right.x0 - left.x0 for left, right in pairwise(boxes)]
    if not steps or min(steps) <= 0:
        return
    crowded = max((box.width + gap) / step for box, step in zip(boxes, steps, strict=False))
    if crowded <= 1:
        return
    if not any(character.isdigit() for label in labels for character in label.get_text()):
        for label in labels:
            label.set_fontsize(max(SMALLEST_POINTS, label.get_fontsize() / crowded))
        return
    end = float("-inf")
    for label, box in zip(labels, boxes, strict=True):
        label.set_visible(box.x0 >= end)
        end = box.x1 + gap if box.x0 >= end else end


def _shrink(text: Text, room: float) -> None:
    width = text.get_window_extent().width
    if width > room > 0:
        text.set_fontsize(max(SMALLEST_POINTS, text.get_fontsize() * room / width))


def _move_between(axes: Axes, low: float, high: float) -> None:
    """The label of the horizontal axis, which is centred below its axes, as far as its place asks for."""
    label, box = axes.xaxis.label, axes.xaxis.label.get_window_extent()
    shift = max(0.0, low - box.x0) or min(0.0, high - box.x1)
    label.set_x(label.get_position()[0] + shift / axes.bbox.width)
