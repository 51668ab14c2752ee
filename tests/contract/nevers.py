"""The rules between the folders, held by reading the sources.

Usage: nevers.py ROOT             checks the tree, prints FILE:LINE: RULE: text (reason), exits 1 when a rule is broken
       nevers.py ROOT --selftest  plants a violation of each rule in a copy of the tree and expects it to be found

Comments never count. Strings count only where a rule says so, for includes and text that users see.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

FOLDERS = ("core", "drivers", "hwcounters", "results", "jobscripts", "analysis", "suites", "cmake", "tests", "docs")
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.M)
CPP_TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<string>R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+')""",
    re.S,
)


def without_comments(text: str, strings: bool = True) -> str:
    """C++ text with comments blanked (and strings too when `strings` is false); line numbers stay."""

    def blank(match: re.Match[str]) -> str:
        if match.group("string") is not None and strings:
            return match.group(0)
        return re.sub(r"[^\n]", " ", match.group(0))

    # A digit separator (1'000) is no character literal.
    return CPP_TOKEN.sub(blank, re.sub(r"(?<=\d)'(?=\d)", " ", text))


def sources(root: Path, *patterns: str) -> Iterator[Path]:
    for pattern in patterns:
        yield from sorted(path for path in root.glob(pattern) if path.is_file())


