#!/usr/bin/env python3
"""How long `fourscore reindex`, `status` and `report` take on an archive of many made-up records.

Usage: archive_speed.py [--records N] [--fourscore PROGRAM] [--repetitions N] [--json]

Prints each time with its target, which holds for 10,000 records on two cores that do nothing else. Exit code 1 when a
median misses its target, 3 when a command fails. No test does this: what a test asserts must hold on a busy machine.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tests" / "analysis"))
from synthetic import Maker, many_points, store  # noqa: E402

TARGETS_S = {"reindex": 5.0, "status": 1.0, "status without index": 5.0, "report": 5.0}


def make_archive(archive: Path, records: int) -> None:
    """Three launches of each point of one campaign, as a large campaign leaves them."""
    launches = 3
    maker, points = Maker("many-55555555", "many"), list(many_points(-(-records // launches)))
    for number in range(records):
        store(archive, maker.ok(points[number % len(points)], number // len(points)))


def processor_s() -> float:
    """What all programs took that this one started and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def seconds_of(program: str, archive: Path, *arguments: str, keep_index: bool = True) -> tuple[float, float]:
    """What it took by the clock, and of all processors."""
    if not keep_index:
        (archive / "index.sqlite").unlink()
    begin, before = time.monotonic(), processor_s()
    run = subprocess.run([program, *arguments, "--archive", archive, "--json"], capture_output=True, text=True, check=False)
    seconds = time.monotonic() - begin, processor_s() - before
    if run.returncode != 0:
        print(f"archive_speed: {program} {arguments[0]} ended with {run.returncode}:\n{run.stderr}", file=sys.stderr)
        sys.exit(3)
    return seconds


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=10000, help="how many (default: 10000, for which the targets are)")
    default = str(ROOT / "build/release/bin/fourscore")
    parser.add_argument("--fourscore", default=default, metavar="PROGRAM", help=f"(default: {default})")
    parser.add_argument("--repetitions", type=int, default=3, help="of each command (default: 3)")
    parser.add_argument("--json", action="store_true", help="print the times as JSON")
    options = parser.parse_args()
    if options.records < 1 or options.repetitions < 1:
        parser.error("--records and --repetitions must be 1 or more")
    with tempfile.TemporaryDirectory() as folder:
        archive = Path(folder) / "archive"
        make_archive(archive, options.records)
        mebibytes = sum(file.stat().st_size for file in archive.rglob("*.json")) / 2**20
        time.sleep(1)  # records that have just been written are read again, index or not
        commands = {
            "reindex": ("reindex",),
            "status": ("status",),
            "status without index": ("status",),
            "report": ("report", "-o", str(Path(folder) / "report.html")),
        }
        spent_s = {
            name: [
                seconds_of(options.fourscore, archive, *command, keep_index=not name.endswith("without index"))
                for _ in range(options.repetitions)
            ]
            for name, command in commands.items()
        }
    load = os.getloadavg()[0]
    times_s = {name: [one[0] for one in found] for name, found in spent_s.items()}
    processors_s = {name: [one[1] for one in found] for name, found in spent_s.items()}
    medians = {name: statistics.median(times) for name, times in times_s.items()}
    if options.json:
        found = {"times_s": times_s, "processor_s": processors_s, "targets_s": TARGETS_S}
        print(json.dumps({"records": options.records, "mebibytes": mebibytes} | found))
    else:
        print(f"{options.records} records, {mebibytes:.0f} MiB; load of the last minute {load:.1f}")
        for name, times in times_s.items():
            shown = ", ".join(f"{value:.2f}" for value in times)
            used_s = statistics.median(processors_s[name])
            target = f"target {TARGETS_S[name]:.0f} s; {used_s:.2f} s of processors"
            print(f"fourscore {name:20} median {medians[name]:.2f} s ({shown}), {target}")
    return int(any(medians[name] > TARGETS_S[name] for name in medians))


if __name__ == "__main__":
    sys.exit(main())
