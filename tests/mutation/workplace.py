"""A copy of the tree in which mutations are applied, built and tested. The tree itself is never touched."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from catalogue import ROOT, Mutation, Stage

OUTPUT_KEPT = 4000  # characters of the end of what a failed step wrote


NOT_FOUND = (
    "4"  # the exit code of pytest where it has no test of that name: names may hold values that a mutation changes
)


class WorkplaceError(Exception):
    """The copy cannot be made, configured or built without any mutation."""


class Workplace:
    """The copy in `folder`/tree, built with a preset of CMakePresets.json."""

    def __init__(self, folder: Path, preset: str, jobs: int, limit_s: float) -> None:
        self.tree = folder / "tree"
        self.build_folder = self.tree / "build" / preset
        self.preset, self.jobs, self.limit_s = preset, jobs, limit_s
        self.output = ""  # what the last step printed
        self.out_of_time = False  # whether the last step ran out of time
        self._server: subprocess.Popen[str] | None = None  # runs pytest; it ends with this process
        self._environments: dict[str, dict[str, str]] = {}

    def copy(self) -> None:
        """Makes the copy equal to the tree, uncommitted and new files included; what is ignored stays out."""
        command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
        if listed.returncode != 0:
            raise WorkplaceError(f"git cannot list the files of {ROOT}: {listed.stderr.decode().strip()}")
        names = {name for name in listed.stdout.decode().split("\0") if name and (ROOT / name).is_file()}
        for name in names:
            source, target = ROOT / name, self.tree / name
            if target.is_file() and target.read_bytes() == source.read_bytes():
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
            shutil.copymode(source, target)
        for path in self.tree.rglob("*"):
            relative = path.relative_to(self.tree)
            if path.is_file() and relative.parts[0] != "build" and relative.as_posix() not in names:
                path.unlink()

    def configure(self) -> None:
        python = os.environ.get("FOURSCORE_PYTHON") or next(
            (str(path) for path in [ROOT / ".venv/bin/python"] if path.exists()), shutil.which("python3") or ""
        )
        command = ["cmake", "--preset", self.preset, f"-DFOURSCORE_PYTHON={python}"]
        if not self._step(command):
            raise WorkplaceError(f"cmake --preset {self.preset} failed:\n{self.output}")
        self.python = python

    @contextmanager
    def changed(self, mutation: Mutation) -> Iterator[None]:
        """Within it the copy has the mutation; after it, however it ends, it has not."""
        file = self.tree / mutation.file
        before = file.read_text(encoding="utf-8")
        try:
            file.write_text(mutation.applied(before), encoding="utf-8")
            yield
        finally:
            file.write_text(before, encoding="utf-8")

    def build(self, targets: tuple[str, ...]) -> bool:
        if not targets:
            return True
        return self._step(["cmake", "--build", str(self.build_folder), "-j", str(self.jobs), "--target", *targets])

    def tests_pass(self, stage: Stage) -> bool:
        """False when one fails or runs out of time."""
        limit_s = stage.limit_s or self.limit_s
        if stage.filter:
            if not self._filtered_pass(stage, limit_s):
                return False
        elif stage.ctest:
            command = ["ctest", "--test-dir", str(self.build_folder), "-R", stage.ctest, "--no-tests=error"]
            if not self._step([*command, "--stop-on-failure", "--output-on-failure"], limit_s):
                return False
        if stage.pytest:
            arguments = shlex.split(stage.pytest)
            return self._pytest_passes(arguments, self._environment_of(arguments[0].split("::")[0]), limit_s)
        return True

    def _pytest_passes(self, arguments: list[str], environment: dict[str, str], limit_s: float) -> bool:
        if self._server is None:
            command = [self.python, "-B", str(Path(__file__).with_name("pytest_server.py"))]
            self._server = subprocess.Popen(
                command, cwd=self.tree, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
        output = self.tree.parent / "pytest.output"
        asked = {
            "arguments": ["-q", "-x", "-p", "no:cacheprovider", *arguments],
            "environment": environment | {"PYTHONDONTWRITEBYTECODE": "1"},
            "output": str(output),
            "limit_s": limit_s,
        }
        self._server.stdin.write(json.dumps(asked) + "\n")
        self._server.stdin.flush()
        answer = self._server.stdout.readline().strip()  # nothing where the server itself ended
        if answer == NOT_FOUND and any("::" in one for one in arguments):
            files = list(dict.fromkeys(one.split("::")[0] for one in arguments))
            return self._pytest_passes(files, environment, limit_s)
        self.out_of_time = answer == "out of time"
        self.output = output.read_text(encoding="utf-8", errors="replace")[-OUTPUT_KEPT:]
        return answer == "0"

    def _filtered_pass(self, stage: Stage, limit_s: float) -> bool:
        """The commands that ctest would run, with some tests of GoogleTest alone."""
        # ctest lists the tests of their fixtures too.
        chosen = [test for test in self.listed("-R", stage.ctest) if re.search(stage.ctest, test["name"])]
        for test in chosen:
            command = [*test["command"], f"--gtest_filter={stage.filter}"]
            if not self._step(command, limit_s, environment_of(test)):
                return False
        if not chosen:
            self.output = f"ctest knows no test {stage.ctest}"
        return bool(chosen)

    def compile_commands(self) -> list[dict[str, str]]:
        return json.loads((self.build_folder / "compile_commands.json").read_text())

    def compiler(self) -> str:
        cache = (self.build_folder / "CMakeCache.txt").read_text()
        return re.search(r"^CMAKE_CXX_COMPILER:\w+=(.*)$", cache, re.MULTILINE).group(1)

    def tool(self, name: str) -> str:
        """The one that came with the compiler."""
        command = [self.compiler(), f"-print-prog-name={name}"]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    def listed(self, *chosen: str) -> list[dict[str, Any]]:
        """The tests that ctest knows, or of them those that options of ctest choose."""
        command = ["ctest", "--test-dir", str(self.build_folder), *chosen, "--show-only=json-v1"]
        shown = subprocess.run(command, capture_output=True, text=True, check=False)
        return json.loads(shown.stdout or "{}").get("tests", [])

    def _environment_of(self, place: str) -> dict[str, str]:
        """What ctest sets for the tests of a file or folder, so that it is written down once, there."""
        if place not in self._environments:
            path = str(self.tree / place)
            found: dict[str, str] = {}
            for test in self.listed():
                if any(word == path or word.startswith(f"{path}/") for word in test.get("command", [])):
                    found |= environment_of(test)
            self._environments[place] = found
        return self._environments[place]

    def _step(
        self, command: list[str], limit_s: float | None = None, environment: dict[str, str] | None = None
    ) -> bool:
        """Whether the command ended well; keeps the end of its output. All its processes end with it."""
        self.out_of_time = False
        process = subprocess.Popen(
            command,
            cwd=self.tree,
            env=os.environ | (environment or {}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            text=True,
            errors="replace",
        )
        try:
            output, _ = process.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            self.out_of_time = True
            self.output = f"not finished after {limit_s:g} s: {shlex.join(command)}"
            return False
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
        self.output = output[-OUTPUT_KEPT:]
        return process.returncode == 0


def environment_of(test: dict[str, Any]) -> dict[str, str]:
    """What ctest sets for one test."""
    values = [one["value"] for one in test.get("properties", []) if one["name"] == "ENVIRONMENT"]
    return dict(pair.split("=", 1) for value in values for pair in value)
