"""What a launch leaves behind: records and verdicts."""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import time
from pathlib import Path

import pytest
from conftest import Bench

POINT = ("--variant", "naive", "--shape", "8x9x10")


def test_a_measured_point_leaves_a_record_with_every_sample(bench: Bench) -> None:
    record = bench.record(*POINT, "--repetitions", "7", "--warmup", "2", "--isolate", ranks=3)
    assert record["verdict"]["status"] == "ok"
    samples = record["samples"]
    assert len(samples["time_s"]) == 7
    assert len(samples["warmup_s"]) == 2
    assert len(samples["rank_total_s"]) == 3
    assert samples["time_is"] == "span"
    assert samples["clock"] == {"alignment": "shared clock", "uncertainty_s": 0}
    for time_s, skew_s, *ranks in zip(
        samples["time_s"], samples["start_skew_s"], *samples["rank_total_s"], strict=True
    ):
        assert max(ranks) - 1e-9 <= time_s <= max(ranks) + skew_s + 1e-9
        assert skew_s >= 0
    assert all(len(rank) == 7 for phase in samples["rank_phase_s"].values() for rank in phase)
    assert record["credited_flops"] == pytest.approx(5 * 720 * math.log2(720))
    names = {check["name"] for check in record["verification"]["checks"]}
    assert names == {"layouts", "plane-waves", "message-volume", "impulse", "dft", "inverse", "last-timed-run", "each-run"}
    assert len(record["plan"]["rank_s"]) == 3
    assert sum(record["memory"]["local_data_bytes"]) >= 720 * 16


def test_the_point_id_is_the_hash_of_the_canonical_point(bench: Bench) -> None:
    record = bench.record(*POINT)

    def short_hash(value: object) -> str:
        text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    on_one_node = {"nodes": 1, "ranks_per_node": 1, "placement_of_ranks": "block"}
    assert on_one_node.items() <= record["point"].items()
    assert record["point_id"] == short_hash({k: v for k, v in record["point"].items() if k not in on_one_node})
    for name in ("machine", "code", "launch"):
        assert record["provenance"][f"{name}_hash"] == short_hash(record["provenance"]["identity"][name])
    assert record["provenance"]["identity_hash"] == short_hash(record["provenance"]["identity"])


def test_the_record_names_the_program_and_the_launcher(bench: Bench) -> None:
    origin = ("--launcher", "by hand", "--launched-at", str(time.time()))
    record = bench.record(*POINT, *origin, ranks=2)
    identity = record["provenance"]["identity"]
    assert identity["code"]["binary_sha256"] == hashlib.sha256(Path(bench.faulty_path).read_bytes()).hexdigest()
    assert identity["launch"]["launcher"] == "by hand"
    assert (identity["launch"]["nodes"], identity["launch"]["placement_of_ranks"]) == (1, "block")
    [cores_of_nodes] = identity["launch"]["core_maps"]
    assert cores_of_nodes["nodes"] == "0"
    assert len(cores_of_nodes["cores"]) == 2
    assert 0 <= record["harness"]["launch_s"] < 120


def test_two_launches_have_one_point_one_identity_and_two_record_ids(bench: Bench) -> None:
    a, b = (bench.record(*POINT) for _ in range(2))
    assert a["point_id"] == b["point_id"]
    assert a["provenance"]["machine_hash"] == b["provenance"]["machine_hash"]
    assert a["provenance"]["code_hash"] == b["provenance"]["code_hash"]
    assert a["record_id"] != b["record_id"]


@pytest.mark.parametrize("variant", ["wrong-result", "wrong-later"])
@pytest.mark.parametrize("ranks", [1, 2])
def test_a_wrong_result_is_recorded_without_any_time(bench: Bench, variant: str, ranks: int) -> None:
    record = bench.record("--variant", variant, "--shape", "8x9x10", "--isolate", ranks=ranks, code=1)
    assert record["verdict"]["status"] == "wrong"
    assert record["verdict"]["reason"]
    assert "samples" not in record
    assert "isolated" not in record
    assert "measure_s" not in record["harness"]
    assert not record["verification"]["ok"]
    assert "GFLOP/s" not in record.screen


