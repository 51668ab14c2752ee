"""Text that fits: labels are shortened, titles are broken into lines, nothing is read as markup."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

from fourscore_analysis.records.values import printable

CHARACTER_IN = 0.067  # width of a tick label
LABEL_CHARACTERS = 26
LEGEND_CHARACTERS = 64  # in a label on a line of its own
ROW_CHARACTERS = 72  # in a row in two lines of small letters
SMALLEST_POINTS = 6.2


def label_width_in(labels: Iterable[str]) -> float:
    """Room for the longest label left of an axis, within reason; see shorten."""
    longest = max((len(label) for label in labels), default=0)
    return 0.14 + CHARACTER_IN * min(longest, LABEL_CHARACTERS)


def shorten(label: str, characters: int = LABEL_CHARACTERS) -> str:
    """`label` with its middle left out where it is too long for an axis; nothing in it is read as markup."""
    label = printable(label)
    if len(label) > characters:
        head = characters // 2
        label = f"{label[:head]}…{label[head + 1 - characters :]}"
    return label.replace("$", r"\$")


def text_width_in(text: str, points: float, bold: bool = False) -> float:
    """The width of a line of text in the plots' own font."""
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


def row_label(label: str) -> str:
    """One line, or two of smaller letters where it is long."""
    if len(label) <= LABEL_CHARACTERS:
        return shorten(label)
    text, a_line = shorten(label, ROW_CHARACTERS), ROW_CHARACTERS // 2
    lines = textwrap.wrap(text, a_line)
    return "\n".join(lines if len(lines) < 3 else [text[:a_line], text[a_line:]])
