"""A machine over the years, and what a model says of it then."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fourscore_analysis.models.base import Question
from fourscore_analysis.models.fit import Fitted
from fourscore_analysis.models.machines import Machine, Quantity, plain_unit
from fourscore_analysis.models.parameters import PARAMETERS
from fourscore_analysis.models.predictions import Basis, Prediction, predicted
from fourscore_analysis.models.trends import Trends, machine_in
from fourscore_analysis.records.archive import InputError

MOST_YEARS = 200
# Names of the terms that are compared: memory against network.
MEMORY_TERM, NETWORK_TERM = "T_mem", "T_net"


@dataclass(frozen=True)
class Year:
    """The machine of a year with its prediction; of its ranks those are used that fill a process grid."""

    year: int
    machine: Machine
    prediction: Prediction

    @property
    def memory_over_network(self) -> float | None:
        """T_mem / T_net; None where the model has not both."""
        return memory_over_network(self.prediction)


def memory_over_network(prediction: Prediction) -> float | None:
    memory, network = (prediction.term_s(name) for name in (MEMORY_TERM, NETWORK_TERM))
    return memory / network if memory and network else None


def project(
    machine: Machine,
    trends: Trends,
    years: Sequence[int],
    basis_of: Callable[[Machine], Basis],
    question_of: Callable[[Machine], Question],
) -> list[Year]:
    """Raises InputError where a parameter leaves its bounds, or is lacking."""
    found = []
    for year in years:
        then = machine_in(machine, trends, year)
        found.append(Year(year, then, predicted(basis_of(then), question_of(then))))
    return found


def machine_of_fit(
    fitted: Fitted, name: str, machine_hash: str, nodes: int, ranks_per_node: int, overlaps: bool
) -> Machine:
    """The parameters that a fit found, as those of a machine. `overlaps`: of a method whose exchange was hidden in part
    when it was measured; then nothing more of it is. Raises InputError for a model of coefficients, which are no
    parameters of a machine."""
    forms = {name: choice for name, choice in fitted.forms.items() if name != "overlap" or overlaps}
    foreign = [one for one in fitted.values if one not in PARAMETERS]
    if foreign:
        raise InputError(f"{fitted.model.name} has coefficients, no parameters of a machine; choose another --model")
    parameters = {}
    for one, value in sorted(fitted.values.items()):
        ends = fitted.intervals.get(one)
        interval = (min(ends[0], value), max(ends[1], value)) if ends else None
        parameters[one] = Quantity(value, plain_unit(one), fitted.origin[one], interval)
    return Machine(
        name=name,
        description=f"fitted by {fitted.model.name}: {fitted.launches} launches",
        nodes=nodes,
        ranks_per_node=ranks_per_node,
        parameters=parameters,
        forms=forms,
        machine_hash=machine_hash,
    )
