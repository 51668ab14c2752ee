"""A machine in the years to come, by trends and a model, and beside it what a real machine turned out to be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fourscore_analysis.models.base import Question
from fourscore_analysis.models.grids import used_ranks
from fourscore_analysis.models.machines import Machine
from fourscore_analysis.models.predictions import Prediction, predicted
from fourscore_analysis.models.projection import Year, project
from fourscore_analysis.models.trends import Trends, machine_in, without_base
from fourscore_analysis.records.archive import InputError
from fourscore_analysis.views.predictions import Source, Wanted, question_of, source_of_machine


@dataclass(frozen=True)
class Beside:
    """A real machine; `prediction` is of the same problem on all of its ranks."""

    machine: Machine
    prediction: Prediction


@dataclass(frozen=True)
class Projection:
    """`idle`: trends of what the machine does not have, which change nothing."""

    machine: Machine
    trends: Trends
    years: tuple[Year, ...]
    idle: tuple[str, ...]
    beside: Beside | None


def projected(
    machine: Machine,
    trends: Trends,
    years: Sequence[int],
    wanted: Wanted,
    ranks: int | None,
    beside: Machine | None,
    weak: bool = False,
) -> Projection:
    """On `ranks`, or on all that the machine has in each year. `weak`: what is wanted is of the first year, and its
    elements grow as the nodes do; beside it stands the problem of the last year. Raises InputError."""
    start = replace(machine, forms={**machine.forms, **trends.forms})
    first = machine_in(start, trends, years[0]) if weak else start

    def then_wanted(then: Machine) -> Wanted:
        return grown(wanted, first, then) if weak else wanted

    found = project(
        start,
        trends,
        years,
        lambda then: source_on(then, then_wanted(then), ranks).basis,
        lambda then: question_on(then, then_wanted(then), ranks),
    )
    real = None
    if beside:
        last = then_wanted(found[-1].machine)
        real = Beside(beside, predicted(source_on(beside, last).basis, question_on(beside, last)))
    return Projection(start, trends, tuple(found), tuple(without_base(start, trends)), real)


def grown(wanted: Wanted, first: Machine, then: Machine) -> Wanted:
    """As many elements a node as on `first`, to whole extents. Raises InputError where a machine has no nodes."""
    if not first.nodes or not then.nodes:
        raise InputError(f"--weak wants nodes, and {first.name} does not say how many it has")
    factor = (then.nodes / first.nodes) ** (1 / len(wanted.shape))
    return replace(wanted, shape=tuple(round(extent * factor) for extent in wanted.shape))


def source_on(machine: Machine, wanted: Wanted, ranks: int | None = None) -> Source:
    return source_of_machine(machine, wanted, ranks_on(machine, wanted, ranks))


def question_on(machine: Machine, wanted: Wanted, ranks: int | None = None) -> Question:
    return question_of(source_on(machine, wanted, ranks), wanted, ranks_on(machine, wanted, ranks))


def ranks_on(machine: Machine, wanted: Wanted, asked: int | None = None) -> int:
    """As many of those asked for, or of all, as fill a process grid."""
    if asked is None and machine.nodes is None:
        raise InputError(f"{machine.name} does not say how many nodes it has; give --ranks")
    kind = dict(wanted.terms).get("kind", "c2c")
    if asked:
        return asked
    assert machine.nodes is not None
    return used_ranks(wanted.choice.variant, wanted.shape, kind, machine.nodes * machine.ranks_per_node)
