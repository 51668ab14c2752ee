"""Mutations that a machine makes in the C++ sources: every change that cpp_changes.py finds, in an order that a seed
chooses, each with the tests that run the changed line."""

from __future__ import annotations

import hashlib
import json
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate
from multiprocessing import Pool
from pathlib import Path

import cpp_changes
from catalogue import CatalogueError, Mutation, Stage
from cpp_changes import Place
from cpp_coverage import FOLDERS, CppCoverage, Test
from generated import Generated, explained
from workplace import Workplace

NEEDS = "--language c++ takes clang-14 and its bindings in the interpreter that runs it: pip install clang==14.0"
MOST_S = 60.0  # the tests of one mutation, the quickest first, take no longer than this in all
QUICK_S = 5.0  # programs of GoogleTest that take no longer come before the tests of pytest
SPARE_S, SPARE_TIMES = (60.0, 5.0)  # the time limit of tests: so much, and so often what they take without a mutation


@dataclass(frozen=True)
class GeneratedCpp(Generated):
    column: int = 0
    build_first: str = ""  # the object that shows whether it compiles
    tests: tuple[Test, ...] = ()

    @property
    def stages(self) -> tuple[Stage, ...]:
        return stages_for(self.tests, self.build_first)


@dataclass(frozen=True)
class Change:
    """One place with what shall stand there."""

    file: str
    place: Place
    source: str  # whose compilation shows whether it builds
    line: int
    column: int
    old: str
    new: str


def read_places(place: Workplace, work: Path) -> dict[str, tuple[str, list[Place]]]:
    """By file: a source that reads it, and the places. Kept while no source changes: Clang reads all of them."""
    files = sorted(path for folder in FOLDERS for path in (place.tree / folder).rglob("*.[ch]pp"))
    read = [*files, Path(cpp_changes.__file__)]
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in read)).hexdigest()
    kept = work / "places-c++.json"
    known = json.loads(kept.read_text()) if kept.is_file() else {}
    if known.get("digest") != digest:
        if not place.build(("all",)):  # Clang reads the precompiled headers
            raise CatalogueError(f"the copy does not build:\n{place.output}")
        wanted = {str(file) for file in files}
        commands = [one for one in place.compile_commands() if one["file"] in wanted]
        known = {"digest": digest, "files": {}}
        with Pool(place.jobs, cpp_changes.use_libclang_of, (place.compiler(),)) as pool:
            tasks = [(one["file"], one["directory"], one["command"], wanted) for one in commands]
            for source, found in zip((one["file"] for one in commands), pool.map(_read, tasks, 1), strict=True):
                for path, places in found.items():
                    name = str(Path(path).relative_to(place.tree))
                    known["files"].setdefault(name, {"source": source, "places": [asdict(one) for one in places]})
        kept.write_text(json.dumps(known))
    return {
        file: (one["source"], [Place(**(place | {"instead": tuple(place["instead"])})) for place in one["places"]])
        for file, one in known["files"].items()
    }


def _read(task: tuple[str, str, str, set[str]]) -> dict[str, list[Place]]:
    source, folder, command, wanted = task
    arguments = [*cpp_changes.arguments_of(command), f"-working-directory={folder}"]
    return cpp_changes.places_in(source, arguments, lambda path: path in wanted)


def changes_of(file: str, text: bytes, source: str, places: list[Place], seed: int) -> Iterator[tuple[str, Change]]:
    """One change of each place, with its number in the order of the seed. This is made from the line alone and not from
    where it stands, so that a change elsewhere leaves the sample as it is."""
    equal: Counter[tuple] = Counter()
    for place in places:
        begin = text.rfind(b"\n", 0, place.begin) + 1
        end = text.find(b"\n", place.end)
        line = text[begin : end if end >= 0 else len(text)]
        key = (line.strip(), place.kind, text[place.begin : place.end])
        equal[key] += 1
        named = "\0".join((str(seed), file, place.kind, str(place.begin - begin), str(equal[key])))
        number = hashlib.sha256(named.encode() + line).hexdigest()
        instead = place.instead[int(number[:8], 16) % len(place.instead)].encode("latin-1")
        new = line[: place.begin - begin] + instead + line[place.end - begin :]
        where = text.count(b"\n", 0, begin) + 1, place.begin - begin + 1
        yield number, Change(file, place, source, *where, line.decode(), new.decode())


def stages_for(tests: Sequence[Test], build_first: str) -> tuple[Stage, ...]:
    """First what is quick to build and to run."""
    ends = accumulate(test.seconds for test in tests)
    tests = [test for test, end in zip(tests, ends, strict=True) if end <= MOST_S or test is tests[0]]
    alone = [
        (test.seconds, Stage(test.programs, f"^{test.ctest.replace('.', '[.]')}$", "*", limit_s=_limit(test.seconds)))
        for test in tests
        if not test.node
    ]
    together = []
    for kind in sorted({test.ctest.split(".")[0] for test in tests if test.node}):  # each has its own environment
        chosen = [test for test in tests if test.node and test.ctest.startswith(f"{kind}.")]
        limit = _limit(sum(test.seconds for test in chosen))
        programs = tuple(sorted({program for test in chosen for program in test.programs}))
        together.append(Stage(programs, pytest=shlex.join(test.node for test in chosen), limit_s=limit))
    quick = [stage for seconds, stage in alone if seconds <= QUICK_S]
    slow = [stage for seconds, stage in alone if seconds > QUICK_S]
    return (Stage((build_first,)), *quick, *together, *slow)


def _limit(seconds: float) -> float:
    return SPARE_S + SPARE_TIMES * seconds


def generated_cpp(seed: int, place: Workplace, work: Path) -> list[Mutation]:
    """All of them, in the order of the seed: a sample is the first so many that build."""
    try:
        found = read_places(place, work)
    except ImportError as error:
        raise CatalogueError(f"{NEEDS} ({error})") from None
    coverage = CppCoverage(place, work)
    coverage.measure()
    texts = {file: (place.tree / file).read_text(encoding="utf-8") for file in found}
    numbered: list[tuple[str, Change]] = []
    for file, (source, places) in sorted(found.items()):
        numbered += changes_of(file, texts[file].encode(), source, places, seed)
    objects = {one["file"]: _output(one["command"]) for one in place.compile_commands()}
    known = explained()
    mutations: list[Mutation] = []
    for _, change in sorted(numbered, key=lambda one: one[0]):
        source = str(Path(change.source).relative_to(place.tree))
        tests = coverage.tests_of(change.file, change.line, source, texts[change.file])
        mutations.append(
            GeneratedCpp(
                name=f"{change.file.replace('/', '-')}-{change.line}-{change.column}-{change.place.kind}",
                file=change.file,
                old=change.old,
                new=change.new,
                breaks=f"`{change.old.strip()}` becomes `{change.new.strip()}`"
                + ("" if tests else ", which no test runs"),
                survives=known.get((change.file, change.old.strip(), change.new.strip()), ""),
                line=change.line,
                column=change.column,
                build_first=objects[change.source],
                tests=tuple(tests),
            )
        )
    return mutations


def _output(command: str) -> str:
    words = shlex.split(command)
    return words[words.index("-o") + 1]
