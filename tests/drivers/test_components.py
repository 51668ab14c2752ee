"""The programs of drivers/components as their users meet them: cards, bad input, records."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
from pathlib import Path

import pytest
from conftest import read_record

FOLDER = Path(os.environ["FOURSCORE_COMPONENTS"])
MPIEXEC = os.environ["FOURSCORE_MPIEXEC"]
QUICK = ("--repetitions", "2", "--min-time-s", "0.0001")

# Of each program: parameters of a run of a moment, and the kernels that must be in its record.
SMALL: dict[str, tuple[dict[str, str], set[str]]] = {
    "memory_bench": ({"size": "16KiB,1280"}, {"read", "write", "copy", "triad", "streaming-write", "streaming-copy"}),
    "local_transpose_bench": (
        {"shape": "7x9x34", "precision": "all", "blocks": "2,5", "planner": "estimate"},
        {"copy", "streaming-copy", "permute", "pack", "unpack", "gather"},
    ),
    "local_fft_bench": (
        {"lengths": "1,2,8,13,30", "points": "4000", "precision": "all", "kind": "all", "buffers": "all", "planner": "estimate"},
        {"c2c", "r2c"},
    ),
    "copy_bench": ({"size": "4KiB,100001", "device": "host"}, {"copy"}),
}


def call(
    program: str, *arguments: str, ranks: int = 0, stdin: str | None = None, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    command = [MPIEXEC, "-n", str(ranks)] if ranks else []
    return subprocess.run(
        [*command, str(FOLDER / program), *arguments],
        input=stdin, capture_output=True, text=True, timeout=120, check=False, env=os.environ | (environment or {}),
    )  # fmt: skip


def given(parameters: dict[str, str]) -> list[str]:
    return [text for name, value in parameters.items() for text in ("--parameter", f"{name}={value}")]


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


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("program", SMALL)
def test_every_benchmark_is_checked_and_every_repetition_recorded(program: str, ranks: int, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    parameters, kernels = SMALL[program]
    run = call(program, *given(parameters), *QUICK, "--record", str(out), ranks=ranks)
    assert run.returncode == 0, run.stderr
    record = read_record(out)
    assert record["point"] == {"component": program, "ranks": ranks, "parameters": parameters}
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
    assert run.stdout.count(names[0]) >= 2, "rank 0 alone shows the repetitions"


def test_one_node_that_pretends_to_be_several_is_flagged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOURSCORE_RANKS_PER_NODE", "1")
    out = tmp_path / "out.json"
    run = call("memory_bench", "--parameter", "size=16KiB", "--parameter", "kernels=copy", *QUICK, "--record", str(out), ranks=2)
    assert run.returncode == 0, run.stderr
    record = read_record(out)
    assert "emulated" in record["flags"]
    # The record is, its benchmarks are what they are: none is a copy to a stand-in for a GPU.
    assert not any(entry["emulated"] for entry in record["benchmarks"])


# Of each kernel of memory_bench: arrays that go over the bus.
ARRAYS = {"read": 1, "write": 1, "copy": 2, "triad": 3, "streaming-write": 1, "streaming-copy": 2}
# Programs whose ranks talk to each other, besides those above.
TALKING = {"alltoall_bench": {"exchange": "p2p,shared,mpi-alltoall", "sizes": "64,4KiB"}, "pairwise_bench": {"sizes": "8,1KiB"}}


def expected_amounts(program: str, entry: dict) -> tuple[float, float]:
    """Bytes and flops of one iteration of a rank, from the sizes alone, as docs/components.md defines them."""
    numbers, labels, kernel = entry["numbers"], entry["labels"], entry["kernel"]
    element = {"double": 16, "single": 8}.get(labels.get("precision", ""), 0)
    if program == "memory_bench":
        return ARRAYS[kernel] * numbers["size_bytes"], 0
    if program == "local_transpose_bench":
        whole = element * numbers["elements"]
        return 2 * (whole // 256 * 256 if kernel in ("copy", "streaming-copy") else whole), 0
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
def test_what_is_shown_follows_from_the_recorded_times_and_sizes(program: str, more: list[str], tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    parameters = SMALL[program][0] if program in SMALL else TALKING[program]
    run = call(program, *given(parameters), *QUICK, *more, "--benchmark_format=json", "--record", str(out), ranks=2)
    assert run.returncode == 0, run.stderr
    record = read_record(out)
    shown: dict[str, list[dict]] = {}
    for line in json.loads(run.stdout)["benchmarks"]:
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
            assert line["least_per_second"] == pytest.approx(min(rates)), name
            assert line.get("flops", 0) == pytest.approx(flops / time), name
            if baseline is not None:
                of_copy = baseline["numbers"]["bytes"] / baseline["time_s"][-1]
                assert line["of_copy"] == pytest.approx(size / time / of_copy), name
            assert ("of_copy" in line) is (baseline is not None)


BAD: list[tuple[str, list[str], list[str]]] = [
    ("memory_bench", ["--parameter", "kernel=copy"], ["no parameter 'kernel'", "did you mean 'kernels'?"]),
    ("memory_bench", ["--parameter", "kernels=cpy"], ["'cpy'", "did you mean 'copy'?"]),
    ("memory_bench", ["--parameter", "kernels"], ["--parameter is 'kernels'", "NAME=VALUE"]),
    ("memory_bench", ["--parameter", "size=1KiB", "--parameter", "size=2KiB"], ["--parameter size is there twice"]),
    ("memory_bench", ["--parameter", "size=100"], ["'size' is '100'", "256 B"]),
    ("memory_bench", ["--parameter", "size=1000"], ["multiples of 256 bytes"]),
    ("memory_bench", ["--repetition", "3"], ["did you mean --repetitions?"]),
    ("memory_bench", ["--repetitions", "0"], ["--repetitions", "0"]),
    ("memory_bench", ["--repetitions", "-1"], ["--repetitions", "-1"]),
    ("memory_bench", ["--repetitions", "nan"], ["--repetitions", "nan"]),
    ("memory_bench", ["--repetitions", ""], ["--repetitions"]),
    *[
        ("memory_bench", ["--min-time-s", value], ["--min-time-s", f"'{value}' is no number from 1e-06 to 1e+06"])
        for value in ("nan", "inf", "-1", "0", "1e9", "", "1s")
    ],
    *[("memory_bench", ["--launched-at", value], ["--launched-at", f"'{value}'"]) for value in ("nan", "inf", "-1", "")],
    ("memory_bench", ["--warmup", "1"], ["--warmup"]),
    ("memory_bench", ["--max-time-s", "1"], ["--max-time-s", "did you mean --min-time-s?"]),
    ("memory_bench", ["--record", ""], ["--record", "is empty"]),
    ("memory_bench", ["--campaign", ""], ["--campaign", "is empty"]),
    *[("memory_bench", ["--parameter", f"size={value}"], ["'size'"]) for value in ("nan", "-1KiB", "", "1KiB,", "1e3")],
    *[("local_fft_bench", ["--parameter", f"threads={value}"], ["'threads'"]) for value in ("nan", "-1", "0", "", "1,2", "4097")],
    *[("local_fft_bench", ["--parameter", f"points={value}"], ["'points'"]) for value in ("nan", "-1", "0", "")],
    *[("local_transpose_bench", ["--parameter", f"shape={value}"], ["'shape'"]) for value in ("nan", "-4x4x4", "", "4x4xx")],
    *[("alltoall_bench", ["--parameter", f"{name}="], [f"'{name}' is empty"]) for name in ("shape", "sizes", "grid", "pieces")],
    *[("pairwise_bench", ["--parameter", f"{name}="], [f"'{name}' is empty"]) for name in ("phase", "sizes", "pattern")],
    # Google Benchmark would end the program with 0 or 1 and without the record, or make another one than it says.
    ("memory_bench", ["--benchmark_repetitions=0"], ["--benchmark_repetitions=0", "use --repetitions"]),
    ("memory_bench", ["--benchmark_repetitions=-1"], ["--benchmark_repetitions=-1", "use --repetitions"]),
    ("memory_bench", ["--benchmark_repetitions=3"], ["--benchmark_repetitions=3", "use --repetitions"]),
    ("memory_bench", ["--benchmark_min_time=0.1s"], ["--benchmark_min_time=0.1s", "use --min-time-s"]),
    ("memory_bench", ["--benchmark_min_warmup_time=1"], ["--benchmark_min_warmup_time=1", "warm-up"]),
    ("memory_bench", ["--benchmark_format=zzz"], ["--benchmark_format=zzz", "expected console, json, csv"]),
    ("memory_bench", ["--benchmark_format"], ["--benchmark_format", "expected console, json, csv"]),
    ("memory_bench", ["--benchmark_out_format=xml"], ["--benchmark_out_format=xml", "expected console, json, csv"]),
    ("memory_bench", ["--benchmark_color="], ["--benchmark_color=", "expected auto, true"]),
    ("memory_bench", ["--benchmark_time_unit=min"], ["--benchmark_time_unit=min", "expected ns, us, ms, s"]),
    ("memory_bench", ["--benchmark_list_tests=maybe"], ["--benchmark_list_tests=maybe", "expected true, false"]),
    ("memory_bench", ["--benchmark_report_aggregates_only=true"], ["every repetition is shown"]),
    ("memory_bench", ["--benchmark_display_aggregates_only"], ["every repetition is shown"]),
    ("memory_bench", ["--benchmark_dry_run"], ["nothing would be measured"]),
    ("memory_bench", ["--benchmark_perf_counters=CYCLES"], ["timed, not counted"]),
    ("memory_bench", ["--benchmark_fliter=copy"], ["did you mean --benchmark_filter?"]),
    ("memory_bench", ["--benchmark_filter"], ["does not understand --benchmark_filter"]),
    ("memory_bench", ["--benchmark_filter=["], ["no benchmark of memory_bench is chosen"]),
    ("memory_bench", ["--benchmark_filter=nothing", "--benchmark_list_tests"], ["no benchmark of memory_bench is chosen"]),
    ("memory_bench", ["--benchmark_out=/nowhere/at/all.json"], ["--benchmark_out: cannot write /nowhere/at/all.json"]),
    ("memory_bench", ["--benchmark_out=/"], ["--benchmark_out: cannot write /"]),
    ("memory_bench", ["--benchmark_filter=nothing"], ["no benchmark of memory_bench is chosen"]),
    ("memory_bench", ["--benchmark_nothing=1"], ["Google Benchmark does not understand --benchmark_nothing=1"]),
    ("memory_bench", ["--list", "--identity"], ["one of --list, --identity and --check-points"]),
    ("memory_bench", ["--record", "/nowhere/at/all/out.json"], ["--record", "/nowhere/at/all"]),
    ("memory_bench", ["--campaign", "/nowhere/c.json"], ["--campaign", "/nowhere/c.json"]),
    ("local_transpose_bench", ["--parameter", "shape=4x4"], ["'shape' is '4x4'", "three extents"]),
    ("local_transpose_bench", ["--parameter", "shape=1x1x2"], ["expected at least 256 bytes"]),
    ("local_transpose_bench", ["--parameter", "permutations=zxx"], ["'zxx'", "xzy, yxz, yzx, zxy, zyx"]),
    ("local_transpose_bench", ["--parameter", "blocks=0"], ["'blocks' is '0'"]),
    ("local_fft_bench", ["--parameter", "library=fftv"], ["did you mean 'fftw'?"]),
    ("local_fft_bench", ["--parameter", "lengths=8,x"], ["'lengths' is '8,x'"]),
    ("local_fft_bench", ["--parameter", "kind=r2c", "--parameter", "layouts=middle"], ["layout contiguous only"]),
    ("copy_bench", ["--parameter", "memory=pined"], ["did you mean 'pinned'?"]),
    ("copy_bench", ["--parameter", "size=0"], ["'0' is no size"]),
    ("memory_bench", ["--record", ""], ["--record", "empty"]),
]


@pytest.mark.parametrize(("program", "arguments", "expected"), BAD, ids=[" ".join([b[0], *b[1]]) for b in BAD])
def test_bad_input_gets_code_2_and_one_message(program: str, arguments: list[str], expected: list[str]) -> None:
    run = call(program, *arguments)
    assert run.returncode == 2
    assert run.stdout == ""
    assert run.stderr.count(f"{program}: ") == 1
    for text in expected:
        assert text in run.stderr


@pytest.mark.parametrize(
    ("program", "parameters", "expected"),
    [
        ("memory_bench", ("size=512TiB",), "3 arrays of 512 TiB"),
        ("local_transpose_bench", ("shape=99999x99999x99999",), "2 arrays of"),
        ("copy_bench", ("size=512TiB", "device=host"), "buffers for h2d of 512 TiB"),
    ],
)
def test_buffers_that_do_not_fit_the_memory_are_a_skipped_record_with_both_numbers(
    tmp_path: Path, program: str, parameters: tuple[str, ...], expected: str
) -> None:
    out = tmp_path / "out.json"
    options = [text for parameter in parameters for text in ("--parameter", parameter)]
    run = call(program, *options, "--record", str(out))
    assert run.returncode == 0, run.stderr
    verdict = read_record(out)["verdict"]
    assert verdict["status"] == "skipped"
    assert f"not enough memory for {expected}" in verdict["reason"]
    assert re.search(r"1 rank needs at least [\d.]+ TiB, and [\d.]+ \w+ can be had of", verdict["reason"])


@pytest.mark.parametrize(
    "arguments",
    [["--min-time-s", "nan"], ["--benchmark_repetitions=-1"], ["--benchmark_format=zzz"], ["--benchmark_out=/nowhere/o.json"],
     ["--benchmark_filter=nothing"], ["--parameter", "size="]],
    ids=" ".join,
)  # fmt: skip
def test_bad_input_ends_all_ranks_with_2_and_one_message(arguments: list[str], tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    run = call("memory_bench", *arguments, "--record", str(out), ranks=2)
    assert run.returncode == 2, run.stderr
    assert run.stderr.count("memory_bench: ") == 1, run.stderr
    assert not out.exists()


@pytest.mark.parametrize(
    ("name", "value"),
    [("REPETITIONS", "0"), ("FORMAT", "zzz"), ("MIN_TIME", "nan"), ("DISPLAY_AGGREGATES_ONLY", "1"), ("OUT", "/nowhere/o.json")],
)
def test_google_benchmarks_environment_is_judged_as_its_flags_are(name: str, value: str) -> None:
    run = call("memory_bench", *QUICK, "--parameter", "size=1KiB", environment={f"BENCHMARK_{name}": value})
    assert run.returncode == 2, run.stdout
    assert name in run.stderr.upper()
    assert value in run.stderr


def test_flags_that_only_show_leave_the_record_as_it_is(tmp_path: Path) -> None:
    out, own = tmp_path / "out.json", tmp_path / "own.csv"
    run = call("memory_bench", "--parameter", "size=1KiB", "--parameter", "kernels=copy,read", *QUICK, "--record", str(out),
               "--benchmark_format=json", "--benchmark_filter=copy", f"--benchmark_out={own}", "--benchmark_out_format=csv",
               "--benchmark_display_aggregates_only=false", "--benchmark_counters_tabular=true", "--benchmark_color=no",
               "--benchmark_context=who=me", ranks=2)  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert [entry["name"] for entry in read_record(out)["benchmarks"]] == ["copy/1024"]
    context = json.loads(run.stdout)["context"]
    assert (context["who"], context["executable"]) == ("me", "memory_bench")
    assert own.read_text().count("copy/1024") >= 2
    clash = call("memory_bench", *QUICK, "--record", str(tmp_path / "x.json"), f"--benchmark_out={tmp_path}/./x.json")
    assert clash.returncode == 2
    assert "is the file of --record" in clash.stderr


def timed(fault: str, *more: str, ranks: int, out: Path) -> dict:
    """The record of the benchmark of component_faulty that has the fault."""
    run = call("component_faulty", "--parameter", f"fault={fault}", "--benchmark_filter=second", "--repetitions", "2",
               "--min-time-s", "0.2", "--record", str(out), *more, ranks=ranks)  # fmt: skip
    assert run.returncode == 0, run.stderr
    return read_record(out)


@pytest.mark.parametrize("more", [[], ["--synchronised"]], ids=["batches", "synchronised"])
def test_a_time_is_that_of_one_iteration(more: list[str], tmp_path: Path) -> None:
    """The one rank sleeps 5 ms in each; all iterations together cannot take longer than the launch did."""
    record = timed("uneven", *more, ranks=1, out=tmp_path / "out.json")
    (entry,) = record["benchmarks"]
    assert min(entry["time_s"]) >= 0.005
    assert entry["iterations"] > 1
    assert sum(time * entry["iterations"] for time in entry["time_s"]) <= record["harness"]["measure_s"]


def test_ranks_that_are_slow_in_turn_hide_in_batches_and_show_where_iterations_are_synchronised(tmp_path: Path) -> None:
    """Each of two ranks sleeps 5 ms in every other iteration."""
    together = timed("uneven", ranks=2, out=tmp_path / "together.json")
    apart = timed("uneven", "--synchronised", ranks=2, out=tmp_path / "apart.json")
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


def test_synchronised_iterations_begin_when_all_ranks_have_ended_the_one_before(tmp_path: Path) -> None:
    timed("in-step", "--synchronised", ranks=3, out=tmp_path / "out.json")


def test_a_gpu_that_is_not_there_is_a_skipped_record_with_cudas_own_text(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    run = call("copy_bench", "--parameter", "device=cuda", "--parameter", "size=4KiB", *QUICK, "--record", str(out))
    assert run.returncode == 0, run.stderr
    record = read_record(out)
    if record["verdict"]["status"] == "ok":
        assert not any(entry["emulated"] for entry in record["benchmarks"])
    else:
        assert record["verdict"]["status"] == "skipped"
        assert "CUDA" in record["verdict"]["reason"] or "cuda" in record["verdict"]["reason"]


def test_points_are_answered_line_by_line() -> None:
    point = {"component": "memory_bench", "ranks": 2, "parameters": {"kernels": "copy"}}
    cases: list[tuple[dict, bool, bool, str]] = [
        (point, True, False, ""),
        (point | {"parameters": {"size": "3"}}, False, True, "size"),
        (point | {"component": "memori_bench"}, False, True, ""),
        (point | {"shape": [4]}, False, True, ""),
        ({"component": "memory_bench"}, False, True, ""),
    ]
    run = call("memory_bench", "--check-points", stdin="".join(json.dumps(case[0]) + "\n" for case in cases))
    answers = [json.loads(line) for line in run.stdout.splitlines()]
    assert [(a["supported"], a["error"], a.get("key", "")) for a in answers] == [case[1:] for case in cases]
    assert answers[0]["point"] == point


def test_a_list_of_names_measures_nothing_and_leaves_no_record(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    run = call("memory_bench", "--parameter", "size=1KiB", "--benchmark_list_tests", "--record", str(out))
    assert run.returncode == 0
    assert "copy/1024" in run.stdout
    assert not out.exists()


@pytest.mark.parametrize("fault", ["wrong", "nan"])
def test_a_wrong_result_is_archived_without_any_time(fault: str, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    run = call("component_faulty", "--parameter", f"fault={fault}", *QUICK, "--record", str(out), ranks=2)
    assert run.returncode == 1
    assert "component_faulty: wrong: second: error" in run.stderr
    record = read_record(out)
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
    assert call("component_faulty", "--parameter", "fault=input", *QUICK, ranks=2).returncode == 2


def test_what_cannot_be_measured_here_is_skipped_with_its_reason(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    run = call("component_faulty", "--parameter", "fault=refused", *QUICK, "--record", str(out), ranks=2)
    assert run.returncode == 0, run.stderr
    verdict = read_record(out)["verdict"]
    assert (verdict["status"], verdict["reason"]) == ("skipped", "it was made so, on 2 ranks")


def test_orders_that_ranks_would_draw_differently_are_refused() -> None:
    run = call("component_faulty", "--benchmark_enable_random_interleaving=true", *QUICK, ranks=2)
    assert run.returncode == 2
    assert "different orders" in run.stderr
