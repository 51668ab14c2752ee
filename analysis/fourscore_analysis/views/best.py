"""What was fastest for a problem at a place: the tuner's question, answered from what was measured and nothing else."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from fourscore_analysis.points.apart import ratio_between
from fourscore_analysis.points.claims import Claim, claim, doubts
from fourscore_analysis.points.points import Comparison, Point, group_by
from fourscore_analysis.points.stats import Estimate
from fourscore_analysis.records.archive import Campaign, InputError
from fourscore_analysis.records.basics import Place
from fourscore_analysis.records.cells import Cell
from fourscore_analysis.records.transforms import Launch
from fourscore_analysis.views.view import View

MOST_NEAREST = 5
MISMATCH = 0.5  # how far one other term of the contract is, beside factors of two in size


@dataclass(frozen=True)
class Question:
    """What is None, or "", may be anything, and is answered apart."""

    shape: tuple[int, ...]
    ranks: int
    nodes: int | None = None
    precision: str | None = None
    kind: str | None = None
    direction: str | None = None
    operator: str | None = None
    layout: str | None = None
    wire: str | None = None
    machine_hash: str = ""  # or how it begins

    @property
    def terms(self) -> dict[str, str]:
        """Terms of the contract that are asked for."""
        asked = {name: getattr(self, name) for name in ("precision", "kind", "direction", "operator", "layout", "wire")}
        return {name: value for name, value in asked.items() if value}

    def other_terms(self, cell: Cell) -> list[str]:
        """Terms of `cell` where another was asked for: precision double."""
        found = {name: getattr(cell.contract, name) for name in self.terms}
        return [f"{name} {found[name]}" for name, value in self.terms.items() if found[name] != value]

    def fits(self, cell: Cell) -> bool:
        place = cell.place
        here = cell.shape == self.shape and place.ranks == self.ranks and self.nodes in (None, place.nodes)
        return here and not self.other_terms(cell)


@dataclass
class OlderBuild:
    """An older build on the same machine, with what it measured of the question."""

    code_hash: str
    methods: int


@dataclass
class Answer:
    """The answer from one comparison: one machine with its newest build, one place, one contract."""

    claim: Claim
    older: list[OlderBuild]

    @property
    def best(self) -> Point:
        return self.claim.best

    @property
    def comparison(self) -> Comparison:
        return self.claim.comparison

    @property
    def newest(self) -> Launch:
        """The last launch of the fastest point."""
        return max(self.best.measured, key=_started)

    @property
    def runner_up(self) -> Point | None:
        """The fastest of the others that are sound where a claim holds, else of all others."""
        others = self.claim.rivals if self.claim.holds else self.comparison.ranked[1:]
        return others[0] if others else None

    @property
    def soundest(self) -> Point | None:
        """The fastest without doubts, where that is another."""
        if not doubts(self.best):
            return None
        return next((point for point in self.comparison.ranked if not doubts(point)), None)

    @property
    def ratio(self) -> Estimate | None:
        """Time of the runner-up over that of the best; an interval from five launches of both on."""
        return ratio_between(self.runner_up.measured, self.best.measured) if self.runner_up else None


@dataclass
class Nearest:
    """What was measured in place of what was asked for."""

    shape: tuple[int, ...]
    place: Place
    others: list[str]  # terms of the contract that differ from the question
    methods: int


@dataclass
class Found:
    """Answers, those of the machine that measured last first; or without any what comes nearest."""

    question: Question
    answers: list[Answer] = field(default_factory=list)
    nearest: list[Nearest] = field(default_factory=list)
    untimed: list[Point] = field(default_factory=list)  # points of the question that have no time
    names_nodes: bool = False
    foreign: int = 0  # launches of the question that are left out, since they are a program's or a file's word alone


def find(campaigns: Iterable[Campaign], question: Question) -> Found:
    """Raises InputError where no launch was on the machine that is asked for."""
    every = [launch for campaign in campaigns for launch in campaign.launches]
    launches = [launch for launch in every if not launch.foreign]
    if question.machine_hash:
        launches = _of_machine(launches, question.machine_hash)
    view = View(Campaign("archive", "archive", launches), 0)
    found = Found(question, names_nodes=view.shows_nodes)
    found.foreign = sum(launch.foreign and launch.status == "ok" and question.fits(launch.cell) for launch in every)
    fitting = [one for one in view.comparisons if question.fits(one.cell)]
    machines = group_by(fitting, _machine)
    for of_machine in sorted(machines, key=lambda group: max(map(_last_start, group)), reverse=True):
        newest = max(of_machine, key=_last_start)
        for one in of_machine:
            if _code(one) == _code(newest):
                found.answers.append(Answer(claim(one), _older(one, of_machine)))
    found.untimed = [point for point in view.points if question.fits(point.cell) and not point.measured]
    if not found.answers:
        found.nearest = nearest(view.measured, question)
    return found


def _of_machine(launches: Sequence[Launch], asked: str) -> list[Launch]:
    found = [launch for launch in launches if launch.machine_hash.startswith(asked)]
    if not found:
        there = sorted({launch.machine_hash for launch in launches if launch.machine_hash})
        raise InputError(f"no launch was on a machine '{asked}'; there are: {', '.join(there[:8]) or 'none'}")
    return found


def _started(launch: Launch) -> str:
    return str(launch.volatile.get("started_at", ""))


def _last_start(one: Comparison) -> str:
    return max(_started(launch) for point in one.ranked for launch in point.measured)


def _machine(one: Comparison) -> str:
    return one.fastest.measured[0].machine_hash


def _code(one: Comparison) -> str:
    return one.fastest.measured[0].code_hash


def _older(one: Comparison, of_machine: Iterable[Comparison]) -> list[OlderBuild]:
    same = [other for other in of_machine if other.cell == one.cell and _code(other) != _code(one)]
    return [OlderBuild(_code(other), len(other.ranked)) for other in sorted(same, key=_last_start, reverse=True)]


def nearest(points: Iterable[Point], question: Question) -> list[Nearest]:
    """The problems and places that are measured, nearest first: in factors of two of each extent, ranks and nodes."""
    groups = group_by(points, lambda point: (point.cell.shape, point.cell.place, *question.other_terms(point.cell)))
    groups.sort(key=lambda group: (_distance(group[0].cell, question), group[0].cell.shape, group[0].cell.place))
    return [
        Nearest(
            group[0].cell.shape,
            group[0].cell.place,
            question.other_terms(group[0].cell),
            len({point.method for point in group}),
        )
        for group in groups[:MOST_NEAREST]
    ]


def _distance(cell: Cell, question: Question) -> float:
    ours, asked = ([1] * (3 - len(shape)) + list(shape) for shape in (cell.shape, question.shape))
    pairs = [*zip(ours, asked, strict=True), (cell.place.ranks, question.ranks)]
    if question.nodes is not None:
        pairs.append((cell.place.nodes, question.nodes))
    return sum(abs(math.log2(a / b)) for a, b in pairs) + MISMATCH * len(question.other_terms(cell))
