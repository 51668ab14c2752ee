"""The parameters that fit best: bounded, robust least squares of log(predicted / measured)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fourscore_analysis.models.design import Design
from fourscore_analysis.models.parameters import parameter

ROBUST_SCALE = 0.1  # relative error from which on a row pulls less
FTOL = 1e-7
ROUGHLY = 1e-4  # the same where only predictions are wanted
BOUND = 100.0  # residual for each factor e beyond what is allowed
# Residual for each factor e away from where a search began: what no row determines stays there. It also keeps columns
# apart: where two are nearly dependent, leastsq of SciPy 1.15 to 1.17 reads one number past its Jacobian, and its
# answer is then different from run to run.
PULL = 1e-4
MOST_STEPS = 200
SMOOTH = 4.0  # Design.sensitivity
CLEARLY = 0.9  # part of the cost: a second solution is taken only where it is better by more than noise
# Where a search begins that no term alone gives a value for.
TYPICAL = {"memory_constant": 6.3, "memory_bandwidth": 2e10, "latency": 1e-6}


@dataclass(frozen=True)
class Solution:
    """`log_all`: of all parameters of the design, `log_free` of those that were searched."""

    cost: float
    parameters: tuple[str, ...]
    free: tuple[str, ...]
    log_free: np.ndarray
    log_all: np.ndarray


def row_costs(matrix: Design, measured: np.ndarray, solution: Solution) -> np.ndarray:
    """What `solve` makes small in sum, for each row; the solution has the parameters of these rows."""
    return _robust(np.log(matrix.seconds(solution.log_all)) - measured)[0] ** 2 / 2


def solve(
    matrix: Design,
    measured: np.ndarray,
    given: Mapping[str, float],
    near: Solution | None = None,
    tolerance: float = FTOL,
) -> Solution:
    """`near`: a solution to begin at, where it has the same free parameters."""
    free = tuple(name for name in matrix.parameters if name not in given)
    columns = [matrix.parameters.index(name) for name in free]
    log_all = np.array([math.log(given.get(name, 1.0)) for name in matrix.parameters])
    if not free:
        residuals = np.log(matrix.seconds(log_all)) - measured
        return Solution(float(residuals @ residuals), matrix.parameters, free, np.zeros(0), log_all)
    from scipy.optimize import leastsq  # slow to load

    low = np.log([parameter(name).least for name in free])
    high = np.log([parameter(name).most for name in free])

    def everything(log_free: np.ndarray) -> np.ndarray:
        values = log_all.copy()
        values[columns] = np.clip(log_free, low, high)
        return values

    def of_rows(log_free: np.ndarray, sharpness: float) -> np.ndarray:
        return _robust(np.log(matrix.seconds(everything(log_free), sharpness)) - measured)[0]

    def residuals(log_free: np.ndarray, sharpness: float, begin: np.ndarray) -> np.ndarray:
        beyond = log_free - np.clip(log_free, low, high)
        return np.concatenate([of_rows(log_free, sharpness), BOUND * beyond + PULL * (log_free - begin)])

    def jacobian(log_free: np.ndarray, sharpness: float, _: np.ndarray) -> np.ndarray:
        is_beyond = (log_free < low) | (log_free > high)
        seconds, slopes = matrix.sensitivity(everything(log_free), sharpness)
        _, slope = _robust(np.log(seconds) - measured)
        return np.concatenate([slope[:, None] * slopes[:, columns] * ~is_beyond, np.diag(BOUND * is_beyond + PULL)])

    def found(start: np.ndarray, sharpness: float) -> np.ndarray:
        begin = np.clip(start, low, high)
        best, *_ = leastsq(
            residuals, begin, (sharpness, begin), jacobian, True, ftol=tolerance, xtol=tolerance, maxfev=MOST_STEPS
        )
        return np.clip(best, low, high)

    def cost(log_free: np.ndarray) -> float:
        return float(np.sum(of_rows(log_free, math.inf) ** 2) / 2)

    if near is not None and near.free == free:
        best = found(near.log_free, math.inf)
    else:
        best = found(_start(matrix, measured, free, log_all), math.inf)
        if matrix.any_larger:  # from where both sides are felt, which may end elsewhere
            other = found(found(_start(matrix, measured, free, log_all), SMOOTH), math.inf)
            best = other if cost(other) < CLEARLY * cost(best) else best
    return Solution(cost(best), matrix.parameters, free, best, everything(best))


def _robust(residuals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Residuals whose squares are the robust cost (twice soft_l1), and their slopes."""
    root = np.sqrt(1 + (residuals / ROBUST_SCALE) ** 2)
    shrunk = np.sqrt(2 / (root + 1))
    return residuals * shrunk, 1 / (root * shrunk)


def _start(matrix: Design, measured: np.ndarray, free: Sequence[str], log_all: np.ndarray) -> np.ndarray:
    """Each parameter as if every term in which it stands alone took an equal part of its row."""
    terms_of_row = np.bincount(matrix.row, minlength=len(matrix.rows))
    found = []
    for name in free:
        column = matrix.parameters.index(name)
        alone = (matrix.powers[:, column] != 0) & (np.count_nonzero(matrix.powers, axis=1) == 1)
        if not alone.any():
            found.append(math.log(TYPICAL.get(name, math.sqrt(parameter(name).least * parameter(name).most))))
            continue
        rows = matrix.row[alone]
        part = measured[rows] - np.log(terms_of_row[rows]) - matrix.log_amount[alone]
        found.append(float(np.median(part / matrix.powers[alone, column])))
    return np.array(found)
