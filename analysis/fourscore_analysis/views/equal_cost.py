"""How many nodes of one machine cost as much an hour as those of another, and which of both is then faster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fourscore_analysis.models.cost import Cost
from fourscore_analysis.models.machines import Machine
from fourscore_analysis.records.archive import InputError
from fourscore_analysis.views.equal_time import MOST_NODES, Side, side_on, with_nodes
from fourscore_analysis.views.predictions import Wanted


@dataclass(frozen=True)
class EqualCost:
    """`side`: as many nodes of a machine as cost no more an hour than `given`; None where one node costs more."""

    given: Side
    machine: Machine
    side: Side | None

    @property
    def faster(self) -> str:
        """The name of the machine that takes less time; "" where both take the same, or there is no answer."""
        if self.side is None or self.side.seconds == self.given.seconds:
            return ""
        return self.machine.name if self.side.seconds < self.given.seconds else self.given.machine.name

    @property
    def reason(self) -> str:
        """Why there is no answer; "" where there is one."""
        if self.side:
            return ""
        return f"one node of {self.machine.name} costs more than {self.given.nodes} of {self.given.machine.name}"


def equal_costs(given: Machine, machines: Sequence[Machine], wanted: Wanted, ranks: int | None) -> list[EqualCost]:
    """Raises InputError, also where a machine does not say the price of its nodes, or not in the same currency."""
    currency = cost_of(given).currency
    for machine in machines:
        if (other := cost_of(machine).currency) != currency:
            raise InputError(
                f"{given.name} has its price in {currency}, {machine.name} in {other}; expected one currency"
            )
    side = side_on(given, wanted, ranks)
    return [_equal_cost(side, machine, wanted) for machine in machines]


def _equal_cost(given: Side, machine: Machine, wanted: Wanted) -> EqualCost:
    price = given.nodes * price_of(given.machine)
    nodes = int(price / price_of(machine) * (1 + 1e-12))
    if nodes > MOST_NODES:
        raise InputError(
            f"{nodes} nodes of {machine.name} cost as much; expected prices that leave {MOST_NODES} at most"
        )
    return EqualCost(given, machine, with_nodes(machine, wanted, nodes) if nodes else None)


def cost_of(machine: Machine) -> Cost:
    """Raises InputError where its nodes have no price, or none above 0."""
    if machine.cost is None or not machine.cost.node_hour_price:
        raise InputError(
            f"{machine.name} says no price of its nodes; expected node_hour_price above 0 in [cost] of its file"
        )
    return machine.cost


def price_of(machine: Machine) -> float:
    price = cost_of(machine).node_hour_price
    assert price
    return price
