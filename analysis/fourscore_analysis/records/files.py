"""Files that others may have put there are read here, and files that a user asks for are written here: regular ones
alone, read up to a bound, and written beside the name, synced and then renamed. Records are never replaced."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from fourscore_analysis.records.values import InputError, RecordError

RECORDS = "records"
BESIDE_RECORDS = ("campaigns", "index.sqlite")  # what tells an archive from any folder that has a folder 'records'
_NO_LOCKS = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP)
BLOCK = 1 << 20  # bytes that are read at once beyond the size that a file has
LARGEST_FILE = 1 << 28  # bytes; far beyond any record: a sparse file of terabytes is not read into memory


def regular_content(path: Path, largest: int = LARGEST_FILE) -> bytes:
    """All of a regular file. Raises RecordError for one that cannot be read, for anything else (a pipe or a device may
    never end, or never begin), and for more than `largest` bytes, whatever size the file says to have."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # before it is opened: that alone may do something to a device
            raise RecordError("no regular file")
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as stream:
            status = os.fstat(stream.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise RecordError("no regular file")
            if status.st_size > largest:
                raise RecordError(f"has {status.st_size} bytes, expected at most {largest}")
            return _all_of(stream, status.st_size, largest)
    except OSError as error:
        raise RecordError(error.strerror or str(error)) from None
    except ValueError as error:  # a name with a null character
        raise RecordError(str(error)) from None


def _all_of(stream: BinaryIO, said: int, largest: int) -> bytes:
    """To the end, and not to the size that is `said`: a file of the kernel says 0, and may have no end."""
    content = bytearray()
    while (block := stream.read(BLOCK if content else said + 1)) != b"":
        if block is None:
            raise RecordError("no regular file: reading it would wait")
        content += block
        if len(content) > largest:
            raise RecordError(f"has more than the expected {largest} bytes")
    return bytes(content)


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


def refuse_records(path: Path, archive: Path | None = None) -> None:
    """Raises InputError where `path`, or what it links to, lies in the records of an archive, this or another: they are
    never replaced."""
    ours = (archive / RECORDS).resolve() if archive else None
    for real in {path.parent.resolve() / path.name, path.resolve()}:
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


@contextlib.contextmanager
def sole_writer(folder: Path) -> Iterator[None]:
    """Holds `folder` for this process. Raises InputError where another holds it; a file system without locks holds
    nothing."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise InputError(f"another process writes '{folder}'; expected it to end first") from None
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            os.close(descriptor)
            raise
    try:
        yield
    finally:
        os.close(descriptor)


def write_whole(path: Path, content: str | bytes, synced: bool = True) -> None:
    """Replaces `path` in one step: a reader never sees half of it, and where it cannot be written it stays as it was. A
    link is replaced, not what it points to. Raises InputError for a name that may not be written to, OSError where
    writing fails. Not `synced` is what can be made again after a crash of the machine."""
    refuse_records(path)
    refuse_unless_regular([path])
    temporary = path.with_name(f".fourscore-{secrets.token_hex(8)}.tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content if isinstance(content, bytes) else content.encode("utf-8", "backslashreplace"))
            stream.flush()
            with contextlib.suppress(FileNotFoundError):  # a file that is replaced keeps its mode
                os.fchmod(stream.fileno(), stat.S_IMODE(path.stat().st_mode))
            if synced:
                os.fsync(stream.fileno())
        temporary.replace(path)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
    finally:
        temporary.unlink(missing_ok=True)
