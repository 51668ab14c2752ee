"""Every local FFT library as its users meet it: what a record says of it, and why it does not run where it does not."""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import Bench

SMALL = ["--variant", "slab", "--shape", "12x10x9", "--planner", "estimate", "--repetitions", "2"]


@pytest.fixture(scope="module", autouse=True)
def second_fftw(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Copies of the FFTW that fft_bench is linked with: other files, so another library in the same process."""
    folder = tmp_path_factory.mktemp("second")
    loaded = subprocess.run(["ldd", os.environ["FOURSCORE_FFT_BENCH"]], capture_output=True, text=True, check=True, timeout=60).stdout
    files = []
    for name in ("libfftw3", "libfftw3f"):
        files.append(folder / f"{name}.so")
        shutil.copy(re.search(rf"{name}\.so\S* => (\S+)", loaded)[1], files[-1])
    os.environ["FOURSCORE_FFTW_API"] = str(files[0])
    return files


def libraries(bench: Bench) -> list[dict]:
    found = bench.listed("local_ffts", faulty=True)
    assert {"fftw", "fftw-api", "mkl", "pocketfft", "tiled"} <= found.keys()
    return list(found.values())


def test_a_record_names_the_library_and_its_version_or_why_it_is_not_here(bench: Bench) -> None:
    for library in libraries(bench):
        record = bench.record(*SMALL, "--local-fft", library["name"], ranks=2)
        assert record["point"]["local_fft"] == library["name"]
        if library["available"]:
            assert record["verdict"]["status"] == "ok", record["verdict"]
            assert record["cards"]["local_fft"] == {"name": library["name"], "version": library["version"]}
            assert library["version"]
        else:
            assert record["verdict"]["status"] == "skipped"
            assert record["verdict"]["reason"] == (
                f"local FFT library '{library['name']}' cannot run here: {library['reason']}"
            )


def test_every_library_has_both_precisions_and_real_data(bench: Bench) -> None:
    for library in libraries(bench):
        asked = (*SMALL, "--buffers", "out-of-place", "--local-fft", library["name"])
        kinds = itertools.product(("double", "single"), ("c2c", "r2c", "c2r"))
        launches = [(*asked, "--precision", precision, "--kind", kind) for precision, kind in kinds]
        expected = "ok" if library["available"] else "skipped"
        for launch, record in zip(launches, bench.records(*launches, ranks=0, faulty=True), strict=True):
            assert record["verdict"]["status"] == expected, (launch, record["verdict"])


def test_threads_that_a_library_has_not_are_a_reason_to_skip(bench: Bench) -> None:
    for library in libraries(bench):
        record = bench.record(*SMALL, "--local-fft", library["name"], "--threads", "2")
        if record["verdict"]["status"] == "skipped":
            assert library["name"] in record["verdict"]["reason"] or "threads" in record["verdict"]["reason"]
        else:
            assert record["verdict"]["status"] == "ok" and library["name"] != "pocketfft"


def test_the_code_that_is_opened_later_is_part_of_the_identity(bench: Bench) -> None:
    """It is in every record of this program, whichever library it used: one campaign has one code."""
    mkl = next(library for library in libraries(bench) if library["name"] == "mkl")
    identity = json.loads(bench("--identity").stdout)
    files = [name for name in identity["identity"]["code"]["libraries"] if name.startswith("libmkl_core")]
    assert bool(files) == mkl["available"] or files, "what can be opened is listed"
    for library in ("fftw", "mkl"):
        record = bench.record(*SMALL, "--local-fft", library)
        assert record["provenance"]["code_hash"] == identity["code_hash"]


def test_a_variant_that_brings_its_library_takes_no_other(bench: Bench) -> None:
    variants = bench.listed("variants", faulty=True)
    point = {"shape": [8, 8, 8], "ranks": 1}
    for variant, own in (("fftw-mpi", "fftw"), ("heffte", "fftw"), ("heffte-cufft", "cufft"), ("dtfft-cufft", "cufft"), ("cudecomp", "cufft"), ("cufftmp", "cufft"), ("accfft", "fftw"), ("p3dfft", "fftw"), ("mkl-cdft", "mkl")):
        assert variant in variants
        *answers, answer = bench.answers(*(point | {"variant": variant, "local_fft": asked} for asked in ("fftw", "mkl", "mlk")))
        assert [answer["point"]["local_fft"] for answer in answers] == [own, own]
        assert len({answer["point_id"] for answer in answers}) == 1
        assert answer["error"] and answer["key"] == "local_fft" and "did you mean 'mkl'?" in answer["reason"]


def test_wisdom_of_one_library_is_not_taken_for_that_of_another(bench: Bench, tmp_path: Path) -> None:
    """Each plans anew or from its own; none takes what is not its own for a plan."""
    for library in libraries(bench):
        if not library["available"]:
            continue
        own = tmp_path / f"{library['name']}.wisdom"
        options = [*SMALL[:4], "--repetitions", "1", "--local-fft", library["name"], "--wisdom", str(own)]
        first = bench.record(*options)
        again = bench.record(*options)
        assert first["plan"]["local_fft"] == again["plan"]["local_fft"]


def test_a_second_fftw_plans_for_itself_and_is_part_of_the_identity(bench: Bench, tmp_path: Path, second_fftw) -> None:
    listed = {library["name"]: library for library in libraries(bench)}
    assert listed["fftw-api"]["available"] and listed["fftw-api"]["version"] == listed["fftw"]["version"]
    code = json.loads(bench("--identity").stdout)["identity"]["code"]["libraries"]
    assert {f"fftw-api {file.name}" for file in second_fftw} <= set(code)
    # What one has planned the other does not know: each export has the plans of its own library alone.
    wisdom = {}
    for name in ("fftw", "fftw-api"):
        wisdom[name] = tmp_path / f"{name}.wisdom"
        options = ["--local-fft", name, "--wisdom", wisdom[name], "--variant", "serial", "--shape", "12x10x9", "--repetitions", "1"]
        bench.measured(*map(str, options))
    assert "plans of fftw-api\n" in wisdom["fftw-api"].read_text()
    assert "plans of fftw-api\n" not in wisdom["fftw"].read_text()


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ("", "FOURSCORE_FFTW_API names no library; expected the path of a libfftw3.so"),
        ("libfftw3.so", "FOURSCORE_FFTW_API=libfftw3.so: expected an absolute path"),
        ("/proc/nowhere/libfftw3.so", "cannot open shared object file"),
        (__file__, "invalid ELF header"),
        ("{}:{}", "it has no function fftwf_plan_guru64_dft; expected a library with FFTW's, or DOUBLE:SINGLE"),
    ],
)
def test_a_library_that_cannot_be_used_is_skipped_with_the_reason(bench: Bench, second_fftw, monkeypatch, named: str, said: str) -> None:
    monkeypatch.setenv("FOURSCORE_FFTW_API", named.format(second_fftw[0], second_fftw[0]))
    [listed] = [library for library in libraries(bench) if library["name"] == "fftw-api"]
    assert not listed["available"] and said in listed["reason"]
    assert said in bench.skipped(*SMALL, "--local-fft", "fftw-api")


def test_mkl_serves_as_a_library_with_fftws_functions(bench: Bench, monkeypatch) -> None:
    """It has no wisdom of its own, and plans by rules."""
    files = sorted((Path(__file__).parents[3] / ".venv/lib").glob("libmkl_rt.so*"))
    if not files:
        pytest.skip("no oneMKL in .venv: jobscripts/setup --with mkl")
    monkeypatch.setenv("FOURSCORE_FFTW_API", str(files[0]))
    for planner in ("estimate", "measure"):
        options = ["--variant", "pencil", "--shape", "12x10x9", "--planner", planner, "--repetitions", "2", "--local-fft", "fftw-api"]
        bench.measured(*options, ranks=2)
