"""The archive as a folder of records. The records are the truth, so they are read, all cores at once, not the index."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from fourscore_analysis.records.basics import Run
from fourscore_analysis.records.components import ComponentRun
from fourscore_analysis.records.files import regular_content
from fourscore_analysis.records.transforms import Launch, read_record
from fourscore_analysis.records.values import (
    InputError,
    MissingArchiveError,
    RecordError,
    count_of,
    list_of,
    parse_json,
    read,
    table_of,
)
from fourscore_analysis.records.workers import available_cores, pool_of

RECORD_SUFFIX = ".json"
_SERIAL_BELOW = 200  # files; starting processes costs more than reading so few
_CHUNK = 125
_SUITE_OF_NAME = re.compile(r"-[0-9a-f]{8}$")


@dataclass(slots=True)
class Unreadable:
    """A file of the archive that is not used, and why."""

    file: str
    reason: str


@dataclass(slots=True)
class Campaign:
    """Every usable launch of one campaign, in the order of file names, those of transforms and those of components
    alone, and the files that could not be used."""

    name: str
    suite: str
    launches: list[Launch] = field(default_factory=list)
    components: list[ComponentRun] = field(default_factory=list)
    unreadable: list[Unreadable] = field(default_factory=list)
    planned: tuple[int, int] | None = (
        None  # points and launches of each, as campaign.json says; None where it is missing
    )
    size: str = ""  # which of the suite's sizes; "" for a suite of one size
    paper: tuple[str, ...] = ()  # items that the suite measures after: "lee/table-2.1"

    @property
    def runs(self) -> list[Run]:
        """Launches of both kinds."""
        return [*self.launches, *self.components]

    @property
    def planned_records(self) -> int | None:
        """Records of the campaign when complete: a skipped point has one, others one a launch."""
        if self.planned is None:
            return None
        points, launches = self.planned
        skipped = {launch.point_id for launch in self.runs if launch.status == "skipped"}
        return len(skipped) + (points - len(skipped)) * launches


def campaign_names(archive: Path) -> list[str]:
    """Names of the campaigns in `archive`. Raises InputError when it is no archive or holds no record."""
    records = archive / "records"
    try:
        if not archive.exists():
            raise MissingArchiveError(f"no archive at '{archive}': no such folder")
        if not archive.is_dir():
            raise MissingArchiveError(f"'{archive}' is not an archive: not a folder")
        if not records.is_dir():
            raise InputError(f"'{archive}' is not an archive: it has no folder 'records'")
        names = sorted(entry.name for entry in os.scandir(records) if entry.is_dir() and _holds_records(entry.path))
    except OSError as error:
        raise InputError(f"cannot read '{error.filename or archive}': {error.strerror}") from None
    if not names:
        raise InputError(f"the archive '{archive}' holds no record yet")
    return names


def record_files(folder: Path) -> list[str]:
    """Sorted names of the record files in a campaign's folder."""
    return sorted(entry.name for entry in os.scandir(folder) if entry.name.endswith(RECORD_SUFFIX))


def _holds_records(folder: str) -> bool:
    """Without listing all: there may be a hundred thousand."""
    with os.scandir(folder) as entries:
        return any(entry.name.endswith(RECORD_SUFFIX) for entry in entries)


def select_campaigns(archive: Path, wanted: Sequence[str]) -> list[str]:
    """The campaigns called `wanted`, each a campaign's name or a suite's (then its newest); without any, the newest of
    each suite. Raises InputError for an unknown name, with the nearest one."""
    names = campaign_names(archive)
    if wanted and all(name in names for name in wanted):
        return list(dict.fromkeys(wanted))
    newest: dict[str, tuple[str, str]] = {}
    for name in names:
        suite, started = _suite_and_start(archive / "records" / name)
        newest[suite] = max(newest.get(suite, ("", "")), (started, name))
    if not wanted:
        return [newest[suite][1] for suite in sorted(newest)]
    chosen = []
    for name in wanted:
        if name not in names and name not in newest:
            raise _unknown(archive, name, names, newest)
        chosen.append(name if name in names else newest[name][1])
    return list(dict.fromkeys(chosen))


def campaigns_of(archives: Sequence[Path], wanted: Sequence[str]) -> dict[Path, list[str]]:
    """All campaigns of `wanted`, each a campaign's name or a suite's (then all of it), by archive; without any, all.
    Raises InputError for a name that no archive has."""
    names = {archive: campaign_names(archive) for archive in dict.fromkeys(archives)}
    if not wanted:
        return names
    suites = {
        archive: {name: _suite_and_start(archive / "records" / name)[0] for name in of} for archive, of in names.items()
    }
    for name in wanted:
        if not any(name in (campaign, suite) for of in suites.values() for campaign, suite in of.items()):
            every = [campaign for of in names.values() for campaign in of]
            raise _unknown(archives[0], name, every, {suite for of in suites.values() for suite in of.values()})
    return {
        archive: [campaign for campaign, suite in of.items() if not {campaign, suite}.isdisjoint(wanted)]
        for archive, of in suites.items()
    }


