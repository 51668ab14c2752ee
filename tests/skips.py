#!/usr/bin/env python3
"""Counts the tests that were skipped, says why, and fails when one of them is not expected.

Usage: tests/skips.py SKIPS_FILE | --selftest

SKIPS_FILE has one line for each skip: program, test and reason, with tabs between them (tests/support/skips.hpp,
tests/support/record_skips.py). Exit code: 0 all are expected, 1 some are not.
"""

import re
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Expected:
    """Tests whose "program test" matches `test` may be skipped for a reason that matches `reason`."""

    test: str
    reason: str
    why: str


EXPECTED = [
    Expected(
        r"_test ",
        r"power of two|takes no such problem|no shape (of the list|that it takes)|takes two ranks|one rank sends|for one rank"
        r"|no kind r2c",
        "one test runs at many rank counts and for many entries, and not all fit",
    ),
    Expected(
        r"_test ",
        r"supports|extent|rank|grid|plane|thread|instances",
        "a variant refuses this problem, with its reason",
    ),
    Expected(r"device_plan_test ", r"this MPI does not take addresses of the device", "messages=device takes a CUDA-aware MPI"),
    Expected(
        r"(device_plan|neighbour_devices|library_messages)_test ",
        r"no other process can open this device's memory|for several ranks|has no library of messages|for a device that fails when it is asked"
        r"|libnccl\.so\.2 cannot be loaded|use the same device",
        "messages=ipc takes a device whose memory others open, messages=nccl NCCL and a device for each rank",
    ),
    Expected(r"device_test ", r"no device here tells what it holds", "the pretended CUDA alone does"),
    Expected(r"device_plan_test ", r"a real device fails when it likes", "the stand-in and the pretended CUDA fail when a test asks"),
    Expected(
        r"device_fft_test |pytest .*test_opencl",
        r"no device (?:opencl|cuda)|built without OpenCL|OpenCL (finds|has)",
        "a build with a sanitizer has no OpenCL, and setup installs it for tests alone",
    ),
    Expected(r"wire|narrowed_exchange_test", r"no libzfp", "setup installs libzfp on request alone"),
    Expected(r"variant_peer_test ", r"layout natural; (?:dtFFT leaves|cuDecomp)", "dtFFT and cuDecomp have transposed order alone"),
    Expected(r"_test ", r"cannot have several pieces in flight", "pencil-overlap takes two of the exchanges"),
    Expected(
        r"_test ", r"no package (?:Heffte|decomp2d|dtfft)|no lib(?:accfft|p3dfft|cudecomp|cufftMp)|a (?:heFFTe|dtFFT) without CUDA|a dtFFT for MPI", "references that setup does not install"
    ),
    Expected(
        r"_test ",
        r"no mkl_dfti\.h|FOURSCORE_WITH_MKL is OFF|with Open MPI only|MKL .* does not run",
        "oneMKL is for tests/run --slow, and where no package index gives it not even there; its cluster FFT takes Open MPI",
    ),
    Expected(
        r"_test |pytest .*test_(parts|wisdom|active_ranks|fields|other_work)",
        r"is built for \[?libmpi|not built for|fftw-mpi cannot run here",
        "Debian's fftw3-mpi is built for Open MPI",
    ),
    Expected(r"pytest .*test_completions", r"no (fish|zsh) here", "shells that no package manager of setup's gives"),
    Expected(r"pytest .*test_man", r"no (help2man|man) here", "what no package manager of setup's gives"),
    Expected(
        r"pytest .*test_moved",
        r"no mount namespaces here|outside the tree|stays bound to it",
        "the sources are hidden by root alone; a build with setup --with dtfft cannot be moved",
    ),
    Expected(r"pytest .*test_local_libraries", r"no oneMKL in .venv", "oneMKL is for tests/run --slow"),
    Expected(r"pytest .*test_plugins", r"no mpi4py-fft and cffi", "mpi4py-fft is for tests/run --slow"),
    Expected(
        r"pytest .*test_wheel",
        r"no Python 3\.1\d with venv|no package index",
        "the wheel is tried with each Python from 3.10 to 3.13 that is there, and takes its dependencies from an index",
    ),
    Expected(r"_test ", r"heap is not the C library's", "a sanitizer has a heap of its own"),
    Expected(r"reference_test ", r"^it is here$", "a reference that is here has no reason to be missing"),
    Expected(
        r"hwcounters_test .*Papi",
        r"PAPI has disabled its components",
        "libpfm4 knows no PMU of some virtual machines: PAPI then has no event there, not even the kernel's",
    ),
    Expected(r"pytest .*test_files", r"a sanitizer maps terabytes", "what a sanitizer maps is beyond any limit on memory"),
    Expected(
        r"pytest ",
        r"AVX-512 instructions.*target fourscore_simulator",
        "the build for Valgrind takes long: tests/run --slow makes it, and tests/run alone does not",
    ),
    Expected(r"_test |pytest ", r"with a sanitizer", "programs with a sanitizer do not run under Valgrind"),
    Expected(r"pytest .*test_input", r"root may write anywhere", "root is refused nothing; others run this test"),
    Expected(r"pytest .*test_failures", r"may not mount", "takes root; the test before it meets a limit in the same place"),
    Expected(
        r"pytest .*test_(four_nodes|srun|ranks|machine_check|slurm_campaigns|slurm_page)",
        r"take root|refuses namespaces|no .* in PATH",
        "what a container may lack; setup installs Slurm",
    ),
    Expected(
        r"pytest .*test_slurm(_accounting)?\.py",
        r"take root|refuses namespaces",
        "what a container may lack; setup installs Slurm and its accounting",
    ),
    Expected(r"pytest .*test_slurm_answers", r"without a configuration", "where a real Slurm is, its programs find it"),
    Expected(r"pytest .*test_machine\b", r"tomllib", "Python 3.10 has none"),
    Expected(r"pytest .*test_report", r"one core", "there a report is drawn without workers"),
    Expected(
        r"pytest .*test_fourscore_check",
        r"no reframe|take root|refuses namespaces|no .* in PATH",
        "ReFrame comes from the Python package index, which may not be reached; its jobs take a Slurm",
    ),
    Expected(
        r"pytest .*test_hatchet",
        r"Thicket is not installed",
        "Hatchet and Thicket are the user's to install; setup leaves them out, as they bring much with them",
    ),
    Expected(
        r"pytest .*(test_laboratory|test_netns|test_shaped_slurm|test_counters)",
        r"take root|refuses namespaces",
        "what a container may lack; setup installs iproute2 and Slurm",
    ),
    Expected(r"pytest .*test_netns", r"MPICH asks for the data", "what a laboratory can set for Open MPI alone"),
    Expected(r"pytest .*test_netns", r"too many cores|one core", "takes a machine of few cores, or of two and more"),
    Expected(
        r"pytest .*test_simulated",
        r"no fft_bench of the preset smpi",
        "SimGrid is optional: jobscripts/setup --with simgrid, cmake --preset smpi && cmake --build --preset smpi",
    ),
    Expected(r"pytest .*test_measuring", r"too many cores", "takes a machine of few cores"),
    Expected(r"pytest .*test_accessible", r"no axe_core_python here", "the Python package index has it, Debian has not"),
    Expected(r"pytest .*test_publish", r"no pyarrow here", "Parquet is written where a user has pyarrow"),
    Expected(r"pytest .*test_(github|ci_examples|packaging)", r"no PyYAML here", "ReFrame brings it from the Python package index"),
    Expected(r"pytest .*test_site", r"no package index gave", "mkdocs comes from the Python package index"),
    Expected(r"contract clang_tidy", r"no clang-tidy-14 in PATH|no earlier commit", "setup installs it; a copy without history has no change"),
]


def unexpected(lines: list[str]) -> list[str]:
    """The lines that no entry of EXPECTED allows."""
    found = []
    for line in lines:
        program, test, reason = (line.split("\t", 2) + ["", ""])[:3]
        if not any(re.search(e.test, f"{program} {test}") and re.search(e.reason, reason) for e in EXPECTED):
            found.append(line)
    return found


def main(arguments: list[str]) -> int:
    if arguments == ["--selftest"]:
        assert unexpected(["some_test\tSuite.Case\tthe dog ate it"]), "a made-up reason is not expected"
        assert unexpected([""]), "a line without a reason is not expected"
        assert not unexpected(["plan_test\tPlans.Fit\tbruck takes no such problem on this many ranks"])
        return 0
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    file = Path(arguments[0])
    lines = file.read_text(encoding="utf-8", errors="replace").splitlines() if file.exists() else []
    reasons = Counter(line.split("\t", 2)[2] if line.count("\t") >= 2 else line for line in lines)
    print(f"{len(lines)} tests were skipped")
    for reason, count in reasons.most_common():
        print(f"{count:6}  {reason}")
    bad = unexpected(lines)
    for line in bad:
        print("unexpected skip: " + line.replace("\t", " | "))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
