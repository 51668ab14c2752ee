"""The harness notices what it is there for: each kind of misbehaviour, by a program that misbehaves."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Callable
from pathlib import Path

import harness
import pytest
import records
import suite_files
from harness import Place, Step


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path / "case", Path("/proc/nowhere"), Path("/proc/nowhere"), {"PATH": "/usr/bin:/bin"}, True)


def broken(place: Place, script: str, **options: object) -> str:
    before = place.snapshot()
    step = Step(["sh", "-c", script], **options)  # type: ignore[arg-type]
    outcome = place.run(step)
    return "; ".join(place.broken(outcome, before))


def test_what_behaves_is_let_pass(place: Place) -> None:
    assert broken(place, "echo done; exit 0") == ""
    assert broken(place, "echo 'x: no such suite' >&2; exit 2") == ""
    assert broken(place, "echo more >work.txt", writes=("work/work.txt",)) == ""


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("kill -SEGV $$", "ended by SIGSEGV"),
        ("kill -ABRT $$", "ended by SIGABRT"),
        ("exit 7", "exit code 7"),
        ("exit 2", "without a message"),
        ("echo 'Traceback (most recent call last):' >&2; exit 3", "Traceback"),
        ("echo 'x: [json.exception.type_error.302]' >&2; exit 3", "json.exception"),
        ("echo '==1==ERROR: AddressSanitizer: heap' >&2; exit 1", "AddressSanitizer"),
        ("echo 'x: std::bad_alloc' >&2; exit 3", "std::bad_alloc"),
        ("echo 'cannot write: Success' >&2; exit 3", "Success"),
        ("printf '\\033[31mred\\n'", "control character"),
        ("echo changed >../guard/file", "changed: guard/file"),
        ("rm ../guard/link", "removed: guard/link"),
        ("echo x >../tmp/rest", "left behind: tmp/rest"),
        ("touch pwned", "a shell ran"),
        ("touch work.txt", "left behind: work/work.txt"),
    ],
)
def test_what_misbehaves_is_found(place: Place, script: str, words: str) -> None:
    assert words in broken(place, script)


def test_a_pipe_that_became_a_file_is_found_even_where_writing_is_allowed(place: Place) -> None:
    place.run(Step(["mkfifo", "pipe"]))
    assert "changed: work/pipe" in broken(place, "rm pipe; echo x >pipe", writes=("work",))


def test_what_never_ends_is_found(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(harness, "LIMIT_S", 0.5)
    assert "not finished" in broken(place, "sleep 60")


@pytest.mark.parametrize("after_it_was_seen", [False, True])
def test_a_file_that_vanishes_meanwhile_is_no_failure(
    place: Place, monkeypatch: pytest.MonkeyPatch, after_it_was_seen: bool
) -> None:
    passing = place.work / "passing"
    passing.write_text("")
    lstat = os.lstat

    def seen(path: bytes) -> os.stat_result:
        about = lstat(path)
        if path != os.fsencode(passing):
            return about
        passing.unlink()
        return about if after_it_was_seen else lstat(path)

    monkeypatch.setattr(harness.os, "lstat", seen)
    found = place.snapshot()
    assert "work/passing" not in found
    assert {"guard/file", "guard/link", "guard/fifo"} <= found.keys()


def test_a_further_property_is_asked_for(place: Place) -> None:
    assert broken(place, "exit 0", must=lambda outcome: "not enough") == "not enough"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: 0, ""),
        (lambda: 5, "exit code 5"),
        (lambda: 1 // 0, "Traceback"),
        (lambda: print("\x1b[2J") or 0, "control"),
    ],
)
def test_python_code_in_a_fork_is_judged_the_same(place: Place, call: Callable[[], int], words: str) -> None:
    before = place.snapshot()
    outcome = place.run(Step(["python"], call=call))
    found = "; ".join(place.broken(outcome, before))
    assert (words in found) if words else found == ""


def test_a_kept_case_runs_again(place: Place, tmp_path: Path) -> None:
    step = Step(
        ["sh", "-c", "cat; echo it\\'s $NAME; ls"],
        environment={"NAME": "é x"},
        stdin=b"input\n",
        ignored=(signal.SIGINT,),
    )
    (place.work / "there").write_text("")
    outcome = place.run(step)
    kept = place.keep(tmp_path / "kept", outcome)
    again = place.run(Step([str(kept / "again.sh")]))
    assert again.out == outcome.out == "input\nit's é x\nthere\n".encode()


def test_a_step_may_begin_in_a_folder_that_was_removed(place: Place, tmp_path: Path) -> None:
    step = Step(["sh", "-c", "ls -d . && readlink /proc/self/cwd"], nowhere=True)
    outcome = place.run(step)
    assert outcome.out.decode().split()[-1] == "(deleted)"
    kept = place.keep(tmp_path / "kept", outcome)
    assert place.run(Step([str(kept / "again.sh")])).out.decode().split()[-1] == "(deleted)"


@pytest.mark.parametrize("spoil", [records.spoil_bytes, suite_files.spoil_bytes])
def test_bytes_of_any_kind_can_be_spoiled(spoil: Callable[[random.Random, bytes], bytes]) -> None:
    """An index is no text."""
    index = b"SQLite format 3\0\x10\x81\xff"
    spoiled = {spoil(random.Random(seed), index) for seed in range(200)}
    assert len(spoiled) > 50


def test_output_goes_where_a_step_says(place: Place) -> None:
    assert place.run(Step(["sh", "-c", "echo x; exit $?"], stdout="full")).code == 1
    assert place.run(Step(["sh", "-c", "echo x; exit $?"], stdout="closed")).code == 1
    assert place.run(Step(["sh", "-c", "read -r line <&0 || exit 4"], stdin=None)).code in (1, 2, 4)
