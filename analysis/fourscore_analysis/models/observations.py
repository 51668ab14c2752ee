"""What the models are fitted to: the phases of each launch of an archive, by method."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fourscore_analysis.models.base import Question
from fourscore_analysis.points.points import contract_terms, method_labels
from fourscore_analysis.points.provenance import differences
from fourscore_analysis.records.archive import Campaign, InputError
from fourscore_analysis.records.cells import TUNED, Contract, Method
from fourscore_analysis.records.flags import doubts_of_time
from fourscore_analysis.records.transforms import Launch

LEAST_SHARE = 0.01  # share of a launch's time; a phase below it is not fitted
# Phases as the models count them: packing and unpacking are one local transposition. What a library does in one call
# has no phases, and is modelled as a whole.
WHOLE = "whole"
PHASE_OF = {"pack": "shuffle", "unpack": "shuffle"}
MODELLED = ("fft", "twiddle", "combine", "shuffle", "exchange", "h2d", "d2h", "product", "whole")


@dataclass(frozen=True)
class Observation:
    """One launch of a point. Seconds; `phases` has those of MODELLED that take LEAST_SHARE or more."""

    question: Question
    total_s: float
    phases: dict[str, float]
    flags: tuple[str, ...] = ()  # that make its time doubtful to a model, which knows of caches


@dataclass(frozen=True)
class Series:
    """One method under one contract on one machine: what one fit is of."""

    label: str
    method: Method
    contract: Contract
    machine_hash: str
    observations: tuple[Observation, ...]

    @property
    def sizes(self) -> list[tuple[int, ...]]:
        return sorted(
            {one.question.cell.shape for one in self.observations}, key=lambda shape: (math.prod(shape), shape)
        )

    @property
    def ranks(self) -> list[int]:
        return sorted({one.question.ranks for one in self.observations})

    @property
    def title(self) -> str:
        """slab/alltoallv: transposed, in-place, double, c2c, forward, planner measure"""
        return f"{self.label}: {', '.join(contract_terms(self.contract))}"


def usable(campaigns: Iterable[Campaign]) -> list[Launch]:
    """Launches with a time of a real machine, of transforms alone on all ranks: neither simulated nor a stand-in's,
    slowed on purpose or foreign, and without other work. Tuned ones are left out: each launch may choose another
    exchange or grid."""
    return [
        launch
        for campaign in campaigns
        for launch in campaign.launches
        if launch.status == "ok" and not launch.simulated and not {"emulated", "slowed", "foreign"} & set(launch.flags)
        if not launch.cell.contract.other_work and not launch.method.active_ranks
        if TUNED not in (launch.method.exchange, launch.method.grid)
    ]


def all_series(launches: Sequence[Launch]) -> list[Series]:
    """By method and contract, of one machine. Raises InputError for launches of several, naming what differs."""
    one_machine(launches)
    labels = method_labels(launch.method for launch in launches)
    found: dict[tuple[Method, Contract], list[Launch]] = defaultdict(list)
    for launch in launches:
        found[launch.method, launch.cell.contract].append(launch)
    return [
        Series(labels[method], method, contract, members[0].machine_hash, tuple(map(observed, members)))
        for (method, contract), members in sorted(found.items(), key=lambda item: labels[item[0][0]])
    ]


def observed(launch: Launch) -> Observation:
    phases: dict[str, float] = defaultdict(float)
    for phase, seconds in launch.phase_s.items():
        phases[PHASE_OF.get(phase, phase)] += seconds
    kept = {phase: phases[phase] for phase in MODELLED if phases.get(phase, 0.0) >= LEAST_SHARE * launch.median_s > 0}
    if kept.keys() == {"product"}:  # beside transforms that a library makes in one call
        kept = {}
    flags = tuple(flag for flag in doubts_of_time(launch.flags) if flag != "in-cache")
    return Observation(question_of(launch), launch.median_s, kept or {WHOLE: launch.median_s}, flags)


def question_of(launch: Launch) -> Question:
    text = launch.resolved_grid if launch.method.grid in ("auto", TUNED) else launch.method.grid
    parts = text.split("x") if text else []
    grid = tuple(int(part) for part in parts) if parts and all(part.isdecimal() for part in parts) else ()
    return Question(launch.cell, launch.method, grid)


def one_machine(launches: Sequence[Launch]) -> None:
    """Raises InputError for none, or for several machines."""
    if not launches:
        raise InputError("nothing in these campaigns has a time; expected launches of transforms that ended well")
    machines = {launch.machine_hash: launch for launch in launches}
    if len(machines) < 2:
        return
    fields = [
        f"{one.field}: {' and '.join(value for value, _ in one.values[:3])}" for one in differences(launches, "machine")
    ]
    raise InputError(
        f"launches of {len(machines)} machines; a fit is of one. Different are {'; '.join(fields) or 'their hashes'}. "
        f"Choose one by the beginning of its hash: {', '.join(sorted(name[:8] for name in machines))}"
    )
