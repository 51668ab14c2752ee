"""The index beside the records, opened to be read."""

from __future__ import annotations

import errno
import fcntl
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

_NO_LOCKS = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP)


@contextmanager
def open_index(archive: Path) -> Iterator[sqlite3.Connection]:
    """Raises OSError, also for what is no regular file, and sqlite3.Error. Where the file system has no locks,
    writers replace the file as a whole
    (results/index_database.cpp), and it is read without any."""
    file = archive.resolve() / "index.sqlite"
    if not stat.S_ISREG(file.stat().st_mode):
        raise OSError(errno.EINVAL, "no regular file", str(file))
    locks = "" if _has_locks(file) else "&nolock=1"
    with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro{locks}", uri=True, timeout=1)) as database:
        yield database


def _has_locks(file: Path) -> bool:
    with file.open("rb") as opened_file:
        try:
            fcntl.lockf(opened_file, fcntl.LOCK_SH | fcntl.LOCK_NB, 1)
        except OSError as error:
            return error.errno not in _NO_LOCKS
    return True
