"""The wheel, installed in an environment of its own: without a compiler, without this tree, by each Python that is here."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ARCHIVE = ROOT / "docs/example/archive"
VERSIONS = ("3.10", "3.11", "3.12", "3.13")
NO_INDEX = re.compile(r"Could not find a version|No matching distribution|[Cc]onnection|Temporary failure|timed out")

# With set_start_method() as a program with threads has it. A spawned worker imports this file once more.
SPAWNED = """
import multiprocessing, sys
from fourscore_analysis.__main__ import report_program
from fourscore_analysis.records import workers
if __name__ == "__main__":
    multiprocessing.set_start_method("spawn")
    workers.available_cores = lambda: 2
    sys.exit(report_program())
"""
# Sum and count of each record; then the same archive seven times, which two workers read.
TOTALS = """
import json, multiprocessing, shutil, sys
from pathlib import Path
import fourscore
def totals(archive):
    frame = fourscore.open(archive, workers=2).frame(phases=True).dropna(subset="time_s")
    found = frame.groupby("file").time_s.agg(["sum", "count"])
    expected = {}
    for file in sorted(Path(archive).glob("records/*/*.json")):
        times = json.loads(file.read_bytes()).get("samples", {}).get("time_s", [])
        if times:
            expected[str(file.relative_to(archive))] = (sum(times), len(times))
    assert set(found.index) == set(expected), found
    for name, (total, count) in expected.items():
        assert abs(found["sum"][name] - total) <= 1e-12 * total and found["count"][name] == count, name
    assert len(frame) == sum(count for _, count in expected.values())
    phases = frame[[name for name in frame if name.endswith("_s") and name not in ("time_s", "plan_s")]]
    assert (phases.sum(axis=1) <= frame.time_s * 1.02).all() and phases.notna().any(axis=1).all()
    return len(expected)
if __name__ == "__main__":
    multiprocessing.set_start_method("spawn")
    archive, seven = Path(sys.argv[1]), Path("seven")
    once = totals(archive)
    [campaign] = (archive / "records").iterdir()
    for number in range(7):
        shutil.copytree(campaign, seven / f"records/copy{number}")
    assert totals(seven) == 7 * once > 200
    data = fourscore.open(archive).to_xarray(phases=True)
    frame = fourscore.open(archive).frame()
    assert dict(data.sizes) == {"file": frame.file.nunique(), "repetition": frame.repetition.nunique()}
    assert abs(float(data.time_s.sum()) - frame.time_s.sum()) < 1e-12 and "variant" in data.coords
"""
# What `fourscore export --format csv` wrote, column by column. Records from before a key was recorded leave it empty.
SAME_AS_CSV = """
import sys, pandas, fourscore
order = {"by": ["file", "repetition"], "ignore_index": True}
csv = pandas.read_csv(sys.argv[2], keep_default_na=False, na_values=[""]).sort_values(**order)
frame = fourscore.open(sys.argv[1]).frame(phases=True).sort_values(**order)
both, compared = [name for name in frame if name in csv], 0
assert len(csv) == len(frame) > 100
assert set(frame) - set(both) == {"elements", "credited_flops", "verified_by"}, set(frame) - set(both)
for name in both:
    there = csv[name].notna()
    ours, theirs = frame[name][there], csv[name][there].replace({"{}": ""})
    if name.endswith("_s") or name == "repetition":
        assert frame[name].notna().equals(there), name
        pandas.testing.assert_series_equal(ours.astype(float), theirs.astype(float), rtol=1e-15)
    else:
        assert list(ours.astype(str)) == list(theirs.astype(str)), (name, ours, theirs)
    compared += there.sum()
assert compared > 25 * len(frame), compared
"""
PYTHON_BLOCKS = re.compile(r"^```python\n(.*?)^```", re.S | re.M)


def run(*command: object, where: Path, code: int = 0) -> str:
    """Without what this process was told of Python, and with nothing in PATH but the environment itself: no compiler."""
    surroundings = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "FOURSCORE"))}
    surroundings |= {"PATH": str(Path(str(command[0])).parent), "MPLCONFIGDIR": str(where.parent / "matplotlib")}
    done = subprocess.run([*map(str, command)], cwd=where, env=surroundings, capture_output=True, text=True, timeout=600, check=False)
    said = done.stdout + done.stderr
    if done.returncode != code and "pip" in map(str, command) and NO_INDEX.search(said):
        pytest.skip(f"no package index: {said.strip().splitlines()[-1]}")
    assert done.returncode == code, said
    return said


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    # pip builds within the sources; links become files.
    shutil.copytree(ROOT / "analysis", folder / "analysis", ignore=shutil.ignore_patterns("__pycache__", "build", "*.egg-info"))
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "./analysis", "-w", "dist", where=folder)
    [file] = (folder / "dist").glob("fourscore-*-py3-none-any.whl")
    return file


def interpreter(version: str) -> str | None:
    """One that makes environments: Debian's may lack what that takes, and a name of pyenv's be no Python."""
    for found in (shutil.which(f"python{version}"), *map(str, Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))):
        asked = [found, "-c", "import ensurepip, venv, sys; print(sys.executable)"]
        if found and (done := subprocess.run(asked, capture_output=True, text=True, check=False)).returncode == 0:
            return done.stdout.strip()
    return None


def tried() -> list[str]:
    """The oldest and the newest that is here; with FOURSCORE_ALL_PYTHONS each, which takes twice as long."""
    here = [version for version in VERSIONS if interpreter(version) is not None]
    if os.environ.get("FOURSCORE_ALL_PYTHONS") or len(here) < 2:
        return list(VERSIONS)
    return [here[0], here[-1]]


@pytest.fixture(scope="module", params=tried())
def python(request: pytest.FixtureRequest, wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The interpreter of an environment with the wheel and what it asks for."""
    found = interpreter(request.param)
    if found is None:
        pytest.skip(f"no Python {request.param} with venv")
    folder = tmp_path_factory.mktemp("environment")
    run(found, "-m", "venv", "own", where=folder)
    python = folder / "own/bin/python"
    # Nine in ten of the files are never imported, and compiling all takes most of the time.
    run(python, "-m", "pip", "install", "--quiet", "--no-compile", "--only-binary", ":all:", f"{wheel}[frame]", where=folder)
    yield python
    shutil.rmtree(folder)  # half a gigabyte


