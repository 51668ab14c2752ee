"""No command leaves processes behind, however it ends."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from fourscore_analysis.records.workers import start_method
from processes import alive, children_of, wait_for

ANALYSIS = Path(__file__).resolve().parents[3] / "analysis"
# Workers that never end by themselves, as one that reads a file system that hangs. A shell may have
# signals ignored: SIGHUP by nohup, SIGQUIT in the background.
SLEEPER = """
import signal, time
for number in (signal.SIGHUP, signal.SIGQUIT):
    signal.signal(number, signal.SIG_DFL)
from fourscore_analysis.records.workers import pool_of
with pool_of(3) as pool:
    list(pool.map(time.sleep, [600] * 6))
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL, signal.SIGQUIT])
def test_workers_end_with_the_process_that_started_them(number):
    surroundings = os.environ | {"PYTHONPATH": str(ANALYSIS)}
    with subprocess.Popen([sys.executable, "-c", SLEEPER], env=surroundings) as command:
        try:
            assert wait_for(lambda: len(children_of(command.pid)) == 3)
            workers = children_of(command.pid)
        finally:
            command.send_signal(number)
        assert command.wait() == -number
    try:
        assert wait_for(lambda: not any(alive(worker) for worker in workers))
    finally:
        for worker in filter(alive, workers):
            os.kill(worker, signal.SIGKILL)


@pytest.mark.parametrize(
    ("chosen", "used"), [("fork", "fork"), ("spawn", "spawn"), ("forkserver", "spawn"), (None, "fork")]
)
def test_workers_start_as_the_program_has_chosen(chosen, used, monkeypatch):
    monkeypatch.setattr("multiprocessing.get_start_method", lambda allow_none: chosen)
    monkeypatch.setattr(sys, "platform", "linux")
    assert start_method() == used


def test_no_other_module_starts_processes():
    """So that what holds for one pool holds for all."""
    starting = re.compile(r"ProcessPoolExecutor|multiprocessing|\bPool\(|os\.fork|subprocess|Popen")
    files = sorted((ANALYSIS / "fourscore_analysis").rglob("*.py"))
    assert len(files) > 100
    found = [file.name for file in files if starting.search(file.read_text(encoding="utf-8"))]
    assert found == ["workers.py"]
