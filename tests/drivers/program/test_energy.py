"""fft_bench --counters powercap, beside a folder whose package draws watts that the test chose."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from conftest import ROOT, Bench, Record, recorded

BASE_W, CORE_W, DRAM_W = 5.0, 20.0, 3.0
POINT = ["--planner", "estimate", "--counters", "powercap"]


def run(
    bench: Bench, *arguments: str, ranks: int = 1, idle_s: float = 0.5, fake: tuple[str, ...] = (), repetitions: int = 2
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "tests/support/fake_powercap"), *fake]
    command += [f"--base-watts={BASE_W}", f"--core-watts={CORE_W}", f"--dram-watts={DRAM_W}"]
    command += [bench.mpiexec, "-n", str(ranks), bench.plain, *POINT, f"--idle-s={idle_s}"]
    command += ["--repetitions", str(repetitions), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)


def measure(bench: Bench, *arguments: str, **how) -> Record:
    return recorded(partial(run, bench), *arguments, **how)


def test_a_short_run_is_repeated_until_it_outlasts_a_hundred_updates(bench: Bench) -> None:
    """One rank draws what its processor time takes. Its waiting for the machine's other work takes the base alone."""
    record = measure(bench, "--variant", "serial", "--shape", "48x48x48", "--isolate")
    counters = record["counters"]
    assert (counters["group"], counters["scope"], counters["attribution"]) == ("ENERGY", "node", "elected")
    assert counters["readers"] == [{"rank": 0, "scope": "node"}]
    assert counters["update_s"] == 0.001 and counters["idle_s"] == 0.5 == record["sampling"]["idle_s"]
    assert counters["runs"] > 1 and counters["runs"] * counters["run_s"] >= 0.1
    assert f"{counters['runs']} runs of" in counters["phases_refused"] and "phases" not in counters
    run_s, median_s = counters["run_s"], sorted(record["samples"]["time_s"])[0]
    assert 0.5 * median_s < run_s < 20 * median_s
    [idle_w], [joules], [gross] = (counters[key]["package_j"] for key in ("idle_per_s", "total", "with_idle"))
    assert 0.8 * BASE_W <= idle_w < BASE_W + 0.5 * CORE_W, "who waits in a barrier draws a core's watts"
    assert gross == pytest.approx(joules + idle_w * run_s)
    assert 0.02 * CORE_W * run_s < joules < 1.3 * CORE_W * run_s  # on a busy machine most of a run is waiting
    assert counters["with_idle"]["dram_j"][0] == pytest.approx(DRAM_W * run_s, rel=0.3)
    assert 0 < counters["components"]["fft-1"]["package_j"][0] < 3 * CORE_W * run_s
    assert counters["emulated"] is True and "emulated" in record["flags"]
    [others] = counters["other_cores"]
    assert ("shared-package" in record["flags"]) == (others > 0.25)
    shown = " ".join(record.screen.split())
    assert re.search(r"energy powercap ENERGY: [0-9.e-]+ J a run above idle, [0-9.e-]+ J with it; idle [0-9.]+ W", shown)


def test_a_long_run_is_counted_alone_and_its_long_phases_by_themselves(bench: Bench) -> None:
    asked = ("--variant", "serial", "--shape", "192x192x192", "--warmup", "0", "--check", "spots")
    record = measure(bench, *asked, repetitions=1)
    counters = record["counters"]
    if counters["runs"] > 1:
        pytest.fail(f"a run of {counters['run_s']} s is too short for this test: take a larger shape")
    [fft] = counters["phases"]["fft"]["package_j"]
    assert fft == pytest.approx(counters["total"]["package_j"][0], rel=0.3)
    assert counters["phases"]["other"]["package_j"] == [None] and "other (" in counters["phases_refused"]


def test_one_rank_of_a_node_reads_for_all(bench: Bench) -> None:
    record = measure(bench, "--variant", "slab", "--shape", "32x32x32", ranks=2)
    counters = record["counters"]
    assert [reader["rank"] for reader in counters["readers"]] == [0]
    [joules] = counters["total"]["package_j"]
    assert 0 < joules < 1.3 * 2 * CORE_W * counters["run_s"]


def test_other_processes_on_the_node_are_flagged(bench: Bench) -> None:
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as other:
        try:
            record = measure(bench, "--variant", "serial", "--shape", "32x32x32")
        finally:
            other.kill()
    assert record["counters"]["other_cores"][0] > 0.25 and "shared-package" in record["flags"]


def test_a_zone_that_vanishes_leaves_times_and_the_reason(bench: Bench) -> None:
    asked = ("--variant", "serial", "--shape", "32x32x32")
    counters = measure(bench, *asked, idle_s=12, fake=("--vanish-after=10",))["counters"]
    assert "intel-rapl:0/energy_uj" in counters["unavailable"] and "the zone is gone" in counters["unavailable"]
    assert not {"total", "with_idle", "phases"} & counters.keys()


def test_an_idle_time_shorter_than_the_counter_tells_is_refused(bench: Bench) -> None:
    result = run(bench, "--variant", "serial", "--shape", "8x8x8", idle_s=0.05)
    assert result.returncode == 2
    assert "--idle-s is 0.05" in result.stderr and "0.1 s or more" in result.stderr


def test_where_nobody_counts_the_reason_is_said(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOURSCORE_POWERCAP", str(tmp_path))
    result = bench("--variant", "serial", "--shape", "8x8x8", "--counters", "powercap", faulty=False)
    assert result.returncode == 3
    assert "counters 'powercap' are not available here" in result.stderr and "no RAPL" in result.stderr


def test_idle_time_wants_counters(bench: Bench) -> None:
    said = bench.refused("--variant", "serial", "--shape", "8x8x8", "--idle-s", "1", faulty=False)
    assert "--idle-s wants counters" in said


def test_the_joules_of_gpus_are_those_of_their_library(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A library at NVML's name has one GPU that draws 70 W all the time: nothing of it is above idle but noise."""
    groups = tmp_path / "groups"
    (groups / "any").mkdir(parents=True)
    shipped = (ROOT / "hwcounters/groups/any/ENERGY.toml").read_text()
    quick = re.sub(r"(\[nvml\]\nupdate_s = )0\.1", r"\g<1>0.001", shipped)
    assert quick != shipped
    (groups / "any/ENERGY.toml").write_text(quick)
    monkeypatch.setenv("LD_LIBRARY_PATH", os.environ["FOURSCORE_FAKE_NVML"], prepend=os.pathsep)
    point = ["--variant", "serial", "--shape", "32x32x32", "--planner", "estimate"]
    counted = bench.record(*point, "--counters", "nvml", "--counter-groups", str(groups), faulty=False)["counters"]
    assert counted["readers"] == [{"rank": 0, "scope": "node"}] and "emulated" not in counted
    assert counted["idle_per_s"]["device_j"][0] == pytest.approx(70, rel=0.05)
    assert counted["with_idle"]["device_j"][0] == pytest.approx(70 * counted["run_s"], rel=0.05)
