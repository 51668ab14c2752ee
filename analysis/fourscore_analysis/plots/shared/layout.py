"""Where axes stand on a page, in inches so that labels cannot overlap at any number of rows, with titles and legends.

Pages are narrow and tall: at the width of a phone the text of a page 4.8 inches wide can be read. For a paper they are
laid out anew, as wide as its column, with letters of the same size."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from fourscore_analysis.plots.shared.colours import INK, SOFT
from fourscore_analysis.plots.shared.lettering import LABEL_CHARACTERS, fitted, row_label, text_width_in
from fourscore_analysis.plots.shared.style import RC
from fourscore_analysis.records.values import InputError, printable, shown

WIDTH_IN = 4.8
COLUMN_IN = 3.4  # a page in two columns, as journals have it
LEAST_WIDTH_IN, MOST_WIDTH_IN = 3.0, 12.0
_INCHES = {"in": 1.0, "cm": 1 / 2.54, "mm": 1 / 25.4}
_width_in: ContextVar[float] = ContextVar("width_in", default=WIDTH_IN)
MAX_HEIGHT_IN = 9.6
TOP_IN = 0.62  # heading and legend
TITLE_IN = 0.28  # a facet's title, above its axes
AXIS_IN = 0.46  # a facet's ticks and axis label, below its axes
RIGHT_IN = 0.14
NOTE_POINTS = 6.6
Legend = tuple[Sequence[Artist], int]  # its handles, and in how many columns they stand at most


def width_of(text: str) -> float:
    """Inches of 3.4in, 86mm, 8.6cm or "column". Raises InputError."""
    match = re.fullmatch(r"([0-9]{1,4}(?:\.[0-9]{1,4})?)(in|cm|mm)", text)
    width_in = COLUMN_IN if text == "column" else float(match[1]) * _INCHES[match[2]] if match else 0.0
    if not LEAST_WIDTH_IN <= width_in <= MOST_WIDTH_IN:
        raise InputError(
            f"{shown(text)} is not the width of a figure; expected column ({COLUMN_IN}in), or "
            f"{LEAST_WIDTH_IN:g}in to {MOST_WIDTH_IN:g}in, as 3.4in, 86mm or 8.6cm"
        )
    return width_in


def width_in() -> float:
    """The width of the pages that are drawn now."""
    return _width_in.get()


@contextmanager
def pages_of(width_in: float) -> Iterator[None]:
    """Pages that are drawn within have this width."""
    token = _width_in.set(width_in)
    try:
        yield
    finally:
        _width_in.reset(token)


def stacked_axes(
    heading: str,
    heights_in: Sequence[float],
    left_in: float,
    right_in: float = RIGHT_IN,
    top_in: float = TOP_IN,
    legend: Legend | None = None,
    note: str = "",
) -> tuple[Figure, list[Axes]]:
    """A page with one axes below the other, each `heights_in` high between its title and its axis label. A legend has
    its room in the place of `top_in`; `note` stands at the bottom in small letters."""
    columns = [(left_in, width_in() - left_in - right_in)]
    figure, rows = _axes_grid(heading, heights_in, columns, legend, note, top_in)
    return figure, [axes for [axes] in rows]


def paired_axes(
    heading: str, rows: int, height_in: float = 1.75, legend: Legend | None = None, note: str = ""
) -> tuple[Figure, list[tuple[Axes, ...]]]:
    """A page with `rows` rows of two axes side by side, and `note` below them in small letters."""
    return _axes_grid(heading, [height_in] * rows, _halves(0.56, gap_in=0.58), legend, note)


def row_pairs(
    heading: str, heights_in: Sequence[float], left_in: float, legend: Legend | None = None
) -> tuple[Figure, list[tuple[Axes, ...]]]:
    """Rows of two axes side by side, which share the rows' labels at the left."""
    return _axes_grid(heading, heights_in, _halves(left_in, gap_in=0.16), legend)


def _halves(left_in: float, gap_in: float) -> list[tuple[float, float]]:
    """Left edge and width of two axes that share the page to the right of `left_in`."""
    width = (width_in() - left_in - gap_in - RIGHT_IN) / 2
    return [(left_in, width), (left_in + width + gap_in, width)]


