"""What is optional may be missing: the sources compile with every optional part left out, and with each part where each
other one is there.

Usage: optional_parts.py ROOT CMAKE FOLDER             all parts left out at once
       optional_parts.py ROOT CMAKE FOLDER --each      each part where each other one is there
       optional_parts.py ROOT CMAKE FOLDER --selftest  plants sources that need CUDA's headers, or a macro; they must be found

The headers of a part that is left out are refused even where the machine has them, so that it hides nothing. Only
sources that depend on a part are compiled, each alone, without precompiled headers, and once for what they see of the
parts; only their syntax is checked.
FOLDER is for the configured builds; it is kept, so that the next run is quicker. Exit code: 0 all compile, 1 some
do not.
"""

from __future__ import annotations

import itertools
import json
import math
import os
import re
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# The headers by which a source would need a part, by the name of its option FOURSCORE_WITH_...
HEADERS = {
    "BENCHMARK": ["benchmark/benchmark.h"],
    "CUDA": ["cuda.h", "cuda_runtime.h", "cuda_runtime_api.h", "cufft.h", "nvml.h"],
    "FFTW_MPI": ["fftw3-mpi.h"],
    "FFTW_THREADS": [],
    "HIGHWAY": ["hwy/cache_control.h", "hwy/foreach_target.h", "hwy/highway.h"],
    "LIBARCHIVE": ["archive.h", "archive_entry.h"],
    "LIKWID": ["likwid.h", "likwid-marker.h"],
    "MKL": ["mkl.h", "mkl_cdft.h", "mkl_dfti.h", "mkl_service.h"],
    "OPENCL": ["CL/cl.h", "clFFT.h"],
    "OPENMP": ["omp.h"],
    "PAPI": ["papi.h"],
    "VALGRIND": ["valgrind/callgrind.h", "valgrind/memcheck.h", "valgrind/valgrind.h"],
    "ZFP": ["zfp.h"],
}
# No option leaves these out: a package that is not found does.
PACKAGES = ["accfft.h", "cudecomp.h", "cufftMp.h", "dtfft.h", "heffte.h", "p3dfft.h", "pocketfft_hdronly.h", "simgrid/s4u.hpp", "smpi/smpi.h"]

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.M)
CONDITION = re.compile(r"^\s*#\s*(?:if|elif)\w*\b(.*FOURSCORE_.*)", re.M)
MACRO = re.compile(r"\bFOURSCORE_\w+")
DEFINED = re.compile(r" -D(FOURSCORE_\w+)")
FLAG = re.compile(r" -[fm]\S+")


def options(root: Path) -> list[str]:
    """The optional parts, as cmake/FourscoreOptions.cmake lists them."""
    return re.findall(r"^option\(FOURSCORE_WITH_(\w+)", (root / "cmake/FourscoreOptions.cmake").read_text(), re.M)


def dtfft_of_another_mpi(folder: Path) -> Path:
    """A package as dtFFT's, which lets no configure run go on with this MPI unless it is left alone."""
    package = folder / "dtfft-of-another-mpi"
    package.mkdir(parents=True, exist_ok=True)
    (package / "dtfftConfig.cmake").write_text(
        "include(CMakeFindDependencyMacro)\nfind_dependency(MPI 9.9 EXACT REQUIRED)\nadd_library(dtfft INTERFACE IMPORTED)\n"
    )
    (package / "dtfftConfigVersion.cmake").write_text(
        "set(PACKAGE_VERSION 3.2.0)\nset(PACKAGE_VERSION_COMPATIBLE TRUE)\n"
    )
    return package


def configured(root: Path, cmake: str, folder: Path, without: list[str]) -> dict[Path, str]:
    """The compiler's command for each C++ source of the build that leaves these parts out."""
    chosen = [f"-DFOURSCORE_WITH_{part}={'OFF' if part in without else 'ON'}" for part in options(root)]
    fixed = ["-DFOURSCORE_TESTS=OFF", "-DFOURSCORE_SIMULATOR=OFF", "-DFOURSCORE_WERROR=ON", "-DCMAKE_UNITY_BUILD=OFF"]
    fixed += [
        "-DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON",
        "-DCMAKE_CXX_COMPILER_LAUNCHER=",
        "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON",
        f"-Ddtfft_DIR={dtfft_of_another_mpi(folder)}",  # not what setup may have put into .venv
        "-DFOURSCORE_POCKETFFT_INCLUDE_DIR=",
    ]
    run = subprocess.run([cmake, "-G", "Ninja", "-S", root, "-B", folder, *fixed, *chosen], capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"cmake without {', '.join(without) or 'nothing'} ends with {run.returncode}:\n{run.stderr}")
    if torn := re.findall(r"(?:.*\n)--\s*$", run.stdout, re.M):
        sys.exit(f"the summary of cmake has an empty line, which follows on {torn[0]!r}: a reason was torn apart")
    entries = json.loads((folder / "compile_commands.json").read_text())
    told = {macro for entry in entries for macro in DEFINED.findall(entry["command"])}
    if kept := [part for part in without if f"FOURSCORE_{part}" in told]:
        sys.exit(f"-DFOURSCORE_WITH_{kept[0]}=OFF leaves the definition FOURSCORE_{kept[0]} in")
    return {Path(entry["file"]): entry["command"] for entry in entries if entry["file"].endswith(".cpp")}


