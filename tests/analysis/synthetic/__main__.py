"""Writes an archive to look at: the example, or a campaign of so many records."""

import argparse
from pathlib import Path

from synthetic import Maker, example_archive, many_points, store

parser = argparse.ArgumentParser(prog="synthetic", description=__doc__)
parser.add_argument("target", type=Path, help="folder of the archive")
parser.add_argument("records", type=int, nargs="?", help="of one campaign; without it: the example")
options = parser.parse_args()
target, total = options.target, options.records
if total is not None:
    launches = 3
    points = list(many_points(-(-total // launches)))
    maker = Maker("many-55555555", "many", seed=5)
    for number in range(total):
        store(target, maker.ok(points[number % len(points)], number // len(points)))
else:
    example_archive(target)
