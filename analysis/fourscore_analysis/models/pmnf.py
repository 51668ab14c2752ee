"""Performance model normal form (calotoiu2013, as in Extra-P): for what no paper models.

Each phase is c_0 + c_1 N^i log2^j N . P^k log2^m P. The exponents are chosen from a short list, phase by phase, so that
points left out one at a time are predicted best; then the coefficients are fitted as any other parameters."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
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
    return replace(MODEL, terms=partial(_terms, chosen), specialise=None)


def _terms(
    chosen: Mapping[str, Exponents], question: Question, forms: Forms, shaping: Mapping[str, float]
) -> list[Term]:
    found = []
    for phase, exponents in chosen.items():
        if question.ranks == 1 and phase in ("exchange", "shuffle", "combine"):
            continue
        found.append(Term(phase, "constant", 1.0, ((coefficient(phase, "1"), 1),)))
        amount = growth(question, exponents)
        if amount and exponents != (0.0, 0, 0.0, 0):
            found.append(Term(phase, text(exponents), amount, ((coefficient(phase, text(exponents)), 1),)))
    return found


def _best(questions: Sequence[Question], seconds: np.ndarray) -> Exponents:
    """Least mean relative error of points left out, each predicted from the others; the first of equal ones."""
    several_ranks = len({question.ranks for question in questions}) > 1
    several_sizes = len({question.elements for question in questions}) > 1
    sizes = list(product(SIZE_POWERS, SIZE_LOGS)) if several_sizes else [(0.0, 0)]
    ranks = list(product(RANK_POWERS, RANK_LOGS)) if several_ranks else [(0.0, 0)]
    n = np.array([float(question.elements) for question in questions])
    p = np.array([float(question.ranks) for question in questions])
    of_size = np.array([n**i * np.log2(n) ** j for i, j in sizes])
    of_ranks = np.array([p**k * np.log2(p) ** m for k, m in ranks])
    amounts = (of_size[:, None, :] * of_ranks[None, :, :]).reshape(-1, len(questions))
    errors = _left_out_errors(amounts, seconds)
    lowest = float(errors.min())
    first = int(np.argmax(errors <= lowest * (1 + 1e-6))) if math.isfinite(lowest) else 0
    return (*sizes[first // len(ranks)], *ranks[first % len(ranks)])


def _left_out_errors(amounts: np.ndarray, seconds: np.ndarray) -> np.ndarray:
    """For each line x of `amounts`: least squares of c_0 / t + c_1 x / t = 1, neither negative; each point is predicted
    by the fit to the others, which the diagonal of the projection gives without a fit of its own. inf where a point
    alone tells a coefficient."""
    one, grown = 1 / seconds, amounts / seconds
    alone = _of_one(grown)
    ones = (one * one).sum()
    mixed, squares = grown @ one, (grown * grown).sum(axis=1)
    determinant = ones * squares - mixed**2
    with np.errstate(divide="ignore", invalid="ignore"):
        right = one.sum(), grown.sum(axis=1)
        constant = (squares * right[0] - mixed * right[1]) / determinant
        growth = (ones * right[1] - mixed * right[0]) / determinant
        residual = 1 - constant[:, None] * one - growth[:, None] * grown
        leverage = (squares[:, None] * one**2 - 2 * mixed[:, None] * one * grown + ones * grown**2) / determinant[
            :, None
        ]
        both = np.abs(residual / (1 - leverage)).mean(axis=1)
    both[(leverage.max(axis=1) > 1 - 1e-9) | ~np.isfinite(both)] = math.inf
    usable = (determinant > 1e-12 * ones * squares) & (constant >= 0) & (growth >= 0)
    return np.where(usable, both, alone)


def _of_one(columns: np.ndarray) -> np.ndarray:
    """The same without the constant."""
    squares = (columns * columns).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        coefficient = columns.sum(axis=1) / squares
        leverage = columns**2 / squares[:, None]
        errors = np.abs((1 - coefficient[:, None] * columns) / (1 - leverage)).mean(axis=1)
    errors[(leverage.max(axis=1) > 1 - 1e-9) | ~np.isfinite(errors)] = math.inf
    return errors


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
