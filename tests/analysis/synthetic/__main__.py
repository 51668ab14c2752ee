"""Writes an archive to look at: the example, or a campaign of so many records."""

import sys
from pathlib import Path

from synthetic import Maker, example_archive, many_points, store

target = Path(sys.argv[1])
if len(sys.argv) > 2:
    total = int(sys.argv[2])
    launches = 3
    points = list(many_points(-(-total // launches)))
    maker = Maker("many-55555555", "many", seed=5)
    for number in range(total):
        store(target, maker.ok(points[number % len(points)], number // len(points)))
else:
    example_archive(target)
