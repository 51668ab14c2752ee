"""Numbers as ranges, and the papers' numbers with the digits that are printed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from itertools import product
from typing import Any, NamedTuple

from fourscore_analysis.records.files import regular_content
from fourscore_analysis.records.published import file_of


@dataclass(frozen=True)
class Range:
    low: float
    high: float

    def _with(self, other: Range | float, value: Callable[[float, float], float]) -> Range:
        other = other if isinstance(other, Range) else Range(other, other)
        ends = [value(a, b) for a, b in product((self.low, self.high), (other.low, other.high))]
        return Range(min(ends), max(ends))

    def __add__(self, other: Range | float) -> Range:
        return self._with(other, lambda a, b: a + b)

    def __sub__(self, other: Range | float) -> Range:
        return self._with(other, lambda a, b: a - b)

    def __mul__(self, other: Range | float) -> Range:
        return self._with(other, lambda a, b: a * b)

    def __truediv__(self, other: Range | float) -> Range:
        return self._with(other, lambda a, b: a / b)

    def __pow__(self, other: float) -> Range:
        return self._with(other, lambda a, b: a**b)

    def __radd__(self, other: float) -> Range:
        return self + other

    def __rmul__(self, other: float) -> Range:
        return self * other

    def __rsub__(self, other: float) -> Range:
        return exactly(other) - self

    def __rtruediv__(self, other: float) -> Range:
        return exactly(other) / self

    def __rpow__(self, other: float) -> Range:
        return exactly(other)._with(self, lambda a, b: a**b)

    def meets(self, other: Range) -> bool:
        slack = 1e-9 * max(abs(self.high), abs(other.high))
        return self.low <= other.high + slack and other.low <= self.high + slack


def exactly(value: float) -> Range:
    return Range(float(value), float(value))


def unit(value: Decimal) -> float:
    """The unit of the last digit that is printed."""
    return 10.0 ** value.as_tuple().exponent


def rounded(value: Decimal) -> Range:
    return Range(float(value) - unit(value) / 2, float(value) + unit(value) / 2)


def rounded_or_cut(value: Decimal) -> Range:
    return Range(float(value) - unit(value) / 2, float(value) + unit(value))


def printed(paper: str, item: str) -> dict[str, Any]:
    """The file's content, with numbers that keep their digits."""
    text = regular_content(file_of(paper, item))
    return json.loads(text, parse_float=Decimal, parse_int=Decimal)


def rows_of(paper: str, item: str) -> list[dict[str, Any]]:
    return printed(paper, item)["rows"]


class Computed(NamedTuple):
    """What a formula gives for one cell: a range of numbers, or a word. With a `bound` ("above" or "below") the printed
    number is one that the value must lie beyond."""

    row: int
    column: str
    value: Range | str
    formula: str = ""
    bound: str = ""


Computations = Iterable[Computed]


def each(
    paper: str, item: str, column: str, formula: Callable[[dict[str, Any]], Range], said: str = ""
) -> Iterator[Computed]:
    """For the rows that print a number in the column; `said` is the formula in words."""
    for number, row in enumerate(rows_of(paper, item), 1):
        if row[column] is not None:
            yield Computed(number, column, formula(row), said)
