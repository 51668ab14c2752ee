"""Runs one step of a case (a program with its arguments, environment, files and limits) and says what it broke."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import os
import re
import resource
import shutil
import signal
import stat
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

LIMIT_S = 60.0  # far beyond what any case needs, also under a sanitizer on a busy machine
MEMORY_BYTES = 6 << 30  # per process; not under the address sanitizer, which reserves terabytes
OUTPUT_BYTES = 64 << 20

# What a user must never read: the words of a crash, of a sanitizer, of a library below us.
FORBIDDEN = re.compile(
    rb"terminate called|Traceback \(most recent call last\)|\[json\.exception|AddressSanitizer|LeakSanitizer"
    rb"|runtime error:|std::bad_alloc|basic_[a-z]+|ios_base|iostream error|vector::|map::at|bad_optional_access"
    rb"|\bsto(?:i|l|ll|ul|ull|d)\b|stack smashing|Assertion|: Success\b|bad_variant_access|filesystem error:"
)
# What moves the cursor of a terminal or colours it: nothing that a file holds may do so.
ESCAPES = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


@dataclasses.dataclass
class Step:
    """A program to run in a case's folder `work`. Names in `writes` are relative to the case's folder."""

    argv: list[str | bytes]
    codes: frozenset[int] = frozenset({0, 1, 2, 3})
    writes: tuple[str, ...] = ()
    environment: dict[str, str | None] = dataclasses.field(default_factory=dict)
    stdin: bytes | None = b""  # None: closed
    stdout: str = "file"  # file, full (/dev/full) or closed
    stderr: str = "file"
    limits: dict[int, int] = dataclasses.field(default_factory=dict)
    ignored: tuple[signal.Signals, ...] = ()
    nowhere: bool = False  # the current folder was removed
    escapes: bool = False  # control characters of the input may come out again
    must: Callable[[Outcome], str | None] | None = None  # a further property; returns what is wrong
    call: Callable[[], int] | None = None  # runs in a fork of this process in place of `argv`, which says the same


@dataclasses.dataclass
class Outcome:
    step: Step
    code: int | None  # None: it did not end; negative: the signal
    out: bytes
    err: bytes


def words_of(text: str) -> list[str]:
    """For lists of values, which fill a page when each is a line."""
    return text.split()


def is_sanitized(program: Path) -> bool:
    return b"__asan_init" in program.read_bytes()


class Place:
    """A case's own folder: `work` (the current folder), `home`, `tmp`, `guard` (which nothing may touch)."""

    def __init__(
        self, folder: Path, programs: Path, archive: Path, base_environment: dict[str, str], limit_memory: bool
    ) -> None:
        self.folder = folder
        self.programs = programs
        self.archive = archive  # a good one, to be copied; beside it its suite, base.toml
        self.base_environment = base_environment
        self.limit_memory = limit_memory
        for name in ("work", "home", "tmp", "guard"):
            (folder / name).mkdir(parents=True)
        (folder / "guard" / "file").write_text("must stay\n")
        (folder / "guard" / "record.json").write_text('{"must": "stay"}\n')
        (folder / "guard" / "link").symlink_to("file")
        os.mkfifo(folder / "guard" / "fifo")

    @property
    def work(self) -> Path:
        return self.folder / "work"

    def copy_archive(self) -> Path:
        """The good archive and its suite, in the case's folder."""
        shutil.copy(self.archive.parent / "base.toml", self.work)
        return Path(shutil.copytree(self.archive, self.work / "fourscore-archive", symlinks=True))

    def program(self, name: str) -> str:
        return str(self.programs / name)

    def environment(self, step: Step) -> dict[str, str]:
        merged: dict[str, str | None] = {
            **self.base_environment,
            "HOME": str(self.folder / "home"),
            "TMPDIR": str(self.folder / "tmp"),
            **step.environment,
        }
        return {name: value for name, value in merged.items() if value is not None}

    def snapshot(self) -> dict[str, tuple]:
        """Everything in the folder by its name: kind, mode, size, content."""
        found = {}
        for parent, folders, files in os.walk(os.fsencode(self.folder)):
            for name in folders + files:
                path = os.path.join(parent, name)  # noqa: PTH118 (bytes: names need not be UTF-8)
                with contextlib.suppress(FileNotFoundError):  # processes that end late tidy up meanwhile
                    found[os.fsdecode(os.path.relpath(path, os.fsencode(self.folder)))] = self._seen(path)
        return found

    @staticmethod
    def _seen(path: bytes) -> tuple:
        about = os.lstat(path)
        content = b""
        if stat.S_ISLNK(about.st_mode):
            content = os.readlink(path)  # noqa: PTH115
        elif stat.S_ISREG(about.st_mode) and about.st_size < (4 << 20):
            with open(path, "rb") as file:  # noqa: PTH123
                content = hashlib.sha256(file.read()).digest()
        return about.st_mode, about.st_size if stat.S_ISREG(about.st_mode) else 0, content

    def run(self, step: Step) -> Outcome:
        out, err = self.folder.parent / "out", self.folder.parent / "err"
        with out.open("wb") as out_file, err.open("wb") as err_file, Path("/dev/full").open("wb") as full:
            targets = {"file": out_file, "full": full, "closed": out_file}
            code = (self._fork if step.call else self._start)(
                step, targets[step.stdout], full if step.stderr == "full" else err_file
            )
        return Outcome(step, code, out.read_bytes()[:OUTPUT_BYTES], err.read_bytes()[:OUTPUT_BYTES])

    def _start(self, step: Step, out: BinaryIO, err: BinaryIO) -> int | None:
        process = subprocess.Popen(
            step.argv,
            cwd=self.work,
            env=self.environment(step),
            stdin=subprocess.PIPE,
            stdout=out,
            stderr=err,
            start_new_session=True,
            preexec_fn=lambda: self._prepare(step),
        )
        try:
            process.communicate(step.stdin or None, timeout=LIMIT_S)
            code: int | None = process.returncode
        except subprocess.TimeoutExpired:
            code = None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        return code

    def _fork(self, step: Step, out: BinaryIO, err: BinaryIO) -> int | None:
        """For Python code: what takes long to import is imported once."""
        child = os.fork()
        if child == 0:
            code = 70
            try:
                os.setsid()
                os.dup2(out.fileno(), 1)
                os.dup2(err.fileno(), 2)
                sys.stdout = os.fdopen(1, "w", encoding="utf-8", errors="surrogateescape")
                sys.stderr = os.fdopen(2, "w", encoding="utf-8", errors="backslashreplace")
                os.chdir(self.work)
                os.environ.update(self.environment(step))
                assert step.call is not None
                code = step.call()
            except SystemExit as exit_:
                code = exit_.code if isinstance(exit_.code, int) else 1
            except BaseException:
                traceback.print_exc()
            finally:
                with contextlib.suppress(Exception):
                    sys.stdout.flush()
                    sys.stderr.flush()
                os._exit(code)
        end = time.monotonic() + LIMIT_S
        while time.monotonic() < end:
            pid, status = os.waitpid(child, os.WNOHANG)
            if pid:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.01)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return None

    def _prepare(self, step: Step) -> None:
        """In the child, before the program starts."""
        for number in step.ignored:
            signal.signal(number, signal.SIG_IGN)
        if step.nowhere:
            removed = self.folder / "removed"
            removed.mkdir()
            os.chdir(removed)
            removed.rmdir()
        if self.limit_memory:
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        for what, most in step.limits.items():
            resource.setrlimit(what, (most, most))
        for number, state in enumerate(("closed" if step.stdin is None else "", step.stdout, step.stderr)):
            if state == "closed":
                os.close(number)

    def broken(self, outcome: Outcome, before: dict[str, tuple]) -> list[str]:
        """The promises that this outcome breaks, in words; empty when all hold."""
        step, found = outcome.step, []
        said = outcome.out + b"\n" + outcome.err
        if outcome.code is None:
            found.append(f"not finished after {LIMIT_S:.0f} s")
        elif outcome.code < 0:
            found.append(f"ended by {signal.Signals(-outcome.code).name}")
        elif outcome.code not in step.codes:
            found.append(f"exit code {outcome.code}; expected one of {sorted(step.codes)}")
        # Output of an export quotes records; what the program says itself is on standard error.
        if match := FORBIDDEN.search(outcome.err):
            found.append(f"standard error has '{match.group().decode(errors='replace')}'")
        if outcome.code in (2, 3) and step.stderr == "file" and not outcome.err.strip():
            found.append(f"exit code {outcome.code} without a message")
        if not step.escapes and (match := ESCAPES.search(said)):
            found.append(f"control character {match.group()!r} in the output")
        after = self.snapshot()
        for name in sorted(before.keys() | after.keys()):
            special = name in before and not stat.S_ISREG(before[name][0]) and not stat.S_ISLNK(before[name][0])
            written = any(name == w or name.startswith(w + "/") for w in step.writes)
            if before.get(name) == after.get(name) or (written and not special):
                continue
            what = "removed" if name not in after else "changed" if name in before else "left behind"
            found.append(f"{what}: {name}")
        if any(name.endswith("pwned") for name in after):
            found.append("a shell ran what stood in a value")
        if not found and step.must is not None and (wrong := step.must(outcome)) is not None:
            found.append(wrong)
        return found

    def keep(self, where: Path, outcome: Outcome) -> Path:
        """Copies the folder as the step left it, and writes `again.sh`, which runs the step there."""
        shutil.rmtree(where, ignore_errors=True)
        where.mkdir(parents=True)
        # Links, pipes and devices stay what they are; what is not readable is left out.
        subprocess.run(["cp", "-a", "--sparse=always", self.folder, where / "case"], check=False)
        (where / "stdout").write_bytes(outcome.out)
        (where / "stderr").write_bytes(outcome.err)
        step = outcome.step
        (where / "stdin").write_bytes(step.stdin or b"")
        settings = [f"{name}={value}" for name, value in self.environment(step).items()]
        words = ["env", "-i", *settings, *(os.fsdecode(word) for word in step.argv)]
        line = " ".join(_quoted(word).replace(str(self.folder), "'\"$here/case\"'") for word in words)
        line += " <&-" if step.stdin is None else ' <"$here/stdin"'
        for number, state in ((1, step.stdout), (2, step.stderr)):
            line += {"file": "", "full": f" {number}>/dev/full", "closed": f" {number}>&-"}[state]
        before = [f"trap '' {number.name.removeprefix('SIG')}" for number in step.ignored]
        before += [f"ulimit -n {most}" for what, most in step.limits.items() if what == resource.RLIMIT_NOFILE]
        before += ['mkdir ../removed && cd ../removed && rmdir "$here/case/removed"'] if step.nowhere else []
        before += ["ulimit -f 0" for what in step.limits if what == resource.RLIMIT_FSIZE]
        script = ["#!/usr/bin/env bash", 'here=$(cd "$(dirname "$0")" && pwd)', 'cd "$here/case/work"', *before, line]
        (where / "again.sh").write_bytes(os.fsencode("\n".join(script) + "\n"))
        (where / "again.sh").chmod(0o755)
        return where


def _quoted(word: str) -> str:
    return "'" + word.replace("'", "'\\''") + "'"
