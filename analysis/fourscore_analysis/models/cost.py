"""What a job costs by the price and the power of its machine's nodes: an estimate, as the times are from which it
follows. In a parameter file:

    [cost]
    node_hour_price = 2.4      # of one node, for one hour
    currency = "EUR"           # the default
    node_watts = 650           # of one node at work
    node_idle_watts = 180      # of one node at rest
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from fourscore_analysis.records.archive import InputError
from fourscore_analysis.records.values import shown

CURRENCY = re.compile(r"[A-Za-z]{1,16}")
HOUR_S = 3600.0
NUMBERS = ("node_hour_price", "node_watts", "node_idle_watts")
MOST = 1e12


@dataclass(frozen=True)
class Cost:
    """What one node costs; None where it is not known."""

    node_hour_price: float | None = None
    currency: str = "EUR"
    node_watts: float | None = None
    node_idle_watts: float | None = None


@dataclass(frozen=True)
class JobCost:
    """What a job costs: `runs` transforms one after another on all cores of `nodes`, without what else a job does."""

    runs: int
    nodes: int
    node_hours: float
    price: float | None
    currency: str
    joules: float | None
    joules_above_idle: float | None

    def as_json(self) -> dict[str, Any]:
        return {"estimate": True} | asdict(self) | {"currency": self.currency if self.price is not None else None}


def job_cost(cost: Cost, nodes: int, seconds: float, runs: int = 1) -> JobCost:
    node_s = nodes * seconds * runs
    above = cost.node_watts - cost.node_idle_watts if None not in (cost.node_watts, cost.node_idle_watts) else None
    return JobCost(
        runs=runs,
        nodes=nodes,
        node_hours=node_s / HOUR_S,
        price=None if cost.node_hour_price is None else cost.node_hour_price * node_s / HOUR_S,
        currency=cost.currency,
        joules=None if cost.node_watts is None else cost.node_watts * node_s,
        joules_above_idle=None if above is None else above * node_s,
    )


def read_cost(data: Any, where: str) -> Cost | None:
    """The table [cost]; None where there is none. Raises InputError."""
    if data is None:
        return None
    if not isinstance(data, Mapping):
        raise InputError(f"{where}: cost is {shown(data)}; expected a table")
    known = (*NUMBERS, "currency")
    for key in data:
        if key not in known:
            raise InputError(f"{where}: cost.{shown(key)} is not known; expected a key: {', '.join(known)}")
    values = {key: _amount(data[key], f"{where}: cost.{key}") for key in NUMBERS if key in data}
    if not values:
        raise InputError(
            f"{where}: cost has neither node_hour_price nor node_watts; expected one of them, or no [cost]"
        )
    currency = data.get("currency", Cost.currency)
    if not (isinstance(currency, str) and CURRENCY.fullmatch(currency)):
        raise InputError(f"{where}: cost.currency is {shown(currency)}; expected letters, as EUR")
    found = Cost(currency=currency, **values)
    if found.node_idle_watts is not None and (found.node_watts is None or found.node_idle_watts > found.node_watts):
        raise InputError(
            f"{where}: cost.node_idle_watts is {found.node_idle_watts:g}; expected node_watts, and no more than these"
        )
    return found


def _amount(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise InputError(f"{where} is {shown(value)}; expected a number")
    if not 0 <= value <= MOST:
        raise InputError(f"{where} is {value:g}; expected 0 to {MOST:g}")
    return float(value)
