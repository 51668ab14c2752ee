"""Which tests run a line of a C++ source, and how long each takes, by the counters that Clang builds in for the preset
`mutation`. A program of GoogleTest is one test; of pytest each test is one."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from catalogue import CatalogueError
from workplace import Workplace, environment_of

FOLDERS = ("core", "results", "jobscripts", "drivers/harness", "drivers/program")
KINDS = {"unit", "mpi", "drivers", "jobs"}  # labels of the tests
MOST_RANKS = 2  # tests of GoogleTest on more ranks run the same code once more
HOLDING_ALL = ("fourscore", "fft_bench")  # lines of another program that tests of pytest start are in the second
PROGRAM_S, PYTEST_S = 150, 900  # the time limits of a program of GoogleTest and of a file of pytest
HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Test:
    """Passes without any mutation."""

    ctest: str
    seconds: float
    programs: tuple[str, ...]  # that it runs
    node: str = ""  # as pytest names it; "" for a program of GoogleTest
    lines: dict[str, str] = field(
        default_factory=dict, hash=False, compare=False
    )  # by file, as bits of a hexadecimal number


def program_of(test: dict[str, Any], folder: Path) -> Path | None:
    """The built program that a test runs; none where it runs pytest."""
    return next((Path(word) for word in test["command"] if word.startswith(f"{folder}/bin/")), None)


class CppCoverage:
    """Kept in a file after each test of ctest, as it takes as long as the tests."""

    def __init__(self, place: Workplace, work: Path) -> None:
        self.place, self.file, self.scratch = (place, work / "coverage-c++.json", work / "profiles")
        self.known: dict[str, list[dict]] = json.loads(self.file.read_text()) if self.file.is_file() else {}
        self.tests: list[Test] = []
        self.by_file: dict[str, list[tuple[Test, int]]] = {}  # with the bits of the lines, the quickest first
        self.counted: dict[str, str] = {}  # all lines that have a counter, as Test.lines
        self.signatures: dict[str, str] = {}  # names of files of counters to the programs that write them

    def measure(self) -> None:
        """What no earlier call measured."""
        self._measure_new()
        self.counted = self._counted()
        self.tests = [
            Test(**(test | {"programs": tuple(test["programs"])})) for tests in self.known.values() for test in tests
        ]
        for test in sorted(self.tests, key=lambda one: (one.seconds, one.ctest, one.node)):
            for file, lines in test.lines.items():
                self.by_file.setdefault(file, []).append((test, int(lines, 16)))

    def _measure_new(self) -> None:
        wanted = [test for test in self.place.listed() if self._wanted(test) and test["name"] not in self.known]
        wanted.sort(key=lambda test: "pytest" in test["command"])  # what a minute tells first
        if not wanted:
            return
        if not self.place.build(("all",)):
            raise CatalogueError(f"the tests do not build:\n{self.place.output}")
        self._read_signatures()
        with ThreadPoolExecutor(self.place.jobs) as pool:
            measured = as_completed([pool.submit(self._measured, test) for test in wanted])
            for number, (name, tests) in enumerate((one.result() for one in measured), 1):
                self.known[name] = [asdict(test) for test in tests]
                self._save()
                print(f"coverage [{number}/{len(wanted)}] {name}: {len(tests)} pass", file=sys.stderr, flush=True)

    def tests_of(self, file: str, line: int, source: str, text: str) -> list[Test]:
        """The tests that run this line, the quickest first. Clang counts no line outside functions, and a line after a
        branch by difference, and so wrong where both branches run, in two processes: then those that run the file at
        all, or the source that reads it."""
        running = self.by_file.get(file, [])
        found = [test for test, lines in running if lines >> line & 1]
        if not found and (not int(self.counted.get(file, "0"), 16) >> line & 1 or "fork()" in text):
            found = [test for test, _ in running or self.by_file.get(source, [])]
        return found

    def _wanted(self, test: dict[str, Any]) -> bool:
        properties = {one["name"]: one["value"] for one in test.get("properties", [])}
        if not KINDS.intersection(properties.get("LABELS", [])) or "command" not in test:
            return False
        if program := program_of(test, self.place.build_folder):
            ranks = test["name"].rpartition(".")[2]
            return self._mirrors(program.name) and (not ranks.isdigit() or int(ranks) <= MOST_RANKS)
        return "pytest" in test["command"]

    def _mirrors(self, program: str) -> bool:
        """Whether a program of GoogleTest has the tests of one of the folders."""
        tests = self.place.tree / "tests"
        return any(
            (tests / folder / f"{program}.cpp").is_file() or program.startswith(folder.replace("/", "_"))
            for folder in FOLDERS
        )

    def _read_signatures(self) -> None:
        for program in sorted((self.place.build_folder / "bin").iterdir()):
            self.signatures |= {file.name: program.name for file in self._help_of(program)}

    def _counted(self) -> dict[str, str]:
        programs = [self.place.build_folder / "bin" / name for name in HOLDING_ALL]
        return self._lines([file for program in programs for file in self._help_of(program)], programs, 0)

    def _help_of(self, program: Path) -> list[Path]:
        """The counters of a program that shows its help."""
        folder = self.scratch / program.name
        shutil.rmtree(folder, ignore_errors=True)
        environment = os.environ | {"LLVM_PROFILE_FILE": f"{folder}/%c%m.profraw"}
        subprocess.run([program, "--help"], env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        return list(folder.glob("*.profraw"))

    def _measured(self, test: dict[str, Any]) -> tuple[str, list[Test]]:
        folder = self.scratch / test["name"]
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        program = program_of(test, self.place.build_folder)
        measured = self._of_program(test, program, folder) if program else self._of_pytest(test, folder)
        shutil.rmtree(folder)
        return test["name"], measured

    def _of_program(self, test: dict[str, Any], program: Path, folder: Path) -> list[Test]:
        begin = time.monotonic()
        ended = self._run(test, test["command"], {"LLVM_PROFILE_FILE": f"{folder}/%c%m.profraw"}, PROGRAM_S)
        seconds = round(time.monotonic() - begin, 2)
        if ended != 0:
            return []
        lines = self._lines(list(folder.glob("*.profraw")), [program])
        return [Test(test["name"], seconds, (program.name,), lines=lines)]

    def _of_pytest(self, test: dict[str, Any], folder: Path) -> list[Test]:
        path = f"{HERE}:{self.place.tree / 'tests/support'}"
        command = [*test["command"], "-p", "cpp_profiles", f"--rootdir={self.place.tree}"]
        self._run(test, command, {"PYTHONPATH": path, "MUTATION_PROFILES": str(folder)}, PYTEST_S)
        passed = folder / "tests.json"
        found = []
        for one in json.loads(passed.read_text()) if passed.is_file() else []:
            profiles = [*(folder / one["folder"]).glob("*.profraw"), *(folder / "shared").glob("*.profraw")]
            programs = {self.signatures[file.name] for file in profiles if file.name in self.signatures}
            command, bench = HOLDING_ALL
            holding = [command] * (command in programs) + [bench] * bool(programs - {command})
            lines = self._lines(profiles, [self.place.build_folder / "bin" / name for name in holding])
            found.append(Test(test["name"], one["seconds"], tuple(sorted(programs)), one["test"], lines))
        return found

    def _run(self, test: dict[str, Any], command: list[str], more: dict[str, str], limit_s: int) -> int:
        environment = os.environ | environment_of(test) | more
        return subprocess.run(
            ["timeout", "-k", "5", str(limit_s), *command],
            cwd=self.place.tree,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        ).returncode

    def _lines(self, profiles: list[Path], programs: list[Path], least: int = 1) -> dict[str, str]:
        """The lines that were run at least so often, by file."""
        if not profiles or not programs:
            return {}
        data = profiles[0].with_suffix(".profdata")
        # A program that was ended while it started leaves a file that cannot be read.
        merge = [self.place.tool("llvm-profdata"), "merge", "-sparse", "-failure-mode=all", "-o", data, *profiles]
        subprocess.run(merge, stderr=subprocess.DEVNULL, check=False)
        if not data.is_file():
            return {}
        others = [word for program in programs[1:] for word in ("-object", program)]
        export = [self.place.tool("llvm-cov"), "export", "-format=lcov", f"-instr-profile={data}", programs[0], *others]
        report = subprocess.run(export, capture_output=True, text=True, check=True).stdout
        found: dict[str, int] = {}
        file = ""
        for line in report.splitlines():
            if line.startswith("SF:"):
                file = line[3:].removeprefix(f"{self.place.tree}/")
            elif line.startswith("DA:") and file.split("/")[0] not in ("", "build", "tests"):
                number, count = line[3:].split(",")
                found[file] = found.get(file, 0) | (int(count) >= least) << int(number)
        return {file: f"{lines:x}" for file, lines in found.items() if lines}

    def _save(self) -> None:
        temporary = self.file.with_suffix(".new")
        temporary.write_text(json.dumps(self.known))
        temporary.replace(self.file)
