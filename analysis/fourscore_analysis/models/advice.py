"""Which method to use, by predictions: ranked by rank count, with what ties; and which points to measure next.

A point is worth measuring where it makes the predictions surer: with the covariance S of the log parameters (of the
draws of the fit) and slopes g of a prediction, its variance is g S g'. Measuring a point whose rows have slopes H with
noise s turns S into (S^-1 + H' H / s^2)^-1 (linear Gaussian, as in D-optimal design). Points are chosen one by one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fourscore_analysis.models.base import Question
from fourscore_analysis.models.certainty import NOISE
from fourscore_analysis.models.predictions import Basis, Prediction, slopes_of

MOST_POINTS = 3
LEAST_GAIN = 0.05  # share of the variance of the predictions, by one point
LEAST_SPREAD = 0.01  # standard deviation of log time: below it parameters are known well enough


@dataclass(frozen=True)
class Next:
    """A point to measure: the standard deviation of log time of the predictions, in all, before and after."""

    question: Question
    before: float
    after: float
    seconds: float  # one run of it, predicted


def tied(best: Prediction, other: Prediction) -> bool:
    """Whether their intervals overlap; without intervals only equal times are tied."""
    if best.total.interval is None or other.total.interval is None:
        return math.isclose(best.total.seconds, other.total.seconds, rel_tol=1e-9)
    return other.total.interval[0] <= best.total.interval[1]


def next_points(basis: Basis, targets: Sequence[Prediction], candidates: Sequence[Prediction]) -> list[Next]:
    """At most MOST_POINTS of the candidates, the one that tells most of the targets first; none where the parameters
    are known, or none of the candidates depends on them."""
    if not basis.drawn or not targets:
        return []
    covariance = np.atleast_2d(np.cov(basis.draws, rowvar=False))
    goals = np.array([_slopes_of_total(basis, one) for one in targets])
    rows = [_rows(basis, one.question) for one in candidates]
    left = list(range(len(candidates)))
    found: list[Next] = []
    while left and len(found) < MOST_POINTS:
        now = _variance(goals, covariance)
        updated = {number: _measured(covariance, rows[number]) for number in left}
        best = min(left, key=lambda number: _variance(goals, updated[number]))
        after = _variance(goals, updated[best])
        if now <= LEAST_SPREAD**2 or after > now * (1 - LEAST_GAIN):
            break
        found.append(Next(candidates[best].question, math.sqrt(now), math.sqrt(after), candidates[best].total.seconds))
        covariance = updated[best]
        left.remove(best)
    return found


def _variance(goals: np.ndarray, covariance: np.ndarray) -> float:
    """Mean over the goals."""
    return float(np.einsum("gk,kl,gl->g", goals, covariance, goals).mean())


def _measured(covariance: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """After one launch with these rows (R, K): S - S H' (H S H' + s^2 I)^-1 H S, which needs no inverse of S."""
    if not len(rows):
        return covariance
    across = covariance @ rows.T
    inner = rows @ across + NOISE**2 * np.eye(len(rows))
    return covariance - across @ np.linalg.solve(inner, across.T)


def _slopes_of_total(basis: Basis, prediction: Prediction) -> np.ndarray:
    return np.array([prediction.elasticity.get(name, 0.0) for name in basis.drawn])


def _rows(basis: Basis, question: Question) -> np.ndarray:
    """d log phase / d log parameter for each phase; shape (phases, drawn)."""
    slopes = slopes_of(basis, question)
    return np.array([[of_phase.get(name, 0.0) for name in basis.drawn] for of_phase in slopes.values()])
