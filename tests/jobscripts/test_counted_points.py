"""A suite that counts some of its points: these alone are started under the counters, and skipped where the program
cannot count."""

import json

import pytest

SUITE = """name = "s"
launches = 2
repetitions = 3
seed = 7
counters = "callgrind"
counter_cache = "256KiB"
counters_of = "counted"
[[sweep]]
variant = "good"
shape = ["4x4x4", "5x4x4"]
ranks = 1
[[sweep]]
tags = "counted"
variant = "good"
shape = "6x4x4"
ranks = 1
"""


def launched(fourscore) -> dict[str, list[bool]]:
    """By shape: whether each launch was counted."""
    found: dict[str, list[bool]] = {}
    for line in fourscore.log.read_text().splitlines():
        argv = json.loads(line)["argv"]
        found.setdefault(argv[argv.index("--shape") + 1], []).append("--counters" in argv)
    return found


def test_points_of_the_tag_alone_are_counted(fourscore):
    fourscore("run", fourscore.suite(SUITE), "--quiet")
    assert launched(fourscore) == {"4x4x4": [False, False], "5x4x4": [False, False], "6x4x4": [True, True]}
    (campaign,) = fourscore.archive.glob("campaigns/*/campaign.json")
    assert json.loads(campaign.read_text())["counters"]["backend"] == "callgrind"


def test_points_without_their_counters_are_skipped_with_the_reason_and_the_others_measured(fourscore):
    suite = fourscore.suite(SUITE)
    fourscore("run", suite, "--quiet", environment={"FAKE_NO_COUNTERS": "no valgrind in PATH"})
    assert launched(fourscore) == {"4x4x4": [False, False], "5x4x4": [False, False]}
    (skipped,) = (one for one in fourscore.records().values() if one["verdict"]["status"] == "skipped")
    assert skipped["point"]["shape"] == [6, 4, 4]
    assert skipped["verdict"]["reason"] == "counters 'callgrind' are not available here: no valgrind in PATH"
    # Where they are there, it is another campaign, in which nothing is skipped.
    fourscore("run", suite, "--quiet")
    assert launched(fourscore)["6x4x4"] == [True, True]
    assert len(list(fourscore.archive.glob("campaigns/*/campaign.json"))) == 2


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ('counters_of = "other"', "counters_of is 'other', a tag of no point"),
        ("counters_of = 7", "counters_of"),
    ],
)
def test_a_tag_that_no_point_has_is_refused(fourscore, change, said):
    suite = fourscore.suite(SUITE.replace('counters_of = "counted"', change))
    assert said in fourscore("run", suite, code=2).stderr
    assert not fourscore.archive.exists()
