"""Every variant on 64 ranks of this machine, however few cores it has: each finds its partners, and the result is right."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy
import pytest
from combinations import available, measurable
from conftest import Bench, Launch, assert_measured, launched

RANKS = 64
SHAPES = ("64x64x64", "262144")
ONCE = ("--repetitions", "1", "--warmup", "0")
ON_ONE_RANK_ONLY = {"serial", "serial-gpu"}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if metafunc.function is test_every_variant_is_right_on_64_ranks:
        launches, _ = measurable(RANKS, [(name, "auto") for name in available()[0]], SHAPES)
        cases = [Launch(RANKS, (*launch, *ONCE)) for launch in launches.values()]
        metafunc.parametrize("record", cases, ids=[name for name, _ in launches], indirect=True)


def test_no_variant_is_left_out() -> None:
    names = set(available()[0])
    assert {"pencil", "volumetric", "transpose", "overdecomposed"} <= names
    launches, refused = measurable(RANKS, [(name, "auto") for name in names], SHAPES)
    assert {name for name, _ in launches} == names - ON_ONE_RANK_ONLY, refused


def test_every_variant_is_right_on_64_ranks(record: dict) -> None:
    assert record["verdict"]["status"] == "ok", record["verdict"]["reason"]
    assert record["verification"]["ok"] and len(record["samples"]["rank_total_s"]) == RANKS


def test_more_ranks_than_a_record_lists_have_a_file_of_columns(bench: Bench, tmp_path: Path) -> None:
    options = ("--variant", "pencil", "--shape", "36x36x36", "--planner", "estimate", "--isolate", "--timeline")
    out = tmp_path / "out.json"
    record = bench.record(
        *options, "--repetitions", "2", ranks=66, faulty=False, timeout=300, out=out
    )  # valid by the schema
    assert "rank_total_s" not in record["samples"]
    columns = record["rank_columns"]
    content = (tmp_path / columns["file"]).read_bytes()
    assert hashlib.sha256(content).hexdigest() == columns["sha256"]
    rows = numpy.load(tmp_path / columns["file"])
    assert rows.shape == (66,)
    assert set(rows.dtype.names) == {column["path"] for column in columns["columns"]}
    totals = rows["/samples/rank_total_s"]
    assert totals.shape == (66, 2)
    slowest, *_ = columns["columns"][rows.dtype.names.index("/samples/rank_total_s")]["largest"]
    assert numpy.median(totals, axis=1).argmax() == slowest["rank"]
    assert rows["/memory/local_data_bytes"].max() >= 36**3 * 16 / 66
    assert 16 <= len({lane["rank"] for lane in record["timeline"]["lanes"]}) <= 32


PENCIL = ("--variant", "pencil", "--grid", "8x8", "--shape", "30x28x26", "--planner", "estimate", "--repetitions", "1")


@launched(
    RANKS, *((*PENCIL, "--exchange", exchange) for exchange in ("alltoallw", "p2p", "bruck", "hierarchical", "shared"))
)
def test_pencils_are_right_with_other_exchanges_on_64_ranks(record: dict) -> None:
    assert_measured(record)
