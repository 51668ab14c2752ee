"""A model's terms for many observations as arrays: seconds of every phase, and how they change with each parameter.

Terms are amounts times powers of parameters, so in logarithms of the parameters each is one row of a matrix, and a fit
needs no other derivative."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fourscore_analysis.models.base import Forms, Model, Powers, Question


@dataclass(frozen=True)
class Design:
    """Rows are (question, phase); S sides a row at most."""

    rows: tuple[tuple[int, str], ...]  # (number of the question, phase)
    parameters: tuple[str, ...]
    sides: int
    row: np.ndarray  # [term], int
    side: np.ndarray  # [term], int
    log_amount: np.ndarray  # [term]
    powers: np.ndarray  # [term, parameter]
    larger: np.ndarray  # [row]: whether it takes the larger of its sides

    def seconds(self, log_values: np.ndarray, sharpness: float = math.inf) -> np.ndarray:
        """Seconds of each row; shape (rows,). With a `sharpness` p, rows that take the larger of their sides take
        (sum of side^p)^(1/p): then the smaller side is felt too, and a search does not get stuck on the wrong one."""
        sums, _ = self._sides(log_values)
        return self._taken(sums, sharpness)

    def sensitivity(self, log_values: np.ndarray, sharpness: float = math.inf) -> tuple[np.ndarray, np.ndarray]:
        """`seconds`, and d log seconds / d log parameter; shapes (rows,) and (rows, parameters)."""
        sums, each = self._sides(log_values)
        seconds = self._taken(sums, sharpness)
        if self.any_larger:
            if math.isinf(sharpness):
                felt = (self.side == sums.argmax(axis=0)[self.row]).astype(float)
            else:
                felt = (sums[self.side, self.row] / seconds[self.row]) ** (sharpness - 1)
            each = np.where(self.larger[self.row], felt, 1.0) * each
        slopes = np.empty((len(self.parameters), len(self.rows)))
        for column, (terms, row, powers) in enumerate(self._terms_of):
            slopes[column] = np.bincount(row, weights=each[terms] * powers, minlength=len(self.rows))
        slopes /= seconds
        return seconds, slopes.T

    def _taken(self, sums: np.ndarray, sharpness: float) -> np.ndarray:
        both = sums.sum(axis=0)
        if not self.any_larger:
            return both
        largest = sums.max(axis=0)
        if not math.isinf(sharpness):
            largest = largest * np.sum((sums / largest) ** sharpness, axis=0) ** (1 / sharpness)
        return np.where(self.larger, largest, both)

    def of_rows(self, kept: np.ndarray) -> Design:
        """These rows only; parameters that no other row needs are gone."""
        new = np.full(len(self.rows), -1)
        new[kept] = np.arange(len(kept))
        terms = np.flatnonzero(new[self.row] >= 0)
        powers = self.powers[terms]
        used = np.flatnonzero(powers.any(axis=0))
        return Design(
            rows=tuple([self.rows[number] for number in kept]),
            parameters=tuple(self.parameters[column] for column in used),
            sides=self.sides,
            row=new[self.row[terms]],
            side=self.side[terms],
            log_amount=self.log_amount[terms],
            powers=powers[:, used],
            larger=self.larger[kept],
        )

    def _sides(self, log_values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Seconds of each side of each row, shape (sides, rows), and of each term."""
        each = np.exp(self.log_amount + self.powers @ log_values)
        sums = np.bincount(self._cells, weights=each, minlength=len(self.rows) * self.sides)
        return sums.reshape(self.sides, len(self.rows)), each

    @cached_property
    def any_larger(self) -> bool:
        return bool(self.larger.any())

    @cached_property
    def _cells(self) -> np.ndarray:
        return self.side * len(self.rows) + self.row

    @cached_property
    def _terms_of(self) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """For each parameter: the terms that it is in, their rows, and its powers there."""
        found = []
        for powers in self.powers.T:
            terms = np.flatnonzero(powers)
            found.append((terms, self.row[terms], powers[terms]))
        return found


def design(
    model: Model,
    questions: Sequence[Question],
    forms: Forms,
    shaping: Mapping[str, float],
    phases: Sequence[str] | None,
) -> Design:
    """Rows of the phases asked for (None: all that the model has), in the order of the questions."""
    largest = model.largest(forms)
    index: dict[tuple[int, str], int] = {}
    sides_of: dict[int, dict[str, int]] = defaultdict(dict)
    kind_of: dict[Powers, int] = {}  # terms have few different powers
    row, side, amounts, kinds = [], [], [], []
    for number, question in enumerate(questions):
        for phase, _, amount, powers, own_side in model.terms(question, forms, shaping):
            if amount <= 0 or (phases is not None and phase not in phases):
                continue
            place = index.setdefault((number, phase), len(index))
            sides = sides_of[place]
            row.append(place)
            side.append(sides.setdefault(own_side if phase in largest else "", len(sides)))
            amounts.append(amount)
            kinds.append(kind_of.setdefault(powers, len(kind_of)))
    names = tuple(sorted({name for powers in kind_of for name, _ in powers}))
    of_kind = np.zeros((len(kind_of), len(names)))
    for line, powers in enumerate(kind_of):
        for name, power in powers:
            of_kind[line, names.index(name)] += power
    return Design(
        rows=tuple(index),
        parameters=names,
        sides=max((len(sides) for sides in sides_of.values()), default=1),
        row=np.array(row, dtype=int),
        side=np.array(side, dtype=int),
        log_amount=np.log(np.array(amounts, dtype=float)),
        powers=of_kind[kinds] if kinds else np.zeros((0, len(names))),
        larger=np.array([phase in largest for _, phase in index], dtype=bool),
    )
