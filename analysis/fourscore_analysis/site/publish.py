"""Publishes archives as a site: reads the campaigns that changed, makes the pages that rest on them, and leaves the
rest. What was published stays, also where its archive is not named again."""

from __future__ import annotations

import importlib.util
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fourscore_analysis.records.archive import (
    Unreadable,
    campaign_names,
    read_campaigns,
    record_files,
)
from fourscore_analysis.records.files import refuse_records, regular_content, sole_writer
from fourscore_analysis.records.values import InputError, RecordError, shown
from fourscore_analysis.site import campaign_data, pages
from fourscore_analysis.site.addresses import campaign_address, canonical, digest_of
from fourscore_analysis.site.campaign_data import CampaignData
from fourscore_analysis.site.folder import Known, SiteFolder
from fourscore_analysis.site.overview import about_campaign
from fourscore_analysis.site.writer import SiteWriter

RECORDS_AT_ONCE = 5000  # that are read before their campaigns are written
DATA = "data/campaigns"


@dataclass
class Published:
    """What one run did."""

    folder: Path
    campaigns: int = 0
    records: int = 0
    read: int = 0  # records
    pages: int = 0
    made: int = 0  # files that were made or made anew
    removed: int = 0
    parquet: bool = False
    unreadable: list[Unreadable] = field(default_factory=list)


@dataclass(frozen=True)
class Source:
    """A campaign in an archive, and a digest of how its files look: names, sizes, inodes and times of change."""

    archive: Path
    name: str
    records: int
    made_from: str


def publish(folder: Path, archives: Sequence[Path], licence: str | None = None) -> Published:
    """Raises InputError for what cannot be used, OSError where the site cannot be written; then it is as it was."""
    for archive in archives:
        refuse_records(folder / "x", archive)
    sources = [one for archive in archives for one in _sources(archive)]
    was_there = folder.exists()
    SiteFolder.make_ready(folder)
    with sole_writer(folder):
        site = SiteFolder.at(folder)
        if licence is not None and licence != site.licence:
            site.licence, site.changed = licence, True
        try:
            return _publish(site, sources)
        except BaseException:
            site.drop_staged()
            site.remove_if_empty(was_there)
            raise


def _publish(site: SiteFolder, sources: Sequence[Source]) -> Published:
    parquet = importlib.util.find_spec("pyarrow") is not None
    done = Published(site.path, parquet=parquet)
    loaded = _adopt(site)
    for name, parts in _read_changed(site, sources, done):
        loaded[name] = _take(site, name, parts)
    if not any(one.about["statuses"].get("ok") for one in site.campaigns.values()):
        raise InputError(_nothing(sources, loaded))
    writer = SiteWriter(site, loaded, parquet)
    done.made = writer.write() + len(site.staged & {f"{campaign_address(name)}.json" for name in loaded})
    done.pages = writer.pages
    done.removed = len(site.commit(writer.kept | {f"{campaign_address(name)}.json" for name in site.campaigns}))
    done.campaigns = len(site.campaigns)
    done.records = sum(one.about["records"] for one in site.campaigns.values())
    done.unreadable = [
        Unreadable(file, reason) for one in site.campaigns.values() for file, reason in one.about["unreadable"]
    ]
    return done


def _sources(archive: Path) -> list[Source]:
    found = []
    for name in campaign_names(archive):
        folder = archive / "records" / name
        files = record_files(folder)
        stamps = []
        for file in files:
            try:
                status = (folder / file).stat()
                stamps.append([file, status.st_size, status.st_ino, status.st_mtime_ns, status.st_ctime_ns])
            except OSError:
                stamps.append([file])
        made_from = digest_of(canonical([campaign_data.SCHEMA_VERSION, pages.__version__, name, stamps]))
        found.append(Source(archive, name, len(files), made_from))
    return found


