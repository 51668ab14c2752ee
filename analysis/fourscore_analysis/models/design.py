"""A model's terms for many observations as arrays: seconds of every phase, and how they change with each parameter.

Terms are amounts times powers of parameters, so in logarithms of the parameters each is one row of a matrix, and a fit
needs no other derivative."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fourscore_analysis.models.base import Forms, Model, Question


@dataclass(frozen=True)
class Design:
    """Rows are (question, phase); S sides a row at most."""

    rows: tuple[tuple[int, str], ...]  # (number of the question, phase)
    parameters: tuple[str, ...]
    sides: int
    row: np.ndarray  # of each term, int
    side: np.ndarray  # of each term, int
    log_amount: np.ndarray  # of each term
    powers: np.ndarray  # of each term and parameter
    larger: np.ndarray  # of each row: whether it takes the larger of its sides

    def seconds(self, log_values: np.ndarray, sharpness: float = math.inf) -> np.ndarray:
        """Of each row; shape (rows,). With a `sharpness` p, rows that take the larger of their sides take
        (sum of side^p)^(1/p): then the smaller side is felt too, and a search does not get stuck on the wrong one."""
        sums, _ = self._sides(log_values)
        return self._taken(sums, sharpness)

    def sensitivity(self, log_values: np.ndarray, sharpness: float = math.inf) -> tuple[np.ndarray, np.ndarray]:
        """`seconds`, and d log seconds / d log parameter; shapes (rows,) and (rows, parameters)."""
        sums, each = self._sides(log_values)
        seconds = self._taken(sums, sharpness)
        if self.larger.any():
            if math.isinf(sharpness):
                felt = (self.side == sums.argmax(axis=1)[self.row]).astype(float)
            else:
                felt = (sums[self.row, self.side] / seconds[self.row]) ** (sharpness - 1)
            each = np.where(self.larger[self.row], felt, 1.0) * each
        slopes = np.empty((len(self.rows), len(self.parameters)))
        for column in range(len(self.parameters)):
            powers = self.powers[:, column]
            slopes[:, column] = np.bincount(self.row, weights=each * powers, minlength=len(self.rows))
        return seconds, slopes / seconds[:, None]

    def _taken(self, sums: np.ndarray, sharpness: float) -> np.ndarray:
        both = sums.sum(axis=1)
        if not self.larger.any():
            return both
        largest = sums.max(axis=1)
        if not math.isinf(sharpness):
            largest = largest * np.sum((sums / largest[:, None]) ** sharpness, axis=1) ** (1 / sharpness)
        return np.where(self.larger, largest, both)

    def of_rows(self, kept: Sequence[int]) -> Design:
        """These rows only; parameters that no other row needs are gone."""
        new = np.full(len(self.rows), -1)
        new[list(kept)] = np.arange(len(kept))
        terms = new[self.row] >= 0 if len(self.row) else np.zeros(0, dtype=bool)
        used = [column for column in range(len(self.parameters)) if self.powers[terms, column].any()]
        return Design(
            rows=tuple(self.rows[number] for number in kept),
            parameters=tuple(self.parameters[column] for column in used),
            sides=self.sides,
            row=new[self.row[terms]],
            side=self.side[terms],
            log_amount=self.log_amount[terms],
            powers=self.powers[terms][:, used],
            larger=self.larger[list(kept)],
        )

    def _sides(self, log_values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        each = np.exp(self.log_amount + self.powers @ log_values)
        cells = self.row * self.sides + self.side
        sums = np.bincount(cells, weights=each, minlength=len(self.rows) * self.sides)
        return sums.reshape(len(self.rows), self.sides), each


def design(
    model: Model,
    questions: Sequence[Question],
    forms: Forms,
    shaping: Mapping[str, float],
    phases: Sequence[str] | None,
) -> Design:
    """Rows of the phases asked for (None: all that the model has), in the order of the questions."""
    largest = model.largest(forms)
    rows: list[tuple[int, str]] = []
    found: list[tuple[int, int, float, tuple[tuple[str, int], ...]]] = []
    sides_of: dict[int, dict[str, int]] = defaultdict(dict)
    index: dict[tuple[int, str], int] = {}
    for number, question in enumerate(questions):
        for term in model.terms(question, forms, shaping):
            if term.amount <= 0 or (phases is not None and term.phase not in phases):
                continue
            key = (number, term.phase)
            if key not in index:
                index[key] = len(rows)
                rows.append(key)
            row = index[key]
            sides = sides_of[row]
            side = sides.setdefault(term.side if term.phase in largest else "", len(sides))
            found.append((row, side, term.amount, term.powers))
    names = tuple(sorted({name for _, _, _, powers in found for name, _ in powers}))
    position = {name: column for column, name in enumerate(names)}
    powers = np.zeros((len(found), len(names)))
    for line, (_, _, _, term_powers) in enumerate(found):
        for name, power in term_powers:
            powers[line, position[name]] += power
    return Design(
        rows=tuple(rows),
        parameters=names,
        sides=max((len(sides) for sides in sides_of.values()), default=1),
        row=np.array([row for row, _, _, _ in found], dtype=int),
        side=np.array([side for _, side, _, _ in found], dtype=int),
        log_amount=np.log([amount for _, _, amount, _ in found]) if found else np.zeros(0),
        powers=powers,
        larger=np.array([phase in largest for _, phase in rows], dtype=bool),
    )
