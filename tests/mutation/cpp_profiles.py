"""A pytest plugin: the programs that a test starts count their lines in a folder of the test's own. What a fixture of a
wider scope starts counts for all tests of the session. See cpp_coverage.py."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(os.environ["MUTATION_PROFILES"])
SHARED = "shared"
numbers: dict[str, int] = {}  # the names of the folders, by test
seconds: dict[str, float] = {}
failed: set[str] = set()


def profile(folder: str) -> str:
    return str(FOLDER / folder / "%c%m.profraw")  # counted while it runs, all processes of a program in one file


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    numbers[item.nodeid] = len(numbers)
    os.environ["LLVM_PROFILE_FILE"] = profile(str(numbers[item.nodeid]))
    yield


@pytest.hookimpl(hookwrapper=True)
def pytest_fixture_setup(fixturedef: Any) -> Iterator[None]:
    before = os.environ.get("LLVM_PROFILE_FILE", "")
    if fixturedef.scope != "function":
        os.environ["LLVM_PROFILE_FILE"] = profile(SHARED)
    yield
    os.environ["LLVM_PROFILE_FILE"] = before


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    seconds[report.nodeid] = seconds.get(report.nodeid, 0) + report.duration
    if not report.passed:
        failed.add(report.nodeid)


def pytest_sessionfinish() -> None:
    passed = [
        {"test": test, "folder": str(number), "seconds": round(seconds.get(test, 0), 2)}
        for test, number in numbers.items()
        if test not in failed
    ]
    (FOLDER / "tests.json").write_text(json.dumps(passed))
