"""What a plot is: all that a module in this folder has to know. `shared` holds what several plots have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.artist import Artist
from matplotlib.figure import Figure

from fourscore_analysis.records.values import plain_name, printable
from fourscore_analysis.views.view import Facet, View

__all__ = ["MARK", "NEXT_LINE", "NEXT_TEXT", "Facet", "Plot", "View", "mark"]

MARK = "fourscore-mark:"  # begins the name of a group of an SVG that says something
NEXT_TEXT, NEXT_LINE = "\ue000", "\ue001"  # never in a text: printable() takes them out


@dataclass(frozen=True)
class Plot:
    """`pages` says what each page shows (nothing: the campaign has no such data) and is cheap; `draw` makes one page,
    in any process. Neither writes a file."""

    name: str  # stem of its files
    title: str
    caption: str  # how to read it
    order: int
    pages: Callable[[View], Sequence[Any]]
    draw: Callable[[View, Any, str], Figure]  # view, page, heading

    def __post_init__(self) -> None:
        plain_name(self.name)


def mark(artist: Artist, *texts: str) -> None:
    """What a mouse or a finger over `artist` shows: one text for all of it, or one for each marker of a line. The page
    makes titles of them; other formats lack them."""
    lines = (NEXT_LINE.join(printable(line) for line in text.split("\n")) for text in texts)
    artist.set_gid(MARK + NEXT_TEXT.join(lines))
