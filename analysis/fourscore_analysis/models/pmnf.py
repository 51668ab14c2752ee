"""Performance model normal form (calotoiu2013, as in Extra-P): for what no paper models.

Each phase is c_0 + c_1 N^i log2^j N . P^k log2^m P. The exponents are chosen from a short list, phase by phase, so that
points left out one at a time are predicted best; then the coefficients are fitted as any other parameters."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from fourscore_analysis.models.base import Forms, Model, Question, Term
from fourscore_analysis.models.observations import Observation
from fourscore_analysis.models.parameters import coefficient

SIZE_POWERS = (0.0, 0.5, 2 / 3, 0.75, 1.0, 5 / 4, 4 / 3, 3 / 2, 2.0)
SIZE_LOGS = (0, 1, 2)
RANK_POWERS = (-1.0, -3 / 4, -2 / 3, -0.5, -1 / 3, 0.0, 1 / 3, 0.5, 2 / 3, 1.0)
RANK_LOGS = (0, 1)
Exponents = tuple[float, int, float, int]


def growth(question: Question, exponents: Exponents) -> float:
    """N^i log2^j N . P^k log2^m P, where N is the number of elements; 0 on one rank with m > 0."""
    i, j, k, m = exponents
    n, p = float(question.elements), float(question.ranks)
    return n**i * math.log2(n) ** j * p**k * math.log2(p) ** m


def text(exponents: Exponents) -> str:
    """N log2 N P^-1"""
    i, j, k, m = exponents
    found = [_power("N", i), _power("log2 N", j), _power("P", k), _power("log2 P", m)]
    return " ".join(part for part in found if part) or "1"


def _power(base: str, exponent: float) -> str:
    if exponent == 0:
        return ""
    return base if exponent == 1 else f"{base}^{exponent:.3g}"


def specialised(observations: Sequence[Observation]) -> Model:
    """The form with the exponents that these observations choose."""
    points: dict[tuple[Question, str], list[float]] = defaultdict(list)
    for one in observations:
        for phase, seconds in one.phases.items():
            points[one.question, phase].append(seconds)
    chosen: dict[str, Exponents] = {}
    for phase in dict.fromkeys(phase for _, phase in points):
        members = [(question, statistics.median(found)) for (question, name), found in points.items() if name == phase]
        chosen[phase] = _best([question for question, _ in members], np.array([seconds for _, seconds in members]))

    def terms(question: Question, forms: Forms, shaping: Mapping[str, float]) -> list[Term]:
        found = []
        for phase, exponents in chosen.items():
            if question.ranks == 1 and phase in ("exchange", "shuffle", "combine"):
                continue
            found.append(Term(phase, "constant", 1.0, ((coefficient(phase, "1"), 1),)))
            amount = growth(question, exponents)
            if amount and exponents != (0.0, 0, 0.0, 0):
                found.append(Term(phase, text(exponents), amount, ((coefficient(phase, text(exponents)), 1),)))
        return found

    return replace(MODEL, terms=terms, specialise=None)


def _best(questions: Sequence[Question], seconds: np.ndarray) -> Exponents:
    """Of the least mean relative error of points left out, each predicted from the others."""
    several_ranks = len({question.ranks for question in questions}) > 1
    several_sizes = len({question.elements for question in questions}) > 1
    best, least = (0.0, 0, 0.0, 0), math.inf
    sizes = product(SIZE_POWERS, SIZE_LOGS) if several_sizes else [(0.0, 0)]
    ranks = list(product(RANK_POWERS, RANK_LOGS)) if several_ranks else [(0.0, 0)]
    for (i, j), (k, m) in product(sizes, ranks):
        exponents = (i, j, k, m)
        amounts = np.array([growth(question, exponents) for question in questions])
        error = _left_out_error(amounts, seconds)
        if error < least * (1 - 1e-6):
            best, least = exponents, error
    return best


def _left_out_error(amounts: np.ndarray, seconds: np.ndarray) -> float:
    """Least squares of c_0 / t + c_1 x / t = 1, neither negative; each point predicted by the fit to the others, which
    the diagonal of the projection gives without a fit of its own."""
    rows = np.stack([1 / seconds, amounts / seconds], axis=1)
    if np.ptp(amounts) == 0:
        rows = rows[:, :1]
    scale = np.linalg.norm(rows, axis=0)
    if not scale.all():
        return math.inf
    q, r = np.linalg.qr(rows / scale)
    if abs(np.diag(r)).min() < 1e-9:
        return math.inf
    coefficients = np.linalg.solve(r, q.T @ np.ones(len(seconds)))
    if coefficients.min() < 0:  # then without the constant
        rows, q = rows[:, -1:], rows[:, -1:] / np.linalg.norm(rows[:, -1:])
        coefficients = q.T @ np.ones(len(seconds))
    residual = 1 - q @ (q.T @ np.ones(len(seconds)))
    leverage = np.sum(q**2, axis=1)
    if leverage.max() > 1 - 1e-9:
        return math.inf
    return float(np.mean(np.abs(residual / (1 - leverage))))


def _unspecialised(question: Question, forms: Forms, shaping: Mapping[str, float]) -> list[Term]:
    raise ValueError("pmnf has no terms before it saw observations")


MODEL = Model(
    name="pmnf",
    title="performance model normal form: powers and logarithms of size and ranks",
    citation="calotoiu2013",
    equations="the normal form of two parameters, one term",
    validity="within the sizes and ranks that were measured; beyond, a guess",
    variants=(),
    terms=_unspecialised,
    specialise=specialised,
)
