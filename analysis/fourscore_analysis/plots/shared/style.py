"""How every plot looks: colours, fonts, and axes placed in inches so that labels cannot overlap at any number of rows.

Pages are narrow and tall: at the width of a phone the text of a page 4.8 inches wide can be read."""

from __future__ import annotations

import textwrap
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

from fourscore_analysis.points.points import REFERENCE
from fourscore_analysis.records.transforms import Method
from fourscore_analysis.records.values import printable

# Okabe and Ito, Color Universal Design, 2008: told apart with every common colour blindness.
BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
YELLOW, BLUE, VERMILLION, PURPLE = "#F0E442", "#0072B2", "#D55E00", "#CC79A7"
GREY, LIGHT_GREY, INK, SOFT = "#999999", "#DDDDDD", "#222222", "#555555"

PHASE_COLOURS = {
    "fft": BLUE,
    "twiddle": PURPLE,
    "combine": YELLOW,
    "pack": SKY,
    "exchange": VERMILLION,
    "unpack": GREEN,
    "other": GREY,
}
LAUNCH_COLOURS = (BLUE, SKY, GREEN, PURPLE, ORANGE, GREY)

# Beyond those: of Tol, Colour Schemes, SRON 2021, "muted", the ones far from the above.
INDIGO, WINE, OLIVE, BROWN, TEAL = "#332288", "#882255", "#999933", "#661100", "#44AA99"
SERIES_COLOURS = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, INDIGO, WINE, OLIVE, BROWN, TEAL, GREY)

# A name has its colour in every figure of every report. A name that is not here gets one from a hash of it, so that
# it too stays the same.
NAME_COLOURS = {
    REFERENCE: BLACK,
    # variants
    "serial": GREY,
    "slab": BLUE,
    "pencil": VERMILLION,
    "pencil-overlap": WINE,
    "volumetric": GREEN,
    "danielson-lanczos": PURPLE,
    "overdecomposed": ORANGE,
    "node": SKY,
    "transpose": INDIGO,
    "binary-exchange": OLIVE,
    "rods": TEAL,
    "pencil-gpu": BROWN,
    "heffte": TEAL,
    "2decomp": BROWN,
    "accfft": YELLOW,
    # exchanges, and MPI's own calls
    "alltoallv": BLUE,
    "alltoallw": VERMILLION,
    "bruck": GREEN,
    "hierarchical": PURPLE,
    "ialltoallv": ORANGE,
    "ialltoallv-pipelined": BROWN,
    "p2p": OLIVE,
    "p2p-pipelined": WINE,
    "pairwise": TEAL,
    "rma": INDIGO,
    "shared": SKY,
    "mpi-alltoall": GREY,
    "mpi-alltoallv": BLACK,
    "mpi-ialltoall": YELLOW,
    # kernels
    "copy": BLACK,
    "streaming-copy": GREY,
    "naive": VERMILLION,
    "blocked": BLUE,
    "simd": GREEN,
    "simd-streaming": ORANGE,
    "fftw": PURPLE,
    "contiguous": BLUE,
    "middle": VERMILLION,
    "slowest": GREEN,
    "pageable": BLUE,
    "pinned": VERMILLION,
    "managed": GREEN,
}
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*")
NAME_MARKERS = {
    "none": "o",
    "alltoallv": "o",
    "alltoallw": "s",
    "bruck": "^",
    "hierarchical": "D",
    "ialltoallv": "v",
    "ialltoallv-pipelined": "<",
    "p2p": "P",
    "p2p-pipelined": "X",
    "pairwise": ">",
    "rma": "*",
    "shared": "h",
    "mpi-alltoall": "p",
    "mpi-alltoallv": "H",
    "mpi-ialltoall": "d",
    "copy": "o",
    "streaming-copy": "s",
    "naive": "^",
    "blocked": "s",
    "simd": "D",
    "simd-streaming": "v",
    "fftw": "P",
    "contiguous": "o",
    "middle": "s",
    "slowest": "^",
    "pageable": "o",
    "pinned": "s",
    "managed": "^",
}
_LINES = ("-", "--", "-.", ":")

WIDTH_IN = 4.8
MAX_HEIGHT_IN = 9.6
TOP_IN = 0.62  # heading and legend
TITLE_IN = 0.28  # a facet's title, above its axes
AXIS_IN = 0.46  # a facet's ticks and axis label, below its axes
CHARACTER_IN = 0.067  # of a tick label
RIGHT_IN = 0.14

