"""Mutations made by a machine, so that nobody who wrote a test chooses what it must notice: a seeded sample of all that
Cosmic Ray's operators can change in the Python package, each with the tests that run the changed line."""

from __future__ import annotations

import json
import random
import shlex
import subprocess
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import tomllib
from catalogue import ROOT, CatalogueError, Mutation

EQUIVALENT = Path(__file__).resolve().parent / "equivalent.toml"
PACKAGE = "analysis/fourscore_analysis"
TESTS = "tests/analysis"  # its folders: the tests beside them make whole reports, and take minutes each
# Where a wrong number does the most harm; the sample takes these folders first and others where `folders` says so.
FOLDERS = ("gate", "points", "models", "records", "equations")
NEEDS = "--generated takes Cosmic Ray and pytest-cov in the interpreter that runs it: pip install cosmic-ray pytest-cov"
# Operators whose changes mean nothing here: bits, which only annotations have; identity for equality; decorators,
# without which nothing is imported.
LEFT_OUT = ("Bit", "Shift", "Pow", "Invert", "_Is", "Is_", "IsNot", "UAdd", "Decorator", "Variable", "Exception")
MOST_TESTS = 300  # for one mutation, the quickest of those that run its line


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

    def problem(self, root: Path) -> str:
        lines = (root / self.file).read_text(encoding="utf-8").split("\n")
        same = len(lines) >= self.line and lines[self.line - 1] == self.old
        return "" if same else f"line {self.line} of {self.file} is another one now"


Operators = list[tuple[str, int]]  # names, each with the number of the place among those that it can change


def places_of(text: str) -> list[Operators]:
    """Which operators can change each place of a module."""
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
    return [operators for _, operators in sorted(places.items())]


def change(text: str, name: str, occurrence: int) -> tuple[int, str, str] | None:
    """The line that the operator changes, and what stands there before and after; nothing where it is no one line."""
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator

    before = text.split("\n")
    after = (mutate_code(text, get_operator(name)(), occurrence) or text).split("\n")
    differ = [number for number, pair in enumerate(zip(before, after, strict=False), 1) if pair[0] != pair[1]]
    if len(after) != len(before) or len(differ) != 1:
        return None
    return differ[0], before[differ[0] - 1], after[differ[0] - 1]


class Coverage:
    """Which tests run a line, and how long each takes; kept in a file, as it takes as long as the tests."""

    def __init__(self, tree: Path, python: str, work: Path) -> None:
        self.file = work / "coverage.json"
        if not self.file.is_file():
            self._measure(tree, python, work)
        known = json.loads(self.file.read_text())
        self.seconds: dict[str, float] = known["seconds"]
        self.tests: dict[str, dict[str, list[str]]] = known["tests"]

    def of(self, file: str, line: int) -> list[str]:
        """The tests that run this line, or what stands about it when it is imported; the quickest first."""
        lines = self.tests.get(file, {})
        running = lines.get(str(line)) or sorted({test for tests in lines.values() for test in tests})
        return sorted(running, key=lambda test: (self.seconds.get(test, 0.0), test))[:MOST_TESTS]

    def _measure(self, tree: Path, python: str, work: Path) -> None:
        data, report = work / "coverage.data", work / "tests.xml"
        folders = sorted(str(f.relative_to(tree)) for f in (tree / TESTS).iterdir() if any(f.glob("**/test_*.py")))
        command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *folders, f"--junitxml={report}"]
        command += [f"--cov={PACKAGE}", "--cov-context=test", "--cov-report="]
        environment = {"COVERAGE_FILE": str(data), "PYTHONPATH": "tests/support"}
        run = subprocess.run(["env", *(f"{k}={v}" for k, v in environment.items()), *command], cwd=tree, check=False)
        if run.returncode not in (0, 1) or not data.is_file():
            raise CatalogueError(f"the tests did not run under coverage: {shlex.join(command)}. {NEEDS}")
        from coverage import CoverageData

        kept = CoverageData(str(data))
        kept.read()
        tests: dict[str, dict[str, list[str]]] = {}
        for file in kept.measured_files():
            by_line = kept.contexts_by_lineno(file)
            named = {str(line): sorted({c.split("|")[0] for c in found if c}) for line, found in by_line.items()}
            tests[Path(file).relative_to(tree).as_posix()] = {line: found for line, found in named.items() if found}
        seconds = {}
        for case in ElementTree.parse(report).iter("testcase"):
            name = f"{case.get('classname', '').replace('.', '/')}.py::{case.get('name')}"
            seconds[name] = float(case.get("time", 0))
        self.file.write_text(json.dumps({"seconds": seconds, "tests": tests}))


def explained() -> dict[tuple[str, str, str], str]:
    """Why no test can notice a change: by file and the line before and after, without its indentation."""
    rows = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8")).get("equivalent", []) if EQUIVALENT.is_file() else []
    return {(row["file"], row["old"], row["new"]): row["why"] for row in rows}


def generated(count: int, seed: int, coverage: Coverage, folders: tuple[str, ...] = FOLDERS) -> list[Mutation]:
    """A sample of `count` mutations, each of another place; the same for the same sources, count and seed."""
    places: list[tuple[str, Operators]] = []
    texts: dict[str, str] = {}
    for folder in folders:
        for file in sorted((ROOT / PACKAGE / folder).rglob("*.py")):
            name = file.relative_to(ROOT).as_posix()
            texts[name] = file.read_text(encoding="utf-8")
            places += [(name, operators) for operators in places_of(texts[name])]
    chooser = random.Random(seed)
    chooser.shuffle(places)
    known = explained()
    sample: list[Mutation] = []
    for file, operators in places:
        if len(sample) == count:
            break
        operator, occurrence = chooser.choice(operators)
        found = change(texts[file], operator, occurrence)
        if found is None:
            continue
        line, old, new = found
        tests = coverage.of(file, line)
        sample.append(
            Generated(
                name=f"{Path(file).stem}-{line}-{operator.split('/')[-1]}-{occurrence}",
                file=file,
                old=old,
                new=new,
                breaks=f"`{old.strip()}` becomes `{new.strip()}`",
                pytest=shlex.join(tests),
                survives=known.get((file, old.strip(), new.strip()), ""),
                line=line,
            )
        )
    return sorted(sample, key=lambda one: (one.file, one.name))