def _axes_grid(
    heading: str,
    heights_in: Sequence[float],
    columns: Sequence[tuple[float, float]],
    legend: Legend | None,
    note: str = "",
    top_in: float = TOP_IN,
) -> tuple[Figure, list[tuple[Axes, ...]]]:
    """Rows of axes, a column for each left edge and width; the page is as high as the rows, the heading and the note
    take."""
    page_in = width_in()
    lines, points = fitted(heading, page_in - 0.2, 9)
    top_in = legend_room_in(*legend) if legend else top_in
    top_in += _extra_in(len(lines) if heading else 0, points)
    said, small = fitted(note, page_in - 0.2, NOTE_POINTS) if note else ([], 0.0)
    note_in = 0.08 + len(said) * small * 1.2 / 72 if note else 0.0
    height = top_in + sum(TITLE_IN + one + AXIS_IN for one in heights_in) + note_in
    figure = Figure(figsize=(page_in, height), facecolor="white")
    FigureCanvasAgg(figure)
    place = (0.1 / page_in, 1 - 0.1 / height)
    figure.text(*place, "\n".join(lines), va="top", ha="left", fontsize=points, color=INK, linespacing=1.15)
    if note:
        bottom = (0.1 / page_in, 0.05 / height)
        figure.text(*bottom, "\n".join(said), va="bottom", ha="left", fontsize=small, color=SOFT, linespacing=1.15)
    rows, top = [], height - top_in
    for one in heights_in:
        bottom = top - TITLE_IN - one
        rows.append(
            tuple(
                figure.add_axes((left / page_in, bottom / height, width / page_in, one / height))
                for left, width in columns
            )
        )
        top = bottom - AXIS_IN
    if legend:
        page_legend(figure, *legend)
    return figure, rows


def _extra_in(lines: int, points: float) -> float:
    """Height that a heading of several lines takes beyond that of one; negative for none."""
    return (lines - 1) * points * 1.2 / 72


def page_legend(figure: Figure, handles: Sequence, columns: int, below_in: float = 0.24) -> None:
    """A legend under the heading, of `columns` columns or as many as its labels have room for."""
    height, heading = figure.get_figheight(), figure.texts[0]
    below_in += _extra_in(len(heading.get_text().splitlines()), heading.get_fontsize())
    figure.legend(
        handles=handles,
        loc="upper left",
        bbox_to_anchor=(0.02, 1 - below_in / height),
        ncols=_fitting(handles, columns),
        borderaxespad=0,
    )


def legend_room_in(handles: Sequence, columns: int) -> float:
    """Height of heading and legend together. `handles` are those of the legend, or their labels."""
    return 0.3 + 0.165 * -(-len(handles) // _fitting(handles, columns)) + 0.1


def _fitting(handles: Sequence, columns: int) -> int:
    labels = [one if isinstance(one, str) else one.get_label() for one in handles]
    widest_in = max((text_width_in(label, RC["legend.fontsize"]) for label in labels), default=0) + 0.36
    return max(1, min(columns, int((width_in() - 0.1) / widest_in)))


def paginate(heights_in: Sequence[float], top_in: float = TOP_IN) -> list[range]:
    """Which facets, of the given heights, go on which page."""
    pages, start, used = [], 0, top_in
    for index, height in enumerate(heights_in):
        needed = TITLE_IN + height + AXIS_IN
        if index > start and used + needed > MAX_HEIGHT_IN:
            pages.append(range(start, index))
            start, used = index, top_in
        used += needed
    if heights_in:
        pages.append(range(start, len(heights_in)))
    return pages


def facet_title(axes: Axes, title: str, subtitle: str = "") -> None:
    """A title above `axes`, from the left edge of the page; `subtitle` at the right in smaller letters, or below the
    title where they do not fit side by side."""
    figure = axes.figure
    page_in, room_in = figure.get_figheight(), width_in() - 0.1 - RIGHT_IN
    height, line = axes.get_position().y1 + 4 / 72 / page_in, 8.5 / 72 / page_in
    left, right = 0.1 / width_in(), 1 - RIGHT_IN / width_in()
    beside = text_width_in(title, 8.5, bold=True) + text_width_in(subtitle, 7) + 0.15 <= room_in
    if not beside:
        below, points = fitted(subtitle, room_in, 7)
        figure.text(left, height, "\n".join(below), fontsize=points, color=SOFT)
        height += line * len(below) * points / 7.4
    elif subtitle:
        figure.text(right, height, printable(subtitle).replace("$", r"\$"), fontsize=7, color=SOFT, ha="right")
    above, points = fitted(title, room_in, 8.5, bold=True)
    figure.text(left, height, "\n".join(above), fontsize=points, fontweight="bold", color=INK)


def axes_title(axes: Axes, title: str) -> None:
    """A title of one of several axes side by side, in as many lines as it takes."""
    room_in = axes.get_position().width * axes.figure.get_figwidth() + 0.3
    lines, points = fitted(title, room_in, 8, bold=True)
    axes.set_title("\n".join(lines), loc="left", fontsize=points, fontweight="bold", color=INK, pad=3)


def row_axis(axes: Axes, labels: Sequence[str], positions: Sequence[float], limits: tuple[float, float]) -> None:
    """Rows from top to bottom with their labels; long ones in two lines of smaller letters."""
    said = [row_label(label) for label in labels]
    axes.set_yticks(positions, said)
    for label, text in zip(labels, axes.get_yticklabels(), strict=True):
        if len(label) > LABEL_CHARACTERS:
            text.set(fontsize=5.4, linespacing=1.0)
    axes.set_ylim(limits[1], limits[0])
    axes.grid(axis="y", visible=False)
