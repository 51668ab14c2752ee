"""The parameters that fit best: bounded, robust least squares of log(predicted / measured)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import OptimizeResult, least_squares

from fourscore_analysis.models.design import Design
from fourscore_analysis.models.parameters import parameter

ROBUST_SCALE = 0.1  # relative error from which on a row pulls less
FTOL = 1e-7
SMOOTH = 4.0  # Design.sensitivity
CLEARLY = 0.9  # of the cost: a second solution is taken only where it is better by more than noise
# Where a search begins that no term alone gives a value for.
TYPICAL = {"memory_constant": 6.3, "memory_bandwidth": 2e10, "latency": 1e-6}


@dataclass(frozen=True)
class Solution:
    cost: float
    free: tuple[str, ...]
    log_free: np.ndarray
    log_all: np.ndarray


def solve(matrix: Design, measured: np.ndarray, given: Mapping[str, float], near: Solution | None = None) -> Solution:
    """`near`: a solution to begin at, where it has the same free parameters."""
    free = tuple(name for name in matrix.parameters if name not in given)
    columns = [matrix.parameters.index(name) for name in free]
    log_all = np.array([math.log(given.get(name, 1.0)) for name in matrix.parameters])
    if not free:
        residuals = np.log(matrix.seconds(log_all)) - measured
        return Solution(float(residuals @ residuals), free, np.zeros(0), log_all)
    low = np.log([parameter(name).least for name in free])
    high = np.log([parameter(name).most for name in free])

    def everything(log_free: np.ndarray) -> np.ndarray:
        values = log_all.copy()
        values[columns] = log_free
        return values

    def found(start: np.ndarray, sharpness: float) -> OptimizeResult:
        return least_squares(
            lambda log_free: np.log(matrix.sensitivity(everything(log_free), sharpness)[0]) - measured,
            np.clip(start, low + 1e-6, high - 1e-6),
            jac=lambda log_free: matrix.sensitivity(everything(log_free), sharpness)[1][:, columns],
            bounds=(low, high),
            loss="soft_l1",
            f_scale=ROBUST_SCALE,
            x_scale=1.0,
            max_nfev=200,
            ftol=FTOL,
            xtol=FTOL,
            gtol=FTOL,
        )

    if near is not None and near.free == free:
        best = found(near.log_free, math.inf)
    else:
        best = found(_start(matrix, measured, free, log_all), math.inf)
        if matrix.larger.any():  # from where both sides are felt, which may end elsewhere
            other = found(found(_start(matrix, measured, free, log_all), SMOOTH).x, math.inf)
            best = other if other.cost < CLEARLY * best.cost else best
    return Solution(float(best.cost), free, best.x, everything(best.x))


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
