"""What a comparison will be able to see is said from earlier launches of its points: from nothing else, and no better
than they allow."""

from __future__ import annotations

import json
import math
import random
import sqlite3

import pytest
from fourscore_analysis.cli import main
from fourscore_analysis.gate.beforehand import beforehand

MACHINE = "m" * 16


def index_of(folder, launches):
    """An index with these (point, campaign, code, machine, status, flags, seconds)."""
    folder.mkdir(parents=True, exist_ok=True)
    index = sqlite3.connect(folder / "index.sqlite")
    index.execute(
        "CREATE TABLE records (file TEXT, point_id TEXT, campaign TEXT, code_hash TEXT, machine_hash TEXT, status TEXT,"
        " flags TEXT, median_s REAL)"
    )
    rows = [(str(number), *launch) for number, launch in enumerate(launches)]
    index.executemany("INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
    index.commit()
    index.close()
    return folder


def noisy(point, sigma, count=400, campaign="c", code="a", machine=MACHINE, status="ok", flags="", seed=1):
    rng = random.Random(seed)
    return [(point, campaign, code, machine, status, flags, math.exp(rng.gauss(0, sigma))) for _ in range(count)]


def test_the_noise_of_a_pair_is_that_of_its_two_launches(tmp_path):
    archive = index_of(tmp_path, noisy("p", 0.03))
    assert beforehand(archive, ["p"], MACHINE, 160)["noise"]["p"] == pytest.approx(0.03 * math.sqrt(2), rel=0.1)


def test_less_noise_and_more_pairs_show_smaller_slowdowns(tmp_path):
    archive = index_of(tmp_path, [*noisy("quiet", 0.01), *noisy("loud", 0.1, seed=2)])
    few, many = (beforehand(archive, ["quiet", "loud"], MACHINE, pairs)["visible"] for pairs in (20, 160))
    assert many["quiet"] < many["loud"] < few["loud"]
    assert many["quiet"] < 0.05 < few["loud"]


def test_groups_of_different_campaigns_and_builds_are_not_one(tmp_path):
    """A build that is twice as slow is no noise."""
    archive = index_of(
        tmp_path, [*noisy("p", 0.01), *[(*one[:2], "b", *one[3:6], 2 * one[6]) for one in noisy("p", 0.01, seed=2)]]
    )
    assert beforehand(archive, ["p"], MACHINE, 160)["noise"]["p"] < 0.02


@pytest.mark.parametrize(
    "changes",
    [{"machine": "other"}, {"status": "failed"}, {"flags": "slowed"}, {"count": 3}],
    ids=["machine", "status", "slowed", "few"],
)
def test_other_machines_failed_slowed_and_few_launches_say_nothing(tmp_path, changes):
    found = beforehand(index_of(tmp_path, noisy("p", 0.03, **changes)), ["p"], MACHINE, 160)
    assert found["noise"] == {}
    assert "not known before the screen" in found["text"]


@pytest.mark.parametrize("time", [None, 0.0, -1.0])
def test_a_launch_without_a_time_says_nothing(tmp_path, time):
    launches = [*noisy("p", 0.03, count=20), *[(*one[:6], time) for one in noisy("p", 0.03, count=20)]]
    with_and_without = (
        index_of(tmp_path / name, found) for name, found in (("all", launches), ("timed", launches[:20]))
    )
    noises = [beforehand(archive, ["p"], MACHINE, 160)["noise"]["p"] for archive in with_and_without]
    assert noises[0] == noises[1] > 0


def test_what_can_be_seen_is_a_range_over_the_points_that_are_known(tmp_path):
    archive = index_of(tmp_path, [*noisy("quiet", 0.01), *noisy("loud", 0.2, seed=2)])
    one = beforehand(archive, ["quiet"], MACHINE, 100)
    assert one["text"] == (
        f"what it can detect: slowdowns of {100 * one['visible']['quiet']:.0f} % with up to 100 pairs (80 %); 5 % in "
        "1 of 1 series, by the noise of earlier launches"
    )
    three = beforehand(archive, ["quiet", "loud", "new"], MACHINE, 100)
    low, high = sorted(round(100 * value) for value in three["visible"].values())
    assert f"slowdowns of {low} % to {high} % with up to 100 pairs" in three["text"]
    assert "5 % in 1 of 3 series" in three["text"]
    assert three["text"].endswith("; of 1 nothing is known yet")


def test_nothing_is_known_and_nothing_fails_without_an_index(tmp_path, capsys):
    assert beforehand(tmp_path, ["p"], MACHINE, 160)["noise"] == {}
    (tmp_path / "index.sqlite").write_text("no index")
    arguments = ["gate", "beforehand", "--archive", str(tmp_path), "--points", "p", "--machine-hash", MACHINE]
    assert main(arguments) == 0
    assert json.loads(capsys.readouterr().out)["visible"] == {}