def seen(source: Path, root: Path, known: dict[Path, set[str]]) -> set[str]:
    """What this file, or one of ours that it includes, names: headers, and macros of ours in its conditions."""
    if source not in known:
        known[source] = set()  # against circles
        text = source.read_text()
        included = INCLUDE.findall(text)
        places = [
            place for name in included for place in (root / name, root / "drivers" / name, root / "jobscripts" / name)
        ]
        known[source] = {*MACRO.findall(" ".join(CONDITION.findall(text))), *included}.union(
            *(seen(place, root, known) for place in places if place.is_file())
        )
    return known[source]


def choices(parts: list[str]) -> list[list[str]]:
    """Few sets of parts to leave out, of which one has A and not B, for all A and B: no part is left out of a subset of
    another's sets. Half of n sets can be chosen in enough ways for all parts (Sperner's theorem)."""
    count = next(n for n in range(2, len(parts) + 2) if math.comb(n, n // 2) >= len(parts))
    of_parts = list(zip(parts, itertools.combinations(range(count), count // 2)))
    return [[part for part, chosen in of_parts if number in chosen] for number in range(count)]


def refused(folder: Path, parts: list[str]) -> Path:
    """A folder of headers that end the compilation: those of these parts, and of packages that need not be there."""
    shutil.rmtree(folder, ignore_errors=True)
    rows = [(f"FOURSCORE_WITH_{part} is OFF", header) for part in parts for header in HEADERS[part]]
    for reason, header in rows + [("a package may be missing", header) for header in PACKAGES]:
        (folder / header).parent.mkdir(parents=True, exist_ok=True)
        (folder / header).write_text(f"#error {reason}, and this source includes {header}\n")
    return folder


def failure(command: str, headers: Path) -> str:
    """What the compiler says when it checks the syntax with these headers before all others; empty when it has nothing."""
    words = shlex.split(command)
    words = words[: words.index("-o")] + words[words.index("-o") + 2 :]
    run = subprocess.run([words[0], "-I", headers, *words[1:], "-fsyntax-only"], capture_output=True, text=True)
    return run.stderr if run.returncode != 0 else ""


def failures(root: Path, cmake: str, folder: Path, each: bool) -> list[str]:
    """One text for each source that does not compile."""
    parts = options(root)
    if sorted(parts) != sorted(HEADERS):
        return [f"HEADERS of {Path(__file__).name} has {sorted(HEADERS)}, the options are {sorted(parts)}"]
    headers = {header for of_part in HEADERS.values() for header in of_part} | set(PACKAGES)
    variants = [[], *(choices(parts) if each else [parts])]
    commands = [configured(root, cmake, folder / "ninja", without) for without in variants]
    told = {macro for of_variant in commands for command in of_variant.values() for macro in DEFINED.findall(command)}
    known: dict[Path, set[str]] = {}
    work: dict[tuple[Path, frozenset[str]], tuple[str, str, Path]] = {}
    for number, (without, of_variant) in enumerate(zip(variants, commands, strict=True)):
        poison = refused(folder / "refused" / str(number), without)
        lacking = {header for part in without for header in HEADERS[part]}
        for source, command in of_variant.items():
            names = seen(source, root, known)
            if names & (headers | told):
                sees = names.intersection(lacking.union(DEFINED.findall(command))) | set(FLAG.findall(command))
                name = f"without {', '.join(without)}: {source.relative_to(root)}"
                work.setdefault((source, frozenset(sees)), (name, command, poison))
        if not without:  # every build compiles these
            whole = set(work)
    todo = [item for key, item in work.items() if key not in whole]
    if len({source for source, _ in work}) < len(HEADERS):
        return [f"only {len(work)} sources may depend on an optional part; this test looks in the wrong place"]
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        said = list(pool.map(lambda item: failure(item[1], item[2]), todo))
    print(f"{len(todo)} compilations, {len(variants)} configurations")
    return [f"{name}\n{text}" for (name, _, _), text in zip(todo, said, strict=True) if text]


def selftest(root: Path, cmake: str, folder: Path) -> int:
    """A source that includes a header of CUDA outside its condition, and one that needs a macro of a part, planted in a
    copy of the tree. And what choices() promises."""
    parts = options(root)
    sets = choices(parts)
    lacking = [(a, b) for a in parts for b in parts if a != b and not any(a in one and b not in one for one in sets)]
    copy = folder / "tree"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(root, copy, ignore=shutil.ignore_patterns("build", ".git", ".venv", "docs"))
    planted = {
        "drivers/devices/host.cpp": "#include <cuda_runtime_api.h>\n",
        "drivers/local/fftw_library.cpp": "#ifndef FOURSCORE_FFTW_THREADS\n#error planted\n#endif\n",
    }
    for name, text in planted.items():
        (copy / name).write_text(text + (copy / name).read_text())
    found = failures(copy, cmake, folder / "planted", each=False)
    if sorted(line.split("\n")[0].rsplit(": ")[-1] for line in found) == sorted(planted) and not lacking:
        return 0
    print("\n".join(found) or "what was planted was not found", f"\npairs that choices() leaves out: {lacking}")
    return 1


def main() -> int:
    arguments = sys.argv[1:]
    if len(arguments) not in (3, 4) or arguments[3:] not in ([], ["--each"], ["--selftest"]):
        print(__doc__, file=sys.stderr)
        return 2
    root, cmake, folder = Path(arguments[0]).resolve(), arguments[1], Path(arguments[2]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    if arguments[3:] == ["--selftest"]:
        return selftest(root, cmake, folder)
    found = failures(root, cmake, folder, each=arguments[3:] == ["--each"])
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
