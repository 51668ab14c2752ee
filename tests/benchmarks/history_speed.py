#!/usr/bin/env python3
"""How long `fourscore history` takes on an archive of many made-up records, with the index and without.

Usage: history_speed.py [--series N] [--builds N] [--fourscore PROGRAM] [--repetitions N] [--json]

Prints each time with its target, which holds for 100,000 records on two cores that do nothing else: one launch of each
of 1,000 points with each of 100 builds. One series in ten has a step of 10 % in it. Exit code 1 when a median misses
its target or fewer than 95 % of the steps are found, 3 when a command fails. No test does this: what a test asserts
must hold on a busy machine.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from timing import Spent, options_of, spent_on, tell, told  # isort: split

from synthetic import canonical, digest, make_point  # timing says where it is
from synthetic.histories import HistoryMaker, revision_of

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


def timed(program: str, archive: Path, series: int, keep_index: bool) -> Spent:
    if not keep_index:
        (archive / "index.sqlite").unlink(missing_ok=True)
    files = [archive.parent / "history.html", archive.parent / "history.json"]
    spent = spent_on(program, "history", "--archive", archive, "-o", files[0], "--json", files[1])
    found = json.loads(files[1].read_text())
    if len(found["series"]) != series or found["slowdowns"] < LEAST_FOUND * -(-series // EVERY):
        print(f"history_speed: {len(found['series'])} series, {found['slowdowns']} slowdowns", file=sys.stderr)
        sys.exit(1)
    return spent


def main() -> int:
    options = options_of(__doc__, {"series": (1000, 1), "builds": (100, 20)})
    with tempfile.TemporaryDirectory() as folder:
        archive = Path(folder) / "archive"
        make_archive(archive, options.series, options.builds)
        time.sleep(1)  # records that have just been written are read again, index or not
        spent = {
            name: [timed(options.fourscore, archive, options.series, keep) for _ in range(options.repetitions)]
            for name, keep in (("without index", False), ("with index", True))
        }
    facts = {"records": options.series * options.builds}
    return tell(facts, dict.fromkeys(spent, TARGET_S), options.json, **told(spent))


if __name__ == "__main__":
    sys.exit(main())
