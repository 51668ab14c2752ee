"""Which further points would tell parameters that the measured ones do not.

From candidates (sizes and ranks doubled and halved around what was measured, as far as the machine's cores go) those
are chosen one by one that shrink the volume of what the parameters may be most (D-optimal design, wald1943)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fourscore_analysis.models.base import Question
from fourscore_analysis.models.certainty import LEAST_SURE, NOISE
from fourscore_analysis.models.design import design
from fourscore_analysis.models.fit import Fitted
from fourscore_analysis.models.observations import Series

MOST_POINTS = 8
LEAST_GAIN, PRIOR = 0.01, 5.0
LARGEST_GROWTH, SMALLEST_EXTENT = 8, 4  # factor of the number of elements; least elements along an axis


def candidates(series: Series, most_ranks: int) -> list[Question]:
    """Points of this method that were not measured. `most_ranks`: as many as the machine has cores."""
    questions = [one.question for one in series.observations]
    measured = {(question.cell.shape, question.ranks) for question in questions}
    largest = max(question.elements for question in questions)
    shapes = set(series.sizes)
    for shape in series.sizes:
        for factor in (0.25, 0.5, 2.0, 4.0):
            scaled = tuple(int(extent * factor) for extent in shape)
            if min(scaled) >= SMALLEST_EXTENT and math.prod(scaled) <= LARGEST_GROWTH * largest:
                shapes.add(scaled)
    counts = {1, *series.ranks}
    ranks = 1
    while ranks <= most_ranks:
        counts.add(ranks)
        ranks *= 2
    first = questions[0]
    found = []
    for shape in sorted(shapes, key=lambda shape: (math.prod(shape), shape)):
        for ranks in sorted(counts):
            if (shape, ranks) in measured or (ranks == 1 and series.method.variant == "serial"):
                continue
            place = replace(first.cell.place, ranks=ranks, nodes=1)
            found.append(Question(replace(first.cell, shape=shape, place=place), series.method))
    return found


def suggested(series: Series, fitted: Fitted | None, most_ranks: int) -> list[Question]:
    """At most MOST_POINTS, the one that tells most first; none where every parameter is known. Without a fit the
    candidates nearest to what was measured."""
    open_points = candidates(series, most_ranks)
    if fitted is None:
        return _nearest(series, open_points)
    if not fitted.refused or not fitted.free:
        return []
    seen = list(dict.fromkeys(one.question for one in series.observations))
    information = [_information(fitted, [question]) for question in open_points]
    total = _information(fitted, seen)
    chosen: list[Question] = []
    while len(chosen) < MOST_POINTS and open_points and _least(total) < (NOISE / LEAST_SURE) ** 2:
        gains = [_log_volume(total + one) for one in information]
        best = int(np.argmax(gains))
        if gains[best] <= _log_volume(total) + LEAST_GAIN:
            break
        total = total + information[best]
        chosen.append(open_points.pop(best))
        information.pop(best)
    return chosen


def _information(fitted: Fitted, questions: Sequence[Question]) -> np.ndarray:
    """Sum over the rows of the products of their sensitivities to the free parameters."""
    matrix = design(fitted.model, questions, fitted.forms, fitted.values, None)
    total = np.zeros((len(fitted.free), len(fitted.free)))
    if not matrix.rows:
        return total
    known = [fitted.values.get(name) for name in matrix.parameters]
    if any(value is None for value in known):
        return total
    _, slopes = matrix.sensitivity(np.log(known))
    wide = np.zeros((len(matrix.rows), len(fitted.free)))
    for column, name in enumerate(matrix.parameters):
        if name in fitted.free:
            wide[:, fitted.free.index(name)] = slopes[:, column]
    return wide.T @ wide


def _log_volume(information: np.ndarray) -> float:
    """The log volume of what is known; a parameter that is not counts as known within PRIOR, in logarithms."""
    return float(np.linalg.slogdet(information + (NOISE / PRIOR) ** 2 * np.eye(len(information)))[1])


def _least(information: np.ndarray) -> float:
    return float(np.linalg.eigvalsh(information)[0])


def _nearest(series: Series, open_points: Sequence[Question]) -> list[Question]:
    questions = [one.question for one in series.observations]

    def distance(question: Question) -> float:
        return min(
            abs(math.log(question.elements / other.elements)) + abs(math.log(question.ranks / other.ranks))
            for other in questions
        )

    return sorted(open_points, key=distance)[:MOST_POINTS]
