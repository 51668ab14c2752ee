"""Mutations made by a machine, so that nobody who wrote a test chooses what it must notice: a seeded sample of all that
Cosmic Ray's operators can change in the Python package, each with the tests that run the changed line."""

from __future__ import annotations

import ast
import hashlib
import json
import re
import shlex
import subprocess
import xml.etree.ElementTree as ElementTree
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import accumulate, groupby, repeat
from pathlib import Path

import tomllib
from catalogue import ROOT, CatalogueError, Mutation

EQUIVALENT = Path(__file__).resolve().parent / "equivalent.toml"
PACKAGES = "analysis"
TESTS = "tests/analysis"
NOT_RUN = tuple(f"tests/analysis/test_{name}.py" for name in ("browser", "explorer", "report"))  # a browser; minutes to set up
# Where a wrong number does the most harm.
FILES = (
    *(f"fourscore_analysis/{room}/**/*.py" for room in ("gate", "points", "models", "records")),
    *(f"fourscore_papers/*/{part}.py" for part in ("equations", "model")),
)
NEEDS = "--generated takes Cosmic Ray and pytest-cov in the interpreter that runs it: pip install cosmic-ray pytest-cov"
# Operators whose changes mean nothing here: bits, which only annotations have; identity for equality; decorators,
# without which nothing is imported.
LEFT_OUT = ("Bit", "Shift", "Pow", "Invert", "_Is", "Is_", "IsNot", "UAdd", "Decorator", "Variable", "Exception")
# Guards against code that nobody has written, as of a field that is set: no run of the program shows them.
GUARD = re.compile(r"\b(strict|frozen|slots|repr)= ?(True|False)")
MOST_S, MOST_TESTS = 30.0, 400  # for one mutation: the quickest tests of those that run its line


@dataclass(frozen=True)
class Generated(Mutation):
    """The whole line `old`, which is line `line` of the file, becomes `new`."""

    line: int = 0

    def applied(self, text: str) -> str:
        lines = text.split("\n")
        lines[self.line - 1] = self.new
        return "\n".join(lines)

    def place(self, lines: list[str]) -> int:
        return self.line - 1

    def digest(self, root: Path) -> str:
        """Without the tests, which each measurement of coverage chooses anew."""
        return Mutation.digest(replace(self, pytest=""), root)

    def problem(self, root: Path) -> str:
        lines = (root / self.file).read_text(encoding="utf-8").split("\n")
        same = len(lines) >= self.line and lines[self.line - 1] == self.old
        return "" if same else f"line {self.line} of {self.file} is another one now"


Operators = list[tuple[str, int]]  # names, each with the number of the place among those that it can change
Position = tuple[int, int]  # line and column


def places_of(text: str) -> dict[tuple[Position, Position], Operators]:
    """Which operators can change each place of a module, by where it begins and ends."""
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.plugins import get_operator, operator_names

    places: dict[tuple, Operators] = defaultdict(list)
    tree = get_ast(text)
    for name in sorted(operator_names()):
        kind = get_operator(name)
        if kind.arguments() or any(part in name for part in LEFT_OUT):
            continue
        positions = (place for node in ast_nodes(tree) for place in kind().mutation_positions(node))
        for occurrence, place in enumerate(positions):
            places[place].append((name, occurrence))
    return dict(sorted(places.items()))


def code_of(line: str) -> str:
    """Without its indentation and the comment behind it."""
    return re.sub(r"\s+# .*", "", line).strip()


def chances(file: str, text: str, places: Iterable[tuple[Position, Position]], seed: int) -> list[int]:
    """A random number for each place, by what its line says and not by where it stands: a change of the sources changes
    the sample there alone."""
    lines, seen, found = text.split("\n"), Counter(), []
    for (line, column), end in places:
        said = f"{seed} {file} {code_of(lines[line - 1])} {column} {end[1]}"
        seen[said] += 1
        found.append(int(hashlib.sha256(f"{said} {seen[said]}".encode()).hexdigest(), 16))
    return found


def change(text: str, name: str, occurrence: int) -> tuple[int, str, str] | None:
    """The line that the operator changes, and what stands there before and after; nothing where it is no one line, or
    a guard."""
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator

    before = text.split("\n")
    after = (mutate_code(text, get_operator(name)(), occurrence) or text).split("\n")
    differ = [number for number, pair in enumerate(zip(before, after, strict=False), 1) if pair[0] != pair[1]]
    if len(after) != len(before) or len(differ) != 1:
        return None
    old, new = before[differ[0] - 1], after[differ[0] - 1]
    return None if is_guard(old, new) else (differ[0], old, new)


def is_guard(old: str, new: str) -> bool:
    return GUARD.sub("", old) == GUARD.sub("", new)


