"""An installation that is moved, where sources and build are gone."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ["FOURSCORE_BUILD"])
MPIEXEC = os.environ["FOURSCORE_MPIEXEC"]


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("installed")
    install = ["cmake", "--install", str(BUILD), "--prefix", str(folder / "first")]
    subprocess.run(install, check=True, capture_output=True, timeout=300)
    if b"/dtfft/" in (folder / "first/bin/fft_bench").read_bytes():
        pytest.skip("this build has dtFFT from .venv, and stays bound to it")
    (folder / "elsewhere").mkdir()
    return (folder / "first").rename(folder / "elsewhere/second")


def without_sources(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs it where the source tree, and so the build in it, is an empty folder; $PYTHON is the tests' interpreter."""
    python = folder / "environment"
    python.mkdir(exist_ok=True)
    hidden = [ROOT] if BUILD.is_relative_to(ROOT) else [ROOT, BUILD]
    hide = "".join(f"mount -t tmpfs none '{place}'; " for place in hidden)
    inner = f"set -eu; mount --bind '{ROOT}/.venv' '{python}'; {hide}cd '{folder}'; {script}"
    return subprocess.run(
        ["unshare", "-m", "bash", "-c", inner],
        env=os.environ
        | {"FOURSCORE_PYTHON": f"{python}/bin/python", "FOURSCORE_MPIEXEC": MPIEXEC, "PYTHONPYCACHEPREFIX": ""},
        capture_output=True, text=True, timeout=300, check=False,
    )


def test_nothing_in_it_names_the_tree_that_it_was_built_in(prefix: Path) -> None:
    places = [str(place).encode() for place in {ROOT, BUILD}]
    named = [file for file in prefix.rglob("*") if file.is_file() and any(place in file.read_bytes() for place in places)]
    assert not named


def test_the_analysis_is_compiled_for_those_who_may_not_write_there(prefix: Path) -> None:
    sources, compiled = (len(list((prefix / "share/fourscore/analysis").rglob(f"*.{kind}"))) for kind in ("py", "pyc"))
    assert sources == compiled > 0


def test_it_measures_and_reports_where_it_was_moved_to(prefix: Path, tmp_path: Path) -> None:
    if subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("no mount namespaces here")
    if not (ROOT / ".venv").is_dir():
        pytest.skip("the tests' interpreter is outside the tree")
    fourscore = prefix / "bin/fourscore"
    run = without_sources(
        f"test ! -e '{ROOT}/README.md'; '{fourscore}' run smoke --only variant=slab,ranks=2 --launches 1 --quiet; "
        f"'{fourscore}' report -o page.html; '{prefix}/bin/fft_bench' --version; '{fourscore}' counters list",
        tmp_path,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "ok 1" in run.stdout and "fft_bench 0." in run.stdout
    assert "slab" in (tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("missing", "words", "code"),
    [
        ("suites", ["run", "smoke"], 2),
        ("groups", ["counters", "list"], 2),
        ("analysis", ["report"], 3),
    ],
)
def test_what_is_missing_is_named(prefix: Path, tmp_path: Path, missing: str, words: list[str], code: int) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(prefix, copy, ignore=shutil.ignore_patterns(missing, "*.o", "*.a"))
    run = subprocess.run([copy / "bin/fourscore", *words], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert run.returncode == code and f"{copy}/share/fourscore/{missing}" in run.stderr, run.stderr
