"""What bad input gets: exit code 2, one message that names it, nothing written. And the questions without MPI."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from conftest import Bench

GOOD = {"--variant": "naive", "--shape": "8x8x8"}


def arguments(changes: dict[str, str]) -> list[str]:
    return [text for pair in (GOOD | changes).items() for text in pair]


BAD: list[tuple[dict[str, str], list[str]]] = [
    ({"--variant": "nave"}, ["unknown variant 'nave'; did you mean 'naive'? Known: "]),
    ({"--exchange": "nope"}, ["unknown exchange 'nope'; known: alltoallv, alltoallw, "]),
    ({"--shape": "0x4x4"}, ["--shape", "0x4x4"]),
    ({"--shape": "128x"}, ["--shape", "128x"]),
    ({"--shape": "4x4x4x4"}, ["--shape", "4x4x4x4"]),
    ({"--shape": "99999999999x99999999999x4"}, ["--shape"]),
    ({"--shape": "many"}, ["--shape", "many"]),
    ({"--grid": "2x2"}, ["grid 2x2 has 4 places", "2 ranks"]),
    ({"--grid": "2y1"}, ["--grid", "2y1"]),
    ({"--precision": "half"}, ["--precision", "half"]),
    ({"--kind": "r2r"}, ["--kind", "r2r"]),
    ({"--kind": "c2r", "--direction": "forward"}, ["--kind 'c2r'", "--direction is forward"]),
    ({"--direction": "sideways"}, ["--direction", "sideways"]),
    ({"--layout": "any"}, ["--layout", "any"]),
    ({"--buffers": "elsewhere"}, ["--buffers", "elsewhere"]),
    ({"--planner": "exhaust"}, ["--planner", "exhaust"]),
    ({"--exchange": "alltoalv"}, ["unknown exchange 'alltoalv'"]),
    ({"--local-fft": "ffwt"}, ["unknown local FFT library 'ffwt'", "did you mean 'fftw'?"]),
    ({"--instances": "0"}, ["--instances", "1024"]),
    ({"--instances": "1025"}, ["--instances", "1024"]),
    ({"--placement": "subsets"}, ["--placement 'subsets'", "did you mean 'subset'?", "all, subset"]),
    ({"--instances": "2", "--placement": "subset", "--grid": "2x1"}, ["grid 2x1 has 2 places", "1 ranks in a subset"]),
    ({"--threads": "0"}, ["--threads"]),
    ({"--repetitions": "0"}, ["--repetitions"]),
    ({"--repetitions": "ten"}, ["--repetitions"]),
    ({"--warmup": "-1"}, ["--warmup"]),
    ({"--max-time-s": "0"}, ["--max-time-s"]),
    ({"--parameter": "chunks"}, ["--parameter", "KEY=VALUE"]),
    ({"--parameter": "chunks=4"}, ["no parameter 'chunks'"]),
    ({"--campaign-json": "/nowhere/c.json"}, ["--campaign-json", "/nowhere/c.json"]),
    ({"--repetition": "3"}, ["--repetition", "did you mean --repetitions?"]),
    ({"--record": "/nowhere/at/all/out.json"}, ["--record", "/nowhere/at/all"]),
]


@pytest.mark.parametrize(("changes", "expected"), BAD, ids=[" ".join(f"{k} {v}" for k, v in c.items()) for c, _ in BAD])
def test_bad_input_gets_code_2_and_one_message(
    bench: Bench, tmp_path: Path, changes: dict[str, str], expected: list[str]
) -> None:
    out = tmp_path / "out.json"
    # Some must be told by one rank of several; the rest spares the time to launch them.
    several = not {"--variant", "--grid", "--record"}.isdisjoint(changes)
    run = bench(*arguments({"--record": str(out)} | changes), ranks=2 if several else 0)
    assert run.returncode == 2
    assert run.stdout == ""
    assert run.stderr.count("fft_bench: ") == 1
    for text in expected:
        assert text in run.stderr
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("missing", ["--variant", "--shape"])
def test_a_missing_option_is_named(bench: Bench, missing: str) -> None:
    rest = [text for option, value in GOOD.items() if option != missing for text in (option, value)]
    run = bench(*rest)
    assert run.returncode == 2
    assert f"{missing} is missing" in run.stderr


def test_an_existing_record_is_refused_before_measuring_and_kept(bench: Bench, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    out.write_text("precious")
    # This variant would never come back from a measurement.
    run = bench("--variant", "hangs", "--shape", "8x8x8", "--record", str(out), ranks=2, timeout=120)
    assert run.returncode == 2
    assert "out.json" in run.stderr
    assert "exists" in run.stderr
    assert out.read_text() == "precious"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written_is_refused_before_measuring(bench: Bench, tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    run = bench("--variant", "hangs", "--shape", "8x8x8", "--record", str(tmp_path / "out.json"), timeout=120)
    assert run.returncode == 2
    assert str(tmp_path) in run.stderr


def test_wisdom_that_is_none_is_refused_and_kept(bench: Bench, tmp_path: Path) -> None:
    wisdom = tmp_path / "wisdom"
    wisdom.write_text("this is no wisdom")
    run = bench(*arguments({"--wisdom": str(wisdom)}), ranks=2)
    assert run.returncode == 2
    assert str(wisdom) in run.stderr
    assert wisdom.read_text() == "this is no wisdom"


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_and_version_are_printed_once_under_mpiexec(bench: Bench, option: str) -> None:
    run = bench(option, ranks=2)
    assert run.returncode == 0
    alone = bench(option)
    assert alone.stdout.strip()
    assert run.stdout == alone.stdout


def test_list_names_everything_with_its_reason(bench: Bench) -> None:
    answer = json.loads(bench("--list").stdout)
    variants = {entry["name"]: entry for entry in answer["variants"]}
    assert variants["naive"]["available"] is True
    assert variants["naive"]["takes_exchange"] is False
    assert variants["unavailable"]["available"] is False
    assert variants["unavailable"]["reason"] == "it was made so"
    for entry in answer["variants"] + answer["exchanges"] + answer["local_ffts"]:
        assert entry["summary"], entry
        assert entry["citation"], entry
    assert "fftw" in [entry["name"] for entry in answer["local_ffts"]]


def test_identity_is_the_same_each_time(bench: Bench) -> None:
    first, second = (json.loads(bench("--identity").stdout) for _ in range(2))
    assert first == second
    assert set(first["identity"]) == {"machine", "code"}


def test_check_points_answers_line_by_line(bench: Bench) -> None:
    good = {"variant": "naive", "shape": [8, 8, 8], "ranks": 2}
    cases = [
        (good, True, False),
        (good | {"exchange": "none"}, True, False),
        (good | {"ranks": 9}, False, False),
        (good | {"variant": "nave"}, False, True),
        (good | {"grid": [3, 1]}, False, True),
        (good | {"variant": "unavailable"}, False, False),
        (good | {"shape": [0, 4]}, False, True),
        (good | {"instances": 2, "placement": "subset"}, True, False),
        (good | {"kind": "c2r"}, False, False),
        (good | {"kind": "c2r", "direction": "forward"}, False, True),
        (good | {"ranks": 3, "instances": 5, "placement": "subset"}, False, False),
        (good | {"instances": 2000}, False, True),
        (good | {"instances": 1, "placement": "subset"}, True, False),
        (good | {"variant": "slab", "exchange": "rma", "instances": 2}, True, False),
    ]
    text = "\n".join(json.dumps(point) for point, _, _ in cases) + "\nno json\n"
    run = bench("--check-points", stdin=text)
    assert run.returncode == 0, run.stderr
    answers = [json.loads(line) for line in run.stdout.splitlines()]
    assert len(answers) == len(cases) + 1
    for (point, supported, error), answer in zip(cases, answers, strict=False):
        assert (answer["supported"], answer["error"]) == (supported, error), (point, answer)
    assert answers[-1]["error"]
    # A variant that takes no exchange makes one point of both.
    assert answers[0]["point_id"] == answers[1]["point_id"]
    assert answers[0]["point"]["exchange"] == "none"
    assert answers[2]["reason"] == "more ranks than planes"
    assert "did you mean 'naive'?" in answers[3]["reason"]
    assert answers[10]["reason"] == "5 instances on subsets of 3 ranks; allowed: 1 to 3, or placement all"
    assert "instances is 2000; allowed: 1 to 1024" in answers[11]["reason"]
    assert answers[12]["point_id"] == answers[0]["point_id"]  # one instance has one placement
    assert answers[8]["reason"] == "variant 'naive' has no kind r2c; it has: c2c"
    assert (answers[8]["point"]["kind"], answers[8]["point"]["direction"]) == ("r2c", "backward")


def test_an_exchange_that_cannot_serve_a_problem_is_skipped_with_its_reason(bench: Bench) -> None:
    """Windows of disjoint communicators, which Open MPI mixes up."""
    point = {"variant": "slab", "shape": [8, 8, 8], "ranks": 2, "exchange": "rma", "instances": 2, "placement": "subset"}
    answer = json.loads(bench("--check-points", stdin=json.dumps(point) + "\n").stdout)
    assert answer["error"] is False
    if not answer["supported"]:
        assert "Open MPI" in answer["reason"]
        assert "allowed: placement all" in answer["reason"]
    mpi = json.loads(bench("--identity").stdout)["identity"]["code"]["mpi"]
    assert answer["supported"] == ("Open MPI" not in mpi)
