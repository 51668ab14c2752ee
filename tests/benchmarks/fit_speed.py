#!/usr/bin/env python3
"""How long `fourscore fit` takes on an archive of many made-up records.

Usage: fit_speed.py [--records N] [--fourscore PROGRAM] [--repetitions N] [--json]

Five launches of methods with 20 sizes on 1 to 512 ranks each. Prints the time with its target, which holds for 10,000
records on two cores that do nothing else. Exit code 1 when the median misses its target, 3 when the command fails. No
test does this: what a test asserts must hold on a busy machine.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tests" / "analysis"))
from synthetic import METHODS, Maker, make_point, store  # noqa: E402

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
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=10000, help="how many (default: 10000, for which the target is)")
    default = str(ROOT / "build/release/bin/fourscore")
    parser.add_argument("--fourscore", default=default, metavar="PROGRAM", help=f"(default: {default})")
    parser.add_argument("--repetitions", type=int, default=3, help="(default: 3)")
    parser.add_argument("--json", action="store_true", help="print the times as JSON")
    options = parser.parse_args()
    if options.records < 1 or options.repetitions < 1:
        parser.error("--records and --repetitions must be 1 or more")
    with tempfile.TemporaryDirectory() as folder:
        archive = Path(folder) / "archive"
        make_archive(archive, options.records)
        times = []
        for _ in range(options.repetitions):
            begin = time.monotonic()
            run = subprocess.run(
                [options.fourscore, "fit", "--archive", archive, "--json"], capture_output=True, text=True, check=False
            )
            times.append(time.monotonic() - begin)
            if run.returncode != 0:
                print(f"fit_speed: fourscore fit ended with {run.returncode}:\n{run.stderr}", file=sys.stderr)
                return 3
    median = statistics.median(times)
    if options.json:
        print(json.dumps({"records": options.records, "fit_s": times, "target_s": TARGET_S}))
    else:
        print(f"{options.records} records; load of the last minute {os.getloadavg()[0]:.1f}")
        print(f"fourscore fit  median {median:.2f} s ({', '.join(f'{one:.2f}' for one in times)}); target {TARGET_S:.0f} s")
    return 0 if median <= TARGET_S else 1


if __name__ == "__main__":
    sys.exit(main())
