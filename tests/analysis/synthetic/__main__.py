"""Writes an archive to look at: the example, or a campaign of so many records."""

import argparse
from pathlib import Path

from synthetic import Maker, elsewhere, example_archive, many_points, store

parser = argparse.ArgumentParser(prog="synthetic", description=__doc__)
parser.add_argument("target", type=Path, help="folder of the archive")
parser.add_argument("records", type=int, nargs="?", help="of one campaign; without it: the example")
parser.add_argument("--launches", type=int, default=3, help="of each point of that campaign (default: 3)")
parser.add_argument("--processor", help="of the machine of that campaign")
parser.add_argument("--scale", type=float, default=1.0, help="its times, over those of the usual machine")
options = parser.parse_args()
target, total = options.target, options.records
if total is not None:
    points = list(many_points(-(-total // options.launches)))
    machine = {"cpu_model": options.processor} if options.processor else {}
    maker = Maker("many-55555555", "many", seed=5 + len(options.processor or ""))
    for number in range(total):
        record = maker.ok(points[number % len(points)], number // len(points), options.scale)
        store(target, elsewhere(record, machine) if machine else record)
else:
    example_archive(target)
