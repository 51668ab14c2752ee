"""What a paper's module says of its printed numbers, and the verdicts that follow.

A cell of published/ is one of three: a condition (it says which row it is: a shape, a count of nodes, a name), a
given number (the equations start from it), or a number that is judged. A judged number is compared with what the
paper's equations give as they are printed, and, where that differs, with what they give under another reading. Ranges
are compared: a printed 0.19 stands for 0.185 to 0.20, since some tables round and some cut off."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, NamedTuple

from fourscore_analysis.papers.here import Here
from fourscore_analysis.papers.ranges import Computations, Computed, Range, printed, rounded_or_cut
from fourscore_analysis.records.published import Published, published

NEAR = 0.10  # a relative difference up to here is an agreement within so many percent

ROUNDING, WITHIN, DIFFERS, THERE, GIVEN = "rounding", "within", "differs", "there", "given"
KINDS = {
    ROUNDING: "agrees within rounding",
    WITHIN: f"agrees within {100 * NEAR:.0f} %",
    DIFFERS: "differs",
    THERE: "measured there",
    GIVEN: "given",
}


class Measured(NamedTuple):
    """Ours for one cell, of this machine: the median over launches."""

    row: int
    column: str
    value: float
    launches: int
    what: str  # machine, shape, ranks


def nothing(*_: Any) -> tuple[()]:
    return ()


@dataclass(frozen=True)
class Item:
    """What a paper says of one file of its published/. A cell in no list is a number measured there."""

    conditions: tuple[str, ...] = ()  # columns
    given: tuple[str | tuple[int, str], ...] = ()  # columns, or cells as (row, column)
    computed: Callable[[], Computations] = nothing  # the equations as they are printed
    reading: Callable[[], Computations] = nothing  # under another reading, of cells that differ
    measured: Callable[[Here], Iterable[Measured]] = nothing


@dataclass(frozen=True)
class Tried:
    """One reading of the equations, and what it gives for the numbers of a Search, in their order."""

    reading: str
    values: tuple[float | None, ...]


@dataclass(frozen=True)
class Search:
    """Printed numbers that the equations as printed do not give, and the readings that were tried."""

    title: str
    columns: tuple[str, ...]  # the numbers' names
    printed: tuple[Decimal, ...]
    tried: tuple[Tried, ...]  # the first is the equations as printed
    found: str  # what was found, in words
    meaning: str  # for the paper's conclusion


@dataclass(frozen=True)
class Paper:
    """`items` has every file of the paper."""

    name: str
    items: Mapping[str, Item]
    searches: Callable[[], tuple[Search, ...]] = nothing
    remarks: tuple[str, ...] = ()  # sentences for the summary: smaller disagreements and what they mean


@dataclass(frozen=True)
class Number:
    """One printed number (or word) that is no condition."""

    paper: str
    item: str
    row: int
    column: str
    printed: Decimal | str
    given: bool = False
    computed: tuple[Computed, ...] = ()
    reading: Computed | None = None
    measured: tuple[Measured, ...] = ()
    why: str = ""  # it disagrees, from published/

    @property
    def ours(self) -> Computed | None:
        """By the equations as printed: where there are several ways, the one that is farthest from the printed one."""
        return max(self.computed, key=lambda one: (not meets(self.printed, one), abs(self._off(one))), default=None)

    def _off(self, computed: Computed) -> float:
        return difference(self.printed, computed) or 0.0

    @property
    def difference(self) -> float | None:
        """(ours - printed) / printed."""
        return difference(self.printed, self.ours) if self.ours else None

    def off(self, measured: Measured) -> float | None:
        """(measured here - printed) / printed; None of a measured value below zero, as a gain that is a loss."""
        if measured.value < 0:
            return None
        return difference(self.printed, Computed(self.row, self.column, Range(measured.value, measured.value)))

    @property
    def kind(self) -> str:
        """One of KINDS."""
        if self.given:
            return GIVEN
        return THERE if self.ours is None else kind_of(self.printed, self.ours)

    @property
    def verdict(self) -> str:
        """In words, with the reason where it differs."""
        if self.kind == WITHIN:
            return within_text(self.difference or 0.0)
        if self.kind != DIFFERS:
            return KINDS[self.kind]
        words = [KINDS[DIFFERS]] + ([self.why] if self.why else [])
        return ": ".join(words)

    @property
    def reading_kind(self) -> str:
        """The kind of the other reading: one of KINDS, or "" where there is none."""
        return kind_of(self.printed, self.reading) if self.reading else ""

    def as_json(self) -> dict[str, Any]:
        number = self.printed if isinstance(self.printed, str) else float(self.printed)
        return {
            "item": self.item,
            "row": self.row,
            "column": self.column,
            "printed": number,
            "computed": _value(self.ours),
            "formula": self.ours.formula if self.ours else "",
            "difference": self.difference,
            "verdict": self.kind,
            "verdict_text": self.verdict,
            "other_reading": _value(self.reading),
            "other_formula": self.reading.formula if self.reading else "",
            "other_verdict": self.reading_kind,
            "measured": [
                {"value": one.value, "difference": self.off(one), "launches": one.launches, "what": one.what}
                for one in self.measured
            ],
        }


def middle(value: Range) -> float:
    return (value.low + value.high) / 2


def _value(computed: Computed | None) -> float | str | None:
    if computed is None:
        return None
    return computed.value if isinstance(computed.value, str) else middle(computed.value)


def meets(number: Decimal | str, computed: Computed) -> bool:
    """Whether the formula gives the printed number within its rounding, or lies beyond it where it is a bound."""
    if isinstance(number, str) or isinstance(computed.value, str):
        return number == computed.value
    if computed.bound:
        value = middle(computed.value)
        return value > float(number) if computed.bound == "above" else value < float(number)
    return rounded_or_cut(number).meets(computed.value)


def difference(number: Decimal | str, computed: Computed) -> float | None:
    if isinstance(number, str) or isinstance(computed.value, str) or not number:
        return None
    return middle(computed.value) / float(number) - 1


def kind_of(number: Decimal | str, computed: Computed) -> str:
    if meets(number, computed):
        return ROUNDING
    off = difference(number, computed)
    return WITHIN if off is not None and not computed.bound and abs(off) <= NEAR else DIFFERS


def within_text(off: float) -> str:
    """agrees within 6 %"""
    return f"agrees within {max(1, math.ceil(100 * abs(off) - 1e-9))} %"


@dataclass
class Judged:
    """One item with its numbers, by rows."""

    item: Published
    conditions: tuple[str, ...]
    numbers: list[Number] = field(default_factory=list)


def judge(paper: Paper, here: Here) -> list[Judged]:
    """Every printed number of the paper, each once, by the items' names. Raises ValueError where the module does not
    fit the data: an item without a file, a number computed of a cell that prints nothing or is a condition."""
    return [_judged(paper.name, name, item, here) for name, item in sorted(paper.items.items())]


def _judged(paper: str, name: str, item: Item, here: Here) -> Judged:
    table = published(paper, name)
    where = f"{paper}/{name}"
    cells = {(number, column): value for number, column, value in _cells(paper, name) if column not in item.conditions}
    computed = _by_cell(where, cells, item.computed())
    readings = _by_cell(where, cells, item.reading())
    measured = _by_cell(where, cells, item.measured(here))
    why = {(one.row, one.column): one.why for one in table.inconsistent}
    numbers = []
    for (row, column), value in cells.items():
        cell = (row, column)
        given = column in item.given or cell in item.given
        if given and computed[cell]:
            raise ValueError(f"{where}: row {row}, {column} is given and has a formula")
        reading = next(iter(readings[cell]), None)
        numbers.append(
            Number(
                paper,
                name,
                row,
                column,
                value,
                given,
                tuple(computed[cell]),
                reading,
                tuple(measured[cell]),
                why.get(cell, ""),
            )
        )
    return Judged(table, item.conditions, numbers)


def _cells(paper: str, name: str) -> Iterator[tuple[int, str, Decimal | str]]:
    """Row, column and value of what is printed: words as words, extents as 32x32x32."""
    for row in printed(paper, name)["rows"]:
        for column, value in row.items():
            if column == "row" or value is None:
                continue
            yield int(row["row"]), column, "x".join(map(str, value)) if isinstance(value, list) else _plain(value)


def _plain(value: Any) -> Decimal | str:
    return value if isinstance(value, Decimal) else str(value)


def _by_cell(where: str, cells: Mapping[tuple[int, str], Any], found: Iterable[Any]) -> dict[tuple[int, str], list]:
    by_cell: dict[tuple[int, str], list] = defaultdict(list)
    for one in found:
        if (one.row, one.column) not in cells:
            raise ValueError(f"{where}: row {one.row}, {one.column} prints no number that can be judged")
        by_cell[one.row, one.column].append(one)
    return by_cell


def counts(judged: Iterable[Judged]) -> dict[str, int]:
    """Numbers of each verdict."""
    found = dict.fromkeys(KINDS, 0)
    for one in judged:
        for number in one.numbers:
            found[number.kind] += 1
    return found
