"""packaging/check: the recipes fit the tree, and what does not fit is named."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FIGURES = "status ok,verified yes,time_s 1.5e-05,time_min_s 1e-05,gflops 8.05,phase_fft_s 1e-05,flags none"


def check(tree: Path, *words: str, code: int, **environment: str) -> str:
    run = subprocess.run(
        [sys.executable, tree / "packaging/check", *words], capture_output=True, text=True, check=False, env=os.environ | environment
    )
    assert run.returncode == code, run.stdout + run.stderr
    return run.stdout + run.stderr


@pytest.fixture()
def tree(tmp_path: Path) -> Path:
    """What the recipes are held to, and a fft_bench that prints figures of merit."""
    tree = tmp_path / "tree"
    for name in ("packaging", "cmake"):
        shutil.copytree(ROOT / name, tree / name)
    for name in ("jobscripts/setup", "docs/commands.md", "core/phase.hpp", "LICENSE"):
        (tree / name).parent.mkdir(exist_ok=True)
        shutil.copyfile(ROOT / name, tree / name)
    (tree / "bin").mkdir()
    program = tree / "bin/fft_bench"
    program.write_text("#!/bin/sh\n" + "".join(f"echo fom {one}\n" for one in FIGURES.split(",")))
    program.chmod(0o755)
    return tree


def test_the_recipes_of_this_tree_fit_it():
    said = check(ROOT, code=0)
    assert said.count("SPDX lines") == 7
    assert "NO " not in said


def test_one_recipe_alone_is_checked_and_another_word_refused(tree):
    assert {line.split()[0] for line in check(tree, "debian", code=0).splitlines()} == {"debian"}
    assert "Usage" in check(tree, "debain", code=2)
    assert "Usage" in check(tree, "--help", code=0)


def test_what_is_not_here_is_named(tree):
    empty = {"FOURSCORE_BIN": str(tree / "docs")}
    assert "-   no fft_bench in PATH or FOURSCORE_BIN" in check(tree, "jube", code=0, **empty)
    assert "-   no jube in PATH" in check(tree, "jube", "--build", code=0, PATH=str(tree / "docs"), **empty)


@pytest.mark.parametrize(
    ("file", "old", "new", "expected"),
    [
        ("debian/control", " libfmt-dev,\n", "", "libfmt-dev is missing, and jobscripts/setup has it"),
        ("debian/control", " likwid,\n", " likwid,\n zlib1g-dev,\n", "zlib1g-dev is not of jobscripts/setup"),
        ("debian/changelog", "authors <", "others <", "not the maintainer of control"),
        ("debian/copyright", "name of the copyright holder", "name of nobody", "its licence differs from LICENSE"),
        ("debian/rules", "FOURSCORE_NATIVE=OFF", "FOURSCORE_NATIV=OFF", "FOURSCORE_NATIV is no option of cmake/"),
        ("debian/rules", "FOURSCORE_MPI=openmpi", "FOURSCORE_MPI=openmp", "FOURSCORE_MPI cannot be openmp"),
        ("debian/tests/smoke", "fourscore run", "fourscore 'run", "unexpected EOF"),
        ("container/Containerfile", "FROM ${RUNTIME}", "FROM ${OTHER}", "no ARG OTHER"),
        ("container/Containerfile", "python3-numpy ", "", "python3-numpy is missing, and jobscripts/setup has it"),
        ("container/apptainer.def", "oci-archive", "docker", "no Bootstrap: oci-archive"),
        ("conda/recipe.yaml", "    - fmt\n", "", "fmt is missing"),
        ("conda/recipe.yaml", "about:", "abut:", "KeyError: 'about'"),
        ("easybuild/*.eb", "version = '", "version = '9.", "would not be found; expected fourscore-9."),
        ("easybuild/*.eb", "('fmt', '11.2.0'),", "", "fmt is missing"),
        ("spack/package.py", "depends_on(", "depend_on(", "NameError: name 'depend_on'"),
        ("spack/package.py", '"FOURSCORE_WITH_PAPI"', '"FOURSCORE_WITH_PAPPI"', "FOURSCORE_WITH_PAPPI is no option of cmake/"),
        ("spack/package.py", '_WITH_PAPI", "papi"', '_WITH_PAPI", "likwid"', "variant papi changes nothing"),
        ("spack/package.py", 'when="+papi"', 'when="+pappi"', "no variant pappi"),
        ("jube/fourscore.xml", "--shape $shape", "--shape $size", "no parameter size"),
        ("jube/fourscore.xml", "fom gflops", "fom gigaflops", "does not read 'fom gflops 1e-05'"),
        ("jube/fourscore.xml", "^fom time_s (\\S+)$", "^fom time_s (\\d+)", "time_s: read ['1'], printed 1.5e-05"),
        ("jube/fourscore.xml", "SPDX", "SPX", "jube/fourscore.xml has none"),
        ("ramble/application.py", '"gflops"', '"gigaflops"', "gigaflops is no figure of merit of docs/commands.md"),
        ("ramble/application.py", "{exchange}", "{exchang}", "no variable exchang"),
        ("ramble/experiment.py", '"shape"', '"size"', "no variable size of the application"),
        ("../jobscripts/setup", "libmuparser-dev", "libmatheval-dev", "libmatheval-dev is missing, and jobscripts/setup has it"),
        ("../bin/fft_bench", "time_min_s", "least_s", "fft_bench prints no time_min_s"),
    ],
)
def test_what_is_spoilt_is_named(tree, file, old, new, expected):
    if "recipe.yaml" in file:
        pytest.importorskip("yaml", reason="no PyYAML here")
    (path,) = tree.glob(f"packaging/{file}") if "../" not in file else [tree / file[3:]]
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    assert expected in check(tree, code=1, FOURSCORE_BIN=str(tree / "bin"))


def test_a_tool_that_fails_is_named_with_its_last_lines(tree):
    git = ["git", "-C", tree, "-c", "user.name=n", "-c", "user.email=n@example.org"]
    for words in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "--message", "All of it"]):
        subprocess.run([*git, *words], check=True)
    tool = tree / "bin/jube"
    tool.write_text('#!/bin/sh\necho "$PWD: $*"\nls packaging/jube\nexit "$CODE"\n')
    tool.chmod(0o755)
    path = {"PATH": f"{tree}/bin:{os.environ['PATH']}", "FOURSCORE_BIN": str(tree / "bin")}
    said = check(tree, "jube", "--build", code=1, CODE="4", **path)
    assert "exit code 4" in said
    assert "--tag smoke -- packaging/jube/fourscore.xml" in said
    assert "taken by jube          ok" in check(tree, "jube", "--build", code=0, CODE="0", **path)
