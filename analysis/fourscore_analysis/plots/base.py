"""What a plot is: all that a module in this folder has to know. `shared` holds what several plots have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.artist import Artist
from matplotlib.figure import Figure

from fourscore_analysis.records.papers import sources
from fourscore_analysis.records.values import plain_name, printable
from fourscore_analysis.views.view import Facet, View

__all__ = ["AS_DRAWN", "MARK", "NEXT_LINE", "NEXT_TEXT", "Beside", "Facet", "Plot", "View", "beside", "mark"]

MARK = "fourscore-mark:"  # begins the name of a group of an SVG that says something
AS_DRAWN = "as-drawn"  # the name of a group of an SVG whose colours stay on a dark page, as letters on a shade
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


@dataclass(frozen=True)
class Beside:
    """What a paper sets beside plots that are not its own. `captions`: a sentence for a plot, by its name. `curves`:
    times that it prints against what stands on the axis of a sweep (shared/sweeps.py), by the axis' label."""

    captions: Mapping[str, str]
    curves: Callable[[str], Sequence[Any]] = lambda axis: ()


def beside() -> list[Beside]:
    return [module.BESIDE for one in sources().values() if (module := one.part("beside"))]


def mark(artist: Artist, *texts: str) -> None:
    """What a mouse or a finger over `artist` shows: one text for all of it, or one for each marker of a line. The page
    makes titles of them; other formats lack them."""
    lines = (NEXT_LINE.join(printable(line) for line in text.split("\n")) for text in texts)
    artist.set_gid(MARK + NEXT_TEXT.join(lines))