def test_a_wrong_result_names_its_first_element_and_what_the_wrong_ones_share(bench: Bench) -> None:
    record = bench.record("--variant", "wrong-result", "--shape", "8x9x10", ranks=2, code=1)
    reason = record["verdict"]["reason"]
    assert re.fullmatch(
        r"impulse \(before timing\): error 0\.01, tolerance 8\.4e-15: first at \(4, 0, 0\) on rank 1, "
        r"\S+i in place of \S+i; 1 of 720 elements are wrong: no other",
        reason,
    ), reason
    findings = {check["name"]: check.get("finding") for check in record["verification"]["checks"]}
    assert reason.endswith(findings["impulse"])
    assert findings["layouts"] is None


def test_a_message_volume_that_is_not_what_goes_through_mpi_is_wrong(bench: Bench) -> None:
    record = bench.record("--variant", "declares-nothing", "--shape", "8x9x10", ranks=3, code=1)
    assert record["verdict"]["status"] == "wrong"
    assert record["verdict"]["reason"] == (
        "message-volume (before timing): rank 0 declares 0 bytes in 0 messages and 0 control messages, "
        "but hands MPI 16 bytes in 2 messages and 0 control messages"
    )
    assert "samples" not in record
    assert "message-volume WRONG" in record.screen


def test_an_unsupported_problem_is_skipped_with_its_reason(bench: Bench) -> None:
    assert bench.skipped("--variant", "naive", "--shape", "2x9x10", ranks=3) == "more ranks than planes"


def test_a_variant_that_cannot_run_here_is_skipped_with_its_reason(bench: Bench) -> None:
    assert "it was made so" in bench.skipped("--variant", "unavailable", "--shape", "8x9x10")


def test_max_time_stops_before_all_repetitions(bench: Bench) -> None:
    limits = ("--repetitions", "1000000", "--max-time-s", "0.2")
    record = bench.record(*POINT, *limits, ranks=2, timeout=100)
    assert 1 <= len(record["samples"]["time_s"]) < 1000000
    assert record["sampling"]["max_time_s"] == 0.2


def test_no_phases_leaves_the_breakdown_out(bench: Bench) -> None:
    record = bench.record(*POINT, "--no-phases")
    assert "rank_phase_s" not in record["samples"]
    assert "closure" not in record["samples"]
    assert not record["sampling"]["phases"]


def test_a_timeline_is_one_more_run_and_no_sample(bench: Bench) -> None:
    record = bench.record("--variant", "slab", "--shape", "24x20x16", "--repetitions", "3", "--timeline", ranks=2, faulty=False)
    assert "not among the 3 samples" in record.screen
    assert len(record["samples"]["time_s"]) == 3
    timeline = record["timeline"]
    assert timeline["clock"]["alignment"] == "shared clock"
    assert [(lane["rank"], lane["lane"]) for lane in timeline["lanes"]] == [(0, 0), (1, 0)]
    for lane in timeline["lanes"]:
        assert len(lane["phase"]) == len(lane["begin_s"]) == len(lane["end_s"])
        assert lane["dropped"] == 0
        assert {"fft", "exchange"} <= set(lane["phase"])
        assert all(a < b for a, b in zip(lane["begin_s"], lane["end_s"], strict=True))
        assert lane["end_s"][:-1] == lane["begin_s"][1:]
        rank = lane["rank"]
        assert timeline["rank_start_s"][rank] <= lane["begin_s"][0]
        assert lane["end_s"][-1] <= timeline["rank_end_s"][rank]
    assert min(timeline["rank_start_s"]) == 0


def test_nothing_is_traced_unless_asked_for(bench: Bench) -> None:
    record = bench.record(*POINT)
    assert "timeline" not in record
    assert record["sampling"]["timeline"] is False


