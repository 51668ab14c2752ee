"""The borders between the folders and the rules within them, held by reading the sources.

Usage: layering.py ROOT             checks the tree, prints FILE:LINE: RULE: text (reason), exits 1 when a rule is broken
       layering.py ROOT --selftest  plants a violation of each rule in a copy of the tree and expects it to be found

Comments never count. Strings count only where a rule says so, for includes and text that users see.
"""

from __future__ import annotations

import ast
import functools
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from checker import run

FOLDERS = ("core", "examples", "drivers", "hwcounters", "results", "jobscripts", "analysis", "suites", "cmake", "tests", "docs")
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.M)
CPP_TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<string>R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+')""",
    re.S,
)


@functools.cache  # each file is read by many rules
def without_comments(text: str, strings: bool = True) -> str:
    """C++ text with comments blanked (and strings too when `strings` is false); line numbers stay."""

    def blank(match: re.Match[str]) -> str:
        if match.group("string") is not None and strings:
            return match.group(0)
        return re.sub(r"[^\n]", " ", match.group(0))

    # A digit separator (1'000) is no character literal.
    return CPP_TOKEN.sub(blank, re.sub(r"(?<=\d)'(?=\d)", " ", text))


def sources(root: Path, *patterns: str, allow: tuple[str, ...] = ()) -> Iterator[Path]:
    """Files but for those that `allow` names, each once."""
    found = (path for pattern in patterns for path in sorted(root.glob(pattern)) if path.is_file())
    yield from (path for path in dict.fromkeys(found) if path.relative_to(root).as_posix() not in allow)


