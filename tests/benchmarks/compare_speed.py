#!/usr/bin/env python3
"""How long `fourscore compare` takes on made-up records of two sides.

Usage: compare_speed.py [--series N] [--pairs N] [--fourscore PROGRAM] [--repetitions N] [--json]

The target, 5 s, holds for 300 series of 20 pairs on two cores that do nothing else. Exit code 1 when the median misses
it, 3 when the command fails. No test does this: what a test asserts must hold on a busy machine.
"""

from __future__ import annotations

import sys
import tempfile
from itertools import islice
from pathlib import Path

from timing import options_of, spent_on, tell, told  # isort: split

from synthetic import Pairs, many_points  # timing says where it is

TARGET_S = 5.0


def main() -> int:
    options = options_of(__doc__, {"series": (300, 1), "pairs": (20, 1)})
    with tempfile.TemporaryDirectory() as folder:
        pairs = Pairs(Path(folder) / "archive")
        for point in islice(many_points(options.series), options.series):
            pairs.add(point, range(options.pairs))
        command = [options.fourscore, "compare", "--comparison", pairs.comparison(options.pairs)]
        command += ["--archive", pairs.archive, "--json", Path(folder) / "found.json"]
        spent = [spent_on(*command, says=(0, 1)) for _ in range(options.repetitions)]
    facts = {"series": options.series, "pairs": options.pairs}
    return tell(facts, {"compare": TARGET_S}, options.json, **told({"compare": spent}))


if __name__ == "__main__":
    sys.exit(main())