def _unknown(archive: Path, name: str, names: Sequence[str], suites: Iterable[str]) -> InputError:
    nearest = get_close_matches(name, [*names, *suites], n=1, cutoff=0.5)
    hint = f", did you mean '{nearest[0]}'?" if nearest else f"; there are: {', '.join(names[:8])}"
    return InputError(f"no campaign or suite '{name}' in '{archive}'{hint}")


def _suite_and_start(folder: Path) -> tuple[str, str]:
    """Suite and start time of a campaign, from its most recently written readable record."""
    for name in sorted(record_files(folder), key=lambda name: (_written_ns(folder / name), name), reverse=True):
        try:
            run = read_record(folder / name, name)
        except RecordError:
            continue
        started = run.volatile.get("started_at", "")
        if started or run.status == "skipped":
            return run.suite, str(started)
    return _SUITE_OF_NAME.sub("", folder.name), ""


def _written_ns(file: Path) -> int:
    """When `file` was written; 0 where that cannot be said, as of a link to nothing."""
    try:
        return file.stat().st_mtime_ns
    except OSError:
        return 0


def read_campaigns(archive: Path, names: Sequence[str], workers: int | None = None) -> list[Campaign]:
    """Reads the named campaigns with `workers` processes (default: one a core). What cannot be used is listed."""
    campaigns = {name: Campaign(name, _SUITE_OF_NAME.sub("", name)) for name in names}
    chunks: list[tuple[str, str, list[str]]] = []
    for name in names:
        files = record_files(archive / "records" / name)
        chunks += [(str(archive), name, files[start : start + _CHUNK]) for start in range(0, len(files), _CHUNK)]
        plan = campaign_file(archive, name)
        campaigns[name].planned = _planned(plan)
        campaigns[name].size, campaigns[name].paper = _size_and_paper(plan)
    workers = workers or available_cores()
    if workers > 1 and sum(len(files) for _, _, files in chunks) >= _SERIAL_BELOW:
        with pool_of(workers) as pool:
            _collect(campaigns, pool.map(_read_chunk, chunks))
    else:
        _collect(campaigns, map(_read_chunk, chunks))
    for campaign in campaigns.values():
        _drop_superseded(campaign)
        if campaign.runs:
            campaign.suite = campaign.runs[0].suite
    return list(campaigns.values())


def readable(found: Sequence[Campaign]) -> list[Campaign]:
    """The campaigns that hold anything. Raises InputError where none does."""
    campaigns = [campaign for campaign in found if campaign.runs]
    if not campaigns:
        first = next(file for campaign in found for file in campaign.unreadable)
        names = ", ".join(f"'{campaign.name}'" for campaign in found)
        raise InputError(f"no readable record in {names}; {first.file}: {first.reason}")
    return campaigns


def _drop_superseded(campaign: Campaign) -> None:
    """A launch that failed and was measured again (`fourscore run --retry`) is no result of the campaign."""
    superseded = {(run.point_id, run.retry_of) for run in campaign.runs if run.retry_of is not None}

    def kept(run: Run) -> bool:
        return run.status not in ("failed", "timeout") or (run.point_id, run.launch) not in superseded

    campaign.launches = [run for run in campaign.launches if kept(run)]
    campaign.components = [run for run in campaign.components if kept(run)]


def _collect(campaigns: dict[str, Campaign], results: Iterable[tuple[str, list[Run], list[Unreadable]]]) -> None:
    identities: dict[str, dict] = {}
    for name, runs, unreadable in results:
        for run in runs:  # one object per distinct identity
            run.identity = identities.setdefault(run.identity_hash, run.identity)
        campaigns[name].launches += [run for run in runs if isinstance(run, Launch)]
        campaigns[name].components += [run for run in runs if isinstance(run, ComponentRun)]
        campaigns[name].unreadable += unreadable


def _read_chunk(chunk: tuple[str, str, list[str]]) -> tuple[str, list[Run], list[Unreadable]]:
    archive, name, files = chunk
    runs: list[Run] = []
    unreadable: list[Unreadable] = []
    seen: dict[str, dict] = {}
    for file in files:
        relative = f"records/{name}/{file}"
        try:
            run = read_record(Path(archive, relative), relative)
        except RecordError as error:
            unreadable.append(Unreadable(relative, str(error)))
            continue
        run.identity = seen.setdefault(run.identity_hash, run.identity)
        runs.append(run)
    return name, runs, unreadable


def campaign_file(archive: Path, name: str) -> dict[str, Any]:
    """campaign.json; {} where it is missing or unusable."""
    try:
        return table_of(parse_json(regular_content(archive / "campaigns" / name / "campaign.json")))
    except RecordError:
        return {}


def _planned(plan: dict[str, Any]) -> tuple[int, int] | None:
    try:
        return len(read(plan, "points", list_of)), read(plan, "launches", count_of)
    except RecordError:
        return None


def _size_and_paper(plan: dict[str, Any]) -> tuple[str, tuple[str, ...]]:
    paper = plan.get("paper")
    items = [item for item in paper if isinstance(item, str)] if isinstance(paper, list) else []
    size = plan.get("size")
    return size if isinstance(size, str) else "", tuple(items)
