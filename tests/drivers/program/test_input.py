"""What bad input gets: exit code 2, one message that names it, nothing written. And the questions without MPI."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from conftest import Bench

GOOD = {"--variant": "naive", "--shape": "8x8x8"}


def arguments(changes: dict[str, str]) -> list[str]:
    return [text for pair in (GOOD | changes).items() for text in pair]


BAD: list[tuple[dict[str, str], list[str]]] = [
    ({"--variant": "nave"}, ["unknown variant 'nave'; did you mean 'naive'? Known: "]),
    ({"--exchange": "nope"}, ["unknown exchange 'nope'; known: active, alltoallv, alltoallw, "]),
    ({"--shape": "0x4x4"}, ["--shape", "0x4x4"]),
    ({"--shape": "128x"}, ["--shape", "128x"]),
    ({"--shape": "4x4x4x4"}, ["--shape", "4x4x4x4"]),
    ({"--shape": "99999999999x99999999999x4"}, ["--shape"]),
    ({"--shape": "many"}, ["--shape", "many"]),
    ({"--grid": "2x2"}, ["grid 2x2 has 4 places", "2 ranks"]),
    ({"--grid": "2y1"}, ["--grid", "2y1"]),
    ({"--precision": "half"}, ["--precision", "half"]),
    ({"--wire": "half"}, ["--wire 'half'", "as-is, single, zfp"]),
    ({"--wire": "single", "--precision": "single"}, ["wire single with precision single", "expected precision double"]),
    ({"--wire": "zfp", "--variant": "slab", "--parameter": "zfp-rate=8"}, ["parameter 'zfp-rate' is '8'", "12 to 60"]),
    ({"--wire": "single", "--variant": "slab", "--parameter": "zfp-rate=16"}, ["no parameter 'zfp-rate'"]),
    ({"--kind": "r2r"}, ["--kind", "r2r"]),
    ({"--kind": "c2r", "--direction": "forward"}, ["--kind 'c2r'", "--direction is forward"]),
    ({"--direction": "sideways"}, ["--direction", "sideways"]),
    ({"--layout": "any"}, ["--layout", "any"]),
    ({"--buffers": "elsewhere"}, ["--buffers", "elsewhere"]),
    ({"--planner": "exhaust"}, ["--planner", "exhaust"]),
    ({"--exchange": "alltoalv"}, ["unknown exchange 'alltoalv'"]),
    ({"--local-fft": "ffwt"}, ["unknown local FFT library 'ffwt'", "did you mean 'fftw'?"]),
    ({"--exchange": ""}, ["--exchange is empty; expected the name of an exchange, or none"]),
    ({"--instances": "0"}, ["--instances", "1024"]),
    ({"--instances": "1025"}, ["--instances", "1024"]),
    ({"--placement": "subsets"}, ["--placement 'subsets'", "did you mean 'subset'?", "all, subset"]),
    ({"--instances": "2", "--placement": "subset", "--grid": "2x1"}, ["grid 2x1 has 2 places", "1 ranks in a subset"]),
    ({"--threads": "0"}, ["--threads"]),
    ({"--repetitions": "0"}, ["--repetitions"]),
    ({"--repetitions": "ten"}, ["--repetitions"]),
    ({"--warmup": "-1"}, ["--warmup"]),
    ({"--threads": "5000"}, ["--threads", "4096"]),
    ({"--repetitions": "1000001"}, ["--repetitions", "1000000"]),
    ({"--repetitions": "99999999999999999999"}, ["--repetitions"]),
    ({"--warmup": "1000001"}, ["--warmup", "1000000"]),
    ({"--max-time-s": "0"}, ["--max-time-s", "'0' is no number from 0.001 to 1e+06"]),
    ({"--max-time-s": "nan"}, ["--max-time-s", "'nan' is no number from 0.001 to 1e+06"]),
    ({"--max-time-s": "inf"}, ["--max-time-s", "'inf'"]),
    ({"--max-time-s": "1e999"}, ["--max-time-s", "'1e999'"]),
    ({"--launched-at": "nan"}, ["--launched-at", "'nan'"]),
    ({"--seed": "-1"}, ["--seed", "'-1' is not an integer from 0 to 18446744073709551615"]),
    ({"--seed": "18446744073709551616"}, ["--seed", "'18446744073709551616'"]),
    ({"--seed": "1.5"}, ["--seed", "'1.5'"]),
    ({"--record": ""}, ["--record", "empty"]),
    ({"--wisdom": ""}, ["--wisdom", "empty"]),
    ({"--verified-record": ""}, ["--verified-record", "empty"]),
    ({"--parameter": "chunks"}, ["--parameter", "NAME=VALUE"]),
    ({"--parameter": "chunks=4"}, ["no parameter 'chunks'"]),
    ({"--campaign-json": "/proc/nowhere/c.json"}, ["--campaign-json", "/proc/nowhere/c.json"]),
    ({"--repetition": "3"}, ["--repetition", "did you mean --repetitions?"]),
    ({"--record": "/proc/nowhere/at/all/out.json"}, ["--record", "/proc/nowhere/at/all"]),
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
    assert f"{missing} is missing" in bench.refused(*rest)


def test_an_existing_record_is_refused_before_measuring_and_kept(bench: Bench, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    out.write_text("precious")
    # This variant would never come back from a measurement.
    said = bench.refused("--variant", "hangs", "--shape", "8x8x8", "--record", str(out), ranks=2, timeout=120)
    assert "out.json" in said and "exists" in said
    assert out.read_text() == "precious"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written_is_refused_before_measuring(bench: Bench, tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    out = tmp_path / "out.json"
    assert str(tmp_path) in bench.refused("--variant", "hangs", "--shape", "8x8x8", "--record", str(out), timeout=120)


def test_wisdom_that_is_none_is_refused_and_kept(bench: Bench, tmp_path: Path) -> None:
    wisdom = tmp_path / "wisdom"
    wisdom.write_text("this is no wisdom")
    assert str(wisdom) in bench.refused(*arguments({"--wisdom": str(wisdom)}), ranks=2)
    assert wisdom.read_text() == "this is no wisdom"


@pytest.mark.parametrize("seed", ["0", "18446744073709551615"])
def test_every_seed_of_64_bits_is_recorded_as_it_was_given(bench: Bench, seed: str) -> None:
    assert bench.record(*arguments({"--seed": seed}))["sampling"]["seed"] == int(seed)


def test_what_does_not_fit_the_memory_is_skipped_with_both_numbers_before_it_is_allocated(bench: Bench) -> None:
    asked = ("--variant", "pencil", "--shape", "4096x4096x4096")
    reason = bench.skipped(*asked, ranks=2, faulty=False, timeout=60)  # filling 4 TiB would take longer
    ranks, needed, available = re.search(
        r"(\d) ranks together need at least ([\d.]+ TiB), and ([\d.]+ \w+) can be had of", reason
    ).groups()
    assert (needed, ranks) == ("4.00 TiB", "2")  # two arrays of 16 bytes an element, and the inverse's
    number, unit = available.split()
    there = float(number) * 1024.0 ** ("B", "KiB", "MiB", "GiB", "TiB").index(unit)
    assert 0 < there < 4 * 1024.0**4
    assert "--check spots" not in reason
    # Too much with the inverse, and not without it.
    planes = round(1.5 * there / (4 * 16 * 1024 * 1024))
    reason = bench.skipped("--variant", "pencil", "--shape", f"{planes}x1024x1024", ranks=2, faulty=False, timeout=60)
    assert "without the inverse it does (--check spots" in reason


def test_what_fits_the_memory_is_not_refused(bench: Bench) -> None:
    bench.measured("--variant", "pencil", "--shape", "16x16x16", ranks=2, faulty=False)


def test_wisdom_in_what_is_no_file_is_refused(bench: Bench, tmp_path: Path) -> None:
    """A device without an end, a FIFO without a writer, a folder: none of them is waited for, or replaced."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    link = tmp_path / "link"
    link.symlink_to("/dev/full")
    for place in ("/dev/full", "/dev/zero", str(fifo), str(link), str(tmp_path)):
        said = bench.refused(*arguments({"--wisdom": place}), ranks=2, timeout=60)
        assert said.count("fft_bench: ") == 1, said
        assert f"wisdom file {place} cannot be used: it is no regular file" in said
    assert Path("/dev/full").is_char_device()
    assert fifo.is_fifo()