def drawn(where: Path, *program: object) -> dict[str, bytes]:
    """The plots of the report that this program makes, by name."""
    said = run(*program, ARCHIVE, "-o", "r.html", "--tables", "tables", "--width", "column", where=where)
    assert "report: r.html (plots: r-plots; tables: tables)" in said
    assert "192×128×128" in (where / "r.html").read_text(encoding="utf-8")
    assert (where / "tables/example-46629e60-times.tex").read_text().count(r"\textbf{slab/alltoallv}") == 1
    plots = {file.name: file.read_bytes() for file in (where / "r-plots").iterdir()}
    assert len(plots) > 20
    return plots


def test_the_command_makes_a_report_with_spawned_workers(python: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """The oldest Python here also draws with forked workers, and compares: the programs are the same by each."""
    (tmp_path / "program.py").write_text(SPAWNED)
    spawned = drawn(tmp_path, python, "program.py")
    if request.node.callspec.params["python"] == next(filter(interpreter, tried())):
        assert spawned == drawn(tmp_path, python.parent / "fourscore-report")


def test_the_papers_numbers_and_machines_are_inside(python: Path, tmp_path: Path) -> None:
    said = run(python.parent / "fourscore-report", "--paper", "all", "--json", where=tmp_path)
    papers = {one["paper"]: one["numbers"] for one in json.loads(said)["papers"]}
    assert papers.keys() == {folder.parent.name for folder in ROOT.glob("analysis/fourscore_papers/*/published")}
    assert sum(map(len, papers.values())) > 400
    assert "frontier" in run(python, "-m", "fourscore_analysis", "predict", "--list-machines", where=tmp_path)


def test_the_frame_has_each_sample_of_the_records(python: Path, tmp_path: Path) -> None:
    (tmp_path / "totals.py").write_text(TOTALS)
    run(python, "totals.py", ARCHIVE, where=tmp_path)


def test_the_frame_is_what_export_writes(python: Path, tmp_path: Path) -> None:
    program = Path(os.environ["FOURSCORE_BIN"]) / "fourscore"
    subprocess.run([program, "export", "--archive", ARCHIVE, "--format", "csv", "-o", tmp_path / "all.csv"], check=True, timeout=60)
    run(python, "-c", SAME_AS_CSV, ARCHIVE, "all.csv", where=tmp_path)


@pytest.mark.parametrize("page", ["examples/notebook.ipynb", "docs/python.md"])
def test_examples_run_as_they_are_printed(python: Path, tmp_path: Path, page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    if page.endswith(".ipynb"):
        cells = [one for one in json.loads(text)["cells"] if one["cell_type"] == "code"]
        assert not any(one["outputs"] or one["execution_count"] for one in cells), "stored outputs grow old"
        blocks = ["".join(one["source"]) for one in cells]
    else:
        blocks = PYTHON_BLOCKS.findall(text)
    where = tmp_path / "examples" if page.startswith("examples") else tmp_path
    where.mkdir(exist_ok=True)
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    (where / "cells.py").write_text("\n".join(blocks))
    said = run(python, "cells.py", where=where)
    assert len(blocks) >= 2
    assert r"\toprule" in said
    assert (where / "phases.pdf").read_bytes().startswith(b"%PDF")


def test_errors_say_what_was_expected(python: Path, tmp_path: Path) -> None:
    program = python.parent / "fourscore-report"
    assert "fourscore-report: no archive at 'gone': no such folder\n" in run(program, "gone", where=tmp_path, code=3)
    assert "'.' is not an archive: it has no folder 'records'" in run(program, ".", where=tmp_path, code=2)
    assert "usage: fourscore-report " in run(program, "--help", where=tmp_path)
    [record, *_] = (ARCHIVE / "records").glob("*/*-000.json")
    newer = tmp_path / "records/new-11111111/0000000000000000-000.json"
    newer.parent.mkdir(parents=True)
    newer.write_text(re.sub(r'"schema_version":\d+', '"schema_version":99', record.read_text()))
    assert "schema version 99 is newer than 3, which this program reads" in run(program, ".", where=tmp_path, code=2)