def line_of(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


Finding = tuple[Path, int, str]
CPP = ("*.cpp", "*.hpp", "*.cu")


def cpp(folder: str) -> tuple[str, ...]:
    return tuple(f"{folder}/{kind}" for kind in CPP)


def pattern_rule(files: tuple[str, ...], pattern: str, strings: bool = False, allow: tuple[str, ...] = ()) -> Callable[[Path], Iterator[Finding]]:
    """Findings are matches of `pattern` in C++ files, except in files named in `allow`."""

    def check(root: Path) -> Iterator[Finding]:
        for path in sources(root, *files, allow=allow):
            text = without_comments(path.read_text(encoding="utf-8"), strings)
            for match in re.finditer(pattern, text, re.M):
                yield path, line_of(text, match.start()), match.group(0).strip()

    return check


def includes(path: Path) -> Iterator[tuple[str, int]]:
    text = without_comments(path.read_text(encoding="utf-8"))
    for match in INCLUDE.finditer(text):
        yield match.group(1), line_of(text, match.start(1))


def include_rule(files: tuple[str, ...], pattern: str, allow: tuple[str, ...] = ()) -> Callable[[Path], Iterator[Finding]]:
    def check(root: Path) -> Iterator[Finding]:
        for path in sources(root, *files, allow=allow):
            for name, line in includes(path):
                if re.search(pattern, name):
                    yield path, line, f"#include {name}"

    return check


def resolved(root: Path, path: Path, name: str) -> Path | None:
    """Our own file that an #include of `path` names, or None for a library's header."""
    for base in (root / "drivers", root, path.parent):
        if (base / name).is_file():
            return (base / name).resolve()
    return None


def reaches_rule(folders: tuple[str, ...], pattern: str) -> Callable[[Path], Iterator[Finding]]:
    """As include_rule, but followed through our own headers."""

    def check(root: Path) -> Iterator[Finding]:
        for start in sources(root, *(kind for folder in folders for kind in cpp(folder))):
            pending, seen = [start], {start}
            while pending:
                path = pending.pop()
                for name, line in includes(path):
                    if re.search(pattern, name):
                        yield path, line, f"#include {name}, reached from {start.relative_to(root)}"
                    own = resolved(root, path, name)
                    if own is not None and own not in seen:
                        seen.add(own)
                        pending.append(own)

    return check


def folder_of(root: Path, path: Path) -> str:
    """"core", "harness", "variants" ...: the folder by which includes name a file of ours."""
    parts = path.resolve().relative_to(root.resolve()).parts
    return parts[1] if parts[0] == "drivers" else parts[0]


def border_rule(folders: tuple[str, ...], only: tuple[str, ...] = (), never: tuple[str, ...] = (), allow: tuple[str, ...] = ()) -> Callable[[Path], Iterator[Finding]]:
    """Files of `folders` include of our own files those of the same folder and of the folders `only`, or none of the
    folders `never`."""

    def check(root: Path) -> Iterator[Finding]:
        kinds = tuple(kind for folder in folders for place in (folder, f"{folder}/**") for kind in cpp(place))
        for path in sources(root, *kinds, allow=allow):
            for name, line in includes(path):
                own = resolved(root, path, name)
                if own is None:
                    continue
                folder = folder_of(root, own)
                allowed = folder == folder_of(root, path) or folder in only if only else folder not in never
                if not allowed:
                    yield path, line, f"#include {name}"

    return check


def variants_apart(root: Path) -> Iterator[Finding]:
    """A variant's files lie in variants/NAME.* and variants/NAME/; what several wrappers share lies in reference/."""

    def owner(path: Path) -> str:
        inside = path.relative_to(root / "drivers/variants")
        return inside.parts[0] if len(inside.parts) > 1 else inside.stem

    for path in sources(root, *cpp("drivers/variants"), *cpp("drivers/variants/*")):
        for name, line in includes(path):
            own = resolved(root, path, name)
            if own is not None and folder_of(root, own) == "variants" and owner(root.resolve() / own.relative_to(root.resolve())) != owner(path):
                yield path, line, f"#include {name}"


RUN_FUNCTION = re.compile(r"\bvoid\s+(?:\w+(?:<\w+>)?::)*(execute|pack|start|finish|unpack)\s*\([^)]*\)\s*(?:override\s*|final\s*)*\{")
ALLOCATES = re.compile(
    r"\bnew\b|\bmake_(?:unique|shared)\b|\.(?:resize|reserve|push_back|emplace_back|assign)\s*\(|\b(?:malloc|calloc|realloc)\s*\("
    r"|\bMPI_(?:Type_(?:create|commit|vector|contiguous|indexed)\w*|Win_(?:create|allocate)\w*|Comm_(?:dup|split|create)\w*|Alloc_mem)"
    r"|\bfftwf?_plan\w*|\.make\s*\("
)


def nothing_allocated_while_timed(root: Path) -> Iterator[Finding]:
    for path in sources(root, *TIMED):
        text = without_comments(path.read_text(encoding="utf-8"), strings=False)
        for function in RUN_FUNCTION.finditer(text):
            depth, end = 1, function.end()
            while depth and end < len(text):
                depth += {"{": 1, "}": -1}.get(text[end], 0)
                end += 1
            for match in ALLOCATES.finditer(text, function.end(), end):
                yield path, line_of(text, match.start()), f"{match.group(0).strip()} in {function.group(1)}()"


def text_rule(files: tuple[str, ...], pattern: str, comment: str = "#", allow: tuple[str, ...] = ()) -> Callable[[Path], Iterator[Finding]]:
    """For Python, TOML and shell: a line's part before `comment` counts, except in files named in `allow`."""

    def check(root: Path) -> Iterator[Finding]:
        for path in sources(root, *files, allow=allow):
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                match = re.search(pattern, line.split(comment)[0])
                if match:
                    yield path, number, match.group(0).strip()

    return check


PACKAGE, PAPERS = "fourscore_analysis", "fourscore_papers"
ROOMS = ("records", "points", "models", "papers", "views", "gate")  # each imports only those before it
FEATURES = ("isoefficiency",)  # folders that hold a module for each room that they have a part in
BELOW = {room: ROOMS[:number] for number, room in enumerate(ROOMS)} | {"tables": ROOMS, "plots": ROOMS}


@functools.cache
def import_statements(text: str) -> list[ast.Import | ast.ImportFrom]:
    return [node for node in ast.walk(ast.parse(text)) if isinstance(node, (ast.Import, ast.ImportFrom))]


def python_imports(path: Path, package: Path) -> Iterator[tuple[tuple[str, ...], int]]:
    """Modules of the package that `path` imports, relative ones and those within functions too: their names below the
    package, and the line."""
    top = [PAPERS, package.name] if package.parent.name == PAPERS else [package.name]
    inside = path.relative_to(package).parts[:-1] if path.is_relative_to(package) else ()
    for node in import_statements(path.read_text(encoding="utf-8")):
        if isinstance(node, ast.Import):
            names = [alias.name.split(".") for alias in node.names]
        else:
            base = (node.module or "").split(".") if node.module else []
            if node.level:
                base = [*top, *inside[: len(inside) - node.level + 1], *base]
            names = [[*base, alias.name] for alias in node.names]
        for name in names:
            if name[: len(top)] == top and len(name) > len(top):
                yield tuple(name[len(top) :]), node.lineno


def packages(root: Path) -> list[Path]:
    """The product, and each paper."""
    return [root / "analysis" / PACKAGE, *(path.parent for path in sources(root, f"analysis/{PAPERS}/*/__init__.py"))]


def analysis_knows_no_paper(root: Path) -> Iterator[Finding]:
    names = "|".join(package.name for package in packages(root)[1:])
    kinds = tuple(f"analysis/{PACKAGE}/**/*.{kind}" for kind in ("py", "j2", "css", "js", "json"))
    return text_rule(kinds, rf"\b({names})\b|^\s*(from|import) {PAPERS}\b", comment="\0")(root)


def papers_apart(root: Path) -> Iterator[Finding]:
    shelf = root / "analysis" / PAPERS
    for path in sources(shelf, "*/**/*.py"):
        for name, line in python_imports(path, shelf):
            if name[0] != path.relative_to(shelf).parts[0]:
                yield path, line, f"import of {'.'.join(name)}"


def analysis_rooms(root: Path) -> Iterator[Finding]:
    package = root / "analysis" / PACKAGE
    for room, below in BELOW.items():
        for path in sources(package, f"{room}/**/*.py", *(f"{feature}/{room}.py" for feature in FEATURES)):
            for name, line in python_imports(path, package):
                of = name[1] if name[0] in FEATURES else name[0]
                if of != room and of not in below:
                    yield path, line, f"import of {'.'.join(name)}"


# Rooms of the command: each includes only itself and those before it.
ROOMS_OF_COMMAND = ("base", "suites", "programs", "schedulers", "laboratory", "launchers", "campaigns", "jobs", "machines", "gate", "commands")


def rooms_of_command(root: Path) -> Iterator[Finding]:
    """A file that lies in no room may include all; `main.cpp` alone is one."""
    place = root / "jobscripts"
    for path in sources(place, *(f"**/{kind}" for kind in CPP)):
        room = path.relative_to(place).parts[0]
        if room not in ROOMS_OF_COMMAND:
            if room != "main.cpp":
                yield path, 1, f"{room} is no room"
            continue
        for name, line in includes(path):
            parts = Path(name).parts
            if parts[0] == "jobscripts" and parts[1] not in ROOMS_OF_COMMAND[: ROOMS_OF_COMMAND.index(room) + 1]:
                yield path, line, f"#include {name}"


def plots_apart(root: Path) -> Iterator[Finding]:
    """A plot may import the interface, `base`, and `shared`, which imports no plot."""
    product, *papers = packages(root)
    for package in (product, *papers):
        for path in sources(package, "plots/**/*.py", "*/plots.py"):
            if path.name == "__init__.py":
                continue
            for name, line in [found for one in {product, package} for found in python_imports(path, one)]:
                if name[0] == "plots" and (len(name) < 2 or name[1] not in ("base", "shared")):
                    yield path, line, f"import of {'.'.join(name)}"


def no_import_circle(root: Path) -> Iterator[Finding]:
    """Modules of one package that import one another, by way of others too."""
    for package in packages(root):
        yield from _circles(package)


def _circles(package: Path) -> Iterator[Finding]:
    modules = {".".join(path.relative_to(package).with_suffix("").parts): path for path in sources(package, "**/*.py")}
    imports = {
        module: {
            ".".join(name[:length]): line
            for name, line in python_imports(path, package)
            for length in range(1, len(name) + 1)
            if ".".join(name[:length]) in modules
        }
        for module, path in modules.items()
    }
    for module in modules:
        for first, line in imports[module].items():
            pending, seen = [first], {first}
            while pending:
                for following in imports[pending.pop()]:
                    if following not in seen:
                        seen.add(following)
                        pending.append(following)
            if module in seen:
                yield modules[module], line, f"{module} imports {first}, which leads back to it"


BESIDE = ("benchmarks", "contract", "fuzz", "headers", "mutation", "package", "support")  # these mirror no folder


def tests_mirror_the_sources(root: Path) -> Iterator[Finding]:
    for path in sources(root, "tests/*/**/*_test.cpp", "tests/*/**/test_*.py"):
        top, *below, _ = path.relative_to(root / "tests").parts
        place = "/".join([top, *([PACKAGE] if top == "analysis" and PAPERS not in below else []), *below])
        if top not in BESIDE and not (root / place).is_dir():
            yield path, 1, f"there is no folder {place}"


def tests_are_registered(root: Path) -> Iterator[Finding]:
    """C++ tests only; fourscore_pytest() takes every test_*.py of its folders."""
    unit = re.search(r"fourscore_unit_tests\(([^)]*)\)", (root / "tests/CMakeLists.txt").read_text(encoding="utf-8"))
    drivers = (root / "tests/drivers/CMakeLists.txt").read_text(encoding="utf-8")
    for path in sources(root, "tests/**/*_test.cpp"):
        folder = path.parent.relative_to(root / "tests").as_posix()
        if (unit is None or folder not in unit[1].split()) and not re.search(rf"\b{path.parent.name}/{path.stem}\b", drivers):
            yield path, 1, f"{path.name} is in no CMakeLists.txt"


UNFINISHED = "|".join(("TO" + "DO", "FIX" + "ME", "X" * 3))
TEXT_SUFFIXES = {".cpp", ".hpp", ".py", ".md", ".toml", ".cmake", ".txt", ".json", ".html", ".css", ".js", ""}


def whole_tree(pattern: str) -> Callable[[Path], Iterator[Finding]]:
    """Comments count here; so does every text file."""

    def check(root: Path) -> Iterator[Finding]:
        top = [path for path in root.iterdir() if path.is_file() and path.name != ".git"]
        inside = [path for folder in FOLDERS for path in sources(root / folder, "**/*")]
        for path in top + inside:
            if path.suffix not in TEXT_SUFFIXES or "__pycache__" in path.parts or path.name == "report.html":
                continue
            try:
                text = path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue
            for match in re.finditer(pattern, text):
                yield path, line_of(text, match.start()), match.group(0)

    return check


@dataclass(frozen=True)
class Rule:
    name: str
    reason: str
    check: Callable[[Path], Iterator[Finding]]
    plant: tuple[str, str]  # file and text that break the rule, for the self-test


TIMED = tuple(
    kind
    for folder in ("variants", "variants/*", "exchanges", "exchanges/*", "operators", "chain", "redistribution", "offload", "kernels")
    for kind in cpp(f"drivers/{folder}")
)
OURS = tuple(f"{folder}/**/{kind}" for folder in ("core", "drivers", "results", "jobscripts", "hwcounters") for kind in CPP)
NO_DEVICES = ("mpi", "interfaces", "kernels", "redistribution", "offload", "chain", "harness", "local", "exchanges", "operators", "variants", "program", "components", "qualification")

# Who opens files but for results/output_file.cpp and core/regular_file.cpp, and what.
WRITES = {
    "results/record_file.cpp": "records: linked to their names, never renamed",
    "results/archive.cpp": "a file without a name, which tells whether the disk takes a record",
    "results/index_database.cpp": "the lock of the index, and an index that takes its place",
    "results/file_lock.cpp": "locks, and leases where there are none",
    "jobscripts/jobs/job_folder.cpp": "the journal of a job: lines are added while it runs",
    "jobscripts/laboratory/places.cpp": "files of a host of the laboratory, in a file system of its own",
    "jobscripts/laboratory/network.cpp": "settings of the kernel in /proc/sys",
    "hwcounters/likwid_access.cpp": "registers of the processor in /dev/cpu",
    "drivers/mpi/shared_pages.cpp": "memory of another process, in /proc",
    "drivers/harness/provenance.cpp": "the mark of this process's largest memory, in /proc",
    "core/standard_files.cpp": "/dev/null",
    "jobscripts/base/output.cpp": "/dev/null",
}
READS = {
    "core/sha256.cpp": "programs and libraries, which may be larger than what is read whole",
    "results/record_file.cpp": "a folder, to sync it",
    "results/wisdom_file.cpp": "a folder, to lock it",
    "results/file_lock.cpp": "a file, to try its locks",
    "jobscripts/laboratory/enter.cpp": "namespaces in /proc",
    "jobscripts/laboratory/network.cpp": "namespaces in /proc",
} | dict.fromkeys(
    (
        *("core/memory.cpp", "core/moment.cpp", "drivers/harness/numa_distance.cpp", "drivers/harness/system_files.cpp", "drivers/devices/cuda/device.cpp"),
        *("drivers/qualification/qualify.cpp", "hwcounters/arch.cpp", "hwcounters/cache_geometry.cpp", "hwcounters/perf.cpp", "hwcounters/powercap.cpp"),
        *("hwcounters/process_sockets.cpp", "hwcounters/resctrl.cpp", "hwcounters/sysfs_pmu.cpp", "jobscripts/base/supervisor.cpp"),
    ),
    "what the kernel says in /proc and /sys",
)
PYTHON = ("analysis/**/*.py",)
NUMBERS_WITH_MORE = (
    *("core/number_ranges.cpp", "core/problem.cpp", "drivers/components/component_parameters.cpp"),
    *("hwcounters/arch.cpp", "hwcounters/cache_geometry.cpp", "hwcounters/perf.cpp", "hwcounters/powercap.cpp", "hwcounters/resctrl.cpp"),
)

RULES = [
    # Borders: which folder knows which.
    Rule("no-mpi-no-fft-no-gpu", "points, boxes and copies are used and tested without MPI, for any rank, with any library",
         reaches_rule(("core", "drivers/kernels"), r"^(mpi\.h|fftw3.*\.h|cuda.*|cufft.*)$"), ("core/box.hpp", '#include "interfaces/variant.hpp"\n')),
    Rule("core-is-the-bottom", "every part uses core, so core uses none",
         border_rule(("core",), only=("core",)), ("core/planted.cpp", '#include "results/archive.hpp"\n')),
    Rule("kernels-know-core", "a copy or a table of roots knows nothing of plans",
         border_rule(("drivers/kernels",), only=("core",)), ("drivers/kernels/planted.cpp", '#include "interfaces/exchange.hpp"\n')),
    Rule("mpi-results-and-counters-know-core", "owners of MPI handles, the archive and a counter backend serve any program",
         border_rule(("drivers/mpi", "results", "hwcounters"), only=("core",)), ("hwcounters/planted.cpp", '#include "results/archive.hpp"\n')),
    Rule("counters-know-no-mpi", "a counter backend is read around any code, not only around MPI programs",
         reaches_rule(("hwcounters",), r"^mpi\.h$"), ("hwcounters/planted.cpp", '#include <mpi.h>\n')),
    Rule("jobscripts-know-no-driver", "the command asks programs, and reads what they leave",
         border_rule(("jobscripts",), only=("core", "results", "hwcounters")), ("jobscripts/planted.cpp", '#include "interfaces/variant.hpp"\n')),
    Rule("numbers-read-in-one-place", "number_from() takes a whole text; others read a number that more text follows",
         pattern_rule(OURS, r"\bfrom_chars\b", allow=("core/text.hpp", *NUMBERS_WITH_MORE)), ("core/planted.cpp", "auto r = std::from_chars(a, b, c);\n")),
    Rule("plurals-in-one-place", "plural() writes the count and the noun",
         pattern_rule(OURS, r'== 1 \? "" : "e?s"', strings=True), ("core/planted.cpp", 'auto s = n == 1 ? "" : "s";\n')),
    Rule("rooms-of-the-command", "who reads a room need not read the rooms above it",
         rooms_of_command, ("jobscripts/campaigns/planted.cpp", '#include "jobscripts/machines/place.hpp"\n')),
    Rule("interfaces-without-toolkits", "who reads an interface need not read a toolkit",
         border_rule(("drivers/interfaces",), only=("core", "mpi", "kernels")), ("drivers/interfaces/planted.cpp", '#include "chain/transform_chain.hpp"\n')),
    Rule("toolkits-below-the-entries", "what implements an interface depends on the toolkits, never the reverse",
         border_rule(("drivers/chain", "drivers/redistribution", "drivers/offload", "drivers/harness"), never=("variants", "exchanges", "local", "devices", "program", "components")),
         ("drivers/harness/planted.cpp", '#include "local/fftw_api.hpp"\n')),
    Rule("operators-know-their-interface", "a product in a spectrum is the same after any transform",
         border_rule(("drivers/operators",), only=("core", "interfaces")), ("drivers/operators/planted.cpp", '#include "harness/product.hpp"\n')),
    Rule("redistribution-below-chain", "an exchange serves any variant", border_rule(("drivers/exchanges", "drivers/redistribution", "drivers/offload"), never=("chain",)),
         ("drivers/exchanges/planted.cpp", '#include "chain/transform_chain.hpp"\n')),
    Rule("harness-unknown-to-what-it-measures", "what is timed must not know that it is",
         border_rule(("drivers/variants", "drivers/exchanges", "drivers/chain", "drivers/redistribution", "drivers/offload", "drivers/devices", "drivers/local"), never=("harness", "program")),
         ("drivers/chain/planted.cpp", '#include "harness/sampler.hpp"\n')),
    Rule("harness-without-toolkits", "the Sampler and the Verifier know a plan by its interface alone",
         border_rule(("drivers/harness",), never=("chain", "redistribution")), ("drivers/harness/planted.cpp", '#include "chain/transform_chain.hpp"\n')),
    Rule("variants-without-entries", "any exchange and any local library must fit a variant",
         border_rule(("drivers/variants",), never=("exchanges", "local"), allow=("drivers/variants/reference/fftw_mpi.cpp", "drivers/variants/reference/mkl_cdft.cpp")), ("drivers/variants/planted.cpp", '#include "exchanges/planted_other.hpp"\n')),
    Rule("devices-behind-their-interface", "another maker's device must be able to take the place of any",
         include_rule(tuple(pattern for pattern in OURS if not pattern.startswith("drivers/")) + tuple(f"drivers/{folder}/**/{kind}" for folder in NO_DEVICES for kind in CPP),
                      r"^(cuda|cufft(?!Mp)|nvml|hip|devices/).*"), ("drivers/chain/planted.cpp", "#include <cuda_runtime_api.h>\n")),
    Rule("variants-apart", "adding, changing or dropping a variant touches one file", variants_apart,
         ("drivers/variants/planted.cpp", '#include "variants/planted_other.hpp"\n')),
    # What runs while timed.
    Rule("no-clock-in-what-is-timed", "the Sampler alone owns clocks",
         pattern_rule(TIMED, r"\bchrono\b|\bclock_gettime\b|\bgettimeofday\b|\bMPI_Wtime\b|\b__?rdtscp?\b"), ("drivers/variants/planted.cpp", "double t = MPI_Wtime();\n")),
    Rule("no-barrier-in-what-is-timed", "the Sampler alone synchronises for timing; only shared memory needs a barrier to be correct",
         pattern_rule(TIMED, r"\bMPI_I?[bB]arrier\b", allow=("drivers/exchanges/shared.cpp", "drivers/exchanges/hierarchical.cpp")), ("drivers/exchanges/planted.cpp", "MPI_Barrier(comm);\n")),
    Rule("no-input-or-output-in-what-is-timed", "the driver alone owns options, input and output",
         pattern_rule(TIMED, r"\bf?printf\s*\(|\bf?puts\s*\(|\bstd::(cout|cerr|clog)\b|\bfmt::print\b|\bf?open\s*\(|\bstd::[io]?fstream\b|\bgetenv\b|\bCLI::"),
         ("drivers/exchanges/planted.cpp", 'std::cout << "x";\n')),
    Rule("nothing-allocated-while-timed", "a plan allocates and plans in its constructor", nothing_allocated_while_timed,
         ("drivers/variants/planted.cpp", "void execute(PhaseClock& clock) override { if (a) { v.resize(3); } }\n")),
    Rule("fftw-behind-its-interface", "another library must be able to take FFTW's place",
         include_rule(OURS, r"^fftw3.*\.h$|(^|/)fftw_api\.hpp$",
                      allow=("drivers/local/fftw_api.hpp", "drivers/local/fftw_library.hpp", "drivers/variants/reference/fftw_mpi.cpp")), ("drivers/variants/planted.cpp", "#include <fftw3.h>\n")),
    Rule("mkl-behind-its-interface", "one file calls each of MKL's two interfaces; nobody else knows that it is there",
         include_rule(OURS, r"^mkl.*\.h$|(^|/)mkl_library\.hpp$",
                      allow=("drivers/local/mkl_library.cpp", "drivers/local/mkl.cpp", "drivers/variants/reference/mkl_cdft.cpp")), ("drivers/program/planted.cpp", "#include <mkl_dfti.h>\n")),
    Rule("analysis-launches-nothing", "analysis reads the archive, not programs",
         text_rule(("analysis/**/*.py",), r"\bsubprocess\b|\bos\.(system|popen|exec\w*|spawn\w*)\b|\bpty\b"), ("analysis/fourscore_analysis/planted.py", "import subprocess\n")),
    Rule("rooms-of-the-analysis", "a record is read without points, a number computed without a table or a plot", analysis_rooms,
         ("analysis/fourscore_analysis/points/planted.py", "def late():\n    from ..tables import findings\n")),
    Rule("tables-and-plots-apart", "a table needs no drawing library, a plot no page", analysis_rooms,
         ("analysis/fourscore_analysis/tables/planted.py", "import fourscore_analysis.plots.phases\n")),
    Rule("plots-apart", "adding, changing or dropping a plot touches one file", plots_apart,
         ("analysis/fourscore_analysis/plots/planted.py", "from fourscore_analysis.plots import phases\n")),
    Rule("analysis-knows-no-paper", "a paper is added or dropped as a package of its own, ours as any user's", analysis_knows_no_paper,
         ("analysis/fourscore_analysis/plots/planted.py", 'table = published("lee2018", "table-3.1")\n')),
    Rule("rooms-of-features", "a module of a feature's folder stays within the room of its name", analysis_rooms,
         ("analysis/fourscore_analysis/isoefficiency/points.py", "from fourscore_analysis.isoefficiency import tables\n")),
    Rule("papers-apart", "adding, changing or dropping a paper touches one folder", papers_apart,
         ("analysis/fourscore_papers/haynes2000/planted.py", "from fourscore_papers.lee2018 import equations\n")),
    Rule("plots-of-papers-apart", "adding, changing or dropping a plot touches one file", plots_apart,
         ("analysis/fourscore_papers/lee2018/plots/planted.py", "from fourscore_analysis.plots import phases\n")),
    Rule("no-import-circle", "what two modules share stands in a third", no_import_circle,
         ("analysis/fourscore_analysis/views/shelf.py", "from fourscore_analysis.views.view import View\n")),
    Rule("suites-name-no-machine", "a suite says what to measure, never where",
         text_rule(("suites/**/*.toml",), r"^\s*(machine|hosts?|launcher|partition|account|queue|nodelist)\s*="), ("suites/planted.toml", 'host = "a"\n')),
    Rule("jobscripts-hold-no-size", "problem sizes are data: they stand in suites",
         pattern_rule(tuple(f"jobscripts/**/{kind}" for kind in CPP), r"\b\d+x\d+(x\d+)?\b", strings=True), ("jobscripts/planted.cpp", 'auto s = "64x64x64";\n')),
    Rule("records-are-never-replaced", "a record gets its name by link(2), which refuses to overwrite; one that is not finished has none yet",
         pattern_rule(("results/record_file.cpp",), r"\brename\s*\((?!.*\bunfinished\b)|\bO_TRUNC\b"), ("results/record_file.cpp", "void f() { rename(a, b); }\n")),
    Rule("one-writer", "a file is written beside its name, synced and renamed, and takes no record's place: results/output_file.hpp does it",
         pattern_rule(OURS, r"\b(?:std::)?(?:w?ofstream|basic_fstream|fstream)\b(?!>)|\bf(?:re)?open\s*\(|\bmkos?temps?\s*\(|\bcreat\s*\(|\bO_(?:CREAT|WRONLY|RDWR|TMPFILE)\b|\bcopy_file\s*\(",
                      allow=("results/output_file.cpp", *WRITES, "core/sha256.cpp")), ("results/planted.cpp", 'std::ofstream out("x");\n')),
    Rule("one-reader", "a pipe never ends and a link may lead to an endless file: core/regular_file.hpp reads regular files of bounded size",
         pattern_rule(OURS, r"\b(?:std::)?w?ifstream\b|\bfopen\s*\(|\bO_RDONLY\b|\bparse_file\s*\(", allow=("core/regular_file.cpp", *READS)),
         ("jobscripts/planted.cpp", 'std::ifstream in("x");\n')),
    Rule("one-writer-of-the-analysis", "records/files.py writes as results/output_file.hpp does",
         text_rule(PYTHON, r"\.write_(?:text|bytes)\(|\bopen\([^)]*[\"'][rb]*[wax+]|\bos\.(?:replace|rename|open\((?!os\.devnull))|\.savefig\((?!content\b)|\.(?:tofile|to_csv|touch)\(|\bnp\.save|\bshutil\.(?:copy|move)|NamedTemporaryFile|json\.dump\(",
                   allow=("analysis/fourscore_analysis/records/files.py",)), ("analysis/fourscore_analysis/planted.py", 'file.write_text("x")\n')),
    Rule("one-reader-of-the-analysis", "records/files.py reads as core/regular_file.hpp does; SQLite reads its index, whose locks are tried before",
         text_rule(PYTHON, r"\.read_(?:text|bytes)\(|(?<!\.)\bopen\(|\.open\((?!os\.devnull)|\bnp\.(?:load\((?!io\.BytesIO)|fromfile|loadtxt|genfromtxt)|\b(?:json|tomllib)\.load\(",
                   allow=("analysis/fourscore_analysis/records/files.py", "analysis/fourscore_analysis/records/index.py")), ("analysis/fourscore_analysis/planted.py", "text = file.read_text()\n")),
    Rule("no-items-of-a-temporary", "items() refers to its object, and a range-for keeps only the outermost temporary alive",
         pattern_rule(OURS, r"\bfor\s*\([^;{}]*:[^;{}]*\bvalue\s*\([^;{}]*\)\s*\.\s*items\s*\("),
         ("results/planted.cpp", 'for (const auto& [k, v] : a.value("b", c()).items()) f(k, v);\n')),
    Rule("tests-mirror-the-sources", "the tests of a folder are found where the folder is", tests_mirror_the_sources,
         ("tests/drivers/planted/test_planted.py", "")),
    Rule("tests-are-registered", "a test that nothing builds never fails", tests_are_registered, ("tests/drivers/harness/planted_test.cpp", "")),
    Rule("tests-own-their-folders", "a folder of the machine that is expected to be missing is there on some; nobody can make /proc/nowhere",
         text_rule(("tests/**/*.py", "tests/**/*.cpp"), r"(?<![\w}/.])/(nowhere|no/such)\b"), ("tests/jobscripts/test_planted.py", 'file = "/now' + 'here/x"\n')),
    Rule("finished", "what is unfinished is an issue, not a mark in the tree", whole_tree(rf"\b({UNFINISHED})\b"), ("docs/planted.md", UNFINISHED.split("|")[0] + "\n")),
    Rule("no-path-of-one-machine", "the tree must work anywhere", whole_tree(r"(?<![\w.$}/*-])/(home|work|root|Users|scratch|tmp/w)/\w"),
         ("docs/planted.md", "see /ho" + "me/someone\n")),
]


def broken(root: Path) -> list[str]:
    found = []
    for rule in RULES:
        for path, line, what in rule.check(root):
            found.append(f"{path.relative_to(root)}:{line}: {rule.name}: {what} ({rule.reason})")
    return found


def selftest(root: Path) -> int:
    status = 0
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(temporary) / "tree"
        for folder in FOLDERS:
            if (root / folder).exists():
                shutil.copytree(root / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__"))
        other = copy / "drivers/variants"
        other.mkdir(parents=True, exist_ok=True)
        (other / "planted_other.hpp").write_text("", encoding="utf-8")
        (copy / "drivers/exchanges/planted_other.hpp").write_text("", encoding="utf-8")
        for rule in RULES:
            before = len(list(rule.check(copy)))
            path = copy / rule.plant[0]
            path.parent.mkdir(parents=True, exist_ok=True)
            original = path.read_text(encoding="utf-8") if path.exists() else None
            path.write_text((original or "") + "\n" + rule.plant[1], encoding="utf-8")
            if len(list(rule.check(copy))) <= before:
                print(f"{rule.name}: a planted violation in {rule.plant[0]} was not found")
                status = 1
            if path.suffix in (".cpp", ".hpp") and rule.name not in ("finished", "no-path-of-one-machine", "tests-are-registered"):
                path.write_text((original or "") + "\n// " + rule.plant[1], encoding="utf-8")
                if len(list(rule.check(copy))) > before:
                    print(f"{rule.name}: a comment in {rule.plant[0]} was taken for a violation")
                    status = 1
            if original is None:
                path.unlink()
            else:
                path.write_text(original, encoding="utf-8")
    print(f"{len(RULES)} rules tried on planted violations")
    return status


if __name__ == "__main__":
    sys.exit(run(__doc__, broken, f"{len(RULES)} rules hold", selftest))
