#!/usr/bin/env python3
"""How long `fourscore reindex`, `status` and `report` take on an archive of many made-up records.

Usage: archive_speed.py [--records N] [--fourscore PROGRAM] [--repetitions N] [--json]

Prints each time with its target, which holds for 10,000 records on two cores that do nothing else. Exit code 1 when a
median misses its target, 3 when a command fails. No test does this: what a test asserts must hold on a busy machine.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from timing import Spent, options_of, spent_on, tell, told  # isort: split

from synthetic import Maker, many_points, store  # timing says where it is

TARGETS_S = {"reindex": 5.0, "status": 1.0, "status without index": 5.0, "report": 5.0}


def make_archive(archive: Path, records: int) -> None:
    """Three launches of each point of one campaign, as a large campaign leaves them."""
    launches = 3
    maker, points = Maker("many-55555555", "many"), list(many_points(-(-records // launches)))
    for number in range(records):
        store(archive, maker.ok(points[number % len(points)], number // len(points)))


def spent_by(program: str, archive: Path, *arguments: str, keep_index: bool = True) -> Spent:
    if not keep_index:
        (archive / "index.sqlite").unlink()
    return spent_on(program, *arguments, "--archive", archive, "--json")


def main() -> int:
    options = options_of(__doc__, {"records": (10000, 1)})
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
        spent = {
            name: [
                spent_by(options.fourscore, archive, *command, keep_index=not name.endswith("without index"))
                for _ in range(options.repetitions)
            ]
            for name, command in commands.items()
        }
    return tell({"records": options.records, "mebibytes": round(mebibytes)}, TARGETS_S, options.json, **told(spent))


if __name__ == "__main__":
    sys.exit(main())
