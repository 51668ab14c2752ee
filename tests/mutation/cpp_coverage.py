"""Which tests run a line of a C++ source, and how long each takes, by the counters that Clang builds in for the preset
`mutation`. A program of GoogleTest is one test; of pytest each test is one."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from catalogue import CatalogueError
from workplace import Workplace, environment_of

FOLDERS = ("core", "results", "jobscripts", "drivers/harness", "drivers/program")
KINDS = {"unit", "mpi", "drivers", "jobs"}  # labels of the tests
MOST_RANKS = 2  # of tests of GoogleTest: more show the same code once more
HOLDING_ALL = ("fourscore", "fft_bench")  # what is in another program that tests of pytest start is in one of these
LIMIT_S = "900"  # of a test of ctest
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

    def runs(self, file: str, line: int) -> bool:
        return bool(int(self.lines.get(file, "0"), 16) >> line & 1)


def program_of(test: dict[str, Any], folder: Path) -> Path | None:
    """The built program that a test runs; none where it runs pytest."""
    return next((Path(word) for word in test["command"] if word.startswith(f"{folder}/bin/")), None)


class CppCoverage:
    """Kept in a file after each test of ctest, as it takes as long as the tests."""

    def __init__(self, place: Workplace, work: Path) -> None:
        self.place, self.file, self.scratch = (place, work / "coverage-c++.json", work / "profiles")
        self.known: dict[str, list[dict]] = json.loads(self.file.read_text()) if self.file.is_file() else {}
        self.tests: list[Test] = []  # the quickest first
        self.signatures: dict[str, str] = {}  # names of files of counters to the programs that write them

    def measure(self) -> None:
        """What no earlier call measured."""
        self._measure_new()
        self.tests = [
            Test(**(test | {"programs": tuple(test["programs"])})) for tests in self.known.values() for test in tests
        ]
        self.tests.sort(key=lambda one: (one.seconds, one.ctest, one.node))

    def _measure_new(self) -> None:
        wanted = [test for test in self.place.listed() if self._wanted(test) and test["name"] not in self.known]
        wanted.sort(key=lambda test: "pytest" in test["command"])  # what a minute tells first
        if not wanted:
            return
        if not self.place.build(("all",)):
            raise CatalogueError(f"the tests do not build:\n{self.place.output}")
        self._read_signatures()
        with ThreadPoolExecutor(self.place.jobs) as pool:
            for number, (name, tests) in enumerate(pool.map(self._measured, wanted), 1):
                self.known[name] = [asdict(test) for test in tests]
                self._save()
                print(f"coverage [{number}/{len(wanted)}] {name}: {len(tests)} pass", file=sys.stderr, flush=True)

    def tests_of(self, file: str, line: int) -> list[Test]:
        """The tests that run this line, the quickest first."""
        return [test for test in self.tests if test.runs(file, line)]

    def tests_of_file(self, file: str) -> list[Test]:
        return [test for test in self.tests if file in test.lines]

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
            folder = self.scratch / program.name
            environment = os.environ | {"LLVM_PROFILE_FILE": f"{folder}/%c%m.profraw"}
            subprocess.run(
                [program, "--help"], env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=False
            )
            self.signatures |= {file.name: program.name for file in folder.glob("*.profraw")}
            shutil.rmtree(folder, ignore_errors=True)

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
        ended = self._run(test, test["command"], {"LLVM_PROFILE_FILE": f"{folder}/%c%m.profraw"})
        seconds = round(time.monotonic() - begin, 2)
        return (
            [Test(test["name"], seconds, (program.name,), lines=self._lines(list(folder.glob("*.profraw")), [program]))]
            if ended == 0
            else []
        )

    def _of_pytest(self, test: dict[str, Any], folder: Path) -> list[Test]:
        path = f"{HERE}:{self.place.tree / 'tests/support'}"
        command = [*test["command"], "-p", "cpp_profiles", f"--rootdir={self.place.tree}"]
        self._run(test, command, {"PYTHONPATH": path, "MUTATION_PROFILES": str(folder)})
        passed = folder / "tests.json"
        holding = [self.place.build_folder / "bin" / name for name in HOLDING_ALL]
        found = []
        for one in json.loads(passed.read_text()) if passed.is_file() else []:
            profiles = [*(folder / one["folder"]).glob("*.profraw"), *(folder / "shared").glob("*.profraw")]
            programs = tuple(sorted({self.signatures[file.name] for file in profiles if file.name in self.signatures}))
            found.append(Test(test["name"], one["seconds"], programs, one["test"], self._lines(profiles, holding)))
        return found

    def _run(self, test: dict[str, Any], command: list[str], more: dict[str, str]) -> int:
        environment = os.environ | environment_of(test) | more
        return subprocess.run(
            ["timeout", "-k", "5", LIMIT_S, *command],
            cwd=self.place.tree,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        ).returncode

    def _lines(self, profiles: list[Path], programs: list[Path]) -> dict[str, str]:
        """Those that were run, by file."""
        if not profiles:
            return {}
        data = profiles[0].with_suffix(".profdata")
        subprocess.run([self.place.tool("llvm-profdata"), "merge", "-sparse", "-o", data, *profiles], check=True)
        others = [word for program in programs[1:] for word in ("-object", program)]
        export = [self.place.tool("llvm-cov"), "export", "-format=lcov", f"-instr-profile={data}", programs[0], *others]
        report = subprocess.run(export, capture_output=True, text=True, check=True).stdout
        found: dict[str, int] = {}
        file = ""
        for line in report.splitlines():
            if line.startswith("SF:"):
                file = line[3:].removeprefix(f"{self.place.tree}/")
            elif (
                line.startswith("DA:") and not line.endswith(",0") and file.split("/")[0] not in ("", "build", "tests")
            ):
                found[file] = found.get(file, 0) | 1 << int(line[3:].split(",")[0])
        return {file: f"{lines:x}" for file, lines in found.items()}

    def _save(self) -> None:
        temporary = self.file.with_suffix(".new")
        temporary.write_text(json.dumps(self.known))
        temporary.replace(self.file)
