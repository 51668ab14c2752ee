"""How many nodes of one machine take as long as those of another: the answer of a model, by bisection."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fourscore_analysis.models.machines import Machine
from fourscore_analysis.models.predictions import Prediction, predicted
from fourscore_analysis.views.predictions import Wanted
from fourscore_analysis.views.projections import question_on, source_on

MOST_NODES = 2**30


@dataclass(frozen=True)
class Side:
    """A machine with so many nodes, and the prediction there: of all ranks that fill a process grid."""

    machine: Machine
    nodes: int
    prediction: Prediction

    @property
    def seconds(self) -> float:
        return self.prediction.total.seconds

    @property
    def peak_flops_per_s(self) -> float | None:
        """The flop rates of all its ranks together; None where the machine has none."""
        rate = self.machine.values.get("flop_rate")
        return rate * self.nodes * self.machine.ranks_per_node if rate else None


@dataclass(frozen=True)
class EqualTime:
    """`fewest`: as few nodes of a machine as are as fast as `given`; None where no number of them is, then `best` is
    the nearest. `same_peak`: as many of its nodes as have the peak of `given`, where both have one. `overlapped`: the
    same question where on both sides memory and network work at the same time; None where no model can be asked, or
    that is what was asked."""

    given: Side
    machine: Machine
    fewest: Side | None
    best: Side
    same_peak: Side | None
    overlapped: EqualTime | None = None

    @property
    def reason(self) -> str:
        """Why there is no answer; "" where there is one."""
        if self.fewest:
            return ""
        return f"no number of nodes of {self.machine.name} is as fast; {self.best.nodes} nodes come nearest"


def side_on(machine: Machine, wanted: Wanted, ranks: int | None = None) -> Side:
    """On so many ranks, or on all nodes of the machine. Raises InputError."""
    nodes = machine.nodes if ranks is None else -(-ranks // machine.ranks_per_node)
    question = question_on(machine, wanted, ranks)
    prediction = predicted(source_on(machine, wanted, ranks).basis, question)
    return Side(machine, nodes or question.cell.place.nodes, prediction)


def equal_times(given: Machine, machines: Sequence[Machine], wanted: Wanted, ranks: int | None) -> list[EqualTime]:
    """Raises InputError."""
    side = side_on(given, wanted, ranks)
    found = [equal_time(side, machine, wanted) for machine in machines]
    if "overlap" not in side.prediction.basis.forms or "overlap" in dict(wanted.choice.forms):
        return found
    choice = replace(wanted.choice, forms=(*wanted.choice.forms, ("overlap", "perfect")))
    at_once = replace(wanted, choice=choice)
    side = side_on(given, at_once, ranks)
    return [replace(one, overlapped=equal_time(side, one.machine, at_once)) for one in found]


def equal_time(given: Side, machine: Machine, wanted: Wanted) -> EqualTime:
    """Doubles the nodes until they are as fast or can no longer be used, then halves what lies between. Where more
    nodes are not always faster, as where a grid needs a second exchange, fewer may be as fast too. Raises
    InputError."""
    slower, nodes, found = 0, 1, with_nodes(machine, wanted, 1)
    best = found
    while found.seconds > given.seconds:
        slower, nodes, before = nodes, 2 * nodes, found
        found = with_nodes(machine, wanted, nodes) if nodes <= MOST_NODES else before
        if found.prediction.question.ranks == before.prediction.question.ranks:
            return EqualTime(given, machine, None, best, _of_same_peak(given, machine, wanted))
        best = min(best, found, key=lambda side: side.seconds)
    fewest = found
    while nodes - slower > 1:
        middle = (slower + nodes) // 2
        found = with_nodes(machine, wanted, middle)
        if found.seconds > given.seconds:
            slower = middle
        else:
            nodes, fewest = middle, found
    return EqualTime(given, machine, fewest, fewest, _of_same_peak(given, machine, wanted))


def _of_same_peak(given: Side, machine: Machine, wanted: Wanted) -> Side | None:
    rate = machine.values.get("flop_rate")
    if not given.peak_flops_per_s or not rate:
        return None
    nodes = round(given.peak_flops_per_s / rate / machine.ranks_per_node)
    return with_nodes(machine, wanted, nodes) if 1 <= nodes <= MOST_NODES else None


def with_nodes(machine: Machine, wanted: Wanted, nodes: int) -> Side:
    """All ranks of so many nodes that fill a process grid."""
    return side_on(replace(machine, nodes=nodes), wanted)
