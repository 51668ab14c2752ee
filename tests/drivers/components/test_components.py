"""The programs of drivers/components as their users meet them: cards and records."""

from __future__ import annotations

import functools
import json
import math
from pathlib import Path

import pytest
from component_programs import QUICK, call, given, measured, refused
from conftest import Record, recorded, skip_reason

# For each program: parameters of a run of a moment, and the kernels that must be in its record.
SMALL: dict[str, tuple[dict[str, str], set[str]]] = {
    "memory_bench": ({"size": "16KiB,1280"}, {"read", "write", "copy", "triad", "streaming-write", "streaming-copy"}),
    "local_transpose_bench": (
        {"shape": "7x9x34", "precision": "all", "blocks": "2,5", "planner": "estimate"},
        {"copy", "streaming-copy", "permute", "pack", "unpack", "gather"},
    ),
    "local_fft_bench": (
        {"lengths": "1,2,8,13,30", "points": "4000", "precision": "all", "kind": "all", "buffers": "all", "planner": "estimate"},
        {"c2c", "r2c", "multiply-add"},
    ),
    "copy_bench": ({"size": "4KiB,100001", "device": "host"}, {"copy"}),
}


@pytest.mark.parametrize(("size", "bytes_of_each"), [("curve", [16384, 32768, 65536, 98304]), ("auto", [98304])])
def test_sizes_of_memory_bench_follow_the_last_level_caches(size: str, bytes_of_each: list[int]) -> None:
    machine = {"HWLOC_SYNTHETIC": "Package:1 L3Cache:1(size=24576) Core:2 PU:1"}
    record = measured("memory_bench", *given({"size": size, "kernels": "copy"}), environment=machine)
    assert [entry["name"] for entry in record["benchmarks"]] == [f"copy/{each}" for each in bytes_of_each]


@pytest.mark.parametrize("program", SMALL)
def test_the_card_names_parameters_with_what_is_allowed(program: str) -> None:
    card = json.loads(call(program, "--list").stdout)
    assert card["name"] == program
    assert card["available"] is True
    assert card["summary"]
    for parameter in card["parameters"]:
        assert parameter["summary"], parameter
        assert parameter["default"], parameter
        # Who launches the program reads a point's threads from its parameters, and takes one where there are none.
        assert parameter["name"] != "threads" or parameter["default"] == "1"
        values = parameter.get("values", [])
        assert not values or parameter["default"] in [*values, "all"], parameter
    assert SMALL[program][0].keys() <= {parameter["name"] for parameter in card["parameters"]}


# Programs whose ranks talk to each other, besides those above.
TALKING = {"alltoall_bench": {"exchange": "p2p,shared,mpi-alltoall", "sizes": "64,4KiB"}, "pairwise_bench": {"sizes": "8,1KiB"}}


@functools.cache
def on_two_ranks(program: str, *more: str) -> Record:
    """Shown as JSON."""
    parameters = SMALL[program][0] if program in SMALL else TALKING[program]
    return measured(program, *given(parameters), *more, "--benchmark_format=json", ranks=2)


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("program", SMALL)
def test_every_benchmark_is_checked_and_every_repetition_recorded(program: str, ranks: int) -> None:
    parameters, kernels = SMALL[program]
    record = on_two_ranks(program) if ranks == 2 else measured(program, *given(parameters), ranks=1)
    place = {"nodes": 1, "ranks_per_node": ranks, "placement_of_ranks": "block"}
    assert record["point"] == {"component": program, "ranks": ranks, "parameters": parameters} | place
    assert record["verdict"]["status"] == "ok"
    assert {entry["kernel"] for entry in record["benchmarks"]} == kernels
    names = [entry["name"] for entry in record["benchmarks"]]
    assert len(set(names)) == len(names)
    assert [check["name"] for check in record["verification"]["checks"]] == names
    assert all(check["error"] <= check["tolerance"] for check in record["verification"]["checks"])
    caches = bool(record["provenance"]["identity"]["machine"].get("caches"))
    for entry in record["benchmarks"]:
        assert len(entry["time_s"]) == 2
        assert len(entry["rank_s"]) == ranks
        assert entry["time_s"] == [max(rank[i] for rank in entry["rank_s"]) for i in range(2)]
        assert entry["numbers"]["bytes"] > 0
        assert entry["in_cache"] is caches
        assert entry["emulated"] is (program == "copy_bench")
        if "baseline" in entry["labels"]:
            assert entry["labels"]["baseline"] in names
    assert ("in-cache" in record["flags"]) is caches
    assert ("emulated" in record["flags"]) is (program == "copy_bench")
    assert record.screen.count(names[0]) >= 2, "the repetitions are shown"


