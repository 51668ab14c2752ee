"""What a record reports, against values worked out by hand or recomputed from the raw samples beside them."""

from __future__ import annotations

import json
import math
import os
import subprocess
from pathlib import Path

import pytest
from conftest import Bench, Launch, launched, read_record

# 7 planes of x on 3 ranks are 3, 2, 2; 5 of y are 2, 2, 1: no two numbers of a rank are the same by chance.
SHAPE, X, Y, LAST, BYTES = "7x5x6", (3, 2, 2), (2, 2, 1), 6, 16
SLAB = ("--variant", "slab", "--shape", SHAPE, "--planner", "estimate")


@pytest.fixture(scope="module")
def slab(bench: Bench) -> dict:
    """A slab with point-to-point messages on 3 ranks."""
    asked = ("--exchange", "p2p", "--repetitions", "4", "--warmup", "2", "--seed", "5", "--isolate")
    return bench.record(*SLAB, *asked, ranks=3, faulty=False)


def test_bytes_and_messages_are_those_that_leave_a_rank(slab: dict) -> None:
    cost = slab["cost"]
    assert cost["bytes_sent_per_rank"] == [x * (sum(Y) - y) * LAST * BYTES for x, y in zip(X, Y, strict=True)]
    assert cost["bytes_self_per_rank"] == [x * y * LAST * BYTES for x, y in zip(X, Y, strict=True)]
    assert cost["messages_per_rank"] == [2, 2, 2]
    assert cost["control_messages_per_rank"] == [0, 0, 0]
    assert cost["bytes_read_shared_per_rank"] == [0, 0, 0]
    # The formula: each rank keeps a third of its third.
    assert cost["model_bytes_per_rank"] == pytest.approx(7 * 5 * 6 * BYTES / 3 * 2 / 3)
    assert cost["model_messages_per_rank"] == 2
    assert cost["flops"] == slab["credited_flops"] == pytest.approx(5 * 210 * math.log2(210))


@launched(3, (*SLAB, "--exchange", "shared"))
def test_neighbours_memory_is_read_in_place_of_messages(record: dict) -> None:
    cost = record["cost"]
    assert cost["bytes_sent_per_rank"] == cost["messages_per_rank"] == [0, 0, 0]
    assert cost["bytes_read_shared_per_rank"] == [(sum(X) - x) * y * LAST * BYTES for x, y in zip(X, Y, strict=True)]


def with_exchange(name: str, parameter: str) -> Launch:
    return Launch(3, (*SLAB, "--exchange", name, "--parameter", parameter))


