"""The same points side by side: on several machines, or with several versions of libraries or several MPIs of one
machine. One mechanism: a function says which column a launch belongs to. A row is one method on one problem, at one
place, under one contract, so results of another accuracy are in another row."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from fourscore_analysis.models.floors import Floors
from fourscore_analysis.points.apart import ratio_between
from fourscore_analysis.points.claims import Claim, claim
from fourscore_analysis.points.machine_cards import (
    MachineCard,
    libraries_of,
    machine_cards,
    mpi_of,
    revision_of,
)
from fourscore_analysis.points.points import Point, contract_terms, group_by, method_labels
from fourscore_analysis.points.provenance import Difference, differences
from fourscore_analysis.points.scaling import Series, scaling_method, strong_series, weak_series
from fourscore_analysis.points.stats import Estimate
from fourscore_analysis.records.archive import Campaign
from fourscore_analysis.records.basics import Place, Run
from fourscore_analysis.records.cells import Cell, Method
from fourscore_analysis.records.components import ComponentRun
from fourscore_analysis.records.transforms import Launch
from fourscore_analysis.records.values import InputError, shown
from fourscore_analysis.views.view import View

MACHINES, VERSIONS, MPIS = "machines", "versions", "mpis"
SEPARATOR = " · "
METHODS_A_PROBLEM = 3  # whose scaling is drawn
Numbered = tuple[int, Series]  # with the number of its column


def _code(run: Run) -> Mapping[str, Any]:
    return run.identity.get("code", {})


def _version(run: Run) -> str:
    return SEPARATOR.join((f"fourscore {revision_of(_code(run))}", *libraries_of(_code(run))))


@dataclass(frozen=True)
class Way:
    """What the columns are. `explains` are the fields of the code that differ because the columns do."""

    noun: str
    column: Callable[[Run], str]
    explains: tuple[str, ...]


WAYS = {
    MACHINES: Way("machine", lambda run: run.machine_hash, ()),
    VERSIONS: Way("version", _version, ("revision", "fftw", "references", "libraries")),
    MPIS: Way("MPI", lambda run: mpi_of(_code(run)), ("mpi", "libraries")),
}
ALWAYS_DIFFERENT = ("binary_sha256", "dirty_sha256")

# Why launches are left out, the first that holds: the times of none may stand in a ratio with those of a real machine.
APART: dict[str, Callable[[Run], bool]] = {
    "of simulated machines: their times are of no real one": lambda run: run.place.platform != "none",
    "under a simulator, which have no times": lambda run: run.simulated,
    "emulated: something stood in for hardware that was not there": lambda run: (
        "emulated" in run.flags or "described_by" in run.identity.get("machine", {})
    ),
    "slowed on purpose, to try out the gate": lambda run: "slowed" in run.flags,
    "foreign: the word of a program or a file alone": lambda run: run.foreign,
    "without the identity of their machine": lambda run: not run.machine_hash,
}


@dataclass
class Column:
    """One machine, version or MPI. `view` has its launches, of the newest build that measured each problem."""

    title: str
    card: MachineCard
    view: View
    older: int  # launches of earlier builds, which are left out

    @cached_property
    def points(self) -> dict[tuple[Cell, Method], Point]:
        return {(point.cell, point.method): point for point in self.view.measured}

    @cached_property
    def claims(self) -> dict[Cell, Claim]:
        return {one.cell: claim(one) for one in self.view.comparisons}

    @cached_property
    def floors(self) -> dict[int, Floors]:
        """By id of the point."""
        return {id(one.point): one for one in self.view.floors}


@dataclass(frozen=True)
class Side:
    """One column of a row. `ratio` is its time over that of the base; None of the base, and where that has none."""

    point: Point
    ratio: Estimate | None
    told: bool  # whether the interval of the ratio excludes 1
    floors: Floors

    @property
    def fraction(self) -> float | None:
        """The largest floor of its own machine over the time."""
        return 1 / self.floors.ratio if self.floors.ratio else None


@dataclass(frozen=True)
class Row:
    """One method on one problem; a side for each column, in their order."""

    cell: Cell
    method: Method
    label: str
    sides: tuple[Side | None, ...]

    @property
    def measured(self) -> list[Side]:
        return [side for side in self.sides if side]


@dataclass
class Group:
    """Columns that are compared: all machines, or the versions or MPIs of one machine, `machine`."""

    noun: str
    machine: str
    columns: list[Column]
    base: int
    differing: list[Difference] = field(default_factory=list)  # in the builds, beside what the columns are

    @cached_property
    def shows_nodes(self) -> bool:
        return any(column.view.shows_nodes for column in self.columns)

    @cached_property
    def rows(self) -> list[Row]:
        """Points of at least two columns; those of the contract with the largest problem first."""
        counts = Counter(key for column in self.columns for key in column.points)
        rows = [self._row(*key) for key, count in counts.items() if count > 1]
        largest: dict[object, int] = defaultdict(int)
        for row in rows:
            largest[row.cell.contract] = max(largest[row.cell.contract], row.cell.elements)
        return sorted(rows, key=lambda row: (-largest[row.cell.contract], _order(row.cell), row.label))

    def _row(self, cell: Cell, method: Method) -> Row:
        points = [column.points.get((cell, method)) for column in self.columns]
        base = points[self.base]
        sides = [point and self._side(column, point, base) for column, point in zip(self.columns, points, strict=True)]
        return Row(cell, method, next(point.label for point in points if point), tuple(sides))

    def _side(self, column: Column, point: Point, base: Point | None) -> Side:
        known = base is not None and base is not point
        ratio = ratio_between(point.measured, base.measured) if known else None
        told = bool(ratio and ratio.interval and not ratio.interval[0] <= 1 <= ratio.interval[1])
        return Side(point, ratio, told, column.floors[id(point)])

    @cached_property
    def alone(self) -> int:
        """Points that one column alone has."""
        counts = Counter(key for column in self.columns for key in column.points)
        return sum(count == 1 for count in counts.values())

    @cached_property
    def problems(self) -> list[tuple[Cell, tuple[Claim | None, ...]]]:
        """What was fastest in each column, for problems that at least two columns have; in the order of the rows."""
        counts = Counter(cell for column in self.columns for cell in column.claims)
        cells = sorted((cell for cell, count in counts.items() if count > 1), key=_order)
        return [(cell, tuple(column.claims.get(cell) for column in self.columns)) for cell in cells]

    @cached_property
    def common_terms(self) -> set[str]:
        terms = [set(contract_terms(cell.contract)) for cell in (*(row.cell for row in self.rows), *self.cells)]
        return set.intersection(*terms) if terms else set()

    @property
    def cells(self) -> list[Cell]:
        return [cell for cell, _ in self.problems]

    def subtitle(self, cell: Cell) -> str:
        """What tells its contract from the others; "" where there is one."""
        return ", ".join(term for term in contract_terms(cell.contract) if term not in self.common_terms)

    def scaling(self, over: str, weak: bool) -> list[list[Numbered]]:
        """Series of one method on one problem in at least two columns, with the numbers of the columns. The largest
        problems first, of each the methods of most columns, and the fastest of these."""
        found: dict[object, list[Numbered]] = defaultdict(list)
        for number, column in enumerate(self.columns):
            groups = (weak_series if weak else strong_series)(column.view.measured, over)
            for series in (one for group in groups for one in group):
                found[_problem(series, weak), scaling_method(series.baseline)].append((number, series))
        shared = [group for group in found.values() if len({number for number, _ in group}) > 1]
        problems = group_by(shared, lambda group: _problem(group[0][1], weak))
        problems.sort(key=lambda methods: -methods[0][0][1].baseline.cell.elements)
        return [one for methods in problems for one in sorted(methods, key=_by_columns)[:METHODS_A_PROBLEM]]


def _order(cell: Cell) -> tuple:
    return (contract_terms(cell.contract), cell.elements, cell.shape, cell.place)


def _problem(series: Series, weak: bool) -> object:
    """What series of several columns and methods share."""
    cell = series.baseline.cell
    problem = (cell.contract, len(cell.shape), cell.elements // cell.ranks) if weak else replace(cell, place=Place(1))
    return problem, series.packing


def _by_columns(group: Sequence[Numbered]) -> tuple[int, float]:
    return -len(group), group[0][1].points[-1].time_s


@dataclass
class Across:
    """`apart` counts the launches that are left out, by reason. `changed` says which hosts had several identities."""

    name: str
    groups: list[Group]
    cards: list[MachineCard]
    apart: dict[str, int]
    changed: list[tuple[str, str, list[Difference]]]  # archive, host, what differs
    single: list[str]  # machines that have one version or MPI alone

    @property
    def noun(self) -> str:
        return WAYS[self.name].noun


def across(archives: Mapping[Path, Sequence[Campaign]], name: str, base: str = "") -> Across:
    """`name` is one of WAYS; `base` chooses the column that others are held against: its title, a part of it, or how
    the digest of its machine begins. Raises InputError where fewer than two columns are left, and for a base that none
    or several are."""
    runs = _runs(archives)
    apart, kept = _set_apart(run for run in runs if run.status == "ok")
    cards = machine_cards(kept)
    of_machine = {card.digest: [run for run in kept if run.machine_hash == card.digest] for card in cards}
    if name == MACHINES:
        groups, single = [_group_of_machines(cards, of_machine)], []
    else:
        found = [_group_within(card, of_machine[card.digest], name) for card in cards]
        groups = [group for group in found if len(group.columns) > 1]
        single = [group.machine for group in found if len(group.columns) == 1]
    if not any(len(group.columns) > 1 for group in groups):
        raise InputError(_too_few(name, groups, single, apart))
    _share_names(groups)
    choose_base(groups, base)
    changed = [one for archive, campaigns in archives.items() for one in _changed(archive, campaigns)]
    return Across(name, groups, cards, apart, changed, single)


def _runs(archives: Mapping[Path, Sequence[Campaign]]) -> list[Run]:
    """A record that lies in several archives counts once. Campaigns of several may have one name: their files, and so
    their rounds, are told apart by the archive."""
    found: dict[tuple[str, str, str], Run] = {}
    for archive, campaigns in archives.items():
        for run in (run for campaign in campaigns for run in campaign.runs):
            key = (run.file, _started(run), run.identity_hash)
            if key not in found and len(archives) > 1:
                run.file = f"{archive}/{run.file}"
            found.setdefault(key, run)
    return list(found.values())


def _set_apart(runs: Iterable[Run]) -> tuple[dict[str, int], list[Run]]:
    apart: dict[str, int] = dict.fromkeys(APART, 0)
    kept = []
    for run in runs:
        reason = next((reason for reason, holds in APART.items() if holds(run)), None)
        if reason is None:
            kept.append(run)
        elif isinstance(run, Launch):
            apart[reason] += 1
    return {reason: count for reason, count in apart.items() if count}, kept


def _too_few(name: str, groups: Sequence[Group], single: Sequence[str], apart: Mapping[str, int]) -> str:
    noun = WAYS[name].noun
    there = [column.title for group in groups for column in group.columns] if name == MACHINES else single
    left = "".join(
        f"; left out: {count} {'launch' if count == 1 else 'launches'} {why}" for why, count in apart.items()
    )
    if not there:
        return f"no launch of a real machine has a time, expected those of two {noun}s{left}"
    if name == MACHINES:
        return f"one machine alone has times ({there[0]}), expected two; merge archives, or give --archive again{left}"
    return f"no machine was measured with two {noun}s, expected one that was; there are: {', '.join(there)}{left}"


def _group_of_machines(cards: Sequence[MachineCard], of_machine: Mapping[str, list[Run]]) -> Group:
    columns = [_column(card.name, card, of_machine[card.digest]) for card in cards]
    return _group(MACHINES, "", [column for column in columns if column.view.measured])


def _group_within(card: MachineCard, runs: Sequence[Run], name: str) -> Group:
    """The columns of one machine. Its components lend their rates to all of them."""
    launches = group_by((run for run in runs if isinstance(run, Launch)), WAYS[name].column)
    components = [run for run in runs if isinstance(run, ComponentRun)]
    launches.sort(key=lambda of_column: min(map(_started, of_column)))
    titles = _titles([WAYS[name].column(of_column[0]) for of_column in launches])
    columns = [_column(title, card, [*of, *components]) for title, of in zip(titles, launches, strict=True)]
    return _group(name, card.name, columns)


def _titles(keys: Sequence[str]) -> list[str]:
    """Without the terms that all share."""
    terms = [key.split(SEPARATOR) for key in keys]
    common = set.intersection(*map(set, terms)) if len(terms) > 1 else set()
    return [SEPARATOR.join(term for term in one if term not in common) for one in terms]


def _column(title: str, card: MachineCard, runs: Sequence[Run]) -> Column:
    launches = [run for run in runs if isinstance(run, Launch)]
    newest: dict[Cell, Launch] = {}
    for launch in sorted(launches, key=_started):
        newest[launch.cell] = launch
    kept = [launch for launch in launches if launch.code_hash == newest[launch.cell].code_hash]
    components = [run for run in runs if isinstance(run, ComponentRun)]
    return Column(title, card, View(Campaign(title, title, kept, components), 0), len(launches) - len(kept))


def _started(run: Run) -> str:
    return str(run.volatile.get("started_at", ""))


def _group(name: str, machine: str, columns: list[Column]) -> Group:
    launches = [launch for column in columns for launch in column.view.campaign.launches]
    explained = (*WAYS[name].explains, *ALWAYS_DIFFERENT)
    differing = [one for one in differences(launches, "code") if one.field.split(".")[0] not in explained]
    return Group(WAYS[name].noun, machine, columns, 0, differing)


def _share_names(groups: Sequence[Group]) -> None:
    """A method has one label in all columns, and a point says its column."""
    columns = [column for group in groups for column in group.columns]
    labels = method_labels(launch.method for column in columns for launch in column.view.campaign.launches)
    names_nodes = any(column.view.shows_nodes for column in columns)
    for column in columns:
        for point in column.view.points:
            point.label, point.setting, point.names_nodes = labels[point.method], column.title, names_nodes


def choose_base(groups: Sequence[Group], asked: str) -> None:
    """Sets the base of each group: what is asked for, else the column of most points, the first of these."""
    matches = {id(group): _matching(group, asked) for group in groups}
    if asked and not any(matches.values()):
        there = ", ".join(dict.fromkeys(column.title for group in groups for column in group.columns))
        raise InputError(f"no {groups[0].noun} {shown(asked)} for --base; expected one of: {there}")
    for group in groups:
        found = matches[id(group)] if asked else []
        if len(found) > 1:
            titles = ", ".join(group.columns[number].title for number in found)
            raise InputError(f"--base {shown(asked)} is not one {group.noun} but {len(found)}: {titles}")
        most = max(range(len(group.columns)), key=lambda number: len(group.columns[number].points))
        group.base = found[0] if found else most


def _matching(group: Group, asked: str) -> list[int]:
    """A whole title before a part of one."""
    titles = [column.title for column in group.columns]
    whole = [number for number, title in enumerate(titles) if title == asked]
    digests = [group.noun == "machine" and column.card.digest.startswith(asked) for column in group.columns]
    return whole or [number for number, title in enumerate(titles) if asked.lower() in title.lower() or digests[number]]


def _changed(archive: Path, campaigns: Iterable[Campaign]) -> Iterator[tuple[str, str, list[Difference]]]:
    """Hosts of which launches of one archive say different things. The identity is that of a launch's first node."""
    by_host: dict[str, list[Run]] = defaultdict(list)
    for run in (run for campaign in campaigns for run in campaign.runs):
        if run.status == "ok" and run.hosts and not any(holds(run) for holds in APART.values()):
            by_host[run.hosts[0]].append(run)
    for host, runs in sorted(by_host.items()):
        if found := differences(runs, "machine"):
            yield str(archive), host, found
