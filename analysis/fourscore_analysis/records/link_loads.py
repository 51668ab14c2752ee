"""How busy the links of a simulated machine were in each exchange of one run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fourscore_analysis.records.values import amount_of, count_of, each, name_of, read, some, table_of, time_of


@dataclass(frozen=True, slots=True)
class KindLoad:
    """Links of one kind: a dimension and direction of a torus, a bit of a hypercube, a level of a fat tree. Busy is the
    part of the exchange's seconds that a link's bytes take."""

    kind: str
    links: int
    mean_busy: float
    most_busy: float


@dataclass(frozen=True, slots=True)
class ExchangeLoad:
    seconds: float
    kinds: tuple[KindLoad, ...]
    busiest_link: str  # "" where no link had anything to carry


def read_link_loads(value: Any) -> tuple[ExchangeLoad, ...]:
    """In the order of the exchanges; the last that a record tells apart is with all that follow it. Raises
    RecordError."""
    return each(_exchange)(value)


def _exchange(value: Any) -> ExchangeLoad:
    table = table_of(value)
    links = read(table, "busiest", each(_link))
    return ExchangeLoad(read(table, "seconds", time_of), read(table, "kinds", some(_kind)), links[0] if links else "")


def _kind(value: Any) -> KindLoad:
    table = table_of(value)
    return KindLoad(
        kind=read(table, "kind", name_of),
        links=read(table, "links", count_of),
        mean_busy=read(table, "mean_busy", amount_of),
        most_busy=read(table, "most_busy", amount_of),
    )


def _link(value: Any) -> str:
    return read(table_of(value), "link", name_of)
