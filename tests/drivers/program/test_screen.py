"""The summary on the screen says what the record says, and fits a terminal."""

from __future__ import annotations

import math
import re

import pytest
from conftest import Bench

UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "B": 1.0, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30}


def shown(text: str) -> float:
    """Seconds of "12.3 ms", bytes of "1.50 MiB"."""
    number, unit = text.split()
    return float(number) * UNITS[unit]


def phase_table(screen: str) -> dict[str, tuple[float, float]]:
    """Seconds and share of each phase as the screen has them."""
    lines = screen.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("phases"))
    table = {}
    for line in lines[first + 1 :]:
        found = re.match(r" {13}(\w+) +([\d.]+ \w+) +([\d.]+) %", line)
        if not found:
            break
        table[found[1]] = (shown(found[2]), float(found[3]) / 100)
    return table


def median_run(samples: dict) -> tuple[int, int]:
    """The run in the middle by time (the faster of two), and its slowest rank."""
    order = sorted(range(len(samples["time_s"])), key=lambda i: samples["time_s"][i])
    run = order[(len(order) - 1) // 2]
    return run, max(range(len(samples["rank_total_s"])), key=lambda rank: samples["rank_total_s"][rank][run])


@pytest.mark.parametrize("repetitions", [4, 5])
def test_the_phases_on_the_screen_are_those_of_the_slowest_rank(bench: Bench, repetitions: int) -> None:
    asked = ("--repetitions", str(repetitions), "--isolate")
    record = bench.record("--variant", "uneven", "--shape", "8x9x10", *asked, ranks=3)
    samples = record["samples"]
    middle, slowest = median_run(samples)
    table = phase_table(record.screen)
    assert set(table) == set(samples["rank_phase_s"]) >= {"fft", "pack", "exchange"}
    for phase, (seconds, share) in table.items():
        expected = samples["rank_phase_s"][phase][slowest][middle]
        assert seconds == pytest.approx(expected, rel=6e-3, abs=1e-11)
        assert share == pytest.approx(expected / samples["rank_total_s"][slowest][middle], abs=6e-4)
    assert sum(share for _, share in table.values()) == pytest.approx(1, abs=samples["closure"]["worst"] + 2e-3)


@pytest.mark.parametrize(
    ("options", "credit"),
    [(("--kind", "c2c"), 5), (("--kind", "r2c"), 2.5), (("--kind", "c2r", "--precision", "single"), 2.5)],
)
def test_the_screen_says_what_the_record_says(bench: Bench, options: tuple[str, ...], credit: float) -> None:
    point = ("--variant", "slab", "--shape", "64x48x40", "--planner", "estimate")
    record = bench.record(*point, *options, "--repetitions", "6", ranks=2, faulty=False)
    times = sorted(record["samples"]["time_s"])
    middle = (times[2] + times[3]) / 2
    line = next(line for line in record.screen.splitlines() if line.startswith("time"))
    median, least, most, count = re.match(
        r"time +median (.+?)   min (.+?)   max (.+?)   \((\d+) runs, first start to last end\)", line
    ).groups()
    assert (shown(median), shown(least), shown(most)) == pytest.approx((middle, times[0], times[-1]), rel=6e-3)
    assert int(count) == 6
    elements = 64 * 48 * 40
    gflops = credit * elements * math.log2(elements) / middle / 1e9
    assert record["credited_flops"] / middle / 1e9 == pytest.approx(gflops)
    said, factor = re.search(r"([\d.]+) GFLOP/s at the median \(([\d.]+) N log2 N, 1e9\)", record.screen).groups()
    assert float(said) == pytest.approx(gflops, abs=6e-3, rel=6e-3)
    assert float(factor) == credit
    cost = record["cost"]
    sent, messages = re.search(r"exchange +(.+?) in (\d+) messages? sent by the busiest rank", record.screen).groups()
    assert shown(sent) == pytest.approx(max(cost["bytes_sent_per_rank"]), rel=6e-3)
    assert int(messages) == max(cost["messages_per_rank"]) > 0


@pytest.mark.parametrize(
    ("variant", "shape", "warned"),
    [
        ("wrong-cost", "8x8x8", ["messages: 0 declared, 4 by the formula of cost"]),
        ("wrong-cost", "8x9x10", []),  # 9 planes cannot be dealt evenly to 2 ranks
        ("naive", "8x8x8", []),
    ],
)
def test_the_screen_warns_where_plans_declare_another_cost_than_the_formula(
    bench: Bench, variant: str, shape: str, warned: list[str]
) -> None:
    run = bench("--variant", variant, "--shape", shape, ranks=2)
    assert run.returncode == 0, run.stderr
    assert re.findall(r"^warning +(.*)$", run.stdout, re.MULTILINE) == warned


def test_the_screen_fits_a_terminal(bench: Bench) -> None:
    run = bench("--variant", "naive", "--shape", "8x9x10", "--isolate", ranks=2)
    lines = run.stdout.splitlines()
    assert 8 <= len(lines) <= 40
    assert max(len(line) for line in lines) <= 100
    for word in ("verified", "median", "GFLOP/s", "phases", "memory", "flags", "harness"):
        assert word in run.stdout
