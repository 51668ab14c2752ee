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


@pytest.fixture
def first(bench: Bench, tmp_path: Path) -> Path:
    out = tmp_path / "first.json"
    run = bench(*POINT, "--record", str(out), ranks=2)
    assert run.returncode == 0, run.stderr
    return out


def test_the_record_names_the_one_that_checked_it(bench: Bench, tmp_path: Path, first: Path) -> None:
    out = tmp_path / "second.json"
    run = bench(*POINT, "--checked-by", str(first), "--record", str(out), ranks=2)
    assert run.returncode == 0, run.stderr
    record = read_record(out)
    assert record["verification"]["checked_by"] == read_record(first)["record_id"]
    assert checks(record) == FIRST and {"impulse", "dft", "inverse"} <= checks(read_record(first))


def test_a_record_that_relies_on_another_is_relied_on_by_none(bench: Bench, tmp_path: Path, first: Path) -> None:
    for by, out in ((first, "second.json"), (tmp_path / "second.json", "third.json")):
        run = bench(*POINT, "--checked-by", str(by), "--record", str(tmp_path / out), ranks=2)
        assert run.returncode == 0, run.stderr
    record = read_record(tmp_path / "third.json")
    assert "checked_by" not in record["verification"] and "inverse" in checks(record)
    assert "checked in full" in " ".join(run.stdout.split())


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
    run = bench(*POINT, "--checked-by", str(tmp_path / "other.json"), "--record", str(tmp_path / "out.json"), ranks=2)
    assert run.returncode == 0, run.stderr
    verification = read_record(tmp_path / "out.json")["verification"]
    assert "checked_by" not in verification
    assert "inverse" in {check["name"] for check in verification["checks"]}
    assert reason in " ".join(run.stdout.split())


def test_a_wrong_result_yields_no_time_whatever_is_relied_on(bench: Bench, tmp_path: Path, first: Path) -> None:
    """A variant that is right in its first runs: only the checks after the timing see it."""
    wrong = ("--variant", "wrong-later", "--shape", "6x5x4", "--repetitions", "6")
    run = bench(*wrong, "--record", str(tmp_path / "wrong.json"))
    assert run.returncode == 1, run.stdout + run.stderr
    record = read_record(first)
    record["point_id"] = read_record(tmp_path / "wrong.json")["point_id"]
    del record["sha256"]
    (tmp_path / "claim.json").write_text(json.dumps(record))
    run = bench(*wrong, "--checked-by", str(tmp_path / "claim.json"), "--record", str(tmp_path / "out.json"))
    assert run.returncode == 1, run.stdout + run.stderr
    record = read_record(tmp_path / "out.json")
    assert record["verdict"]["status"] == "wrong" and "samples" not in record
    assert record["verification"]["checked_by"] == read_record(first)["record_id"]


def test_what_is_no_record_is_refused(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "no.json").write_text("{}")
    for name in ("no.json", "absent.json"):
        run = bench(*POINT, "--checked-by", str(tmp_path / name), ranks=2)
        assert run.returncode == 2
        assert f"--checked-by {tmp_path / name}: " in run.stderr and "expected an earlier record" in run.stderr
