"""jobscripts/setup where nothing is to be installed but MKL: what it asks of the package index, and how it fails."""

from __future__ import annotations

import hashlib
import os
import pathlib
import shutil
import subprocess

import pytest
from fourscore_command import script

ROOT = pathlib.Path(__file__).parents[2]


@pytest.fixture
def tree(tmp_path: pathlib.Path) -> pathlib.Path:
    """A source tree with a .venv that is up to date, whose interpreter writes down how it is called, and fails."""
    (tmp_path / "jobscripts").mkdir()
    shutil.copy(ROOT / "jobscripts" / "setup", tmp_path / "jobscripts")
    (tmp_path / "analysis").mkdir()
    project = tmp_path / "analysis" / "pyproject.toml"
    shutil.copy(ROOT / "analysis" / "pyproject.toml", project)
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    script(python, f'echo "$@" >>"{tmp_path}/calls"\necho "ERROR: No matching distribution" >&2\nexit 1')
    stamp = hashlib.sha256(project.read_bytes()).hexdigest() + " "
    (tmp_path / ".venv" / "fourscore-stamp").write_text(stamp + "\n")
    return tmp_path


def setup(tree: pathlib.Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [tree / "jobscripts" / "setup", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def calls(tree: pathlib.Path) -> str:
    return (tree / "calls").read_text() if (tree / "calls").exists() else ""


def test_mkl_is_left_alone_unless_it_is_asked_for(tree):
    run = setup(tree)
    assert run.returncode == 0, run.stderr
    assert "MKL" not in run.stdout
    assert calls(tree) == ""


def test_an_index_without_mkl_is_named_and_fails(tree):
    run = setup(tree, "--with", "mkl")
    assert run.returncode == 3
    assert "no package index gave MKL for this machine (ERROR: No matching distribution)" in run.stderr
    assert calls(tree).endswith("--no-deps mkl mkl-include\n")


THERE = {
    "mkl": ("MKL", ["include/mkl_dfti.h", "lib/libmkl_core.so.3"]),
    "cufftmp": ("cuFFTMp", ["lib/python3.11/site-packages/nvidia/cufftmp/cu13/lib/libcufftMp.so.12"]),
    "dtfft": ("dtFFT", ["lib/python3.11/site-packages/dtfft/lib64/libdtfft.so"]),
    "pocketfft": ("pocketfft", ["include/pocketfft/pocketfft_hdronly.h"]),
}


@pytest.mark.parametrize("name", THERE)
def test_what_is_there_is_not_installed_again(tree, name):
    said, files = THERE[name]
    for file in files:
        (tree / ".venv" / file).parent.mkdir(parents=True, exist_ok=True)
        (tree / ".venv" / file).touch()
    run = setup(tree, f"--with={name}")
    assert run.returncode == 0, run.stderr
    assert run.stdout.endswith(f"setup: {said} is there\n")
    assert calls(tree) == ""


@pytest.mark.parametrize("name", ["dtfft", "pocketfft"])
def test_an_index_that_lacks_it_is_named_and_leaves_nothing(tree, name):
    run = setup(tree, "--with", name)
    assert run.returncode == 3
    assert f"no package index gave {THERE[name][0]}" in run.stderr and "ERROR: No matching distribution" in run.stderr
    assert not (tree / ".venv" / THERE[name][1][0]).exists()


def test_cufftmp_is_asked_for_the_cuda_that_nvcc_has(tree, monkeypatch):
    nvcc = tree / "bin" / "nvcc"
    nvcc.parent.mkdir()
    script(nvcc, "echo 'Cuda compilation tools, release 12.9, V12.9.86'")
    monkeypatch.setenv("PATH", f"{nvcc.parent}:{os.environ['PATH']}")
    run = setup(tree, "--with", "cufftmp")
    assert run.returncode == 3
    assert "no package index gave cuFFTMp for this machine (ERROR: No matching distribution)" in run.stderr
    assert calls(tree).endswith("--no-deps nvidia-cufftmp-cu12 nvidia-nvshmem-cu12\n")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--with", "mlk"], "--with is 'mlk'; expected cufftmp, dtfft, mkl, mpi4py-fft, pocketfft, simgrid or zfp"),
        (["--with"], "--with is ''; expected cufftmp, dtfft, mkl, mpi4py-fft, pocketfft, simgrid or zfp"),
        *((["--with", name, "--no-python"], "which --no-python leaves out") for name in ("mkl", "cufftmp", "dtfft", "pocketfft")),
        (["--for", "rnu"], "--for is 'rnu'"),
        (["--wiht", "mkl"], "unknown option '--wiht'"),
    ],
)
def test_options_that_cannot_be_used_are_named(tree, arguments, named):
    run = setup(tree, *arguments)
    assert run.returncode == 2
    assert named in run.stderr
    assert calls(tree) == ""