def test_wisdom_that_cannot_be_written_is_reported(bench: Bench, tmp_path: Path) -> None:
    wisdom = tmp_path / "absent" / "wisdom"
    assert f"cannot write {wisdom}" in bench.refused(*arguments({"--wisdom": str(wisdom)}), ranks=2, timeout=60)


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_and_version_are_printed_once_under_mpiexec(bench: Bench, option: str) -> None:
    run = bench(option, ranks=2)
    assert run.returncode == 0
    alone = bench(option)
    assert alone.stdout.strip()
    assert run.stdout == alone.stdout


def test_help_says_which_options_take_a_number(bench: Bench) -> None:
    text = bench("--help", faulty=False).stdout
    forms = {"variant": "TEXT", "shape": "TEXT", "exchange": "TEXT", "threads": "INT", "instances": "INT"}
    for option, form in forms.items():
        assert re.search(rf"^ *--{option} {form}\b", text, re.MULTILINE), option


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
        for parameter in entry.get("parameters", []):
            assert parameter["summary"], parameter
            assert parameter["default"] in parameter.get("values", [parameter["default"]]), parameter
    assert "fftw" in [entry["name"] for entry in answer["local_ffts"]]


def test_identity_is_the_same_each_time(bench: Bench) -> None:
    first, second = (json.loads(bench("--identity").stdout) for _ in range(2))
    assert first == second
    assert set(first["identity"]) == {"machine", "code"}


