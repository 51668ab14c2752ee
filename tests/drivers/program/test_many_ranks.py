"""Every variant on 64 ranks of this machine, however few cores it has: each finds its partners, and the result is right."""

from __future__ import annotations

import hashlib
import itertools
from pathlib import Path

import numpy
import pytest
from conftest import Bench

RANKS = 64
ON_ONE_RANK_ONLY = {"serial", "serial-gpu"}


def test_every_variant_is_right_on_64_ranks(bench: Bench) -> None:
    names = {name for name, variant in bench.listed("variants").items() if variant["available"]}
    assert {"pencil", "volumetric", "transpose", "overdecomposed"} <= names
    for name in sorted(names - ON_ONE_RANK_ONLY):
        verdicts = []
        for planner, shape in itertools.product(("estimate", "measure"), ("64x64x64", "262144")):
            options = ("--variant", name, "--shape", shape, "--planner", planner, "--repetitions", "1", "--warmup", "0")
            record = bench.record(*options, ranks=RANKS, faulty=False, timeout=300)
            verdicts.append(record["verdict"]["status"])
            if verdicts[-1] == "ok":
                assert record["verification"]["ok"] and len(record["samples"]["rank_total_s"]) == RANKS
                break
        assert verdicts[-1] == "ok", f"{name}: {verdicts}"


def test_more_ranks_than_a_record_lists_have_a_file_of_columns(bench: Bench, tmp_path: Path) -> None:
    options = ("--variant", "pencil", "--shape", "36x36x36", "--planner", "estimate", "--isolate", "--timeline")
    out = tmp_path / "out.json"
    record = bench.record(*options, "--repetitions", "2", ranks=66, faulty=False, timeout=300, out=out)  # valid by the schema
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


@pytest.mark.parametrize("exchange", ["alltoallw", "p2p", "bruck", "hierarchical", "shared"])
def test_pencils_are_right_with_other_exchanges_on_64_ranks(bench: Bench, exchange: str) -> None:
    options = ("--variant", "pencil", "--grid", "8x8", "--shape", "30x28x26", "--planner", "estimate")
    bench.measured(*options, "--exchange", exchange, "--repetitions", "1", ranks=RANKS, faulty=False)
