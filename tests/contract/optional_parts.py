"""What is optional may be missing: the sources compile with every optional part left out, and with each part where each
other one is there.

Usage: optional_parts.py ROOT CMAKE FOLDER

The headers of a part that is left out are refused even where the machine has them, so that it hides nothing. Only
sources that depend on a part are compiled, each alone, and once for what they see of the parts; only their syntax is
checked. Planted sources that need a part must be found each time.
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
PACKAGES = ["accfft.h", "cudecomp.h", "cufftMp.h", "dtfft.h", "heffte.h", "p3dfft.h", "pocketfft_hdronly.h"]
SIMGRID = ["simgrid/s4u.hpp", "smpi/smpi.h"]  # no source of a build with a real MPI includes these

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.M)
CONDITION = re.compile(r"^\s*#\s*(?:if|elif)\w*\b(.*FOURSCORE_.*)", re.M)
MACRO = re.compile(r"\bFOURSCORE_\w+")
OPENMP = re.compile(r"\b_OPENMP\b|^\s*#\s*pragma\s+omp\b", re.M)
TOLD = re.compile(r" (?:-D)?(FOURSCORE_\w+|-fopenmp)\b")  # what a command tells a source of the parts
# Sources that need what stands before them. Each takes the command of the source that is named.
PLANTED = {
    "cuda_runtime_api.h": ("drivers/devices/host.cpp", "#include <cuda_runtime_api.h>\n"),
    "FOURSCORE_FFTW_THREADS": ("drivers/local/fftw_library.cpp", "#ifndef FOURSCORE_FFTW_THREADS\n#error planted\n#endif\n"),
    "smpi/smpi.h": ("jobscripts/launchers/smpi.cpp", "#include <smpi/smpi.h>\n"),
    "-fopenmp": ("drivers/variants/node.cpp", "#ifndef _OPENMP\n#error planted\n#endif\n"),
}


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
    told = {word for entry in entries for word in TOLD.findall(entry["command"])}
    if kept := [part for part in without if f"FOURSCORE_{part}" in told]:
        sys.exit(f"-DFOURSCORE_WITH_{kept[0]}=OFF leaves the definition FOURSCORE_{kept[0]} in")
    return {Path(entry["file"]): entry["command"] for entry in entries if entry["file"].endswith(".cpp")}


def seen(source: Path, root: Path, known: dict[Path, set[str]]) -> set[str]:
    """What this file, or one of ours that it includes, names: headers, macros of ours in its conditions, and -fopenmp
    where it asks for OpenMP."""
    if source not in known:
        known[source] = set()  # against circles
        text = source.read_text()
        included = INCLUDE.findall(text)
        places = [
            place for name in included for place in (root / name, root / "drivers" / name, root / "jobscripts" / name)
        ]
        asked = ["-fopenmp"] if OPENMP.search(text) else []
        known[source] = {*MACRO.findall(" ".join(CONDITION.findall(text))), *included, *asked}.union(
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
    for reason, header in rows + [("a package may be missing", header) for header in PACKAGES + SIMGRID]:
        (folder / header).parent.mkdir(parents=True, exist_ok=True)
        (folder / header).write_text(f"#error {reason}, and this source includes {header}\n")
    return folder


def checked(words: list[str], *more: str | Path) -> str:
    """What the compiler says; empty when it has nothing. Without optimisation, so that one precompiled header serves all."""
    run = subprocess.run([*words, *more, "-O0"], capture_output=True, text=True)
    return run.stderr if run.returncode != 0 else ""


def words_of(command: str, headers: Path) -> list[str]:
    """The command without its output, and with these headers before all others."""
    words = shlex.split(command)
    output = words.index("-o")
    return [words[0], "-I", str(headers), *words[1:output], *words[output + 2 :]]


def precompile(root: Path, folder: Path, command: str, headers: Path) -> Path:
    """The headers that most sources read first, without those of any part. GCC's only: made for one source's command, it
    serves those of the same flags, whatever macros of ours they are told."""
    common = re.findall(r"set\(FOURSCORE_COMMON_HEADERS ([^)]*)\)", (root / "cmake/FourscoreTarget.cmake").read_text())
    header = folder / "common.hpp"
    header.write_text("".join(f"#include {name}\n" for name in common[0].split()))
    header.with_suffix(".hpp.gch").unlink(missing_ok=True)
    if "--param=ggc-min-heapsize" in command:  # FourscoreTarget.cmake tells it GCC alone
        words = [word for word in words_of(command, headers)[:-2] if not word.startswith("-DFOURSCORE_")]
        if said := checked(words, "-x", "c++-header", header, "-o", header.with_suffix(".hpp.gch")):
            sys.exit(f"the common headers do not compile without the optional parts:\n{said}")
    return header


def failure(command: str, headers: Path, common: Path) -> str:
    """What the compiler says when it checks the syntax; empty when it has nothing."""
    first = ["-include", common, "-Winvalid-pch"] if common.with_suffix(".hpp.gch").exists() and "-fopenmp" not in command else []
    return checked(words_of(command, headers), *first, "-fsyntax-only")


def plant(root: Path, folder: Path, variants: list[dict[Path, str]]) -> dict[str, Path]:
    """Adds the planted sources to the commands of each variant, and says where they are."""
    places = {need: folder / f"planted{number}.cpp" for number, need in enumerate(PLANTED)}
    for need, (name, text) in PLANTED.items():
        places[need].write_text(text)
        for commands in variants:
            commands[places[need]] = commands[root / name].replace(str(root / name), str(places[need]))
    return places


def failures(root: Path, cmake: str, folder: Path) -> list[str]:
    """One text for each source that does not compile, and for each planted one that does."""
    parts = options(root)
    if sorted(parts) != sorted(HEADERS):
        return [f"HEADERS of {Path(__file__).name} has {sorted(HEADERS)}, the options are {sorted(parts)}"]
    sets = choices(parts)
    if lacking := [(a, b) for a in parts for b in parts if a != b and not any(a in one and b not in one for one in sets)]:
        return [f"pairs that choices() leaves out: {lacking}"]
    variants = [[], parts, *sets]
    commands = [configured(root, cmake, folder / "ninja", without) for without in variants]
    planted = plant(root, folder, commands)
    needs = {header for of_part in HEADERS.values() for header in of_part}.union(PACKAGES, SIMGRID)
    needs |= {word for of_variant in commands for command in of_variant.values() for word in TOLD.findall(command)}
    known: dict[Path, set[str]] = {}
    work: dict[tuple[Path, frozenset[str]], tuple[str, str, Path]] = {}
    for number, (without, of_variant) in enumerate(zip(variants, commands, strict=True)):
        poison = refused(folder / "refused" / str(number), without)
        lacks = {header for part in without for header in HEADERS[part]}.union(SIMGRID if without else [])
        for source, command in of_variant.items():
            names = seen(source, root, known)
            if names & needs:
                sees = frozenset(names.intersection(lacks.union(TOLD.findall(command))))
                seen_command = command if "-fopenmp" in sees else command.replace(" -fopenmp", "")
                work.setdefault((source, sees), (f"without {', '.join(without)}: {source}", seen_command, poison))
        if not without:  # every build compiles these
            whole = set(work)
    todo = {key: item for key, item in work.items() if key not in whole}
    if len({source for source, _ in work}) < len(HEADERS):
        return [f"only {len(work)} sources may depend on an optional part; this test looks in the wrong place"]
    common = precompile(root, folder, next(iter(commands[1].values())), folder / "refused/1")
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        said = list(pool.map(lambda item: failure(item[1], item[2], common), todo.values()))
    print(f"{len(todo)} compilations, {len(variants)} configurations")
    found = {source for (source, _), text in zip(todo, said, strict=True) if text}
    hidden = [f"planted, and not found: {PLANTED[need][1]}" for need in planted.keys() & needs if planted[need] not in found]
    return hidden + [
        f"{name}\n{text}"
        for ((source, _), (name, _, _)), text in zip(todo.items(), said, strict=True)
        if text and source not in planted.values()
    ]


def main() -> int:
    if len(sys.argv) != 4:
        print(__doc__, file=sys.stderr)
        return 2
    root, cmake, folder = Path(sys.argv[1]).resolve(), sys.argv[2], Path(sys.argv[3]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    found = failures(root, cmake, folder)
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
