"""The programs of drivers/components as their users meet them: cards, bad input, records."""

from __future__ import annotations

import json
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


def call(program: str, *arguments: str, ranks: int = 0, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    command = [MPIEXEC, "-n", str(ranks)] if ranks else []
    return subprocess.run(
        [*command, str(FOLDER / program), *arguments], input=stdin, capture_output=True, text=True, timeout=120, check=False
    )


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


BAD: list[tuple[str, list[str], list[str]]] = [
    ("memory_bench", ["--parameter", "kernel=copy"], ["no parameter 'kernel'", "did you mean 'kernels'?"]),
    ("memory_bench", ["--parameter", "kernels=cpy"], ["'cpy'", "did you mean 'copy'?"]),
    ("memory_bench", ["--parameter", "kernels"], ["--parameter is 'kernels'", "NAME=VALUE"]),
    ("memory_bench", ["--parameter", "size=1KiB", "--parameter", "size=2KiB"], ["--parameter size is there twice"]),
    ("memory_bench", ["--parameter", "size=100"], ["'size' is '100'", "256 B"]),
    ("memory_bench", ["--parameter", "size=1000"], ["multiples of 256 bytes"]),
    ("memory_bench", ["--parameter", "size=512TiB"], ["3 arrays of 512 TiB need 1536 TiB", "of memory can be had"]),
    ("memory_bench", ["--repetition", "3"], ["did you mean --repetitions?"]),
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
