"""Types of values that options of commands take, and the option that most of them have. A wrong value is told with what
was expected."""

from __future__ import annotations

import argparse
import math
import os
import re
import sys
from pathlib import Path

from fourscore_analysis.records.values import shown

MOST_RANKS = 2**31 - 1
LARGEST_EXTENT = 2**62


def default_archive() -> Path:
    return Path(os.environ.get("FOURSCORE_ARCHIVE") or "fourscore-archive")


def add_archive(command: argparse.ArgumentParser) -> None:
    default = str(default_archive())
    command.add_argument(
        "--archive",
        type=path_of,
        default=default,
        metavar="DIR",
        help=f"the archive (default: $FOURSCORE_ARCHIVE, else ./fourscore-archive; now {default})".replace("%", "%%"),
    )


def shape_of(text: str) -> tuple[int, ...]:
    extents = text.split("x")
    if not (1 <= len(extents) <= 3 and all(re.fullmatch(r"[1-9][0-9]{0,18}", extent) for extent in extents)):
        raise argparse.ArgumentTypeError(f"{shown(text)} is not a shape: 1 to 3 extents from 1 on, as 128x96x100")
    shape = tuple(int(extent) for extent in extents)
    if math.prod(shape) > LARGEST_EXTENT:
        raise argparse.ArgumentTypeError(f"{shown(text)} has more elements than any transform, 2^62")
    return shape


def ranks_of(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and 1 <= int(text[:20]) <= MOST_RANKS):
        raise argparse.ArgumentTypeError(f"{shown(text)} is not a number from 1 to {MOST_RANKS}")
    return int(text)


def path_of(text: str) -> Path:
    if not text or "\0" in text:
        raise argparse.ArgumentTypeError(f"{shown(text)} is not a path")
    return Path(text)


def file_of(text: str) -> Path:
    if not path_of(text).name:
        raise argparse.ArgumentTypeError(f"{shown(text)} is not the name of a file")
    return Path(text)


def write_output(name: str, content: str) -> None:
    """To the file, or to standard output where `name` is "-"."""
    if name == "-":
        sys.stdout.write(content)
    else:
        Path(name).write_text(content, encoding="utf-8")
