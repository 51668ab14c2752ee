"""What a launch leaves behind: records, verdicts, exit codes."""

from __future__ import annotations

import hashlib
import json
import math
import os
import signal
import subprocess
import time
from pathlib import Path

import jsonschema
import pytest
from conftest import SCHEMA, Bench, read_record

POINT = ("--variant", "naive", "--shape", "8x9x10")


def test_a_measured_point_leaves_a_record_with_every_sample(bench: Bench, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    run = bench(*POINT, "--repetitions", "7", "--warmup", "2", "--isolate", "--record", str(out), ranks=3)
    assert run.returncode == 0, run.stderr
    record = read_record(out)
    assert record["verdict"]["status"] == "ok"
    samples = record["samples"]
    assert len(samples["time_s"]) == 7
    assert len(samples["warmup_s"]) == 2
    assert len(samples["rank_total_s"]) == 3
    assert samples["time_s"] == [max(rank[i] for rank in samples["rank_total_s"]) for i in range(7)]
    for rank in range(3):
        for i in range(7):
            parts = sum(phase[rank][i] for phase in samples["rank_phase_s"].values())
            assert parts == pytest.approx(samples["rank_total_s"][rank][i], rel=samples["closure"]["worst"] + 1e-12)
    assert record["credited_flops"] == pytest.approx(5 * 720 * math.log2(720))
    names = {check["name"] for check in record["verification"]["checks"]}
    assert names == {"layouts", "plane-waves", "impulse", "dft", "inverse", "last-timed-run"}
    assert len(record["plan"]["rank_s"]) == 3
    assert sum(record["memory"]["local_data_bytes"]) >= 720 * 16


def test_the_point_id_is_the_hash_of_the_canonical_point(bench: Bench, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    assert bench(*POINT, "--record", str(out)).returncode == 0
    record = read_record(out)

    def short_hash(value: object) -> str:
        text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    assert record["point_id"] == short_hash(record["point"])
    for name in ("machine", "code", "launch"):
        assert record["provenance"][f"{name}_hash"] == short_hash(record["provenance"]["identity"][name])
    assert record["provenance"]["identity_hash"] == short_hash(record["provenance"]["identity"])


def test_the_record_names_the_program_and_the_launcher(bench: Bench, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    origin = ("--launcher", "by hand", "--launched-at", str(time.time()))
    run = bench(*POINT, *origin, "--record", str(out), ranks=2)
    assert run.returncode == 0, run.stderr
    record = read_record(out)
    identity = record["provenance"]["identity"]
    assert identity["code"]["binary_sha256"] == hashlib.sha256(Path(bench.faulty_path).read_bytes()).hexdigest()
    assert identity["launch"]["launcher"] == "by hand"
    assert identity["launch"]["ranks_per_node"] == [2]
    assert len(identity["launch"]["rank_cores"]) == 2
    assert 0 <= record["harness"]["launch_s"] < 120


def test_two_launches_have_one_point_one_identity_and_two_record_ids(bench: Bench, tmp_path: Path) -> None:
    for name in ("a", "b"):
        assert bench(*POINT, "--record", str(tmp_path / name)).returncode == 0
    a, b = (read_record(tmp_path / name) for name in ("a", "b"))
    assert a["point_id"] == b["point_id"]
    assert a["provenance"]["machine_hash"] == b["provenance"]["machine_hash"]
    assert a["provenance"]["code_hash"] == b["provenance"]["code_hash"]
    assert a["record_id"] != b["record_id"]


@pytest.mark.parametrize("variant", ["wrong-result", "wrong-later"])
@pytest.mark.parametrize("ranks", [1, 2])
def test_a_wrong_result_is_recorded_without_any_time(bench: Bench, tmp_path: Path, variant: str, ranks: int) -> None:
    out = tmp_path / "out.json"
    run = bench("--variant", variant, "--shape", "8x9x10", "--isolate", "--record", str(out), ranks=ranks)
    assert run.returncode == 1
    record = read_record(out)
    assert record["verdict"]["status"] == "wrong"
    assert record["verdict"]["reason"]
    assert "samples" not in record
    assert "isolated" not in record
    assert "measure_s" not in record["harness"]
    assert not record["verification"]["ok"]
    assert "GFLOP/s" not in run.stdout


def test_an_unsupported_problem_is_skipped_with_its_reason(bench: Bench, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    run = bench("--variant", "naive", "--shape", "2x9x10", "--record", str(out), ranks=3)
    assert run.returncode == 0, run.stderr
    record = read_record(out)
    assert record["verdict"]["status"] == "skipped"
    assert record["verdict"]["reason"] == "more ranks than planes"
    assert "samples" not in record


def test_a_variant_that_cannot_run_here_is_skipped_with_its_reason(bench: Bench, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    assert bench("--variant", "unavailable", "--shape", "8x9x10", "--record", str(out)).returncode == 0
    verdict = read_record(out)["verdict"]
    assert verdict["status"] == "skipped"
    assert "it was made so" in verdict["reason"]


@pytest.mark.parametrize("ranks", [0, 2])
def test_a_disk_that_is_full_when_the_record_is_written_ends_with_3(bench: Bench, tmp_path: Path, ranks: int) -> None:
    out = tmp_path / "out.json"
    run = bench("--variant", "fills-the-disk", "--shape", "8x9x10", "--record", str(out), ranks=ranks)
    assert run.returncode == 3, run.stderr
    assert run.stderr.count("fft_bench: ") == 1
    assert "File too large" in run.stderr
    assert "out.json" in run.stderr
    assert "GFLOP/s" not in run.stdout  # what was not kept was not measured
    assert not any(tmp_path.iterdir())


def test_a_real_full_disk_ends_with_3(bench: Bench, tmp_path: Path) -> None:
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4k,nr_inodes=10", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("this user may not mount; the test before meets a limit in the same place")
    try:
        run = bench(*POINT, "--record", str(folder / "out.json"), ranks=2)
        left = list(folder.iterdir())
    finally:
        subprocess.run(["umount", str(folder)], check=True)
    assert run.returncode == 3, run.stderr
    assert run.stderr.count("fft_bench: ") == 1
    assert "No space left on device" in run.stderr
    assert "out.json" in run.stderr
    assert left == []


def test_a_rank_that_aborts_ends_all(bench: Bench, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    run = bench("--variant", "aborts", "--shape", "8x9x10", "--record", str(out), ranks=3, timeout=120)
    assert run.returncode != 0
    assert "aborting on purpose" in run.stderr
    assert not out.exists()


@pytest.mark.parametrize("variant", ["throws-on-one-rank", "throws-in-planning"])
def test_an_exception_on_one_rank_ends_all_with_code_3(bench: Bench, tmp_path: Path, variant: str) -> None:
    out = tmp_path / "out.json"
    run = bench("--variant", variant, "--shape", "8x9x10", "--record", str(out), ranks=3, timeout=120)
    assert run.returncode == 3
    assert "rank 2" in run.stderr
    assert not out.exists()


@pytest.mark.parametrize(
    ("call", "point"),
    [
        ("MPI_Win_sync", ("--variant", "slab", "--exchange", "shared")),
        ("MPI_Put", ("--variant", "slab", "--exchange", "rma")),
        ("MPI_Testsome", ("--variant", "node", "--threads", "2", "--parameter", "mpi=funneled")),
    ],
)
def test_an_error_of_one_rank_is_told_while_others_wait_for_it(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, call: str, point: tuple[str, ...]
) -> None:
    """Windows are freed collectively, and the threads of `node` wait for each other: neither may keep the message back."""
    if "node" in point:
        node = next(entry for entry in json.loads(bench("--list").stdout)["variants"] if entry["name"] == "node")
        if not node["available"]:
            pytest.skip(node["reason"])
    assert bench(*point, "--shape", "8x8x8", "--planner", "estimate", ranks=2).returncode == 0
    monkeypatch.setenv("FOURSCORE_FAULTY_MPI_CALL", call)
    run = bench(*point, "--shape", "8x8x8", "--planner", "estimate", ranks=2, timeout=60)
    assert run.returncode == 3
    assert f"fft_bench: rank 1: {call} failed on rank 1" in run.stderr


def _fields(pid: int) -> list[str]:
    """/proc/PID/stat after the command's name: state, parent, ...; empty when the process is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _is_rank_below(pid: int, launcher: int) -> bool:
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
    if b"fft_bench" not in command.split(b"\0")[0]:
        return False
    while pid > 1 and pid != launcher:
        fields = _fields(pid)
        pid = int(fields[1]) if fields else 0
    return pid == launcher


def test_ranks_die_with_their_launcher(bench: Bench) -> None:
    command = [bench.mpiexec, "-n", "2", bench.faulty_path, "--variant", "hangs", "--shape", "8x9x10"]
    launcher = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert launcher.stderr is not None
    while "hanging on purpose" not in launcher.stderr.readline():
        assert launcher.poll() is None
    processes = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    ranks = [pid for pid in processes if _is_rank_below(pid, launcher.pid)]
    assert len(ranks) == 2
    launcher.send_signal(signal.SIGKILL)
    launcher.wait()
    deadline = time.monotonic() + 120
    while any((_fields(pid) or "X")[0] not in "ZX" for pid in ranks):
        assert time.monotonic() < deadline, "a rank outlived its launcher"
        time.sleep(0.05)


def test_max_time_stops_before_all_repetitions(bench: Bench, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    limits = ("--repetitions", "1000000", "--max-time-s", "0.2")
    run = bench(*POINT, *limits, "--record", str(out), ranks=2, timeout=100)
    assert run.returncode == 0, run.stderr
    record = read_record(out)
    assert 1 <= len(record["samples"]["time_s"]) < 1000000
    assert record["sampling"]["max_time_s"] == 0.2


def test_no_phases_leaves_the_breakdown_out(bench: Bench, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    assert bench(*POINT, "--no-phases", "--record", str(out)).returncode == 0
    record = read_record(out)
    assert "rank_phase_s" not in record["samples"]
    assert "closure" not in record["samples"]
    assert not record["sampling"]["phases"]


def test_a_timeline_is_one_more_run_and_no_sample(bench: Bench, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    run = bench("--variant", "slab", "--shape", "24x20x16", "--repetitions", "3", "--timeline", "--record", str(out), ranks=2, faulty=False)
    assert run.returncode == 0, run.stderr
    assert "not among the 3 samples" in run.stdout
    record = read_record(out)
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


def test_without_being_asked_nothing_is_traced(bench: Bench) -> None:
    run = bench(*POINT, "--json")
    record = json.loads(run.stdout)
    assert "timeline" not in record
    assert record["sampling"]["timeline"] is False


def test_no_warm_up_is_flagged_cold(bench: Bench) -> None:
    run = bench(*POINT, "--warmup", "0", "--json")
    assert run.returncode == 0, run.stderr
    record = json.loads(run.stdout)
    jsonschema.Draft202012Validator(SCHEMA).validate(record)
    assert "cold" in record["flags"]
    assert record["samples"]["warmup_s"] == []


def test_more_ranks_than_cores_are_flagged(bench: Bench) -> None:
    cores = len(os.sched_getaffinity(0))
    if cores > 7:
        pytest.skip("too many cores to oversubscribe with the planes of this shape")
    run = bench(*POINT, "--json", ranks=cores + 1)
    assert run.returncode == 0, run.stderr
    assert "oversubscribed" in json.loads(run.stdout)["flags"]


@pytest.mark.parametrize("exchange", ["hierarchical", "alltoallv"])
def test_one_node_that_pretends_to_be_several_is_flagged(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exchange: str
) -> None:
    point = ("--variant", "slab", "--shape", "8x9x10", "--exchange", exchange, "--planner", "estimate")
    launches = {}
    for most in ("", "1", "2"):
        if most:
            monkeypatch.setenv("FOURSCORE_RANKS_PER_NODE", most)
        out = tmp_path / f"{most}.json"
        run = bench(*point, "--record", str(out), ranks=2)
        assert run.returncode == 0, run.stderr
        record = read_record(out)
        assert ("emulated" in record["flags"]) is (most == "1")
        assert ("emulated" in run.stdout) is (most == "1")
        launches[most] = record["provenance"]
        assert launches[most]["identity"]["launch"].get("ranks_per_pretended_node") == (1 if most == "1" else None)
    assert launches[""]["launch_hash"] == launches["2"]["launch_hash"] != launches["1"]["launch_hash"]
    monkeypatch.setenv("FOURSCORE_RANKS_PER_NODE", "none")
    run = bench(*point, ranks=2)
    assert run.returncode == 2
    assert run.stderr.count("FOURSCORE_RANKS_PER_NODE is 'none'; allowed: a whole number, 1 or more") == 1


def test_wisdom_is_written_then_read_and_recorded(bench: Bench, tmp_path: Path) -> None:
    wisdom = tmp_path / "wisdom"
    plans = []
    digest = ""
    for name in ("first", "second"):
        out = tmp_path / name
        digest = hashlib.sha256(wisdom.read_bytes()).hexdigest() if wisdom.exists() else ""
        run = bench(*POINT, "--wisdom", str(wisdom), "--record", str(out))
        assert run.returncode == 0, run.stderr
        plans.append(read_record(out)["plan"])
    assert plans[0]["wisdom"] == "file"
    assert "wisdom_sha256" not in plans[0]
    assert plans[1]["wisdom_sha256"] == digest


def test_the_campaign_stands_in_the_record(bench: Bench, tmp_path: Path) -> None:
    campaign = {"id": "smoke-12345678", "launch": 2}
    (tmp_path / "campaign.json").write_text(json.dumps(campaign))
    run = bench(*POINT, "--campaign-json", str(tmp_path / "campaign.json"), "--json")
    assert json.loads(run.stdout)["campaign"] == campaign


def test_a_secret_in_the_environment_stays_out_of_the_record(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLURM_JWT", "do-not-tell")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    run = bench(*POINT, "--json")
    assert json.loads(run.stdout)["provenance"]["volatile"]["environment"]["OMP_NUM_THREADS"] == "1"
    assert "do-not-tell" not in run.stdout


def test_the_screen_fits_a_terminal(bench: Bench) -> None:
    run = bench(*POINT, "--isolate", ranks=2)
    lines = run.stdout.splitlines()
    assert 8 <= len(lines) <= 40
    assert max(len(line) for line in lines) <= 100
    for word in ("verified", "median", "GFLOP/s", "phases", "memory", "flags", "harness"):
        assert word in run.stdout


@pytest.mark.parametrize("placement", ["all", "subset"])
def test_several_instances_are_each_checked_and_timed(bench: Bench, tmp_path: Path, placement: str) -> None:
    out = tmp_path / "out.json"
    asked = ("--instances", "2", "--placement", placement, "--isolate", "--record", str(out))
    run = bench("--variant", "slab", "--shape", "12x10x9", "--planner", "estimate", *asked, ranks=3)
    assert run.returncode == 0, run.stderr
    assert "2 instances" in run.stdout
    record = read_record(out)
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


def test_a_wrong_instance_on_a_subset_is_told_by_its_number(bench: Bench, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    asked = ("--instances", "2", "--placement", "subset", "--record", str(out))
    run = bench("--variant", "wrong-result", "--shape", "4x4x4", *asked, ranks=2)
    assert run.returncode == 1
    record = read_record(out)
    assert record["verdict"]["status"] == "wrong"
    assert "of instance 1 (before timing)" in record["verdict"]["reason"]
    assert not record["verification"]["ok"]


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_a_real_transform_is_credited_with_half(bench: Bench, tmp_path: Path, direction: str) -> None:
    out = tmp_path / "out.json"
    kind = "r2c" if direction == "forward" else "c2r"
    run = bench("--variant", "pencil", "--shape", "8x9x10", "--kind", kind, "--record", str(out), "--isolate", ranks=2)
    assert run.returncode == 0, run.stderr
    record = read_record(out)
    assert (record["point"]["kind"], record["point"]["direction"]) == ("r2c", direction)
    assert record["credited_flops"] == pytest.approx(2.5 * 720 * math.log2(720))
    assert sum(record["memory"]["local_data_bytes"]) == 8 * 9 * 6 * 16
    assert "2.5 N log2 N" in run.stdout


def test_a_kind_that_the_variant_lacks_is_skipped(bench: Bench, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    run = bench("--variant", "naive", "--shape", "8x8x8", "--kind", "r2c", "--record", str(out))
    assert run.returncode == 0
    verdict = read_record(out)["verdict"]
    assert (verdict["status"], verdict["reason"]) == ("skipped", "variant 'naive' has no kind r2c; it has: c2c")
