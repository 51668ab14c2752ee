"""The launches that suites/README.md names are those that the command would make."""

from __future__ import annotations

import json
import os
import pathlib
import re

import pytest
from fourscore_command import REAL

ROOT = pathlib.Path(__file__).parents[2]
README = ROOT / "suites" / "README.md"
# Libraries that not every build has: the table counts them in the suites that are about them alone.
REFERENCES = set(
    re.findall(r"^fourscore_reference\((\S+)", (ROOT / "cmake/FourscoreReferences.cmake").read_text(), re.MULTILINE)
)
ABOUT_THEM = {"references", "fastest", "local-libraries"}


def table() -> dict[str, int]:
    rows = re.findall(r"^\| `([\w./-]+)` \| .* \| (\d+)(?:, [\w ]+)? \|$", README.read_text(), re.MULTILINE)
    return {name: int(launches) for name, launches in rows}


def test_every_shipped_suite_stands_in_the_table(fourscore):
    shipped = fourscore.json("list", "suites", environment=REAL)
    assert set(table()) == {suite["name"] for suite in shipped}


def launches_of_a_point(suite: str) -> int:
    text = (README.parent / f"{suite}.toml").read_text()
    return int(re.search(r"^launches = (\d+)", text, re.MULTILINE)[1])


def counts(suite: str, point: dict) -> bool:
    return suite in ABOUT_THEM or point.get("variant") not in REFERENCES


@pytest.mark.parametrize(("suite", "launches"), table().items())
def test_a_suite_makes_the_launches_that_its_table_says(fourscore, suite, launches):
    cores = sorted(os.sched_getaffinity(0))[:2]
    if len(cores) < 2:
        pytest.skip("the table is that of 2 cores")
    fourscore.skip_unless_counted(*fourscore.counters_of(suite))
    planned = fourscore(
        "run", suite, "--dry-run", "--json", environment=REAL, preexec_fn=lambda: os.sched_setaffinity(0, cores)
    )
    plan = json.loads(planned.stdout)
    counted = [launch for launch in plan["launches"] if counts(suite, launch["point"])]
    uncounted = [
        skipped
        for skipped in plan["skipped"]
        if counts(suite, skipped["point"]) and re.search("are not available here|cannot run here", skipped["reason"])
    ]
    assert len(counted) + launches_of_a_point(suite) * len(uncounted) == launches
