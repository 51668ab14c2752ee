"""A line of a few millimetres: values in order, the last one marked. Its colours are the text's, so it follows a dark
page."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

WIDTH, HEIGHT, PAD = 140, 28, 4
LEAST_SPAN = 0.1  # as a share: noise of 1 % must not fill the height
MOST_VALUES = 200  # beyond them every k-th is drawn, and the last


def sparkline(values: Sequence[float], title: str) -> Markup:
    """Values are positive."""
    step = -(-len(values) // MOST_VALUES)
    drawn = [*values[:-1][::step], values[-1]]
    low, high = min(drawn), max(drawn)
    span = max(high - low, LEAST_SPAN * high)
    middle = (low + high) / 2

    def place(at: int, value: float) -> tuple[float, float]:
        x = PAD + (WIDTH - 2 * PAD) * at / max(1, len(drawn) - 1)
        return x, HEIGHT / 2 - (HEIGHT - 2 * PAD) * (value - middle) / span

    points = [place(at, value) for at, value in enumerate(drawn)]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    x, y = points[-1]
    return Markup(
        '<svg class="sparkline" viewBox="0 0 {} {}" width="{}" height="{}" role="img" aria-label="{}">'
        '<polyline points="{}" fill="none" stroke="currentColor" stroke-width="1.3"/>'
        '<circle cx="{:.1f}" cy="{:.1f}" r="2.2" fill="currentColor"/></svg>'
    ).format(WIDTH, HEIGHT, WIDTH, HEIGHT, title, line, x, y)