@pytest.mark.parametrize(
    ("record", "packets", "control"),
    [
        (with_exchange("rma", "epoch=lock"), 1, 2),  # "free" and "done"
        (with_exchange("rma", "epoch=fence"), 1, 0),
        (with_exchange("active", "packet-bytes=1000000"), 1, 2),  # a flag and a credit
        # A row of 6 elements a packet, in bursts of 2: see the blocks below.
        (with_exchange("active", "packet-bytes=96"), None, None),
    ],
    indirect=["record"],
)
def test_control_messages_are_counted_apart(record: dict, packets: int | None, control: int | None) -> None:
    cost = record["cost"]
    assert cost["bytes_sent_per_rank"] == [x * (sum(Y) - y) * LAST * BYTES for x, y in zip(X, Y, strict=True)]
    if packets is not None:
        assert cost["messages_per_rank"] == [2 * packets] * 3
        assert cost["control_messages_per_rank"] == [2 * control] * 3
        return
    rows = [[X[a] * Y[b] if a != b else 0 for b in range(3)] for a in range(3)]  # from a to b
    assert cost["messages_per_rank"] == [sum(rows[a]) for a in range(3)]
    bursts = [[math.ceil(n / max(1, min(4, 2 * n) // 2)) if n else 0 for n in row] for row in rows]
    assert cost["control_messages_per_rank"] == [sum(bursts[a]) + sum(row[a] for row in bursts) for a in range(3)]


@launched(3, (*SLAB, "--exchange", "p2p"), (*SLAB, "--exchange", "bruck"))
def test_memory_is_that_of_buffers_and_workspace_over_the_larger_side(record: dict) -> None:
    memory = record["memory"]
    sides = [max(x * sum(Y), sum(X) * y) * LAST * BYTES for x, y in zip(X, Y, strict=True)]
    assert memory["local_data_bytes"] == sides
    held = [sum(of_rank) for of_rank in zip(memory["plan_bytes"], memory["workspace_bytes"], strict=True)]
    assert memory["ratio"] == pytest.approx(max(held) / max(sides))
    assert (max(memory["workspace_bytes"]) > 0) == (record["point"]["exchange"] == "bruck")


@pytest.mark.skipif(
    "[never]" in Path("/sys/kernel/mm/transparent_hugepage/enabled").read_text(), reason="the system has no huge pages"
)
@launched(2, *(("--variant", "slab", "--shape", "128x64x64", *SLAB[4:], "--exchange", name) for name in ("p2p", "shared")))
def test_large_buffers_lie_in_huge_pages(record: dict) -> None:
    memory = record["memory"]
    for huge, resident in zip(memory["huge_bytes"], memory["peak_rss_bytes"], strict=True):
        assert huge % 2**21 == 0
        assert 128 * 64 * 64 / 2 * BYTES <= huge <= resident


def test_the_planning_time_is_that_of_the_slowest_rank(slab: dict) -> None:
    assert len(slab["plan"]["rank_s"]) == 3
    assert slab["plan"]["time_s"] == max(slab["plan"]["rank_s"]) > 0


def test_closure_is_the_largest_gap_between_the_phases_and_the_total_of_a_rank(slab: dict) -> None:
    samples = slab["samples"]
    gaps = [
        abs(sum(phase[rank][i] for phase in samples["rank_phase_s"].values()) - total) / total
        for rank, totals in enumerate(samples["rank_total_s"])
        for i, total in enumerate(totals)
    ]
    assert len(gaps) == 3 * 4
    assert samples["closure"]["worst"] == pytest.approx(max(gaps), rel=1e-6, abs=1e-12)
    assert samples["closure"]["limit"] == 0.02
    assert samples["closure"]["ok"] == (max(gaps) <= 0.02) == ("open-breakdown" not in slab["flags"])


def test_phases_inside_have_the_names_of_their_components_alone(slab: dict) -> None:
    alone = {component["phase"] for component in slab["isolated"]}
    assert {"fft", "exchange"} <= alone
    assert set(slab["samples"]["rank_phase_s"]) == alone | {"other"}
    assert [c["name"].rsplit("-", 1)[0] for c in slab["isolated"]] == [c["phase"] for c in slab["isolated"]]
    for component in slab["isolated"]:
        assert component["time_s"] == [max(rank[i] for rank in component["rank_s"]) for i in range(4)]


def test_the_record_says_how_it_was_sampled(slab: dict, bench: Bench) -> None:
    assert slab["sampling"] == {
        "repetitions": 4,
        "warmup": 2,
        "seed": 5,
        "isolate": True,
        "phases": True,
        "timeline": False,
        "check": "all",
        "start": slab["sampling"]["start"],
    }
    other = bench.record(*SLAB, "--no-phases", "--timeline", faulty=False)["sampling"]
    assert (other["isolate"], other["phases"], other["timeline"]) == (False, False, True)


INSTANCES = (*SLAB, "--instances", "2", "--repetitions", "5", "--placement")


@launched(3, (*INSTANCES, "all"), (*INSTANCES, "subset"))
def test_an_instance_is_complete_on_the_last_of_its_ranks(record: dict) -> None:
    of_ranks = record["samples"]["rank_instance_s"]  # [rank][instance of the rank][repetition]
    for number, ranks in enumerate(record["resolved"]["instance_ranks"]):
        here = number if record["point"]["placement"] == "all" else 0
        members = range(ranks["first"], ranks["first"] + ranks["count"])
        expected = [max(of_ranks[rank][here][i] for rank in members) for i in range(5)]
        assert record["samples"]["instance_time_s"][number] == expected


def test_threads_of_a_rank_count_in_flags_and_provenance(bench: Bench) -> None:
    threads = len(os.sched_getaffinity(0)) + 1
    run = bench("--variant", "serial", "--shape", "8x8x8", "--threads", str(threads), "--json", faulty=False)
    if "without FFTW's threads" in run.stderr:
        pytest.skip(run.stderr)
    record = json.loads(run.stdout)
    assert "oversubscribed" in record["flags"]
    assert record["provenance"]["identity"]["launch"]["threads"] == threads


def test_a_plan_that_fits_the_caches_is_in_cache(slab: dict) -> None:
    caches = slab["provenance"]["identity"]["machine"].get("caches", [])
    held = sum(slab["memory"]["plan_bytes"]) + sum(slab["memory"]["workspace_bytes"])
    last = max((cache["bytes"] for cache in caches), default=0)
    assert last == 0 or held < last  # some KiB
    assert ("in-cache" in slab["flags"]) == (last > 0)


def test_the_build_is_told_by_its_own_names(slab: dict) -> None:
    code = slab["provenance"]["identity"]["code"]
    assert code["compiler"].split()[0] in ("GNU", "Clang", "AppleClang", "Intel", "IntelLLVM", "NVHPC", "Cray")
    assert code["compiler"].split()[1][0].isdigit()
    assert code["flags"] == "" or code["flags"].startswith("-")
    assert "MPI" in code["mpi"] or "MPICH" in code["mpi"]
    assert slab["provenance"]["identity"]["launch"]["nodes"] == 1


def numbers(ranges: str) -> set[int]:
    """The numbers in "0-3,8", as results/README.md has it."""
    bounds = [part.split("-") for part in ranges.split(",")]
    return {number for low, *high in bounds for number in range(int(low), int((high or [low])[0]) + 1)}


def test_each_ranks_cores_are_its_own(bench: Bench, tmp_path: Path) -> None:
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("one core has no two ranks to bind")
    out = tmp_path / "out.json"
    command = [bench.mpiexec, "-bind-to", "core", "-n", "2", bench.plain, *SLAB, "--record", str(out)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == 0, run.stderr
    [cores_of_nodes] = read_record(out)["provenance"]["identity"]["launch"]["core_maps"]
    first, second = (numbers(text) for text in cores_of_nodes["cores"])
    assert first
    assert second
    assert not first & second
