"""Where pages and plots may be written, and how: beside the name and then under it, in one step. Records are never
replaced, and nothing is written into what is no regular file: not /dev/full, no pipe, no folder."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterable
from pathlib import Path

from fourscore_analysis.records.archive import InputError

RECORDS = "records"
BESIDE_RECORDS = ("campaigns", "index.sqlite")  # what tells an archive from any folder that has a folder 'records'


def prepare_output(page: Path, plots_folder: Path, archive: Path) -> None:
    """Makes the folder of plots. Raises InputError where page and plots cannot be written, before anything long is
    done."""
    prepare_file(page, archive)
    try:
        refuse_records(plots_folder, archive)
        plots_folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write plots to '{plots_folder}': {error.strerror}") from None
    if not os.access(plots_folder, os.W_OK):
        raise InputError(f"cannot write plots to '{plots_folder}': not writable")


def prepare_file(file: Path, archive: Path, what: str = "report", option: str = "-o") -> None:
    """Raises InputError where `file` cannot be written, before anything long is done."""
    cannot = f"cannot write the {what} to '{file}'"
    try:
        if file.is_dir():
            raise InputError(f"{cannot}: it is a folder; {option} names a file")
        if not file.parent.is_dir():
            raise InputError(f"{cannot}: no folder '{file.parent}'")
        if not os.access(file.parent, os.W_OK):
            raise InputError(f"{cannot}: the folder '{file.parent}' is not writable")
        refuse_records(file, archive)
        refuse_unless_regular([file])
    except OSError as error:
        raise InputError(f"{cannot}: {error.strerror}") from None


def refuse_records(path: Path, archive: Path) -> None:
    """Raises InputError where `path` lies in the records of an archive, this or another: they are never replaced."""
    ours = (archive / RECORDS).resolve()
    real = path.resolve()
    for folder in (real, *real.parents):
        other = folder.name == RECORDS and any((folder.parent / name).exists() for name in BESIDE_RECORDS)
        if folder == ours or other:
            raise InputError(f"cannot write '{path}': it lies among the records of an archive, '{folder}'")


def refuse_unless_regular(files: Iterable[Path]) -> None:
    """Raises InputError for the first of `files` that exists and is no regular file, nor a link to one."""
    for file in files:
        try:
            regular = stat.S_ISREG(file.stat().st_mode)
        except FileNotFoundError:
            regular = not file.is_symlink()
        if not regular:
            raise InputError(f"cannot write '{file}': it exists and is no regular file")


def write_whole(path: Path, content: bytes) -> None:
    """Replaces `path` in one step: a reader never sees half of it. A link is replaced, not what it points to."""
    temporary = path.with_name(f".fourscore-{secrets.token_hex(8)}.tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
