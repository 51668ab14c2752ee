"""What the programs of drivers/components are asked: parameters, flags, points; what they refuse, in which words."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from component_programs import QUICK, answers, call, measured, refused
from conftest import recorded, skip_reason

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
    ("memory_bench", ["--campaign-json", ""], ["--campaign-json", "is empty"]),
    *[("memory_bench", ["--parameter", f"size={value}"], ["'size'"]) for value in ("nan", "-1KiB", "", "1KiB,", "1e3")],
    *[("local_fft_bench", ["--parameter", f"threads={value}"], ["'threads'"]) for value in ("nan", "-1", "0", "", "1,2", "4097")],
    *[("local_fft_bench", ["--parameter", f"points={value}"], ["'points'"]) for value in ("nan", "-1", "0", "")],
    *[("local_transpose_bench", ["--parameter", f"shape={value}"], ["'shape'"]) for value in ("nan", "-4x4x4", "", "4x4xx")],
    ("alltoall_bench", ["--parameter", "exchange=shared", "--parameter", "reads=fused"], ["no parameter 'reads'"]),
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
    ("memory_bench", ["--benchmark_out=/proc/nowhere/at/all.json"], ["--benchmark_out: cannot write /proc/nowhere/at/all.json"]),
    ("memory_bench", ["--benchmark_out=/"], ["--benchmark_out: cannot write /"]),
    ("memory_bench", ["--benchmark_filter=nothing"], ["no benchmark of memory_bench is chosen"]),
    ("memory_bench", ["--benchmark_nothing=1"], ["Google Benchmark does not understand --benchmark_nothing=1"]),
    ("memory_bench", ["--list", "--identity"], ["--list, --identity and --check-points exclude each other"]),
    ("memory_bench", ["--record", "/proc/nowhere/at/all/out.json"], ["--record", "/proc/nowhere/at/all"]),
    ("memory_bench", ["--campaign-json", "/proc/nowhere/c.json"], ["--campaign-json", "/proc/nowhere/c.json"]),
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
    said = refused(program, *arguments)
    for text in expected:
        assert text in said


@pytest.mark.parametrize(
    ("program", "parameters", "expected"),
    [
        ("memory_bench", ("size=512TiB",), "3 arrays of 512 TiB"),
        ("local_transpose_bench", ("shape=99999x99999x99999",), "2 arrays of"),
        ("copy_bench", ("size=512TiB", "device=host"), "buffers for h2d of 512 TiB"),
    ],
)
def test_buffers_that_do_not_fit_the_memory_are_a_skipped_record_with_both_numbers(
    program: str, parameters: tuple[str, ...], expected: str
) -> None:
    options = [text for parameter in parameters for text in ("--parameter", parameter)]
    reason = skip_reason(recorded(call, program, *options))
    assert f"not enough memory for {expected}" in reason
    assert re.search(r"1 rank needs at least [\d.]+ TiB, and [\d.]+ \w+ can be had of", reason)


@pytest.mark.parametrize(
    "arguments",
    [["--min-time-s", "nan"], ["--benchmark_repetitions=-1"], ["--benchmark_format=zzz"], ["--benchmark_out=/proc/nowhere/o.json"],
     ["--benchmark_filter=nothing"], ["--parameter", "size="]],
    ids=" ".join,
)  # fmt: skip
def test_bad_input_ends_all_ranks_with_2_and_one_message(arguments: list[str], tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    refused("memory_bench", *arguments, "--record", str(out), ranks=2)
    assert not out.exists()


@pytest.mark.parametrize(
    ("name", "value"),
    [("REPETITIONS", "0"), ("FORMAT", "zzz"), ("MIN_TIME", "nan"), ("DISPLAY_AGGREGATES_ONLY", "1"), ("OUT", "/proc/nowhere/o.json")],
)
def test_google_benchmarks_environment_is_judged_as_its_flags_are(name: str, value: str) -> None:
    run = call("memory_bench", *QUICK, "--parameter", "size=1KiB", environment={f"BENCHMARK_{name}": value})
    assert run.returncode == 2, run.stdout
    assert name in run.stderr.upper()
    assert value in run.stderr


def test_flags_that_only_show_leave_the_record_as_it_is(tmp_path: Path) -> None:
    own = tmp_path / "own.csv"
    record = measured("memory_bench", "--parameter", "size=1KiB", "--parameter", "kernels=copy,read",
                      "--benchmark_format=json", "--benchmark_filter=copy", f"--benchmark_out={own}",
                      "--benchmark_out_format=csv", "--benchmark_display_aggregates_only=false",
                      "--benchmark_counters_tabular=true", "--benchmark_color=no", "--benchmark_context=who=me",
                      ranks=2)  # fmt: skip
    assert [entry["name"] for entry in record["benchmarks"]] == ["copy/1024"]
    context = json.loads(record.screen)["context"]
    assert (context["who"], context["executable"]) == ("me", "memory_bench")
    assert own.read_text().count("copy/1024") >= 2
    clash = ("--record", str(tmp_path / "x.json"), f"--benchmark_out={tmp_path}/./x.json")
    assert "--record and --benchmark_out both name" in refused("memory_bench", *QUICK, *clash)


def test_points_are_answered_line_by_line() -> None:
    point = {"component": "memory_bench", "ranks": 2, "parameters": {"kernels": "copy"}}
    cases: list[tuple[dict, bool, bool, str]] = [
        (point, True, False, ""),
        (point | {"parameters": {"size": "3"}}, False, True, "size"),
        (point | {"component": "memori_bench"}, False, True, ""),
        (point | {"shape": [4]}, False, True, ""),
        ({"component": "memory_bench"}, False, True, ""),
    ]
    said = answers("memory_bench", *(case[0] for case in cases))
    assert [(a["supported"], a["error"], a.get("key", "")) for a in said] == [case[1:] for case in cases]
    assert said[0]["point"] == point | {"nodes": 1, "ranks_per_node": 2, "placement_of_ranks": "block"}


def test_a_list_of_names_measures_nothing_and_leaves_no_record(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    run = call("memory_bench", "--parameter", "size=1KiB", "--benchmark_list_tests", "--record", str(out))
    assert run.returncode == 0
    assert "copy/1024" in run.stdout
    assert not out.exists()


def test_orders_that_ranks_would_draw_differently_are_refused() -> None:
    said = refused("component_faulty", "--benchmark_enable_random_interleaving=true", *QUICK, ranks=2)
    assert "different orders" in said
