"""Anyone's library by the C interface: measured as ours, and named where it is at fault."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import ROOT, Bench

FAULTY = ROOT / "tests/support/faulty/plugin.c"
MINE = ("--variant", "by-definition", "--shape", "4x3x2", "--planner", "estimate")
Build = Callable[..., Path]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Build:
    folder = tmp_path_factory.mktemp("plugins")
    compiler = os.environ.get("FOURSCORE_MPICC") or pytest.exit("FOURSCORE_MPICC is not set: start these tests with ctest", returncode=3)

    def build(fault: str = "NONE", source: Path = FAULTY, *flags: str) -> Path:
        file = folder / f"lib{source.stem}-{fault.lower()}.so"
        if not file.exists():
            command = [compiler, "-std=c99", "-O1", "-fPIC", "-shared", f"-I{ROOT}/drivers/interfaces", f"-DFAULT={fault}", f"-DFAULT_{fault}", str(source)]
            environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
            subprocess.run([*command, "-o", str(file), *flags, "-lm"], check=True, env=environment, timeout=60)
        return file

    return build


@pytest.mark.parametrize("direction", ["forward", "backward", "roundtrip"])
@pytest.mark.parametrize("buffers", ["in-place", "out-of-place"])
def test_a_plugin_is_verified_measured_and_recorded(bench: Bench, built: Build, direction: str, buffers: str) -> None:
    plugin = built()
    record = bench.record("--plugin", str(plugin), *MINE, "--direction", direction, "--buffers", buffers, ranks=2, faulty=False)
    assert record["verdict"]["status"] == "ok"
    assert record["cards"]["variant"]["summary"] == "rank 0 transforms everything by the definition"
    assert plugin.name in record["provenance"]["identity"]["code"]["libraries"]
    assert record["cost"]["bytes_sent_per_rank"] == [0, 0]


def test_the_example_in_c_tells_phases_and_its_messages_are_counted(bench: Bench, built: Build) -> None:
    plugin = built("NONE", ROOT / "examples/plugins/c/slab.c", "-lfftw3")
    record = bench.record("--plugin", str(plugin), "--variant", "c-slab", "--shape", "7x6x5", ranks=3, faulty=False)
    phases = record["samples"]["rank_phase_s"]
    assert {name for name, of_ranks in phases.items() if max(max(row) for row in of_ranks) > 0} >= {"fft", "exchange"}
    # Planes of 3, 2 and 2 of 7, columns of 2 of 6: what a rank does not keep it sends, 16 bytes an element.
    assert record["cost"]["bytes_sent_per_rank"] == [16 * 5 * planes * 4 for planes in (3, 2, 2)]
    assert record["cost"]["messages_per_rank"] == [2, 2, 2]


def test_a_rebuilt_plugin_is_other_code(bench: Bench, built: Build) -> None:
    def identity(fault: str) -> str:
        run = bench("--plugin", str(built(fault)), "--identity", faulty=False)
        found = re.search(r'"code_hash": "(\w+)"', run.stdout)
        assert found, run.stderr
        return found[1]

    assert identity("NONE") != identity("WRONG_DATA")


def test_what_it_refuses_is_skipped_with_its_reason(bench: Bench, built: Build) -> None:
    plugin = ("--plugin", str(built()))
    bench.refused(*plugin, *MINE, "--shape", "5x3x2", faulty=False)  # an option given twice
    asked = ("--variant", "by-definition", "--shape", "5x3x2")
    assert "five planes are one too many" in bench.skipped(*plugin, *asked, faulty=False)
    assert "has no kind r2c; it has: c2c" in bench.skipped(*plugin, *MINE, "--kind", "r2c", faulty=False)
    assert "has no single precision" in bench.skipped(*plugin, *MINE, "--precision", "single", faulty=False)
    said = bench.refused(*plugin, *MINE, "--grid", "1x1", faulty=False)
    assert "grid 1x1 has 2 entries; variant 'by-definition' takes 0" in said


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("OTHER_VERSION", r"fourscore_plugin_version is 77; expected 1"),
        ("NO_DESTROY", r"fourscore_destroy is missing"),
        ("NO_TRANSFORM", r"fourscore_describe describes no transform"),
        ("NAME_OF_OURS", r"fourscore_describe names transform 0 'pencil', as another variant is named"),
        ("NAME_WITH_SPACES", r"fourscore_describe describes transform 0 wrongly: the name is 'My FFT'; expected lower-case letters"),
        ("NAME_WITHOUT_END", r"fourscore_describe describes transform 0 wrongly: a text does not end with a zero byte"),
        ("KINDS", r"fourscore_describe describes transform 0 wrongly: kinds is 12; expected"),
        ("CREATE", r"fourscore_create returned 5: out of plans"),
        ("SECOND_CREATE", r"fourscore_create returned 5: out of plans"),
        ("OVERLAP", r"fourscore_boxes gives 0,0,0 to 4,3,2 before on rank 0, and 0,0,0 to 4,3,2 on rank 1, which overlap"),
        ("LEAVES_OUT", r"fourscore_boxes leaves out 6 of 24 elements before"),
        ("BEYOND_THE_SHAPE", r"fourscore_boxes gives 0,0,0 to 4,4,2 before on rank 0; expected a box of shape 4x3x2"),
        ("ORDER", r"fourscore_boxes gives order 0,1,1 before; expected the axes 0, 1 and 2"),
        ("ONE_ARRAY", r"fourscore_buffers gives one array of its own and one not"),
        ("TWO_ARRAYS_IN_PLACE", r"fourscore_buffers gives two arrays; expected one"),
        ("COST", r"fourscore_cost gives -1; expected 0 or more"),
    ],
)
def test_a_plugin_at_fault_is_named_with_its_function(bench: Bench, built: Build, fault: str, said: str) -> None:
    plugin = built(fault)
    assert re.search(rf"plugin {plugin.name}: {said}", bench.refused("--plugin", str(plugin), *MINE, ranks=2, faulty=False))


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("WRONG_DATA", r"wrong +[\w-]+ \(before timing\): error"),
        ("OPEN_REQUEST", r"wrong +requests \(before timing\): rank \d leaves 1 request of MPI open"),
    ],
)
def test_a_wrong_plugin_is_wrong_and_has_no_time(bench: Bench, built: Build, fault: str, said: str) -> None:
    run = bench("--plugin", str(built(fault)), *MINE, ranks=2, faulty=False)
    assert run.returncode == 1 and re.search(said, run.stdout), run.stdout + run.stderr
    assert "time " not in run.stdout


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("EXECUTE", "fourscore_execute returned 3: no more"),
        ("WRITES_BEYOND", "fourscore_execute wrote beyond the 384 bytes of an array"),
        ("WRITES_FAR_BEYOND", ""),
        ("CRASHES", ""),
    ],
)
def test_a_plugin_that_fails_leaves_no_record(bench: Bench, built: Build, tmp_path: Path, fault: str, said: str) -> None:
    out = tmp_path / "out.json"
    run = bench("--plugin", str(built(fault)), *MINE, "--record", str(out), ranks=2, faulty=False)
    assert run.returncode != 0 and said in run.stderr, run.stdout + run.stderr
    assert not out.exists()


def test_threads_that_mpi_does_not_give_are_a_reason_to_skip_or_are_there(bench: Bench, built: Build) -> None:
    run = bench("--plugin", str(built("THREADS")), *MINE, ranks=2, faulty=False)
    assert run.returncode == 0
    assert "verified" in run.stdout or "needs MPI_THREAD_MULTIPLE, but MPI provides" in run.stdout


@pytest.mark.parametrize(("content", "said"), [(b"", "file too short"), (b"#!/bin/sh\n" * 100, "invalid ELF header"), (None, "cannot open shared object file")])
def test_what_is_no_library_is_refused(bench: Bench, tmp_path: Path, content: bytes | None, said: str) -> None:
    file = tmp_path / "libmine.so"
    if content is not None:
        file.write_bytes(content)
    told = bench.refused("--plugin", str(file), "--list", faulty=False)
    assert f"plugin {file} cannot be loaded" in told and said in told
