"""A launch that ends after its samples were verified: the samples are archived, with what is missing."""

from __future__ import annotations

import json
import pathlib

import pytest
from fourscore_command import BIN, REAL

FAULTY = REAL | {"FOURSCORE_BENCH": str(BIN / "fft_bench_faulty")}


def suite(fourscore, variant: str, limit_s: int = 120, more: str = "") -> pathlib.Path:
    return fourscore.suite(
        f'name="p"\nlaunches=1\nrepetitions=3\nisolate=true\ntimeline=true\ntime_limit_s={limit_s}\n{more}\n'
        f'[[sweep]]\nvariant="{variant}"\nshape="8x8x8"\nranks=2\n'
    )


@pytest.mark.parametrize(
    ("variant", "limit_s", "status", "reason"),
    [
        ("alone-throws", 120, "failed", "thrown alone on purpose"),
        ("alone-throws-on-one", 120, "failed", "rank 1: thrown alone on purpose"),
        ("alone-aborts", 120, "failed", "the launch"),
        ("alone-hangs", 20, "timeout", "not finished after the time limit of 20 s"),
    ],
)
def test_verified_samples_are_archived_with_the_part_that_failed(fourscore, variant, limit_s, status, reason):
    run = fourscore("run", suite(fourscore, variant, limit_s), environment=FAULTY, code=1)
    (record,) = fourscore.records().values()
    assert record["verdict"]["status"] == "ok"
    assert len(record["samples"]["time_s"]) == 3
    assert record["timeline"]["lanes"]
    assert "isolated" not in record
    assert list(record["failed_parts"]) == ["isolate"]
    assert record["failed_parts"]["isolate"]["status"] == status
    assert reason in record["failed_parts"]["isolate"]["reason"]
    if variant != "alone-throws":
        assert "on purpose" in record["verdict"]["stderr_tail"]
    assert "warning: " in run.stderr
    assert f"isolate {status}" in run.stderr
    assert "Failed after the samples were verified: isolate of 1 launch" in run.stdout
    assert not list(fourscore.archive.glob("campaigns/*/staging/*"))
    fourscore("verify")
    # What is archived is done, and still says no.
    again = fourscore("run", suite(fourscore, variant, limit_s), "--json", environment=FAULTY, code=1)
    assert json.loads(again.stdout)["failed_parts"] == {"isolate": 1}
    assert list(fourscore.records().values()) == [record]


def test_a_point_beyond_the_memory_is_skipped_with_both_numbers(fourscore):
    file = fourscore.suite(
        'name="m"\nlaunches=1\nrepetitions=2\n[[sweep]]\nvariant="pencil"\nshape="4096x4096x4096"\nranks=2\n'
    )
    fourscore("run", file, environment=FAULTY)
    (record,) = fourscore.records().values()
    assert record["verdict"]["status"] == "skipped"
    assert "4.00 TiB" in record["verdict"]["reason"]
    assert "can be had" in record["verdict"]["reason"]
    fourscore("verify")
