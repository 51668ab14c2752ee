"""fft_bench --fom: lines that other tools read."""

from __future__ import annotations

import re
from statistics import median

import pytest
from conftest import Bench

SMALL = ["--shape", "12x10x9", "--planner", "estimate", "--repetitions", "5"]


def figures(text: str) -> dict[str, str]:
    """Each line has three words, and each key stands there once."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        head, key, value = line.split(" ")
        assert head == "fom" and key not in found
        found[key] = value
    return found


def test_they_are_those_of_the_record(bench: Bench) -> None:
    record = bench.record("--variant", "slab", *SMALL, "--fom", ranks=2)
    found = figures(record.screen)
    times = record["samples"]["time_s"]
    assert (found["status"], found["verified"]) == ("ok", "yes")
    assert float(found["time_s"]) == pytest.approx(median(times), rel=1e-8)
    assert float(found["time_min_s"]) == pytest.approx(min(times), rel=1e-8)
    assert float(found["gflops"]) == pytest.approx(record["credited_flops"] / median(times) / 1e9, rel=1e-5)
    assert found["flags"].split(",") == record["flags"]
    phases = {key[6:-2]: float(value) for key, value in found.items() if key.startswith("phase_")}
    rows, totals = record["samples"]["rank_phase_s"], record["samples"]["rank_total_s"]
    assert phases.keys() == rows.keys()
    slowest = [max(range(2), key=lambda rank: totals[rank][i]) for i in range(len(times))]
    for name, seconds in phases.items():
        assert seconds == pytest.approx(median(rows[name][rank][i] for i, rank in enumerate(slowest)), rel=1e-8, abs=1e-15)


def test_a_wrong_result_has_no_time(bench: Bench) -> None:
    run = bench("--variant", "wrong-result", *SMALL, "--fom")
    assert run.returncode == 1
    assert figures(run.stdout) == {"status": "wrong", "verified": "no"}


def test_a_skipped_point_has_no_time(bench: Bench) -> None:
    run = bench("--variant", "serial", *SMALL, "--fom", ranks=2)
    assert run.returncode == 0
    assert figures(run.stdout) == {"status": "skipped", "verified": "no"}


def test_they_exclude_the_record_on_the_screen(bench: Bench) -> None:
    said = bench.refused("--variant", "serial", *SMALL, "--fom", "--json")
    assert re.search("--fom excludes --json|--json excludes --fom", said)
