"""The history of an archive: its series, judged, in the order in which a maintainer must look at them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fourscore_analysis.gate.acknowledged import Acknowledgement, check_patterns, matches, read_acknowledgements
from fourscore_analysis.gate.history import MARGIN, Finding, Judged, build_series, judge_all, keys_of
from fourscore_analysis.gate.revisions import Build, Revisions, first_measured, not_placed, ordered_builds
from fourscore_analysis.gate.titles import give_titles
from fourscore_analysis.points.provenance import Difference, differences, flatten
from fourscore_analysis.records.archive import InputError, Unreadable, campaign_names
from fourscore_analysis.records.basics import Run
from fourscore_analysis.records.briefs import Brief, read_briefs
from fourscore_analysis.records.files import regular_content
from fourscore_analysis.records.transforms import read_record
from fourscore_analysis.records.values import RecordError, each, list_of, parse_json, read, table_of, text_of

MOST_DESCRIBED = 40  # machines and ways of launching whose records are opened


@dataclass(frozen=True)
class Question:
    """What is asked. `revisions` is the order of a repository, oldest first; None: as they were first measured."""

    series: Mapping[str, str] = field(default_factory=dict)  # patterns by key
    margin: float = MARGIN
    repository: str = ""
    revisions: Sequence[str] | None = None
    acknowledgements: Sequence[Any] = ()  # as the context has them


@dataclass
class Place:
    """A machine, and a way of launching on it."""

    number: int
    machine_hash: str
    launch_hash: str
    text: str  # processor and cores

    @property
    def name(self) -> str:
        return f"machine {self.machine_hash[:8] or 'unknown'}, launched as {self.launch_hash[:8] or 'unknown'}"


@dataclass
class History:
    archive: Path
    judged: list[Judged]  # what must be looked at first comes first
    builds: list[Build]
    places: dict[tuple[str, str], Place]
    differences: list[Difference]  # between the places
    ended: dict[str, int]  # launches without times, by status
    launches: int
    unreadable: list[Unreadable]
    order: str  # what the revisions are ordered by
    notes: list[str]
    margin: float

    @property
    def findings(self) -> list[Finding]:
        return sorted((finding for one in self.judged for finding in one.findings), key=lambda one: one.rank)

    @property
    def slowdowns(self) -> list[Finding]:
        """The slowdowns that count."""
        return [one for one in self.findings if one.counts]


def read_context(file: Path | None) -> dict[str, Any]:
    """What `fourscore history` hands on: repository, revisions and acknowledgements. Raises InputError."""
    if file is None:
        return {}
    try:
        data = table_of(parse_json(regular_content(file)))
        found: dict[str, Any] = {"acknowledgements": read(data, "acknowledgements", list_of, [])}
        if "revisions" in data:
            found |= {
                "revisions": read(data, "revisions", each(text_of)),
                "repository": read(data, "repository", text_of),
            }
        return found
    except RecordError as error:
        raise InputError(f"--context {file}: {error}") from None


def read_history(archive: Path, question: Question) -> History:
    """Raises InputError where the archive has no series as asked for, or the repository none of its revisions."""
    briefs = read_briefs(archive, campaign_names(archive))
    timed = [one for one in briefs.launches if one.times]
    if not timed:
        raise InputError(f"no launch of '{archive}' has a time{_why_none(briefs.launches, briefs.unreadable)}")
    different = {(one.point_id, name): one for one in timed for name in one.times}
    known = {key for (_, name), one in different.items() for key in keys_of(one.point, name, one.machine_hash)}
    check_patterns(question.series, known, "--series")
    names = first_measured(timed) if question.revisions is None else question.revisions
    revisions = Revisions(names)
    builds = ordered_builds(timed, revisions)
    notes = _check_placed(question, builds, revisions)
    acknowledged = read_acknowledgements(question.acknowledgements, known, revisions)
    series = build_series(timed, builds)
    give_titles(series)
    series = [one for one in series if matches(question.series, one.keys)]
    if not series:
        asked = ",".join(f"{key}={pattern}" for key, pattern in question.series.items())
        raise InputError(f"no series of '{archive}' is {asked}")
    judged = judge_all(series, question.margin)
    _acknowledge(judged, acknowledged)
    if not question.series:
        notes += [f"{one.where}: acknowledges no change" for one in acknowledged if not _used(one, judged)]
    places, found = _places(archive, timed, judged)
    if question.revisions is None:
        order = "as they were first measured"
    else:
        order = f"in the order of {question.repository or 'the repository'}"
    return History(
        archive=archive,
        judged=sorted(judged, key=_rank),
        builds=builds,
        places=places,
        differences=found,
        ended=_ended(briefs.launches),
        launches=len(timed),
        unreadable=briefs.unreadable,
        order=order,
        notes=notes,
        margin=question.margin,
    )


def _rank(judged: Judged) -> tuple:
    """Series with nothing to look at come last, the noisiest first."""
    ranks = [one.rank for one in judged.findings]
    return min(ranks, default=(9,)), -judged.noise, judged.series.title


def _why_none(launches: list[Brief], unreadable: list[Unreadable]) -> str:
    ended = ", ".join(f"{count} {status}" for status, count in _ended(launches).items())
    reasons = [part for part in (ended, unreadable and f"{len(unreadable)} unreadable") if part]
    first = f"; {unreadable[0].file}: {unreadable[0].reason}" if unreadable else ""
    return f": {', '.join(reasons)}{first}" if reasons else ""


def _ended(launches: list[Brief]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for one in launches:
        if not one.times:
            counts[one.status] = counts.get(one.status, 0) + 1
    return counts


def _check_placed(question: Question, builds: list[Build], revisions: Revisions) -> list[str]:
    if question.revisions is None:
        return []
    lacking = not_placed(builds, revisions)
    all_known = {one.revision for one in builds} - {"unknown"}
    shown = ", ".join(name[:10] for name in lacking[:3]) + (" ..." if len(lacking) > 3 else "")
    if lacking and len(lacking) == len(all_known):
        raise InputError(
            f"--repo {question.repository} has none of the {len(lacking)} revisions of the archive ({shown}); expected "
            "the repository that they are of, with its history (no shallow clone)"
        )
    if not lacking:
        return []
    return [
        f"{len(lacking)} of {len(all_known)} revisions are not in {question.repository} and stand where they were "
        f"measured: {shown}"
    ]


def _acknowledge(judged: Sequence[Judged], acknowledged: Sequence[Acknowledgement]) -> None:
    for one in judged:
        for finding in one.findings:
            covering = (ack for ack in acknowledged if ack.covers(one.series.keys, finding.before, finding.after))
            finding.acknowledged = next(covering, None)


def _used(acknowledgement: Acknowledgement, judged: Sequence[Judged]) -> bool:
    return any(
        acknowledgement.covers(one.series.keys, finding.before, finding.after)
        for one in judged
        for finding in one.findings
    )


def _places(
    archive: Path, timed: Sequence[Brief], judged: Sequence[Judged]
) -> tuple[dict[tuple[str, str], Place], list[Difference]]:
    """Each machine and way of launching of `judged`, with what differs between them; one record of each is opened."""
    wanted = {(one.series.machine_hash, one.series.launch_hash) for one in judged}
    files: dict[tuple[str, str], tuple[str, str]] = {}
    for launch in timed:
        key = (launch.machine_hash, launch.launch_hash)
        if key in wanted:
            files[key] = min(files.get(key, (launch.started_at, launch.file)), (launch.started_at, launch.file))
    places, runs = {}, []
    for key, (_, file) in sorted(files.items(), key=lambda item: item[1])[:MOST_DESCRIBED]:
        run = _opened(archive, file)
        text = ""
        if run is not None:
            runs.append(run)
            machine = flatten(run.identity.get("machine", {}))
            text = ", ".join(
                part for part in (machine.get("cpu_model", ""), f"{machine.get('cores', '?')} cores") if part
            )
        places[key] = Place(len(places) + 1, *key, text)
    for key in wanted - set(places):
        places[key] = Place(len(places) + 1, *key, "")
    return places, [*differences(runs, "machine"), *differences(runs, "launch")]


def _opened(archive: Path, file: str) -> Run | None:
    try:
        return read_record(archive / file, file)
    except RecordError:
        return None
