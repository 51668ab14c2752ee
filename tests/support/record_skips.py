"""A pytest plugin: a skipped test says so where it is counted, as tests/support/skips.hpp does for GoogleTest."""

import os

import pytest


def record(report: pytest.TestReport | pytest.CollectReport) -> None:
    path = os.environ.get("FOURSCORE_TEST_SKIPS")
    if not path or not report.skipped:
        return
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    with open(path, "a", encoding="utf-8") as skips:
        skips.write(f"pytest\t{report.nodeid}\t{' '.join(reason.split())}\n")


pytest_runtest_logreport = record
pytest_collectreport = record  # a whole file may be skipped


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """A file that is skipped as a whole is skipped, and no failure for want of tests."""
    skipped = session.config.pluginmanager.get_plugin("terminalreporter").stats.get("skipped", [])
    if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and skipped:
        session.exitstatus = pytest.ExitCode.OK
