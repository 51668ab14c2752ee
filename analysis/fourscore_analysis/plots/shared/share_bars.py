"""Rows of shares of a time, 0 to 100 %, published ones dotted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes

from fourscore_analysis.plots.base import mark
from fourscore_analysis.plots.shared import layout
from fourscore_analysis.points.units import percent_text

LEAST_NAMED = 0.06  # a smaller share has no room for its number


def draw_share_bar(
    axes: Axes,
    row: int,
    shares: Mapping[str, float],
    said: Mapping[str, str],
    colours: Mapping[str, str],
    is_published: bool,
) -> None:
    """`shares` of 1, from left to right; `said` of each part is what it tells when pointed at."""
    left = 0.0
    look = {"hatch": "....", "edgecolor": "white"} if is_published else {}
    for part, share in shares.items():
        [drawn] = axes.barh(
            [row], [100 * share], left=100 * left, height=0.78, color=colours[part], linewidth=0, **look
        )
        mark(drawn, f"{part}: {percent_text(share)}\n{said[part]}")
        if share > LEAST_NAMED:
            where = (100 * (left + share / 2), row)
            patch = {"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none"}
            axes.annotate(percent_text(share), where, ha="center", va="center", fontsize=6.5, bbox=patch)
        left += share


def label_share_bars(axes: Axes, labels: Sequence[str]) -> None:
    layout.row_axis(axes, list(labels), range(len(labels)), (-0.6, len(labels) - 0.4))
    axes.set_xlim(0, 100)
    axes.set_xlabel("share of the time (%)")
