"""A machine in the years to come, by trends and a model, and beside it what a real machine turned out to be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fourscore_analysis.models.grids import used_ranks
from fourscore_analysis.models.machines import Machine
from fourscore_analysis.models.predictions import Prediction, predicted
from fourscore_analysis.models.projection import Year, project
from fourscore_analysis.models.trends import Trends, without_base
from fourscore_analysis.records.archive import InputError
from fourscore_analysis.views.predictions import Wanted, question_of, source_of_machine


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
    machine: Machine, trends: Trends, years: Sequence[int], wanted: Wanted, ranks: int | None, beside: Machine | None
) -> Projection:
    """On `ranks`, or on all that the machine has in each year. Raises InputError."""
    start = replace(machine, forms={**machine.forms, **trends.forms})
    found = project(
        start,
        trends,
        years,
        lambda then: _source(then, wanted, ranks).basis,
        lambda then: question_of(_source(then, wanted, ranks), wanted, _ranks(then, wanted, ranks)),
    )
    real = None
    if beside:
        source = _source(beside, wanted, None)
        real = Beside(beside, predicted(source.basis, question_of(source, wanted, _ranks(beside, wanted, None))))
    return Projection(start, trends, tuple(found), tuple(without_base(start, trends)), real)


def _source(machine: Machine, wanted: Wanted, ranks: int | None):
    return source_of_machine(machine, wanted, _ranks(machine, wanted, ranks))


def _ranks(machine: Machine, wanted: Wanted, asked: int | None) -> int:
    """As many of those asked for, or of all, as fill a process grid."""
    if asked is None and machine.nodes is None:
        raise InputError(f"{machine.name} does not say how many nodes it has; give --ranks")
    kind = dict(wanted.terms).get("kind", "c2c")
    if asked:
        return asked
    assert machine.nodes is not None
    return used_ranks(wanted.choice.variant, wanted.shape, kind, machine.nodes * machine.ranks_per_node)
