"""What is compared with what: the records of two sides, from a comparison that was measured in pairs or from anything
that holds records; and whether they may be compared at all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fourscore_analysis.gate.series import Confirmation, Series, pair_series
from fourscore_analysis.points.provenance import flatten
from fourscore_analysis.records.archive import (
    InputError,
    Unreadable,
    campaign_names,
    read_campaigns,
    record_files,
    select_campaigns,
)
from fourscore_analysis.records.basics import Run
from fourscore_analysis.records.components import ComponentRun
from fourscore_analysis.records.files import regular_content
from fourscore_analysis.records.google_benchmark import is_google_benchmark, read_google_benchmark
from fourscore_analysis.records.transforms import read_record
from fourscore_analysis.records.values import (
    RecordError,
    count_of,
    each,
    entries,
    integer_of,
    name_of,
    parse_json,
    read,
    shown,
    table_of,
)

SCHEMA, SCHEMA_VERSION = "fourscore.comparison", 1
SCREEN, CONFIRM = "screen", "confirm"
MOST_FIELDS = 12
TRANSFORMS = "fft_bench"  # the program of all records that are no component's


@dataclass(frozen=True)
class Stage:
    name: str
    first_launch: int
    launches: int
    points: tuple[str, ...] = ()  # in the second stage
    pairs: dict[str, int] = field(default_factory=dict)  # that were planned, by point
    looks: tuple[int, ...] = ()  # pairs at the looks before the last
    stopped: dict[str, int] = field(default_factory=dict)  # pairs after which a look ended a point

    def confirmation(self, point: str) -> Confirmation:
        return Confirmation(
            self.first_launch, self.pairs.get(point, self.launches), self.looks, self.stopped.get(point)
        )


@dataclass
class Side:
    """`name` is what the user called it, `label` what it is."""

    name: str
    label: str
    runs: list[Run]
    unreadable: list[Unreadable] = field(default_factory=list)
    root: Path = Path()  # what the files of its records are relative to

    def path_of(self, run: Run) -> Path:
        return self.root / run.file

    def hashes(self, part: str) -> list[str]:
        return sorted({digest for run in self.runs if run.status == "ok" and (digest := getattr(run, f"{part}_hash"))})

    @property
    def programs(self) -> dict[str, list[Run]]:
        """Launches by program: a campaign may have several, each of a build of its own. What a simulator runs may be
        built for it (cmake/FourscoreSimulator.cmake)."""
        found: dict[str, list[Run]] = defaultdict(list)
        for run in self.runs:
            name = run.component if isinstance(run, ComponentRun) else TRANSFORMS
            found[f"{name}, simulated" if run.simulated else name].append(run)
        return dict(sorted(found.items()))

    @property
    def builds(self) -> dict[str, list[str]]:
        """By program; none where its launches do not know theirs."""
        return {program: Side(self.name, self.label, runs).hashes("code") for program, runs in self.programs.items()}


@dataclass(frozen=True)
class Difference:
    """A field of an identity: machine.cpu_model."""

    field: str
    base: str
    candidate: str

    def text(self) -> str:
        return f"{self.field}: {self.base} | {self.candidate}"


@dataclass
class Compared:
    """Two sides that may be compared."""

    name: str  # the comparison's; "" where nothing was measured in pairs
    base: Side
    candidate: Side
    series: list[Series]
    stages: list[Stage]
    overrides: list[str]  # fields that differ and were allowed to, with what each side has
    code: list[Difference]

    @property
    def paired(self) -> bool:
        return bool(self.name)

    @property
    def two_stages(self) -> bool:
        return any(stage.name == CONFIRM for stage in self.stages)

    @property
    def same_build(self) -> bool:
        """Whether that is known: every program is on both sides, and of one build."""
        return self.base.builds == self.candidate.builds and all(self.base.builds.values())

    @property
    def unreadable(self) -> list[Unreadable]:
        return [*self.base.unreadable, *self.candidate.unreadable]


def of_comparison(archive: Path, file: Path, allowed: Sequence[str]) -> Compared:
    """What a comparison.json names in its archive. Raises InputError."""
    data = _comparison(file)
    try:
        name = read(data, "name", name_of)
        stages = read(data, "stages", each(_stage))
        overrides = list(read(data, "overrides", each(name_of), ()))
        ends = {end: read(data, end, table_of) for end in ("base", "candidate")}
        campaigns = {end: read(ends[end], "campaign", name_of) for end in ends}
        labels = {end: read(ends[end], "label", name_of, campaigns[end]) for end in ends}
    except RecordError as error:
        raise InputError(f"'{file}': {error}") from None
    if not stages:
        raise InputError(f"'{file}': stages: expected one at least")
    if campaigns["base"] == campaigns["candidate"]:
        raise InputError(f"'{file}': base and candidate are the same campaign, '{campaigns['base']}'")
    sides = []
    for end, campaign in campaigns.items():
        if campaign not in campaign_names(archive):
            raise InputError(f"'{file}': no campaign '{campaign}' ({end}) in '{archive}'")
        sides.append(_side_of(labels[end], archive, [campaign], campaign))
    return _compared(name, *sides, stages, overrides, allowed)


def of_inputs(archive: Path, base: str, candidate: str, allowed: Sequence[str]) -> Compared:
    """Two campaigns, archives, folders of records or record files. Raises InputError."""
    sides = [_read_side(archive, name) for name in (base, candidate)]
    files = [{run.file for run in side.runs} for side in sides]
    if base == candidate or (sides[0].label == sides[1].label and files[0] & files[1]):
        raise InputError(f"base and candidate are the same records, '{base}'")
    return _compared("", *sides, [], [], allowed)


def _comparison(file: Path) -> dict[str, Any]:
    try:
        data = table_of(parse_json(regular_content(file)))
    except RecordError as error:
        raise InputError(f"'{file}': {error}") from None
    if data.get("schema") != SCHEMA or data.get("schema_version") != SCHEMA_VERSION:
        found = f"{shown(data.get('schema'))} {shown(data.get('schema_version'))}"
        raise InputError(f"'{file}': schema is {found}, expected '{SCHEMA}' {SCHEMA_VERSION}")
    return data


def _stage(value: Any) -> Stage:
    data = table_of(value)
    return Stage(
        read(data, "name", name_of),
        read(data, "first_launch", integer_of),
        read(data, "launches", integer_of),
        read(data, "points", each(name_of), ()),
        read(data, "pairs", entries(count_of), {}),
        read(data, "looks", each(count_of), ()),
        read(data, "stopped", entries(count_of), {}),
    )


def _read_side(archive: Path, name: str) -> Side:
    path = Path(name)
    if path.is_dir() and (path / "records").is_dir():
        return _side_of(name, path, campaign_names(path), name)
    if path.is_dir():
        return _loose(name, [path / file for file in record_files(path)])
    if path.is_file():
        return _loose(name, [path])
    if "/" in name or name.endswith(".json"):
        raise InputError(f"there is no '{name}'; expected a campaign, an archive, a folder of records or a record")
    [campaign] = select_campaigns(archive, [name])
    return _side_of(campaign, archive, [campaign], name)


def _side_of(label: str, archive: Path, names: Sequence[str], name: str) -> Side:
    campaigns = read_campaigns(archive, names)
    runs = [run for campaign in campaigns for run in campaign.runs]
    return Side(name, label, runs, [file for campaign in campaigns for file in campaign.unreadable], archive)


def _loose(name: str, files: Sequence[Path]) -> Side:
    side = Side(name, name, [])
    for file in files:
        try:
            data = parse_json(regular_content(file), with_constants=True)  # read_record() takes none
            if is_google_benchmark(data):
                first = 1 + max((run.launch for run in side.runs), default=-1)
                side.runs += read_google_benchmark(data, str(file), first)
            else:
                side.runs.append(read_record(file, str(file)))
        except RecordError as error:
            side.unreadable.append(Unreadable(str(file), str(error)))
    superseded = {(run.point_id, run.retry_of) for run in side.runs if run.retry_of is not None}
    side.runs = [run for run in side.runs if run.status == "ok" or (run.point_id, run.launch) not in superseded]
    return side


def _compared(
    name: str, base: Side, candidate: Side, stages: list[Stage], overrides: list[str], allowed: Sequence[str]
) -> Compared:
    for side in (base, candidate):
        _usable(side)
    differing = identity_differences(base.runs, candidate.runs, "machine")
    overrides = [*overrides, *_allowed(differing, allowed)]
    series = pair_series(base.runs, candidate.runs, paired=bool(name))
    confirm = next((stage for stage in stages if stage.name == CONFIRM), None)
    for one in series:
        if confirm is not None and one.point_id in confirm.points:
            one.confirmation = confirm.confirmation(one.point_id)
        found = _launch_differences(one, allowed)
        one.launch_differences = tuple(difference.text() for difference in found)
    programs = candidate.programs
    code = [
        one
        for program, runs in base.programs.items()
        for one in identity_differences(runs, programs.get(program, []), "code")
    ]
    code = list(dict.fromkeys(code))
    return Compared(name, base, candidate, series, list(stages), overrides, code)


def _usable(side: Side) -> None:
    """Raises InputError for a side without records, or one that mixes machines or builds."""
    if not side.runs:
        files = f"; {side.unreadable[0].file}: {side.unreadable[0].reason}" if side.unreadable else ""
        raise InputError(f"'{side.name}' holds no usable record{files}")
    found = {f"builds of {program}": builds for program, builds in side.builds.items()}
    for word, hashes in (found | {"machines": side.hashes("machine")}).items():
        if len(hashes) > 1:
            raise InputError(
                f"'{side.name}' has launches of {len(hashes)} {word} ({', '.join(hashes[:4])}); expected one: "
                "name one campaign"
            )


def identity_differences(base: Sequence[Run], candidate: Sequence[Run], part: str) -> list[Difference]:
    """Fields of a `part` of the identity that are not the same on both sides, by one launch of each that knows it."""
    fields = []
    for runs in (base, candidate):
        known = next((run for run in runs if run.status == "ok" and getattr(run, f"{part}_hash")), None)
        fields.append((known, flatten(known.identity.get(part, {})) if known else {}))
    (first, before), (second, after) = fields
    if first is None or second is None or getattr(first, f"{part}_hash") == getattr(second, f"{part}_hash"):
        return []
    found = [
        Difference(f"{part}.{name}", before.get(name, "absent"), after.get(name, "absent"))
        for name in dict.fromkeys([*before, *after])
        if before.get(name, "absent") != after.get(name, "absent")
    ]
    hashes = (getattr(run, f"{part}_hash") for run in (first, second))
    return found or [Difference(f"{part}_hash", *hashes)]


def _allowed(differing: Sequence[Difference], allowed: Sequence[str]) -> list[str]:
    """What was allowed to differ, in words. Raises InputError for what was not."""
    refused = [one for one in differing if not _is_allowed(one, allowed)]
    if refused:
        fields = "; ".join(one.text() for one in refused[:MOST_FIELDS])
        more = f"; and {len(refused) - MOST_FIELDS} more" if len(refused) > MOST_FIELDS else ""
        raise InputError(
            f"the machines differ: {fields}{more}. Times of different machines are no comparison of code; allow what "
            f"does not matter with --allow-different {' '.join(one.field for one in refused)}"
        )
    return [one.text() for one in differing]


def _is_allowed(one: Difference, allowed: Sequence[str]) -> bool:
    return any(one.field == name or one.field.startswith(f"{name}.") for name in allowed)


def _launch_differences(series: Series, allowed: Sequence[str]) -> list[Difference]:
    """Where no launch of the one side was started and placed as one of the other."""
    sides = [[launch.run for launch in side.timed.values()] for side in (series.base, series.candidate)]
    hashes = [{run.launch_hash for run in side} for side in sides]
    if not all(sides) or hashes[0] & hashes[1]:
        return []
    return [one for one in identity_differences(*sides, "launch") if not _is_allowed(one, allowed)]
