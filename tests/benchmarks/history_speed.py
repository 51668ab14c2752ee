#!/usr/bin/env python3
"""How long `fourscore history` takes on an archive of many made-up records, with the index and without.

Usage: history_speed.py [--series N] [--builds N] [--fourscore PROGRAM] [--repetitions N] [--json]

Prints each time with its target, which holds for 100,000 records on two cores that do nothing else: one launch of each
of 1,000 points with each of 100 builds. One series in ten has a step of 10 % in it. Exit code 1 when a median misses
its target or fewer than 95 % of the steps are found, 3 when a command fails. No test does this: what a test asserts
must hold on a busy machine.
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
from collections.abc import Iterator
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tests" / "analysis"))
from synthetic import canonical, digest, make_point  # noqa: E402
from synthetic.histories import HistoryMaker, revision_of  # noqa: E402

TARGET_S = 20.0
STEP, NOISE = 1.1, 0.02
EVERY = 10  # one in so many series has a step
LEAST_FOUND = 0.95


def points(count: int) -> Iterator[dict]:
    for number in range(count):
        yield make_point("pencil", "alltoallv", (8 + number, 8, 8), 1)


def make_archive(archive: Path, series: int, builds: int) -> None:
    """One record is made as programs write them; the others are it, with other values in its place."""
    maker = HistoryMaker(archive)
    pattern = json.loads(maker.launch(make_point("pencil", "alltoallv", (7, 8, 8), 1), 0, 0, 1.0).read_text())
    next(archive.glob("records/*/*.json")).unlink()
    generator = np.random.default_rng(1)
    for number, point in enumerate(points(series)):
        pattern["point"], pattern["point_id"] = point, digest(point)
        for build, noise in enumerate(generator.normal(0, NOISE, builds)):
            seconds = float(np.exp(noise)) * (STEP if number % EVERY == 0 and 2 * build >= builds else 1.0)
            samples, provenance = pattern["samples"], pattern["provenance"]
            samples["time_s"] = [seconds] * 3
            samples["rank_total_s"] = samples["rank_phase_s"]["fft"] = [samples["time_s"]]
            code = provenance["identity"]["code"]
            code["revision"] = revision_of(build)
            provenance["code_hash"] = digest(code)
            provenance["identity_hash"] = digest(provenance["identity"])
            provenance["volatile"]["started_at"] = f"2026-01-01T{build // 60:02}:{build % 60:02}:00.000Z"
            pattern["record_id"] = f"{number * builds + build:032x}"
            pattern["campaign"]["id"] = f"nightly-{build:08x}"
            folder = archive / "records" / f"nightly-{build:08x}"
            folder.mkdir(exist_ok=True)
            (folder / f"{pattern['point_id']}-000.json").write_text(canonical(pattern))


def timed(program: str, archive: Path, series: int, keep_index: bool) -> tuple[float, float]:
    """Wall time and processor time, seconds."""
    if not keep_index:
        (archive / "index.sqlite").unlink(missing_ok=True)
    files = [archive.parent / "history.html", archive.parent / "history.json"]
    begin, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [program, "history", "--archive", archive, "-o", files[0], "--json", files[1]]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    seconds, after = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    if run.returncode != 0:
        print(f"history_speed: {program} history ended with {run.returncode}:\n{run.stderr}", file=sys.stderr)
        sys.exit(3)
    found = json.loads(files[1].read_text())
    if len(found["series"]) != series or found["slowdowns"] < LEAST_FOUND * -(-series // EVERY):
        print(f"history_speed: {len(found['series'])} series, {found['slowdowns']} slowdowns", file=sys.stderr)
        sys.exit(1)
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--series", type=int, default=1000, help="how many (default: 1000, for which the target is)")
    parser.add_argument("--builds", type=int, default=100, help="how many (default: 100, for which the target is)")
    default = str(ROOT / "build/release/bin/fourscore")
    parser.add_argument("--fourscore", default=default, metavar="PROGRAM", help=f"(default: {default})")
    parser.add_argument("--repetitions", type=int, default=3, help="of each (default: 3)")
    parser.add_argument("--json", action="store_true", help="print the times as JSON")
    options = parser.parse_args()
    if options.series < 1 or options.builds < 20 or options.repetitions < 1:
        parser.error("--series and --repetitions must be 1 or more, --builds 20 or more")
    with tempfile.TemporaryDirectory() as folder:
        archive = Path(folder) / "archive"
        make_archive(archive, options.series, options.builds)
        time.sleep(1)  # records that have just been written are read again, index or not
        measured = {
            name: [timed(options.fourscore, archive, options.series, keep) for _ in range(options.repetitions)]
            for name, keep in (("without index", False), ("with index", True))
        }
    times_s = {name: [wall for wall, _ in of] for name, of in measured.items()}
    processor_s = {name: statistics.median(busy for _, busy in of) for name, of in measured.items()}
    medians = {name: statistics.median(times) for name, times in times_s.items()}
    records = options.series * options.builds
    if options.json:
        print(json.dumps({"records": records, "times_s": times_s, "processor_s": processor_s, "target_s": TARGET_S}))
    else:
        print(f"{records} records; load of the last minute {os.getloadavg()[0]:.1f}")
        for name, times in times_s.items():
            shown = ", ".join(f"{value:.2f}" for value in times)
            print(f"fourscore history {name:14} median {medians[name]:.2f} s ({shown}), of processors {processor_s[name]:.2f} s; target {TARGET_S:.0f} s")
    return int(max(medians.values()) > TARGET_S)


if __name__ == "__main__":
    sys.exit(main())
