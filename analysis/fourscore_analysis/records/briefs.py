"""What a record says in short: its point, build, machine, start and times. Histories read many more records than they
show. So briefs come from the index (table `briefs`, results/README.md), where its row is of the file as it is now and
its digest is right; every other file is read. A stale, lost or damaged index costs time, and gives no other answer."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from fourscore_analysis.records.archive import Unreadable, campaign_file, record_files
from fourscore_analysis.records.basics import STATUSES, median_of
from fourscore_analysis.records.files import regular_content
from fourscore_analysis.records.index import open_index
from fourscore_analysis.records.transforms import read_record
from fourscore_analysis.records.values import (
    RecordError,
    each,
    integer_of,
    name_of,
    one_of,
    parse_json,
    read,
    some,
    table_of,
    text_of,
    time_of,
)
from fourscore_analysis.records.workers import available_cores, pool_of

FOLDER = "records"
_SERIAL_BELOW = 200  # files
_CHUNK = 125
UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Times:
    """The times of one launch, in seconds."""

    median_s: float
    low_s: float
    high_s: float


@dataclass(slots=True)
class Brief:
    """One launch. `times` has one entry under "" for a transform, and one for each benchmark of a component; none where
    the launch did not end well."""

    file: str  # relative to the archive
    point_id: str
    point: dict[str, Any]
    launch: int
    retry_of: int | None
    status: str
    flags: tuple[str, ...]
    machine_hash: str
    launch_hash: str
    code_hash: str
    revision: str
    dirty: bool
    started_at: str
    times: dict[str, Times]

    @property
    def campaign(self) -> str:
        return self.file.split("/")[1]


@dataclass(slots=True)
class Briefs:
    launches: list[Brief] = field(default_factory=list)
    unreadable: list[Unreadable] = field(default_factory=list)
    from_index: int = 0  # how many did not have to be read


def read_briefs(archive: Path, campaigns: Iterable[str], workers: int | None = None) -> Briefs:
    """Briefs of all records of `campaigns`. Those that failed and were measured again are left out."""
    index, found, missing = _index(archive), Briefs(), []
    for campaign in campaigns:
        for name in record_files(archive / FOLDER / campaign):
            file = f"{FOLDER}/{campaign}/{name}"
            data = index.get(file) and _current(archive, file, index[file])
            if data is None:
                missing.append(file)
            else:
                found.launches.append(data)
    found.from_index = len(found.launches)
    for launch in _read_files(archive, missing, workers or available_cores()):
        (found.launches if isinstance(launch, Brief) else found.unreadable).append(launch)
    found.launches = _without_superseded(found.launches)
    _take_revisions(archive, found.launches)
    found.launches.sort(key=lambda one: one.file)
    found.unreadable.sort(key=lambda one: one.file)
    return found


def _take_revisions(archive: Path, launches: Iterable[Brief]) -> None:
    """A campaign may name the revision of the plugin or program that it measured (`fourscore run --revision`)."""
    named: dict[str, str] = {}
    for one in launches:
        if one.campaign not in named:
            said = campaign_file(archive, one.campaign).get("revision")
            named[one.campaign] = said if isinstance(said, str) and said.isprintable() else ""
        if revision := named[one.campaign]:
            one.revision, one.dirty = revision, False


def _without_superseded(launches: list[Brief]) -> list[Brief]:
    """A launch that failed and was measured again (`fourscore run --retry`) is no result."""
    again = {(one.campaign, one.point_id, one.retry_of) for one in launches if one.retry_of is not None}
    return [
        one
        for one in launches
        if one.status not in ("failed", "timeout") or (one.campaign, one.point_id, one.launch) not in again
    ]


def _index(archive: Path) -> dict[str, tuple[str, str, str, str]]:
    """Stamp, status, brief and digest by file; {} where there is no index that can be read."""
    try:
        with open_index(archive) as database:
            rows = database.execute("SELECT file, stamp, status, brief, sha256 FROM briefs")
            return {row[0]: row[1:] for row in rows if all(isinstance(one, str) for one in row)}
    except (OSError, sqlite3.Error):
        return {}


def _current(archive: Path, file: str, row: tuple[str, str, str, str]) -> Brief | None:
    """What the row says, where it is of the file as it is now; as `entry_in_index` of results/index.cpp."""
    stamp, status, brief, digest = row
    try:
        now = (archive / file).stat()
    except OSError:
        return None
    if f"{now.st_size} {now.st_ino} {now.st_mtime_ns} {now.st_ctime_ns}" != stamp:
        return None
    if hashlib.sha256(f"{file}\n{stamp}\n{status}\n{brief}".encode()).hexdigest() != digest:
        return None
    try:
        data = json.loads(brief)
        return brief_of(data, file) if "provenance" in data else None  # an index of earlier has none
    except (RecordError, ValueError, TypeError):
        return None  # then reading the record says what is wrong


def brief_of(data: dict[str, Any], file: str) -> Brief:
    """The brief of a record, or of what the index keeps of one under the same keys. Raises RecordError."""
    point, campaign = read(data, "point", table_of), read(data, "campaign", table_of, {})
    provenance = read(data, "provenance", table_of, {})
    code = read(read(provenance, "identity", table_of, {}), "code", table_of, {})
    status = read(read(data, "verdict", table_of), "status", one_of(STATUSES))
    return Brief(
        file=file,
        point_id=read(data, "point_id", name_of),
        point=point,
        launch=read(campaign, "launch", integer_of),
        retry_of=read(campaign, "retry_of", integer_of, None),
        status=status,
        flags=read(data, "flags", each(name_of), ()),
        machine_hash=read(provenance, "machine_hash", name_of, ""),
        launch_hash=read(provenance, "launch_hash", name_of, ""),
        code_hash=read(provenance, "code_hash", name_of, ""),
        revision=read(code, "revision", name_of, "") or UNKNOWN,
        dirty=bool(read(code, "dirty_sha256", text_of, "")),
        started_at=read(read(provenance, "volatile", table_of, {}), "started_at", name_of, ""),
        times=_times(data) if status == "ok" else {},
    )


def _times(data: dict[str, Any]) -> dict[str, Times]:
    if "benchmarks" not in data:
        return {"": _spread(read(data, "samples", table_of))}
    benchmarks = read(data, "benchmarks", each(table_of))
    return {read(one, "name", name_of): _spread(one) for one in benchmarks if not one.get("emulated")}


def _spread(samples: dict[str, Any]) -> Times:
    times_s = read(samples, "time_s", some(time_of))
    return Times(median_of(times_s), min(times_s), max(times_s))


def _read_files(archive: Path, files: list[str], workers: int) -> Iterator[Brief | Unreadable]:
    chunks = [(str(archive), files[start : start + _CHUNK]) for start in range(0, len(files), _CHUNK)]
    if workers < 2 or len(files) < _SERIAL_BELOW:
        yield from chain.from_iterable(map(_read_chunk, chunks))
        return
    with pool_of(workers) as pool:
        yield from chain.from_iterable(pool.map(_read_chunk, chunks))


def _read_chunk(chunk: tuple[str, list[str]]) -> list[Brief | Unreadable]:
    archive, files = chunk
    found: list[Brief | Unreadable] = []
    for file in files:
        try:
            path = Path(archive, file)
            read_record(path, file)  # says what is wrong with it, as for a report
            found.append(brief_of(parse_json(regular_content(path)), file))
        except (RecordError, OSError) as error:
            found.append(Unreadable(file, str(error)))
    return found