def loaded(bench: Bench, folder: Path) -> tuple[str, dict[str, str]]:
    """code_hash and libraries of the program where libraries are looked for in `folder` first."""
    environment = os.environ | {"LD_LIBRARY_PATH": f"{folder}:{os.environ.get('LD_LIBRARY_PATH', '')}"}
    run = subprocess.run([bench.plain, "--identity"], env=environment, capture_output=True, text=True, timeout=60, check=True)
    answer = json.loads(run.stdout)
    return answer["code_hash"], answer["identity"]["code"]["libraries"]


def fftw_of(bench: Bench) -> Path:
    """The file of FFTW that the program loads."""
    lines = subprocess.run(["ldd", bench.plain], capture_output=True, text=True, timeout=60, check=True).stdout.splitlines()
    found = [Path(line.split()[2]) for line in lines if line.strip().startswith("libfftw3.so")]
    if not found:
        pytest.skip("FFTW is not a shared library here")
    return found[0]


def test_a_rebuilt_library_is_other_code(bench: Bench, tmp_path: Path) -> None:
    """The program's own file stays the same: the build of the library it loads tells."""
    library = fftw_of(bench)
    content = library.read_bytes()
    note = content.index(b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0")  # a build id of 20 bytes
    build_id = content[note + 16 : note + 36]
    rebuilt = bytes(byte ^ 0xFF for byte in build_id)
    folders = {name: tmp_path / name for name in ("same", "rebuilt", "without", "without_rebuilt")}
    for folder in folders.values():
        folder.mkdir()
    without = content[: note + 8] + b"\x7f" + content[note + 9 :]  # a note of another type
    (folders["same"] / library.name).write_bytes(content)
    (folders["rebuilt"] / library.name).write_bytes(content.replace(build_id, rebuilt))
    (folders["without"] / library.name).write_bytes(without)
    (folders["without_rebuilt"] / library.name).write_bytes(without + b"\0")

    identity = json.loads(bench("--identity", faulty=False).stdout)
    (same, here), (other, there) = loaded(bench, folders["same"]), loaded(bench, folders["rebuilt"])
    assert here[library.name].split() == [library.name, f"build-id:{build_id.hex()}"]
    assert there[library.name].split()[1] == f"build-id:{rebuilt.hex()}"
    assert other != same
    assert {name for name in here if here[name] != there[name]} == {library.name}
    # The file that is linked to holds the version: libfftw3.so.3.6.9.
    assert identity["identity"]["code"]["libraries"][library.name].split()[0] == library.resolve().name

    plain, plain_libraries = loaded(bench, folders["without"])
    digest = hashlib.sha256(without).hexdigest()
    assert plain_libraries[library.name].split()[1] == f"sha256:{digest}"
    assert loaded(bench, folders["without_rebuilt"])[0] != plain


def test_the_identity_in_a_record_is_the_one_that_campaigns_ask_for(bench: Bench) -> None:
    """MPI loads plugins when it starts: they are not part of it."""
    record = bench.record(*arguments({}), ranks=2)
    identity = json.loads(bench("--identity").stdout)
    assert record["provenance"]["code_hash"] == identity["code_hash"]
    libraries = identity["identity"]["code"]["libraries"]
    assert any(name.startswith("libc.so") for name in libraries)
    assert not any(name.startswith("linux-vdso") for name in libraries)


def test_check_points_answers_line_by_line(bench: Bench) -> None:
    good = {"variant": "naive", "shape": [8, 8, 8], "ranks": 2}
    cases = [
        (good, True, False),
        (good | {"exchange": "none"}, True, False),
        (good | {"ranks": 9}, False, False),
        (good | {"variant": "nave"}, False, True),
        (good | {"grid": [3, 1]}, False, False),
        (good | {"variant": "unavailable"}, False, False),
        (good | {"shape": [0, 4]}, False, True),
        (good | {"instances": 2, "placement": "subset"}, True, False),
        (good | {"kind": "c2r"}, False, False),
        (good | {"kind": "c2r", "direction": "forward"}, False, True),
        (good | {"ranks": 3, "instances": 5, "placement": "subset"}, False, False),
        (good | {"instances": 2000}, False, True),
        (good | {"instances": 1, "placement": "subset"}, True, False),
        (good | {"variant": "slab", "exchange": "rma", "instances": 2}, True, False),
        (good | {"variant": "slab", "ranks": 4, "grid": [2, 2]}, False, False),
        (good | {"exchange": ""}, False, True),
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
    assert "instances '2000': expected an integer from 1 to 1024" in answers[11]["reason"]
    assert answers[12]["point_id"] == answers[0]["point_id"]  # one instance has one placement
    assert answers[4]["reason"] == "grid 3x1 has 3 places, but there are 2 ranks"
    assert answers[14]["reason"].startswith("grid 2x2 has 2 entries; this variant takes 1")
    assert answers[8]["reason"] == "variant 'naive' has no kind r2c; it has: c2c"
    assert (answers[8]["point"]["kind"], answers[8]["point"]["direction"]) == ("r2c", "backward")


def test_each_variant_says_its_default_exchange_and_its_grids(bench: Bench) -> None:
    """The exchange is one that it takes, and a grid of so many entries one that it can be asked for."""
    variants = json.loads(bench("--list", faulty=False).stdout)["variants"]
    assert len(variants) > 10
    shapes = ([4096], [64, 64], [16, 16, 16])
    points = [
        {"variant": entry["name"], "shape": shape, "ranks": 4} for entry in variants for shape in shapes if entry["available"]
    ]

    defaults = {entry["name"]: entry["default_exchange"] for entry in variants}
    supported = set()
    first = bench.answers(*points)
    assert len(first) == len(points)
    for point, answer in zip(points, first, strict=True):
        assert answer["point"]["exchange"] == defaults[point["variant"]]
        assert answer["grid"]["ranks"] == 4
        point["grid"] = [4] + [1] * (answer["grid"]["entries"] - 1)
        if answer["supported"]:
            supported.add(point["variant"])
    assert {entry["name"] for entry in variants if entry["available"]} - supported <= {"serial", "serial-gpu"}
    for point, answer in zip(points, bench.answers(*points), strict=True):
        assert "entries; this variant takes" not in answer["reason"], point
    assert defaults["pencil-overlap"] == "p2p" and defaults["slab"] == "alltoallv" and defaults["serial"] == "none"


def test_a_variant_without_exchange_is_measured_with_its_own(bench: Bench) -> None:
    options = ("--shape", "8x8x8", "--planner", "estimate", "--repetitions", "1")
    assert bench.measured("--variant", "pencil-overlap", *options, ranks=2, faulty=False)["point"]["exchange"] == "p2p"


@pytest.mark.parametrize("exchange", ["rma", "active"])
def test_an_exchange_that_cannot_serve_a_problem_is_skipped_with_its_reason(bench: Bench, exchange: str) -> None:
    """Windows of disjoint communicators, which Open MPI mixes up."""
    point = {"variant": "slab", "shape": [8, 8, 8], "ranks": 2, "instances": 2, "placement": "subset"}
    point["exchange"] = exchange
    [answer] = bench.answers(point)
    assert answer["error"] is False
    if not answer["supported"]:
        assert "Open MPI" in answer["reason"]
        assert "allowed: placement all" in answer["reason"]
    mpi = json.loads(bench("--identity").stdout)["identity"]["code"]["mpi"]
    assert answer["supported"] == ("Open MPI" not in mpi)