def test_one_node_that_pretends_to_be_several_is_flagged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOURSCORE_RANKS_PER_NODE", "1")
    record = measured("memory_bench", "--parameter", "size=16KiB", "--parameter", "kernels=copy", ranks=2)
    assert "emulated" in record["flags"]
    # The record is, its benchmarks are what they are: none is a copy to a stand-in for a GPU.
    assert not any(entry["emulated"] for entry in record["benchmarks"])


# For each kernel of memory_bench: arrays that go over the bus.
ARRAYS = {"read": 1, "write": 1, "copy": 2, "triad": 3, "streaming-write": 1, "streaming-copy": 2}


def expected_amounts(program: str, entry: dict) -> tuple[float, float]:
    """Bytes and flops of one iteration of a rank, from the sizes alone, as docs/components.md defines them."""
    numbers, labels, kernel = entry["numbers"], entry["labels"], entry["kernel"]
    element = {"double": 16, "single": 8}.get(labels.get("precision", ""), 0)
    if program == "memory_bench":
        return ARRAYS[kernel] * numbers["size_bytes"], 0
    if program == "local_transpose_bench":
        whole = element * numbers["elements"]
        return 2 * (whole // 256 * 256 if kernel in ("copy", "streaming-copy") else whole), 0
    if kernel == "multiply-add":
        return 2 * numbers["size_bytes"], 2 * 1024 * numbers["size_bytes"] / (element / 2)
    if program == "local_fft_bench":
        n, batch = numbers["length"], numbers["batch"]
        real = kernel == "r2c"
        moved = batch * element * (n / 2 + n // 2 + 1 if real else 2 * n)
        return moved, (2.5 if real else 5) * n * math.log2(n) * batch
    if program == "copy_bench":
        return numbers["size_bytes"] * (2 if labels["direction"] == "both" else 1), 0
    return numbers["size_bytes"] * numbers["messages"], 0


@pytest.mark.parametrize("more", [[], ["--synchronised"]], ids=["batches", "synchronised"])
@pytest.mark.parametrize("program", [*SMALL, *TALKING])
def test_what_is_shown_follows_from_the_recorded_times_and_sizes(program: str, more: list[str]) -> None:
    record = on_two_ranks(program, *more)
    shown: dict[str, list[dict]] = {}
    for line in json.loads(record.screen)["benchmarks"]:
        if line["run_type"] == "iteration":
            shown.setdefault(line["run_name"].removesuffix("/manual_time"), []).append(line)
    by_name = {entry["name"]: entry for entry in record["benchmarks"]}
    assert shown.keys() == by_name.keys()
    for name, entry in by_name.items():
        size, flops = expected_amounts(program, entry)
        assert entry["numbers"]["bytes"] == pytest.approx(size), name
        assert entry["numbers"].get("flops", 0) == pytest.approx(flops), name
        assert len(shown[name]) == len(entry["time_s"]) == 2
        baseline = by_name.get(entry["labels"].get("baseline", ""))
        for i, line in enumerate(shown[name]):
            time = entry["time_s"][i]
            rates = [size / rank[i] for rank in entry["rank_s"] if rank[i] > 0]
            assert line["iterations"] == entry["iterations"]
            assert (line["time_unit"], line["real_time"]) == ("us", pytest.approx(1e6 * time)), name
            assert line["bytes_per_second"] == pytest.approx(size / time), name
            assert line["sum_per_second"] == pytest.approx(sum(rates)), name
            assert line["min_per_second"] == pytest.approx(min(rates)), name
            assert line.get("flops", 0) == pytest.approx(flops / time), name
            if baseline is not None:
                of_copy = baseline["numbers"]["bytes"] / baseline["time_s"][-1]
                assert line["of_copy"] == pytest.approx(size / time / of_copy), name
            assert ("of_copy" in line) is (baseline is not None)


def timed(fault: str, *more: str, ranks: int) -> dict:
    """The record of the benchmark of component_faulty that has the fault."""
    asked = ("--benchmark_filter=second", "--repetitions", "2", "--min-time-s", "0.2", *more)
    return recorded(call, "component_faulty", "--parameter", f"fault={fault}", *asked, ranks=ranks)


@pytest.mark.parametrize("more", [[], ["--synchronised"]], ids=["batches", "synchronised"])
def test_a_time_is_that_of_one_iteration(more: list[str]) -> None:
    """The one rank sleeps 5 ms in each; all iterations together cannot take longer than the launch did."""
    record = timed("uneven", *more, ranks=1)
    (entry,) = record["benchmarks"]
    assert min(entry["time_s"]) >= 0.005
    assert entry["iterations"] > 1
    assert sum(time * entry["iterations"] for time in entry["time_s"]) <= record["harness"]["measure_s"]


def test_ranks_that_are_slow_in_turn_hide_in_batches_and_show_where_iterations_are_synchronised() -> None:
    """Each of two ranks sleeps 5 ms in every other iteration."""
    together = timed("uneven", ranks=2)
    apart = timed("uneven", "--synchronised", ranks=2)
    assert (together["sampling"]["synchronised"], apart["sampling"]["synchronised"]) == (False, True)
    (entry,) = together["benchmarks"]
    assert "timing" not in entry["labels"]
    assert entry["time_s"] == [max(rank[i] for rank in entry["rank_s"]) for i in range(2)], "the maximum of sums"
    (entry,) = apart["benchmarks"]
    assert entry["labels"]["timing"] == "synchronised"
    assert entry["iterations"] >= 4
    for i, time in enumerate(entry["time_s"]):
        own = [rank[i] for rank in entry["rank_s"]]
        assert time >= 0.005, "one rank or the other slept in each iteration"
        assert max(own) < time <= sum(own) * (1 + 1e-9), "the sum of maxima"


def test_synchronised_iterations_begin_when_all_ranks_have_ended_the_one_before() -> None:
    timed("in-step", "--synchronised", ranks=3)


@pytest.mark.parametrize(("device", "library"), [("cuda", "CUDA"), ("opencl", "OpenCL")])
def test_a_gpu_that_is_not_there_is_a_skipped_record_with_the_librarys_own_text(device: str, library: str) -> None:
    record = measured("copy_bench", "--parameter", f"device={device}", "--parameter", "size=4KiB")
    if record["verdict"]["status"] == "ok":
        emulated = {entry["emulated"] for entry in record["benchmarks"]}
        assert emulated == {"emulated" in record["flags"]}
        assert device == "opencl" or emulated == {False}
    else:
        assert library.lower() in skip_reason(record).lower()


def test_a_length_that_the_library_does_not_have_is_a_skipped_record() -> None:
    parameters = given({"library": "clfft", "lengths": "16,17", "points": "500"})
    reason = skip_reason(measured("local_fft_bench", *parameters))
    assert "length 17" in reason or "cannot run here" in reason


@pytest.mark.parametrize("fault", ["wrong", "nan"])
def test_a_wrong_result_is_archived_without_any_time(fault: str) -> None:
    record = measured("component_faulty", "--parameter", f"fault={fault}", ranks=2, code=1)
    assert "component_faulty: wrong: second: error" in record.errors
    assert record["verdict"]["status"] == "wrong"
    assert [check["ok"] for check in record["verification"]["checks"]] == [True, False]
    assert "benchmarks" not in record
    assert "measure_s" not in record["harness"]


def test_a_failure_of_one_rank_ends_all_with_its_message(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    run = call("component_faulty", "--parameter", "fault=make", *QUICK, "--record", str(out), ranks=2)
    assert run.returncode == 3
    assert "component_faulty: made to fail" in run.stderr
    assert not out.exists()
    refused("component_faulty", "--parameter", "fault=input", *QUICK, ranks=2)


def test_what_cannot_be_measured_here_is_skipped_with_its_reason() -> None:
    record = measured("component_faulty", "--parameter", "fault=refused", ranks=2)
    assert skip_reason(record) == "it was made so, on 2 ranks"
