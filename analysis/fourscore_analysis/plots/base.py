"""What a plot is: all that a module in this folder has to know. `shared` holds what several plots have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.figure import Figure

from fourscore_analysis.views.view import Facet, View

__all__ = ["Facet", "Plot", "View"]


@dataclass(frozen=True)
class Plot:
    """`pages` says what each page shows (nothing: the campaign has no such data) and is cheap; `draw` makes one page,
    in any process. Neither writes a file."""

    name: str  # of its files
    title: str
    caption: str  # how to read it
    order: int
    pages: Callable[[View], Sequence[Any]]
    draw: Callable[[View, Any, str], Figure]  # view, page, heading