RC = {
    "font.size": 8,
    "axes.labelsize": 8,
    "axes.labelpad": 2,
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": "#E6E6E6",
    "grid.linewidth": 0.6,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.size": 2.5,
    "ytick.major.size": 0,
    "xtick.major.pad": 2,
    "legend.fontsize": 7.5,
    "legend.frameon": False,
    "legend.handlelength": 1.4,
    "legend.columnspacing": 1.1,
    "legend.handletextpad": 0.4,
    "lines.linewidth": 1.2,
    "svg.hashsalt": "fourscore",
    "svg.fonttype": "path",
    "pdf.fonttype": 3,
    "path.simplify": True,
}


def apply() -> None:
    """Sets the style for this process."""
    mpl.rcParams.update(RC)


def phase_colour(phase: str) -> str:
    return PHASE_COLOURS.get(phase, PHASE_COLOURS["other"])


@dataclass(frozen=True)
class LineStyle:
    colour: str
    marker: str
    line: str


def _hashed(name: str, salt: str) -> int:
    """The same in every process and on every machine, as Python's own hash is not."""
    return zlib.crc32(f"{salt}:{name}".encode("utf-8", "surrogatepass"))


def colour_of(name: str) -> str:
    """Of a variant, an exchange, a kernel."""
    return NAME_COLOURS.get(name) or SERIES_COLOURS[_hashed(name, "colour") % len(SERIES_COLOURS)]


def marker_of(name: str) -> str:
    return NAME_MARKERS.get(name) or _MARKERS[_hashed(name, "marker") % len(_MARKERS)]


def method_style(method: Method) -> LineStyle:
    """Colour by variant (the reference is black), marker by exchange, line by its own parameters where it has any."""
    told = ", ".join(part for part in (method.parameters, method.placement) if part)
    line = _LINES[_hashed(told, "line") % len(_LINES)] if told else "-"
    return LineStyle(colour_of(method.variant), marker_of(method.exchange or "none"), line)


def curve_style(label: str) -> LineStyle:
    """Of a component: colour and marker of the first word that has them; the others choose the line, and the marker."""
    words = label.split(" ")
    known = next((word for word in words if word in NAME_COLOURS), label)
    rest = " ".join(word for word in words if word != known)
    if known == label or not rest:
        return LineStyle(colour_of(known), marker_of(known), "-")
    return LineStyle(colour_of(known), marker_of(rest), _LINES[_hashed(rest, "line") % len(_LINES)])


def label_width_in(labels: Iterable[str]) -> float:
    """Room for the longest label left of an axis, within reason; see shorten."""
    longest = max((len(label) for label in labels), default=0)
    return 0.14 + CHARACTER_IN * min(longest, LABEL_CHARACTERS)


LABEL_CHARACTERS = 26
ROW_CHARACTERS = 72  # of a row in two lines of small letters


def shorten(label: str, characters: int = LABEL_CHARACTERS) -> str:
    """`label` with its middle left out where it is too long for an axis; nothing in it is read as markup."""
    label = printable(label)
    if len(label) > characters:
        head = characters // 2
        label = f"{label[:head]}…{label[head + 1 - characters :]}"
    return label.replace("$", r"\$")


def text_width_in(text: str, points: float, bold: bool = False) -> float:
    """Of a line, in the plots' own font."""
    font = FontProperties(size=points, weight="bold" if bold else "normal")
    return text_to_path.get_text_width_height_descent(text.replace(r"\$", "$"), font, ismath=False)[0] / 72


def fitted(text: str, room_in: float, points: float, bold: bool = False) -> tuple[list[str], float]:
    """All of `text`, in lines no wider than `room_in`, and the size of its letters: a title is never cut. One line if
    letters down to SMALLEST_POINTS allow; else more lines of those, which end at spaces where they can."""
    text = printable(text).replace("$", r"\$")
    width = text_width_in(text, points, bold)
    if width <= room_in or points * room_in / width >= SMALLEST_POINTS:
        return [text], min(points, points * room_in / max(width, 1e-9))
    a_line = max(1, int(len(text) * room_in / text_width_in(text, SMALLEST_POINTS, bold) * 0.92))
    return textwrap.wrap(text, a_line) or [text], SMALLEST_POINTS


SMALLEST_POINTS = 6.2


def blank_figure(height_in: float, heading: str, width_in: float = WIDTH_IN) -> Figure:
    """`height_in` without heading_extra_in(heading), by which it is higher."""
    lines, points = fitted(heading, width_in - 0.2, 9)
    height_in += heading_extra_in(heading)
    figure = Figure(figsize=(width_in, height_in), facecolor="white")
    FigureCanvasAgg(figure)
    place = (0.1 / width_in, 1 - 0.1 / height_in)
    figure.text(*place, "\n".join(lines), va="top", ha="left", fontsize=points, color=INK, linespacing=1.15)
    return figure


