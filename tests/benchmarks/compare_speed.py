#!/usr/bin/env python3
"""How long `fourscore compare` takes on made-up records of two sides.

Usage: compare_speed.py [--series N] [--pairs N] [--fourscore PROGRAM] [--repetitions N]

The target, 5 s, holds for 300 series of 20 pairs on two cores that do nothing else. Exit code 1 when the median misses
it, 3 when the command fails. No test does this: what a test asserts must hold on a busy machine.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tests" / "analysis"))
from synthetic import Pairs, many_points  # noqa: E402

TARGET_S = 5.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--series", type=int, default=300)
    parser.add_argument("--pairs", type=int, default=20)
    default = str(ROOT / "build/release/bin/fourscore")
    parser.add_argument("--fourscore", default=default, metavar="PROGRAM", help=f"(default: {default})")
    parser.add_argument("--repetitions", type=int, default=3, help="of the command (default: 3)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        pairs = Pairs(Path(folder) / "archive")
        for point in islice(many_points(options.series), options.series):
            pairs.add(point, range(options.pairs))
        command = [options.fourscore, "compare", "--comparison", pairs.comparison(options.pairs), "--json", os.devnull]
        times_s, processor_s = [], []
        for _ in range(options.repetitions):
            begin, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
            run = subprocess.run([*command, "--archive", pairs.archive], capture_output=True, text=True, check=False)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            times_s.append(time.monotonic() - begin)
            processor_s.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
            if run.returncode not in (0, 1):
                print(f"compare_speed: ended with {run.returncode}:\n{run.stderr}", file=sys.stderr)
                return 3
    median, load = statistics.median(times_s), os.getloadavg()[0]
    print(run.stdout.splitlines()[0])
    print(f"{options.series} series of {options.pairs} pairs; load of the last minute {load:.1f}")
    shown = ", ".join(f"{value:.2f}" for value in times_s)
    print(f"fourscore compare median {median:.2f} s ({shown}), target {TARGET_S:.0f} s")
    print(f"processor time {statistics.median(processor_s):.2f} s, on all cores together")
    return int(median > TARGET_S)


if __name__ == "__main__":
    sys.exit(main())
