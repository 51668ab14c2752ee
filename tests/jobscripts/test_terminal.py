"""What the command does when its terminal, its reader or its descriptors are gone, and when it is told to stop."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import pty
import re
import signal
import subprocess
import time

import pytest
from fourscore_command import script
from processes import wait_for


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_reader_that_has_gone_ends_no_campaign(fourscore, options):
    suite = fourscore.points(points=4, launches=2)
    read, write = os.pipe()
    process = fourscore.start("run", suite, *options, stdout=write, stderr=write)
    os.close(write)
    os.close(read)
    assert process.wait(timeout=120) == 0 and len(fourscore.records()) == 8


def test_a_terminal_that_is_gone_ends_no_campaign(fourscore):
    suite = fourscore.points('"slow"', points=4, launches=2)
    controller, terminal = pty.openpty()
    process = fourscore.start("run", suite, stdout=terminal, stderr=terminal, environment={"FAKE_SLOW_S": "0.2"})
    os.close(terminal)
    assert wait_for(lambda: fourscore.finished())
    os.close(controller)  # every write is EIO from now on; no process here has it as its controlling terminal
    assert process.wait(timeout=120) == 0 and len(fourscore.records()) == 8


def test_a_hang_up_ends_a_campaign_with_130_also_where_the_terminal_is_gone(fourscore):
    controller, terminal = pty.openpty()
    process = fourscore.start("run", fourscore.points('"hangs"', points=1), stdout=terminal, stderr=terminal)
    os.close(terminal)
    assert wait_for(fourscore.pids.exists)
    os.close(controller)
    process.send_signal(signal.SIGHUP)
    assert process.wait(timeout=120) == 130 and not fourscore.records()


def test_a_hang_up_ends_nothing_under_nohup(fourscore):
    suite = fourscore.points('"slow"', points=3, launches=1)
    ignore = lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)  # noqa: E731
    process = fourscore.start("run", suite, environment={"FAKE_SLOW_S": "0.5"}, preexec_fn=ignore)
    assert wait_for(lambda: fourscore.finished())
    process.send_signal(signal.SIGHUP)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert len(fourscore.records()) == 3


def test_what_nohup_ignores_is_ignored_by_the_launch_too(fourscore):
    ignore = lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)  # noqa: E731
    process = fourscore.start("run", fourscore.points('"hangs"', points=1), preexec_fn=ignore)
    assert wait_for(lambda: fourscore.pids.exists() and fourscore.pids.read_text().endswith("\n"))
    pid = int(fourscore.pids.read_text().split()[0])
    ignored = next(line for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("SigIgn"))
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=120)
    assert int(ignored.split()[1], 16) & 1 << signal.SIGHUP - 1
    assert process.returncode == 130


@pytest.mark.parametrize("closed", [(0,), (1,), (2,), (0, 1, 2)])
def test_closed_descriptors_change_no_file_and_no_result(fourscore, closed):
    suite = fourscore.points(points=2, launches=1)
    redirections = " ".join(f"{descriptor}{'<' if descriptor == 0 else '>'}&-" for descriptor in closed)
    command = ["sh", "-c", f'exec "$@" {redirections}', "sh", *fourscore.command("run", suite, "--campaign", "c")]
    result = subprocess.run(command, env=fourscore.environment, cwd=fourscore.folder, capture_output=True, timeout=120)
    assert result.returncode == 0, result.stderr
    assert len(fourscore.records()) == 2
    lock = (fourscore.archive / "campaigns/c/lock").read_text()
    assert lock.split()[0].isdigit() and lock.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["--version"],
        ["list", "suites"],
        ["list", "launchers", "--json"],
        ["run", "s.toml"],
        ["run", "s.toml", "--dry-run"],
        ["status"],
        ["status", "--json"],
        ["verify"],
        ["reindex"],
        ["export", "--format", "jsonl"],
        ["export", "--format", "csv"],
        ["counters", "list"],
    ],
)
def test_a_full_output_ends_with_3_and_the_systems_words(fourscore, arguments):
    if not pathlib.Path("/dev/full").exists():
        pytest.skip("there is no /dev/full")
    fourscore("run", fourscore.points(points=1, launches=1))
    with open("/dev/full", "w") as full:
        error = fourscore(*arguments, stdout=full, code=3).stderr
    assert "No space left on device" in error, error


def stopped_soon(fourscore, *arguments, after: float, number=signal.SIGINT) -> tuple[int, str]:
    process = fourscore.start(*arguments)
    time.sleep(after)
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    return process.returncode, err


def test_an_interrupt_at_any_early_moment_is_no_failure_of_the_environment(fourscore):
    suite = fourscore.points('"hangs"', points=1, launches=1)
    for step in range(30):
        code, err = stopped_soon(fourscore, "run", suite, "--fresh", after=0.005 * step)
        # Before main() has begun the signal itself ends the process.
        assert code in (130, -signal.SIGINT), f"after {0.005 * step:.3f} s: exit {code}\n{err}"
        assert all(words not in err for words in ("cannot be started", "neither Open MPI", "ended with")), err


def test_an_interrupt_while_fft_bench_is_asked_says_so(fourscore):
    slow = script(fourscore.folder / "slow_bench", f'touch "{fourscore.folder}/asked"\nsleep 60')
    process = fourscore.start("run", fourscore.points(), "--bench", slow)
    assert wait_for((fourscore.folder / "asked").exists)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130 and err == "fourscore: interrupted\n"


def test_an_interrupt_while_skipped_points_are_written_ends_soon(fourscore):
    shapes = json.dumps([f"{n}x4x4" for n in range(1, 3001)])
    suite = fourscore.suite(f'name="s"\nlaunches=1\n[[sweep]]\nvariant="picky"\nshape={shapes}\nranks=2\n')
    process = fourscore.start("run", suite)
    assert wait_for(lambda: list(fourscore.archive.glob("records/*/*.json")))
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    written = len(list(fourscore.archive.glob("records/*/*.json")))
    assert process.returncode == 130 and 0 < written < 3000
    assert len(fourscore.index()) == written, "what was written is indexed"


def test_progress_tells_the_time_that_is_left_once_a_launch_has_ended(fourscore):
    suite = fourscore.points('"slow"', points=2, launches=2)
    slow = {"FAKE_SLOW_S": "0.2"}
    lines = re.findall(r"^\[(\d)/4\] (.*)$", fourscore("run", suite, environment=slow).stderr, re.MULTILINE)
    left = [(done, bool(re.search(r"  \(\d+:\d\d left\)$", line))) for done, line in lines]
    assert left == [("1", False), ("2", True), ("3", True), ("4", False)], lines
    controller, terminal = pty.openpty()
    process = fourscore.start("run", suite, "--fresh", stdout=terminal, stderr=terminal, environment=slow)
    os.close(terminal)
    with open(controller, "rb", buffering=0) as screen, contextlib.suppress(OSError):  # EIO at the end
        shown = b""
        while part := screen.read(4096):
            shown += part
    assert process.wait(timeout=120) == 0
    bars = re.findall(r"\[#*\.*\] (\d)/4 (\d+:\d\d left )?", shown.decode())
    assert {(done, bool(left)) for done, left in bars} == {("0", False), ("1", True), ("2", True), ("3", True)}, shown