def heading_extra_in(heading: str) -> float:
    """Height that a heading of several lines takes beyond that of one."""
    lines, points = fitted(heading, WIDTH_IN - 0.2, 9)
    return (len(lines) - 1) * points * 1.2 / 72


def stacked_axes(
    heading: str, heights_in: Sequence[float], left_in: float, right_in: float = RIGHT_IN, top_in: float = TOP_IN
) -> tuple[Figure, list[Axes]]:
    """A page with one axes below the other, each `heights_in` high between its title and its axis label."""
    height = top_in + sum(TITLE_IN + one + AXIS_IN for one in heights_in)
    figure = blank_figure(height, heading)
    top_in, height = top_in + heading_extra_in(heading), figure.get_figheight()
    axes, top = [], height - top_in
    for one in heights_in:
        bottom = top - TITLE_IN - one
        axes.append(
            figure.add_axes(
                (left_in / WIDTH_IN, bottom / height, (WIDTH_IN - left_in - right_in) / WIDTH_IN, one / height)
            )
        )
        top = bottom - AXIS_IN
    return figure, axes


def paired_axes(
    heading: str, rows: int, height_in: float = 1.75, top_in: float = TOP_IN
) -> tuple[Figure, list[tuple[Axes, Axes]]]:
    """A page with `rows` rows of two axes side by side."""
    left, gap = 0.56, 0.58
    width = (WIDTH_IN - left - gap - RIGHT_IN) / 2
    height = top_in + rows * (TITLE_IN + height_in + AXIS_IN)
    figure = blank_figure(height, heading)
    top_in, height = top_in + heading_extra_in(heading), figure.get_figheight()
    pairs, top = [], height - top_in
    for _ in range(rows):
        bottom = top - TITLE_IN - height_in
        pairs.append(
            tuple(
                figure.add_axes((start / WIDTH_IN, bottom / height, width / WIDTH_IN, height_in / height))
                for start in (left, left + width + gap)
            )
        )
        top = bottom - AXIS_IN
    return figure, pairs


def row_pairs(
    heading: str, heights_in: Sequence[float], left_in: float, top_in: float = TOP_IN
) -> tuple[Figure, list[tuple[Axes, Axes]]]:
    """As stacked_axes, but each row of axes has two side by side, which share the rows' labels at the left."""
    figure, wide = stacked_axes(heading, heights_in, left_in, top_in=top_in)
    pairs, gap = [], 0.16 / WIDTH_IN
    for axes in wide:
        bounds = axes.get_position()
        width = (bounds.width - gap) / 2
        axes.set_position((bounds.x0, bounds.y0, width, bounds.height))
        pairs.append((axes, figure.add_axes((bounds.x0 + width + gap, bounds.y0, width, bounds.height))))
    return figure, pairs


def page_legend(figure: Figure, handles: Sequence, columns: int, below_in: float = 0.24) -> None:
    """A legend under the heading, of `columns` columns or as many as its labels have room for."""
    height, heading = figure.get_figheight(), figure.texts[0]
    below_in += heading.get_text().count("\n") * heading.get_fontsize() * 1.2 / 72
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
    return max(1, min(columns, int((WIDTH_IN - 0.1) / widest_in)))


LEGEND_CHARACTERS = 64  # of a label on a line of its own


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
    page_in, room_in = figure.get_figheight(), WIDTH_IN - 0.1 - RIGHT_IN
    height, line = axes.get_position().y1 + 4 / 72 / page_in, 8.5 / 72 / page_in
    left, right = 0.1 / WIDTH_IN, 1 - RIGHT_IN / WIDTH_IN
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
    said = [_row_label(label) for label in labels]
    axes.set_yticks(positions, said)
    for label, text in zip(labels, axes.get_yticklabels(), strict=True):
        if len(label) > LABEL_CHARACTERS:
            text.set(fontsize=5.4, linespacing=1.0)
    axes.set_ylim(limits[1], limits[0])
    axes.grid(axis="y", visible=False)


def _row_label(label: str) -> str:
    if len(label) <= LABEL_CHARACTERS:
        return shorten(label)
    text, a_line = shorten(label, ROW_CHARACTERS), ROW_CHARACTERS // 2
    lines = textwrap.wrap(text, a_line)
    return "\n".join(lines if len(lines) < 3 else [text[:a_line], text[a_line:]])
