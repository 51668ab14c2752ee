"""A launch that relies on the checks of an earlier one, and when it does not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Bench, read_record

POINT = ("--variant", "slab", "--shape", "12x10x6", "--planner", "estimate", "--repetitions", "2")
FIRST = {"layouts", "plane-waves", "message-volume", "last-timed-run", "each-run"}


def checks(record: dict) -> set[str]:
    return {check["name"] for check in record["verification"]["checks"]}


@pytest.fixture(scope="module")
def first(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("first") / "first.json"
    bench.record(*POINT, out=out, ranks=2)
    return out


def test_the_record_names_the_one_that_checked_it(bench: Bench, first: Path) -> None:
    record = bench.record(*POINT, "--checked-by", str(first), ranks=2)
    assert record["verification"]["checked_by"] == read_record(first)["record_id"]
    assert checks(record) == FIRST and {"impulse", "dft", "inverse"} <= checks(read_record(first))


def test_a_record_that_relies_on_another_is_relied_on_by_none(bench: Bench, tmp_path: Path, first: Path) -> None:
    second = tmp_path / "second.json"
    bench.record(*POINT, "--checked-by", str(first), out=second, ranks=2)
    record = bench.record(*POINT, "--checked-by", str(second), ranks=2)
    assert "checked_by" not in record["verification"] and "inverse" in checks(record)
    assert "checked in full" in " ".join(record.screen.split())


@pytest.mark.parametrize(
    ("place", "value", "reason"),
    [
        ("point_id", "0" * 16, "its point_id is"),
        ("provenance/code_hash", "0" * 16, "its code_hash is"),
        ("provenance/machine_hash", "0" * 16, "its machine_hash is"),
        ("sampling/check", "spots", "its check is"),
        ("verdict/status", "wrong", "its status is"),
        ("verified_by", "program", "its verified_by is"),
    ],
)
def test_a_record_of_something_else_is_not_relied_on(
    bench: Bench, tmp_path: Path, first: Path, place: str, value: str, reason: str
) -> None:
    record = json.loads(first.read_text())
    del record["sha256"]
    *way, last = place.split("/")
    inner = record
    for key in way:
        inner = inner[key]
    inner[last] = value
    (tmp_path / "other.json").write_text(json.dumps(record))
    full = bench.record(*POINT, "--checked-by", str(tmp_path / "other.json"), ranks=2)
    assert "checked_by" not in full["verification"] and "inverse" in checks(full)
    assert reason in " ".join(full.screen.split())


def test_a_wrong_result_yields_no_time_whatever_is_relied_on(bench: Bench, tmp_path: Path, first: Path) -> None:
    """A variant that is right in its first runs: only the checks after the timing see it."""
    wrong = ("--variant", "wrong-later", "--shape", "6x5x4", "--repetitions", "6")
    record = read_record(first)
    record["point_id"] = bench.record(*wrong, code=1)["point_id"]
    del record["sha256"]
    (tmp_path / "claim.json").write_text(json.dumps(record))
    record = bench.record(*wrong, "--checked-by", str(tmp_path / "claim.json"), code=1)
    assert record["verdict"]["status"] == "wrong" and "samples" not in record
    assert record["verification"]["checked_by"] == read_record(first)["record_id"]


def test_what_is_no_record_is_refused(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "no.json").write_text("{}")
    for name in ("no.json", "absent.json"):
        said = bench.refused(*POINT, "--checked-by", str(tmp_path / name), ranks=2)
        assert f"--checked-by {tmp_path / name}: " in said and "expected an earlier record" in said
