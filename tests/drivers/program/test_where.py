"""fft_bench --where: on which nodes and cores the ranks of a launch are."""

from __future__ import annotations

import json
import os

import pytest
from conftest import ROOT, Bench


@pytest.mark.parametrize("ranks", [1, 2, 5])
def test_where_says_how_many_ranks_are_on_which_nodes_and_measures_nothing(bench: Bench, ranks: int) -> None:
    run = bench("--where", ranks=ranks, faulty=False)
    assert run.returncode == 0, run.stderr
    place = json.loads(run.stdout)
    assert (place["ranks"], place["nodes"], place["placement_of_ranks"]) == (ranks, 1, "block")
    assert len(place["hosts"]) == 1
    (machine,), (cores,) = place["machines"], place["core_maps"]
    assert machine["nodes"] == cores["nodes"] == "0"
    assert len(cores["value"]) == ranks
    identity = json.loads(bench("--identity", faulty=False).stdout)
    assert machine["value"] == identity["identity"]["machine"]


@pytest.mark.parametrize(("machine", "kinds"), [("unlike-last-level-caches", 2), ("partly-offline", 0)])
def test_a_rank_that_may_run_on_unlike_cores_is_flagged(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, machine: str, kinds: int
) -> None:
    """Units 0 and 1 have unlike caches in the first file, and like ones in the other."""
    monkeypatch.setenv("HWLOC_XMLFILE", str(ROOT / "tests" / "core" / "data" / "topologies" / f"{machine}.xml"))
    record = bench.record("--variant", "serial", "--shape", "4x4x4", "--planner", "estimate", faulty=False)
    assert len(record["provenance"]["identity"]["machine"].get("core_kinds", [])) == kinds
    assert ("unlike-cores" in record["flags"]) == (kinds > 1 and os.sched_getaffinity(0) >= {0, 1})


def test_where_refuses_other_nodes_than_asked_for(bench: Bench) -> None:
    assert "--nodes 2" in bench.refused("--where", "--nodes", "2", ranks=2, faulty=False)


def test_where_is_refused_beside_another_question(bench: Bench) -> None:
    assert "exclude each other" in bench.refused("--where", "--list", faulty=False)