def line_of(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


Finding = tuple[Path, int, str]
CPP = ("*.cpp", "*.hpp", "*.cu")


def cpp(folder: str) -> tuple[str, ...]:
    return tuple(f"{folder}/{kind}" for kind in CPP)


def pattern_rule(files: tuple[str, ...], pattern: str, strings: bool = False, allow: tuple[str, ...] = ()) -> Callable[[Path], Iterator[Finding]]:
    """Findings are matches of `pattern` in C++ files, except in files named in `allow`."""

    def check(root: Path) -> Iterator[Finding]:
        for path in sources(root, *files):
            if path.relative_to(root).as_posix() in allow:
                continue
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
        for path in sources(root, *files):
            if path.relative_to(root).as_posix() in allow:
                continue
            for name, line in includes(path):
                if re.search(pattern, name):
                    yield path, line, f"#include {name}"

    return check


def geometry_without_mpi(root: Path) -> Iterator[Finding]:
    """Follows our own includes, so that MPI cannot come in by way of another header."""
    for start in sources(root, *cpp("core"), *cpp("drivers/kernels")):
        pending, seen = [start], {start}
        while pending:
            path = pending.pop()
            for name, line in includes(path):
                if re.search(r"^(mpi\.h|fftw3.*\.h|cuda.*|cufft.*)$", name):
                    yield path, line, f"#include {name}, reached from {start.relative_to(root)}"
                for base in (root / "drivers", root, path.parent):
                    own = (base / name).resolve()
                    if own.is_file() and own not in seen:
                        seen.add(own)
                        pending.append(own)


def variants_apart(root: Path) -> Iterator[Finding]:
    """Shared helpers in variants/ are fine; a header that belongs to another registered variant is not."""
    registered = {path.stem for path in sources(root, *cpp("drivers/variants")) if "FOURSCORE_REGISTER_VARIANT" in path.read_text(encoding="utf-8")}
    for path in sources(root, *cpp("drivers/variants")):
        for name, line in includes(path):
            included = Path(name)
            if included.parent.name in ("variants", "") and included.stem in registered and included.stem != path.stem and (
                path.parent / included.name
            ).exists():
                yield path, line, f"#include {name}"


RUN_FUNCTION = re.compile(r"\bvoid\s+(?:\w+(?:<\w+>)?::)*(execute|pack|start|finish|unpack)\s*\([^)]*\)\s*(?:override\s*|final\s*)*\{")
ALLOCATES = re.compile(
    r"\bnew\b|\bmake_(?:unique|shared)\b|\.(?:resize|reserve|push_back|emplace_back|assign)\s*\(|\b(?:malloc|calloc|realloc)\s*\("
    r"|\bMPI_(?:Type_(?:create|commit|vector|contiguous|indexed)\w*|Win_(?:create|allocate)\w*|Comm_(?:dup|split|create)\w*|Alloc_mem)"
    r"|\bfftwf?_plan\w*|\.make\s*\("
)


def nothing_allocated_while_timed(root: Path) -> Iterator[Finding]:
    for path in sources(root, *cpp("drivers/variants"), *cpp("drivers/exchanges")):
        text = without_comments(path.read_text(encoding="utf-8"), strings=False)
        for function in RUN_FUNCTION.finditer(text):
            depth, end = 1, function.end()
            while depth and end < len(text):
                depth += {"{": 1, "}": -1}.get(text[end], 0)
                end += 1
            for match in ALLOCATES.finditer(text, function.end(), end):
                yield path, line_of(text, match.start()), f"{match.group(0).strip()} in {function.group(1)}()"


def text_rule(files: tuple[str, ...], pattern: str, comment: str = "#") -> Callable[[Path], Iterator[Finding]]:
    """For Python, TOML and shell: a line's part before `comment` counts."""

    def check(root: Path) -> Iterator[Finding]:
        for path in sources(root, *files):
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                match = re.search(pattern, line.split(comment)[0])
                if match:
                    yield path, number, match.group(0).strip()

    return check


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


BOTH = tuple(pattern for folder in ("variants", "variants/*", "exchanges") for pattern in cpp(f"drivers/{folder}"))
OURS = tuple(f"{folder}/**/{kind}" for folder in ("core", "drivers", "results", "jobscripts", "hwcounters") for kind in CPP)

RULES = [
    Rule("geometry-without-mpi", "geometry and records are tested without MPI, for any rank", geometry_without_mpi,
         ("core/box.hpp", '#include "interfaces/variant.hpp"\n')),
    Rule("counters-know-no-mpi", "a counter backend is read around any code, not only around MPI programs",
         include_rule(cpp("hwcounters"), r"^mpi\.h$|^(mpi|variants|exchanges|local|program|drivers|interfaces|kernels|harness)/"), ("hwcounters/planted.cpp", "#include <mpi.h>\n")),
    Rule("core-below-the-rest", "core holds the interfaces; what implements them depends on core, never the reverse",
         include_rule(cpp("drivers/interfaces") + cpp("drivers/chain") + cpp("drivers/harness") + cpp("drivers/redistribution") + cpp("core"), r"(^|/)(variants|exchanges|local)/"), ("drivers/harness/planted.cpp", '#include "variants/slab.hpp"\n')),
    Rule("variants-apart", "adding, changing or dropping a variant touches one file", variants_apart,
         ("drivers/variants/planted.cpp", '#include "variants/planted_other.hpp"\n')),
    Rule("no-clock-in-what-is-timed", "the Sampler alone owns clocks",
         pattern_rule(BOTH, r"\bchrono\b|\bclock_gettime\b|\bgettimeofday\b|\bMPI_Wtime\b|\b__?rdtscp?\b"), ("drivers/variants/planted.cpp", "double t = MPI_Wtime();\n")),
    Rule("no-barrier-in-what-is-timed", "the Sampler alone synchronises for timing; only shared memory needs a barrier to be correct",
         pattern_rule(BOTH, r"\bMPI_I?[bB]arrier\b", allow=("drivers/exchanges/shared.cpp", "drivers/exchanges/hierarchical.cpp")), ("drivers/exchanges/planted.cpp", "MPI_Barrier(comm);\n")),
    Rule("no-input-or-output-in-what-is-timed", "the driver alone owns options, input and output",
         pattern_rule(BOTH, r"\bf?printf\s*\(|\bf?puts\s*\(|\bstd::(cout|cerr|clog)\b|\bfmt::print\b|\bf?open\s*\(|\bstd::[io]?fstream\b|\bgetenv\b|\bCLI::"),
         ("drivers/exchanges/planted.cpp", 'std::cout << "x";\n')),
    Rule("nothing-allocated-while-timed", "a plan allocates and plans in its constructor", nothing_allocated_while_timed,
         ("drivers/variants/planted.cpp", "void execute(PhaseClock& clock) override { if (a) { v.resize(3); } }\n")),
    Rule("fftw-behind-its-interface", "another library must be able to take FFTW's place",
         include_rule(OURS, r"^fftw3.*\.h$|(^|/)fftw_api\.hpp$",
                      allow=("drivers/local/fftw_api.hpp", "drivers/local/fftw.cpp", "drivers/variants/reference/fftw_mpi.cpp")), ("drivers/variants/planted.cpp", "#include <fftw3.h>\n")),
    Rule("analysis-launches-nothing", "analysis reads the archive, not programs",
         text_rule(("analysis/**/*.py",), r"\bsubprocess\b|\bos\.(system|popen|exec\w*|spawn\w*)\b|\bpty\b"), ("analysis/fourscore_analysis/planted.py", "import subprocess\n")),
    Rule("suites-name-no-machine", "a suite says what to measure, never where",
         text_rule(("suites/**/*.toml",), r"^\s*(machine|hosts?|launcher|partition|account|queue|nodelist)\s*="), ("suites/planted.toml", 'host = "a"\n')),
    Rule("jobscripts-hold-no-size", "problem sizes are data: they stand in suites",
         pattern_rule(tuple(f"jobscripts/**/{kind}" for kind in CPP), r"\b\d+x\d+(x\d+)?\b", strings=True), ("jobscripts/planted.cpp", 'auto s = "64x64x64";\n')),
    Rule("records-are-never-replaced", "a record gets its name by link(2), which refuses to overwrite; one that is not finished has none yet",
         pattern_rule(("results/record_file.cpp",), r"\brename\s*\((?!.*\bunfinished\b)|\bO_TRUNC\b"), ("results/record_file.cpp", "void f() { rename(a, b); }\n")),
    Rule("no-items-of-a-temporary", "items() refers to its object, and a range-for keeps only the outermost temporary alive",
         pattern_rule(OURS, r"\bfor\s*\([^;{}]*:[^;{}]*\bvalue\s*\([^;{}]*\)\s*\.\s*items\s*\("),
         ("results/planted.cpp", 'for (const auto& [k, v] : a.value("b", c()).items()) f(k, v);\n')),
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
        (other / "planted_other.cpp").write_text("FOURSCORE_REGISTER_VARIANT(Planted);\n", encoding="utf-8")
        for rule in RULES:
            before = len(list(rule.check(copy)))
            path = copy / rule.plant[0]
            path.parent.mkdir(parents=True, exist_ok=True)
            original = path.read_text(encoding="utf-8") if path.exists() else None
            path.write_text((original or "") + "\n" + rule.plant[1], encoding="utf-8")
            if len(list(rule.check(copy))) <= before:
                print(f"{rule.name}: a planted violation in {rule.plant[0]} was not found")
                status = 1
            if path.suffix in (".cpp", ".hpp") and rule.name not in ("finished", "no-path-of-one-machine"):
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


def main(arguments: list[str]) -> int:
    if len(arguments) not in (1, 2) or arguments[1:] not in ([], ["--selftest"]):
        print(__doc__, file=sys.stderr)
        return 2
    root = Path(arguments[0]).resolve()
    if not (root / "drivers").is_dir():
        print(f"{root} has no folder drivers; expected the source root", file=sys.stderr)
        return 2
    if arguments[1:]:
        return selftest(root)
    found = broken(root)
    print("\n".join(found) or f"{len(RULES)} rules hold")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