def _adopt(site: SiteFolder) -> dict[str, CampaignData]:
    """Forgets campaigns whose data is gone, and takes up what is not known: what a killed run left, and all campaigns
    where another version of the program said what they are about."""
    loaded: dict[str, CampaignData] = {}
    if site.program != pages.program_digest():
        site.program, site.changed = pages.program_digest(), True
        for name, one in site.campaigns.items():
            address = f"{campaign_address(name)}.json"
            if site.content(address) is not None:
                _, loaded[name] = _parsed(site.path / address)
                one.about = about_campaign(loaded[name])
    known = {f"{campaign_address(name)}.json": name for name in site.campaigns}
    for address, name in known.items():
        if site.content(address) is None:
            del site.campaigns[name]
            site.changed = True
    folder = site.path / DATA
    for path in sorted(folder.glob("*.json")) if folder.is_dir() else ():
        address = f"{DATA}/{path.name}"
        if known.get(address) in site.campaigns:
            continue
        content, data = _parsed(path)
        if f"{campaign_address(data.name)}.json" != address:
            raise InputError(f"'{path}' is not where campaign {shown(data.name)} is; remove it, and publish again")
        loaded[data.name] = data
        site.campaigns[data.name] = Known([], digest_of(content), about_campaign(data))
        site.stage(address, content, "", synced=True)
    return loaded


def _parsed(path: Path) -> tuple[bytes, CampaignData]:
    try:
        content = regular_content(path)
        return content, campaign_data.parse(content)
    except RecordError as error:
        raise InputError(f"'{path}' is no campaign of the site: {error}; remove it, and publish again") from None


def _read_changed(
    site: SiteFolder, sources: Sequence[Source], done: Published
) -> Iterator[tuple[str, list[tuple[Source, CampaignData]]]]:
    """Each campaign of which an archive has something new, with all parts of it that the archives have."""
    of_name: dict[str, list[Source]] = {}
    for source in sources:
        of_name.setdefault(source.name, []).append(source)
    due = {
        name: parts
        for name, parts in of_name.items()
        if name not in site.campaigns or any(part.made_from not in site.campaigns[name].made_from for part in parts)
    }
    batch: list[str] = []
    for number, name in enumerate(due, 1):
        batch.append(name)
        if number < len(due) and sum(part.records for one in batch for part in due[one]) < RECORDS_AT_ONCE:
            continue
        read: dict[str, list[tuple[Source, CampaignData]]] = {one: [] for one in batch}
        for archive in dict.fromkeys(part.archive for one in batch for part in due[one]):
            here = {part.name: part for one in batch for part in due[one] if part.archive == archive}
            done.read += sum(part.records for part in here.values())
            for campaign in read_campaigns(archive, list(here)):
                read[campaign.name].append((here[campaign.name], campaign_data.data_of(campaign)))
        yield from read.items()
        batch = []


def _take(site: SiteFolder, name: str, parts: list[tuple[Source, CampaignData]]) -> CampaignData:
    """What the archives have, and what was published of the campaign before and they lack."""
    address = f"{campaign_address(name)}.json"
    try:
        data = campaign_data.joined(part for _, part in parts)
    except RecordError as error:
        raise InputError(
            f"two archives disagree about a record of campaign {shown(name)}: {error}; "
            "expected archives that `fourscore archive merge` takes"
        ) from None
    before = site.content(address) if name in site.campaigns else None
    if before is not None:
        has = {one.file for one in data.launches}
        older = campaign_data.parse(before)
        older.launches = [one for one in older.launches if one.file not in has]
        data = campaign_data.joined([data, older])
    content = campaign_data.as_json(data)
    made_from = [part.made_from for part, _ in parts]
    site.campaigns[name] = Known(made_from, digest_of(content), about_campaign(data))
    site.changed = True
    if before != content:
        site.stage(address, content, "", synced=True)
    return campaign_data.parse(content)  # what later runs read, so that they make the same pages


def _nothing(sources: Sequence[Source], loaded: dict[str, CampaignData]) -> str:
    first = next((one for data in loaded.values() for one in data.unreadable), None)
    statuses = Counter(launch.status for data in loaded.values() for launch in data.launches)
    named = ", ".join(dict.fromkeys(f"'{source.archive}'" for source in sources))
    reason = f"; {first.file}: {first.reason}" if first else ""
    ended = ", ".join(f"{count} {status}" for status, count in statuses.items())
    return f"no launch of a transform with a time in {named}{reason}{f' ({ended})' if ended else ''}"
