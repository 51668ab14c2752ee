"""What comes after the verified samples may fail, and the samples stay."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Bench, Launch, read_record

ASKED = ("--shape", "8x9x10", "--repetitions", "3", "--isolate")


def check_samples(record: dict) -> None:
    assert record["verdict"]["status"] == "ok"
    assert record["verification"]["ok"]
    assert "last-timed-run" in [check["name"] for check in record["verification"]["checks"]]
    assert len(record["samples"]["time_s"]) == 3
    assert "isolated" not in record


@pytest.mark.parametrize("ranks", [1, 2])
def test_samples_stay_when_a_component_alone_throws(bench: Bench, tmp_path: Path, ranks: int) -> None:
    out = tmp_path / "out.json"
    record = bench.record("--variant", "alone-throws", *ASKED, "--timeline", ranks=ranks, code=1, out=out)
    check_samples(record)
    assert record["failed_parts"] == {"isolate": {"status": "failed", "reason": "thrown alone on purpose"}}
    assert record["verdict"]["exit_status"] == 1
    assert record["timeline"]["lanes"]  # was through before
    assert "isolate: thrown alone on purpose" in record.screen
    assert "GFLOP/s" in record.screen
    assert [entry.name for entry in tmp_path.iterdir()] == ["out.json"]


@pytest.mark.parametrize("variant", ["alone-throws-on-one", "alone-aborts"])
def test_samples_are_on_disk_when_the_program_dies_in_a_component_alone(
    bench: Bench, tmp_path: Path, variant: str
) -> None:
    out = tmp_path / "out.json"
    run = bench("--variant", variant, *ASKED, "--timeline", "--record", str(out), ranks=2)
    assert run.returncode not in (0, 1)
    assert "on purpose" in run.stderr
    assert [entry.name for entry in tmp_path.iterdir()] == ["out.json.verified"]
    record = read_record(tmp_path / "out.json.verified")
    check_samples(record)
    assert record["timeline"]["lanes"]
    assert list(record["failed_parts"]) == ["isolate"]


def test_a_verified_record_that_an_earlier_run_left_is_kept(bench: Bench, tmp_path: Path) -> None:
    left = tmp_path / "kept.json"
    left.write_text("precious")
    names = ("--record", str(tmp_path / "out.json"), "--verified-record", str(left))
    assert "kept.json" in bench.refused("--variant", "naive", *ASKED, *names, ranks=2)
    assert left.read_text() == "precious"
    assert not (tmp_path / "out.json").exists()


def test_a_part_that_is_through_leaves_no_trace_of_the_verified_record(bench: Bench, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    record = bench.record("--variant", "slab", *ASKED, "--timeline", ranks=2, out=out)
    assert "failed_parts" not in record
    assert record["isolated"]
    assert [entry.name for entry in tmp_path.iterdir()] == ["out.json"]


def test_phases_that_do_not_add_up_are_marked(bench: Bench) -> None:
    record = bench.record("--variant", "restarts-its-clock", "--shape", "8x9x10", ranks=2)
    assert not record["samples"]["closure"]["ok"]
    assert record["samples"]["closure"]["worst"] > 0.5
    assert "open-breakdown" in record["flags"]


CUBE = ("--shape", "64x64x64", "--planner", "estimate", "--repetitions", "5", "--variant")
VARIANTS = [
    ("slab",),
    ("slab-gpu",),
    ("pencil-gpu", "--parameter", "staging=resident"),
    ("slab-gpu", "--parameter", "staging=streamed"),
    ("pencil", "--exchange", "alltoallw"),
    ("pencil", "--exchange", "rma"),
    ("volumetric", "--exchange", "active", "--parameter", "topology=cart"),
    ("pencil-overlap", "--exchange", "p2p"),
    ("volumetric", "--layout", "natural"),
    ("danielson-lanczos",),
    ("overdecomposed",),
    ("node", "--threads", "2"),
    ("fftw-mpi",),
]


@pytest.mark.parametrize(
    "record", [Launch(0, (*CUBE, "serial")), *(Launch(2, (*CUBE, *variant)) for variant in VARIANTS)], indirect=True
)
def test_the_phases_of_a_real_variant_add_up(record: dict) -> None:
    if record["verdict"]["status"] == "skipped":
        pytest.skip(record["verdict"]["reason"])
    samples = record["samples"]
    assert samples["closure"]["limit"] == 0.02
    gaps = [
        abs(sum(phase[rank][i] for phase in samples["rank_phase_s"].values()) / total - 1)
        for rank, totals in enumerate(samples["rank_total_s"])
        for i, total in enumerate(totals)
    ]
    assert samples["closure"]["worst"] == pytest.approx(max(gaps), rel=1e-9, abs=1e-15)
    # A machine that is busy with other things may stop a rank between two readings of the clock, but not each time.
    assert sorted(gaps)[len(gaps) // 2] <= 0.02
    assert samples["closure"]["ok"] == (max(gaps) <= 0.02)
    assert ("open-breakdown" in record["flags"]) == (max(gaps) > 0.02)
    share = {phase: sum(sum(rank) for rank in values) for phase, values in samples["rank_phase_s"].items()}
    assert share["fft" if "fft" in share else "other"] > 0