def test_no_warm_up_is_flagged_cold(bench: Bench) -> None:
    record = bench.record(*POINT, "--warmup", "0")
    assert "cold" in record["flags"]
    assert record["samples"]["warmup_s"] == []


def test_more_ranks_than_cores_are_flagged(bench: Bench) -> None:
    cores = len(os.sched_getaffinity(0))
    if cores > 7:
        pytest.skip("too many cores to oversubscribe with the planes of this shape")
    assert "oversubscribed" in bench.record(*POINT, ranks=cores + 1)["flags"]


@pytest.mark.parametrize("exchange", ["hierarchical", "alltoallv"])
def test_one_node_that_pretends_to_be_several_is_flagged(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, exchange: str
) -> None:
    point = ("--variant", "slab", "--shape", "8x9x10", "--exchange", exchange, "--planner", "estimate")
    launches = {}
    for most in ("", "1", "2"):
        if most:
            monkeypatch.setenv("FOURSCORE_RANKS_PER_NODE", most)
        record = bench.record(*point, ranks=2)
        assert ("emulated" in record["flags"]) is (most == "1")
        assert ("emulated" in record.screen) is (most == "1")
        launches[most] = record["provenance"]
        assert launches[most]["identity"]["launch"].get("ranks_per_pretended_node") == (1 if most == "1" else None)
    assert launches[""]["launch_hash"] == launches["2"]["launch_hash"] != launches["1"]["launch_hash"]
    monkeypatch.setenv("FOURSCORE_RANKS_PER_NODE", "none")
    said = bench.refused(*point, ranks=2)
    assert said.count("FOURSCORE_RANKS_PER_NODE is 'none'; allowed: a whole number, 1 or more") == 1


def test_spots_are_checked_without_the_inverse(bench: Bench) -> None:
    record = bench.record(*POINT, "--check", "spots", ranks=2)
    assert record["sampling"]["check"] == "spots"
    names = {check["name"] for check in record["verification"]["checks"]}
    assert names == {"layouts", "plane-waves", "message-volume", "impulse", "dft", "last-timed-run", "each-run"}


def test_the_campaign_stands_in_the_record(bench: Bench, tmp_path: Path) -> None:
    campaign = {"id": "smoke-12345678", "launch": 2}
    (tmp_path / "campaign.json").write_text(json.dumps(campaign))
    assert bench.record(*POINT, "--campaign-json", str(tmp_path / "campaign.json"))["campaign"] == campaign