class Coverage:
    """Which tests run a line, and how long each takes; kept in a file, as it takes as long as the tests."""

    def __init__(self, tree: Path, python: str, work: Path) -> None:
        self.file = work / "coverage.json"
        if not self.file.is_file():
            self._measure(tree, python, work)
        known = json.loads(self.file.read_text())
        self.seconds: dict[str, float] = known["seconds"]
        self.tests: dict[str, dict[str, list[str]]] = known["tests"]

    def of(self, file: str, line: int | None) -> list[str]:
        """The tests that run this line, the quickest first; where it runs in an import (None) or in another process,
        all of the file of tests that mirrors it, then of those with a test that runs any line of it."""
        lines, mirror = self.tests.get(file, {}), ""
        running = lines.get(str(line), [])
        if not running:
            source = Path(file)
            mirror = "/".join([TESTS, *source.parts[2:-1], f"test_{source.name}"])
            files = {mirror, *(test.split("::")[0] for tests in lines.values() for test in tests)}
            running = [test for test in self.seconds if test.split("::")[0] in files]
        running = sorted(running, key=lambda test: (test.split("::")[0] != mirror, self.seconds.get(test, 0.0), test))
        ends = accumulate(self.seconds.get(test, 0.0) for test in running[:MOST_TESTS])
        return [test for test, end in zip(running, ends, strict=False) if end <= MOST_S]

    def _measure(self, tree: Path, python: str, work: Path) -> None:
        data, report = work / "coverage.data", work / "tests.xml"
        command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}"]
        command += [TESTS, *(f"--ignore={one}" for one in NOT_RUN)]
        command += [f"--cov={PACKAGES}", "--cov-context=test", "--cov-report="]
        environment = {"COVERAGE_FILE": str(data), "PYTHONPATH": "tests/support"}
        run = subprocess.run(["env", *(f"{k}={v}" for k, v in environment.items()), *command], cwd=tree, check=False)
        if run.returncode not in (0, 1) or not data.is_file():
            raise CatalogueError(f"the tests did not run under coverage: {shlex.join(command)}. {NEEDS}")
        from coverage import CoverageData

        kept = CoverageData(str(data))
        kept.read()
        seconds = {}
        for case in ElementTree.parse(report).iter("testcase"):
            name = f"{case.get('classname', '').replace('.', '/')}.py::{case.get('name')}"
            seconds[name] = float(case.get("time", 0))
        of_file = {place: list(names) for place, names in groupby(sorted(seconds), lambda name: name.split("::")[0])}
        sharing = {place for place in of_file if "scope=" in (tree / place).read_text(encoding="utf-8")}
        tests: dict[str, dict[str, list[str]]] = {}
        for file in kept.measured_files():
            by_line = kept.contexts_by_lineno(file)
            named = {str(line): _tests_in(found, of_file, sharing) for line, found in by_line.items()}
            tests[Path(file).relative_to(tree).as_posix()] = {line: found for line, found in named.items() if found}
        self.file.write_text(json.dumps({"seconds": seconds, "tests": tests}))


def _tests_in(contexts: list[str], of_file: dict[str, list[str]], sharing: set[str]) -> list[str]:
    """The tests of contexts such as `file::test|run`. What one test sets up, or works out once in a fixture that it is
    `sharing`, others of its file may use too."""
    found: set[str] = set()
    for name, phase in (context.rsplit("|", 1) for context in contexts if context):
        file = name.split("::")[0]
        found.update(of_file.get(file, [name]) if phase == "setup" or file in sharing else [name])
    return sorted(found)


def in_functions(text: str) -> set[int]:
    """Lines that run when a function is called, and not when its module is imported, be that in the course of a
    test."""
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    return {line for one in functions for line in range(one.body[0].lineno, (one.end_lineno or 0) + 1)}


def explained() -> dict[tuple[str, str, str], str]:
    """Why no test can notice a change: by file and the code of the line before and after."""
    rows = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8")).get("equivalent", []) if EQUIVALENT.is_file() else []
    return {(row["file"], code_of(row["old"]), code_of(row["new"])): row["why"] for row in rows}


def generated(count: int, seed: int, coverage: Coverage) -> list[Mutation]:
    """A sample of `count` mutations, each of another place; the same for the same sources, count and seed."""
    places: list[tuple[int, str, Operators]] = []
    texts: dict[str, str] = {}
    for pattern in FILES:
        for file in sorted((ROOT / PACKAGES).glob(pattern)):
            name = file.relative_to(ROOT).as_posix()
            texts[name] = file.read_text(encoding="utf-8")
            found = places_of(texts[name])
            places += zip(chances(name, texts[name], found, seed), repeat(name), found.values(), strict=False)
    known = explained()
    sample: list[Mutation] = []
    for chance, file, operators in sorted(places):
        if len(sample) == count:
            break
        operator, occurrence = operators[chance % len(operators)]
        changed = change(texts[file], operator, occurrence)
        if changed is None:
            continue
        line, old, new = changed
        tests = coverage.of(file, line if line in in_functions(texts[file]) else None)
        sample.append(
            Generated(
                name=f"{Path(file).stem}-{line}-{operator.split('/')[-1]}-{occurrence}",
                file=file,
                old=old,
                new=new,
                breaks=f"`{old.strip()}` becomes `{new.strip()}`",
                pytest=shlex.join(tests),
                survives=known.get((file, code_of(old), code_of(new)), ""),
                line=line,
            )
        )
    return sorted(sample, key=lambda one: (one.file, one.name))
