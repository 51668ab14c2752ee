"""Observations as rows of a fit: one for each point and phase, with the logarithm of every launch."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from fourscore_analysis.models.base import Forms, Model, Question
from fourscore_analysis.models.design import Design, design
from fourscore_analysis.models.observations import Observation
from fourscore_analysis.models.solve import Solution

Shaping = tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Rows:
    """Measured logarithms by point and phase: the mean over launches, and each launch's."""

    questions: list[Question]  # that were measured
    log_mean: dict[tuple[int, str], float]
    log_launches: dict[tuple[int, str], list[tuple[int, float]]]  # (number of the launch, log seconds)
    launches: int
    _known: dict[tuple[tuple[int, str], ...], np.ndarray] = field(default_factory=dict, repr=False)

    def log_means(self, keys: tuple[tuple[int, str], ...]) -> np.ndarray:
        """Means of these rows; nan where one was not measured. Designs of other sizes of the cache have the same."""
        if keys not in self._known:
            self._known[keys] = np.array([self.log_mean.get(key, math.nan) for key in keys])
        return self._known[keys]

    def kept(self, keys: tuple[tuple[int, str], ...]) -> np.ndarray:
        """The places of those that were measured."""
        return np.flatnonzero(~np.isnan(self.log_means(keys)))


@dataclass(frozen=True)
class Found:
    """A solution of all rows, and what each row costs there."""

    solution: Solution
    rows: tuple[tuple[int, str], ...]
    costs: np.ndarray


class Designs:
    """The designs of a model for some questions, made once for each size of the cache, and what was found there for all
    questions: fits of parts of the observations share them."""

    def __init__(self, model: Model, questions: Iterable[Question], forms: Forms) -> None:
        self.questions = list(dict.fromkeys(questions))
        self.found: dict[Shaping, Found] = {}
        self._model, self._forms = model, forms
        self._made: dict[Shaping, Design] = {}

    def of(self, shaping: Mapping[str, float]) -> Design:
        key = key_of(shaping)
        if key not in self._made:
            self._made[key] = design(self._model, self.questions, self._forms, shaping, None)
        return self._made[key]


def key_of(shaping: Mapping[str, float]) -> Shaping:
    return tuple(sorted(shaping.items()))


def rows_of(observations: Sequence[Observation], questions: Sequence[Question]) -> Rows:
    """The rows of observations of some of the questions, by these questions' numbers."""
    numbers = {question: number for number, question in enumerate(questions)}
    launches: dict[tuple[int, str], list[tuple[int, float]]] = defaultdict(list)
    for launch, one in enumerate(observations):
        for phase, seconds in one.phases.items():
            launches[numbers[one.question], phase].append((launch, math.log(seconds)))
    means = {key: math.fsum(value for _, value in found) / len(found) for key, found in launches.items()}
    seen = list(dict.fromkeys(one.question for one in observations))
    return Rows(seen, means, dict(launches), len(observations))


def matched(designs: Designs, rows: Rows, shaping: Mapping[str, float]) -> tuple[Design, np.ndarray]:
    """The model's rows that were measured, and their logarithms."""
    whole = designs.of(shaping)
    kept = rows.kept(whole.rows)
    return whole.of_rows(kept), rows.log_means(whole.rows)[kept]
