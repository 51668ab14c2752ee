"""Why CMake does not take an MKL that is there but not as it should be: the reason is what `list local_ffts` says."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

MODULE = Path(__file__).parents[3] / "cmake/FourscoreMkl.cmake"
LIBRARIES = ("mkl_core", "mkl_sequential", "mkl_intel_lp64")
PROJECT = f"""
cmake_minimum_required(VERSION 3.25)
project(find_mkl LANGUAGES C)
set(FOURSCORE_WITH_MKL ON)
function(fourscore_part)
endfunction()
include("{MODULE}")
file(WRITE "${{CMAKE_BINARY_DIR}}/reason" "${{FOURSCORE_MKL}}: ${{FOURSCORE_MKL_MISSING}}")
"""


def reason(tmp_path: Path, mkl: Path) -> str:
    (tmp_path / "project").mkdir()
    (tmp_path / "project/CMakeLists.txt").write_text(PROJECT)
    build = tmp_path / "build"
    run = subprocess.run(
        ["cmake", "-G", "Ninja", "-S", tmp_path / "project", "-B", build, f"-DMKL_ROOT={mkl}"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert run.returncode == 0, run.stderr
    return (build / "reason").read_text()


@pytest.fixture
def mkl(tmp_path: Path) -> Path:
    """The files of an MKL; the libraries hold nothing."""
    root = tmp_path / "mkl"
    (root / "include").mkdir(parents=True)
    (root / "lib").mkdir()
    (root / "include/mkl_dfti.h").write_text("")
    for name in LIBRARIES:
        (root / f"lib/lib{name}.so.2").write_text("no library\n")
    return root


def test_a_folder_without_mkl_is_named(tmp_path: Path) -> None:
    assert reason(tmp_path, tmp_path / "nowhere") == (
        f"FALSE: MKL_ROOT is '{tmp_path}/nowhere', which has no mkl_dfti.h found: "
        "jobscripts/setup --with mkl, a module that sets MKLROOT, or -DMKL_ROOT="
    )


def test_headers_alone_are_not_enough(tmp_path: Path, mkl: Path) -> None:
    (mkl / "lib/libmkl_core.so.2").unlink()
    assert reason(tmp_path, mkl) == f"FALSE: {mkl}/include/mkl_dfti.h is here, but no shared libmkl_core"


def test_integers_of_64_bits_are_another_interface(tmp_path: Path, mkl: Path) -> None:
    (mkl / "lib/libmkl_intel_lp64.so.2").rename(mkl / "lib/libmkl_intel_ilp64.so.2")
    assert reason(tmp_path, mkl) == (
        f"FALSE: {mkl}/lib has no libmkl_intel_lp64.so, only libmkl_intel_ilp64, "
        "whose integers have 64 bits; expected LP64"
    )


def test_a_layer_that_is_missing_is_named(tmp_path: Path, mkl: Path) -> None:
    (mkl / "lib/libmkl_sequential.so.2").unlink()
    assert reason(tmp_path, mkl) == f"FALSE: {mkl}/lib has no libmkl_sequential.so"


def test_a_header_that_does_not_compile_is_reported(tmp_path: Path, mkl: Path) -> None:
    (mkl / "include/mkl_dfti.h").write_text("#error of another compiler\n")
    assert reason(tmp_path, mkl) == f"FALSE: a program with {mkl}/include/mkl_dfti.h does not compile"


def test_libraries_that_cannot_be_loaded_are_reported_with_the_systems_words(tmp_path: Path, mkl: Path) -> None:
    declared = "typedef void* DFTI_DESCRIPTOR_HANDLE;\n#define MKL_LONG long\nenum {DFTI_DOUBLE, DFTI_COMPLEX};\n"
    calls = ("DftiCreateDescriptor", "DftiCommitDescriptor", "DftiComputeForward")
    (mkl / "include/mkl_dfti.h").write_text(declared + "".join(f"long {call}();\n" for call in calls))
    said = reason(tmp_path, mkl)
    assert said.startswith(f"FALSE: MKL in {mkl}/lib does not run: {mkl}/lib/libmkl_core.so.2: ")
    assert "file too short" in said or "invalid ELF header" in said
