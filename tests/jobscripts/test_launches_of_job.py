"""fourscore run --launches-per-job: several points on the same ranks in one MPI job, each with its own record."""

from __future__ import annotations

import json
from collections import defaultdict

import pytest


def jobs(fourscore) -> list[list[str]]:
    """The records that each process of the fake bench left, in its order."""
    of_job = defaultdict(list)
    for line in map(json.loads, fourscore.log.read_text().splitlines()):
        of_job[line["job"]].append(line["record"])
    return list(of_job.values())


def points_of(fourscore, job: list[str]) -> list[str]:
    return [fourscore.records()[record]["point_id"] for record in job]


def test_a_job_measures_so_many_points_and_none_twice(fourscore):
    fourscore("run", fourscore.points(points=5, launches=2), "--launches-per-job", 3)
    found = jobs(fourscore)
    assert sorted(map(len, found)) == [2, 2, 3, 3]
    for job in found:
        assert len({record["campaign"]["launch"] for path, record in fourscore.records().items() if path in job}) == 1
        assert len(set(points_of(fourscore, job))) == len(job)
    assert [record["verdict"]["status"] for record in fourscore.records().values()] == ["ok"] * 10


def test_each_launch_has_a_job_of_its_own_where_nothing_is_said(fourscore):
    fourscore("run", fourscore.points(points=3, launches=1))
    assert [len(job) for job in jobs(fourscore)] == [1, 1, 1]


def test_points_on_other_ranks_share_no_job(fourscore):
    text = 'name="s"\nlaunches=1\nseed=1\n[[sweep]]\nvariant="good"\nshape=["2x4","4x4"]\nranks=[1,2]\n'
    fourscore("run", fourscore.suite(text), "--launches-per-job", 8)
    ranks = [{fourscore.records()[record]["point"]["ranks"] for record in job} for job in jobs(fourscore)]
    assert sorted(ranks, key=min) == [{1}, {2}]


def test_a_launch_that_aborts_costs_the_others_nothing(fourscore):
    suite = fourscore.points('"good", "aborts"', points=2, launches=1, more='order = "listed"')
    fourscore("run", suite, "--launches-per-job", 8, code=1)
    statuses = sorted((r["point"]["variant"], r["verdict"]["status"]) for r in fourscore.records().values())
    assert statuses == [("aborts", "failed")] * 2 + [("good", "ok")] * 2
    for record in fourscore.records().values():
        if record["verdict"]["status"] == "failed":
            assert "aborting on purpose" in record["verdict"]["stderr_tail"], record["verdict"]
            assert "signal" in record["verdict"]["reason"]


def test_max_launches_ends_within_a_job(fourscore):
    fourscore("run", fourscore.points(points=4, launches=1), "--launches-per-job", 8, "--max-launches", 3)
    assert [len(job) for job in jobs(fourscore)] == [3]


@pytest.mark.parametrize(
    ("head", "options", "reason"),
    [
        ('wisdom = "none"', (), 'its wisdom is "none": each launch plans anew'),
        ("", ("--against", "x"), "--against excludes"),
        ("", ("--job", "x"), "excludes"),
    ],
)
def test_what_cannot_share_a_job_is_refused(fourscore, head, options, reason):
    said = fourscore("run", fourscore.points(more=head), "--launches-per-job", 2, *options, code=2)
    assert reason in said.stderr and not fourscore.records()
