#!/usr/bin/env python3
"""How long `fourscore fit` takes on an archive of many made-up records.

Usage: fit_speed.py [--records N] [--fourscore PROGRAM] [--repetitions N] [--json]

Five launches of methods with 20 sizes on 1 to 512 ranks each. Prints the time with its target, which holds for 10,000
records on two cores that do nothing else. Exit code 1 when the median misses its target, 3 when the command fails. No
test does this: what a test asserts must hold on a busy machine.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from timing import options_of, spent_on, tell, told  # isort: split

from synthetic import METHODS, Maker, make_point, store  # timing says where it is

TARGET_S = 10.0
EXTENTS = (16, 20, 24, 28, 32, 36, 40, 48, 56, 64, 72, 80, 96, 112, 128, 144, 160, 192, 224, 256)
RANKS = (1, 2, 4, 8, 16)


def points() -> Iterator[dict]:
    for precision in ("double", "single"):
        for variant, exchange in METHODS:
            for extent in EXTENTS:
                for ranks in RANKS:
                    yield make_point(variant, exchange, (extent,) * 3, ranks, precision=precision)


def make_archive(archive: Path, records: int) -> None:
    """A launch of each point, then another of each."""
    maker, made = Maker("sizes-55555555", "sizes", repetitions=3, isolate=False), list(points())
    for number in range(records):
        store(archive, maker.ok(made[number % len(made)], number // len(made)))


def main() -> int:
    options = options_of(__doc__, {"records": (10000, 1)})
    with tempfile.TemporaryDirectory() as folder:
        archive = Path(folder) / "archive"
        make_archive(archive, options.records)
        command = [options.fourscore, "fit", "--archive", archive, "--json"]
        spent = [spent_on(*command) for _ in range(options.repetitions)]
    return tell({"records": options.records}, {"fit": TARGET_S}, options.json, **told({"fit": spent}))


if __name__ == "__main__":
    sys.exit(main())
