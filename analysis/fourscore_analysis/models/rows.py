"""Observations as rows of a fit: one for each point and phase, with the logarithm of every launch."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fourscore_analysis.models.base import Forms, Model, Question
from fourscore_analysis.models.design import Design, design
from fourscore_analysis.models.observations import Observation


@dataclass(frozen=True)
class Rows:
    """Measured logarithms by point and phase: the mean over launches, and each launch's."""

    questions: list[Question]
    log_mean: dict[tuple[int, str], float]
    log_launches: dict[tuple[int, str], list[tuple[int, float]]]  # (number of the launch, log seconds)
    launches: int


def rows_of(observations: Sequence[Observation]) -> Rows:
    numbers: dict[Question, int] = {}
    launches: dict[tuple[int, str], list[tuple[int, float]]] = defaultdict(list)
    for launch, one in enumerate(observations):
        number = numbers.setdefault(one.question, len(numbers))
        for phase, seconds in one.phases.items():
            launches[number, phase].append((launch, math.log(seconds)))
    means = {key: math.fsum(value for _, value in found) / len(found) for key, found in launches.items()}
    return Rows(list(numbers), means, dict(launches), len(observations))


def matched(model: Model, rows: Rows, forms: Forms, shaping: Mapping[str, float]) -> tuple[Design, np.ndarray]:
    """The model's rows that were measured, and their logarithms."""
    phases = {phase for _, phase in rows.log_mean}
    matrix = design(model, rows.questions, forms, shaping, tuple(phases))
    kept = [number for number, key in enumerate(matrix.rows) if key in rows.log_mean]
    matrix = matrix.of_rows(kept)
    return matrix, np.array([rows.log_mean[key] for key in matrix.rows])