def test_a_secret_in_the_environment_stays_out_of_the_record(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SLURM_JWT", "SLURM_passphrase", "OMPI_MCA_auth_credential", "MKL_APIKEY", "FI_MY_PASSWD"):
        monkeypatch.setenv(name, "do-not-tell")
    monkeypatch.setenv("I_MPI_FABRICS", "https://me:do-not-tell@host")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    run = bench(*POINT, "--json")
    assert json.loads(run.stdout)["provenance"]["volatile"]["environment"]["OMP_NUM_THREADS"] == "1"
    assert "do-not-tell" not in run.stdout


def test_a_sample_is_the_time_of_one_run(bench: Bench) -> None:
    record = bench.record("--variant", "uneven", "--shape", "8x9x10", "--repetitions", "6", "--warmup", "2", ranks=2)
    samples = record["samples"]
    # Every run takes its 20 ms, and all of them together no more than the measurement did.
    assert min(samples["time_s"] + samples["warmup_s"]) >= 0.02
    assert sum(samples["time_s"] + samples["warmup_s"]) <= record["harness"]["measure_s"]


def test_the_options_of_the_point_reach_the_record_and_the_plan(bench: Bench) -> None:
    asked = ("--kind", "r2c", "--layout", "natural", "--buffers", "out-of-place", "--planner", "patient")
    record = bench.record("--variant", "slab", "--shape", "8x12x10", *asked, ranks=2, faulty=False)
    assert record["point"]["kind"] == "r2c"
    contract = {"layout": "natural", "buffers": "out-of-place", "normalisation": "none", "planner": "patient"}
    assert record["point"]["contract"] == contract
    # Natural order, and reals on one side only.
    assert (record["resolved"]["input"], record["resolved"]["output"]) == ("x-slabs 2, real", "x-slabs 2")
    # Half a spectrum of the rows is sent, not whole rows: 6 of 10 elements, there and back.
    assert record["cost"]["bytes_sent_per_rank"] == [2 * 4 * 6 * 6 * 16] * 2
    assert "planner patient" in record.screen


@pytest.mark.parametrize("placement", ["all", "subset"])
def test_several_instances_are_each_checked_and_timed(bench: Bench, placement: str) -> None:
    asked = ("--instances", "2", "--placement", placement, "--isolate")
    record = bench.record("--variant", "slab", "--shape", "12x10x9", "--planner", "estimate", *asked, ranks=3)
    assert "2 instances" in record.screen
    samples = record["samples"]
    repetitions = len(samples["time_s"])
    assert (record["point"]["instances"], record["point"]["placement"]) == (2, placement)
    assert [len(times) for times in samples["instance_time_s"]] == [repetitions] * 2
    assert [len(of_rank) for of_rank in samples["rank_instance_s"]] == [2 if placement == "all" else 1] * 3
    whole = [{"first": 0, "count": 3}] * 2
    halves = [{"first": 0, "count": 2}, {"first": 2, "count": 1}]
    assert record["resolved"]["instance_ranks"] == (whole if placement == "all" else halves)
    for i in range(repetitions):
        assert max(times[i] for times in samples["instance_time_s"]) <= samples["time_s"][i]
    names = [check["name"] for check in record["verification"]["checks"]]
    for check in ("impulse", "dft", "inverse", "last-timed-run"):
        assert {f"{check} of instance 1", f"{check} of instance 2"} <= set(names)
    assert record["credited_flops"] == pytest.approx(2 * 5 * 1080 * math.log2(1080))
    assert sum(record["memory"]["local_data_bytes"]) >= 2 * 1080 * 16


def test_a_wrong_instance_on_a_subset_is_reported_by_its_number(bench: Bench) -> None:
    asked = ("--instances", "2", "--placement", "subset")
    record = bench.record("--variant", "wrong-result", "--shape", "4x4x4", *asked, ranks=2, code=1)
    assert record["verdict"]["status"] == "wrong"
    assert "of instance 1 (before timing)" in record["verdict"]["reason"]
    assert not record["verification"]["ok"]


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_a_real_transform_is_credited_with_half(bench: Bench, direction: str) -> None:
    kind = "r2c" if direction == "forward" else "c2r"
    record = bench.record("--variant", "pencil", "--shape", "8x9x10", "--kind", kind, "--isolate", ranks=2)
    assert (record["point"]["kind"], record["point"]["direction"]) == ("r2c", direction)
    assert record["credited_flops"] == pytest.approx(2.5 * 720 * math.log2(720))
    assert sum(record["memory"]["local_data_bytes"]) == 8 * 9 * 6 * 16
    assert "2.5 N log2 N" in record.screen


def test_a_kind_that_the_variant_lacks_is_skipped(bench: Bench) -> None:
    reason = bench.skipped("--variant", "naive", "--shape", "8x8x8", "--kind", "r2c")
    assert reason == "variant 'naive' has no kind r2c; it has: c2c"


def test_a_machine_that_hwloc_is_told_of_is_no_real_one(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    hashes = set()
    for value in ("", "Package:1 L3Cache:1(size=33554432) Core:64 PU:1"):
        monkeypatch.setenv("HWLOC_SYNTHETIC", value) if value else None
        record = bench.record(*POINT)
        assert record["provenance"]["identity"]["machine"].get("described_by") == ("HWLOC_SYNTHETIC" if value else None)
        assert ("emulated" in record["flags"]) == bool(value)
        hashes.add(record["provenance"]["machine_hash"])
    assert len(hashes) == 2
