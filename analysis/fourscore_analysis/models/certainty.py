"""How sure fitted parameters are: which of them the data do not tell, and how the others move with the launches."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fourscore_analysis.models.parameters import parameter
from fourscore_analysis.models.rows import Rows
from fourscore_analysis.models.solve import ROBUST_SCALE
from fourscore_analysis.points.stats import NORMAL

CONFIDENCE = 0.95
SEED = 1993
# At an assumed noise of 5 %, a parameter whose logarithm is unsure by more than this is not determined.
NOISE, LEAST_SURE = 0.05, 0.5
MOST_SPAN = 2.0  # high over low end of an interval: beyond it a value decides nothing
MOST_LEVERAGE = 0.9  # so that a row that alone tells a parameter does not make everything unsure


def is_too_wide(interval: tuple[float, float] | None) -> bool:
    return interval is not None and interval[1] > MOST_SPAN * interval[0]


@dataclass(frozen=True)
class Refused:
    """Parameters that these points do not tell, alone or from each other."""

    names: tuple[str, ...]
    reason: str


def at_end(free: Sequence[str], log_values: np.ndarray) -> tuple[Refused, ...]:
    """Parameters whose best value is the least or the most that is allowed: there the fit would go further."""
    return tuple(
        Refused((name,), "the best value is absurd: at the end of what was allowed")
        for name, value in zip(free, log_values, strict=True)
        if min(abs(value - math.log(parameter(name).least)), abs(value - math.log(parameter(name).most))) < 1e-3
    )


def undetermined(free: Sequence[str], slopes: np.ndarray, ended: Sequence[Refused]) -> tuple[Refused, ...]:
    """By the directions in which the parameters may move without moving a prediction. `ended`: of one name each, whose
    best value is where the fit had to end."""
    if not len(free):
        return ()
    squares, vectors = np.linalg.eigh(slopes.T @ slopes)
    strengths, directions = np.sqrt(np.maximum(squares, 0.0)), vectors.T
    found = []
    for strength, direction in zip(strengths, directions, strict=True):
        if strength > NOISE / LEAST_SURE:
            continue
        names = tuple(name for name, part in zip(free, direction, strict=True) if abs(part) > 0.2)
        if len(names) == 1:
            found.append(Refused(names, "no point of these depends on it by more than noise"))
        else:
            found.append(
                Refused(names, "these points tell them only together: they act in the same way in all of them")
            )
    known = {name for one in found for name in one.names}
    found += [one for one in ended if not known.issuperset(one.names)]
    known |= {name for one in ended for name in one.names}
    for held in (name for one in ended for name in one.names):
        resting = tuple(name for name in _moved_with(held, free, slopes) if name not in known)
        if resting:
            found.append(Refused(resting, f"the best value rests on that of {held}, which these points do not tell"))
            known |= set(resting)
    return tuple(found)


def _moved_with(held: str, free: Sequence[str], slopes: np.ndarray) -> list[str]:
    """Parameters that would move half as far as this one, or further, to keep the predictions where they are."""
    others = [column for column, name in enumerate(free) if name != held]
    moves, *_ = np.linalg.lstsq(slopes[:, others], -slopes[:, free.index(held)], rcond=None)
    return [free[column] for column, move in zip(others, moves, strict=True) if abs(move) >= LEAST_SURE]


def _leverage(slopes: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """How much each row pulls its own prediction, 0 to 1: its residual is as much too small."""
    q, _ = np.linalg.qr(slopes * np.sqrt(weights)[:, None])
    return np.sum(q**2, axis=1)


def bootstrap(
    keys: Sequence[tuple[int, str]],
    rows: Rows,
    residuals: np.ndarray,
    slopes: np.ndarray,
    held: np.ndarray,
    draws: int,
) -> np.ndarray:
    """Moves of the log parameters, one line a draw; those that are `held` where the fit ended stay."""
    if held.any():
        moves = np.zeros((draws, len(held)))
        some = np.zeros(int((~held).sum()), dtype=bool)
        moves[:, ~held] = bootstrap(keys, rows, residuals, slopes[:, ~held], some, draws)
        return moves
    free = slopes.shape[1]
    if not free or not draws:
        return np.zeros((draws, free))
    from scipy.special import stdtrit  # slow to load

    random = np.random.default_rng(SEED)
    weights = random.standard_exponential((draws, rows.launches))
    # For each row in each draw: its weight, and its value moved by the launches' weights.
    row_weight = np.empty((draws, len(keys)))
    row_residual = np.empty((draws, len(keys)))
    for number, key in enumerate(keys):
        found = rows.log_launches[key]
        of_row = weights[:, [launch for launch, _ in found]]
        total = of_row.sum(axis=1)
        logs = np.array([value for _, value in found])
        row_weight[:, number] = total / len(found)
        row_residual[:, number] = residuals[number] - (of_row @ logs / total - rows.log_mean[key])
    # With the loss soft_l1: the pull of a row over its residual, and how its pull grows with the residual.
    spread = 1 + (residuals / ROBUST_SCALE) ** 2
    robust, growth = spread**-0.5, spread**-1.5
    counts = np.array([len(rows.log_launches[key]) for key in keys])
    row_residual /= np.sqrt(1 - np.minimum(_leverage(slopes, robust) / counts, MOST_LEVERAGE))
    squares = (slopes[:, :, None] * slopes[:, None, :]).reshape(len(keys), free * free)
    normal = ((row_weight * growth) @ squares).reshape(draws, free, free)
    ridge = 1e-9 * np.trace(normal, axis1=1, axis2=2)[:, None, None] * np.eye(free)
    right = (row_weight * robust * row_residual) @ slopes
    moves = -np.linalg.solve(normal + ridge, right[:, :, None])[:, :, 0]
    freedom = max(sum(len(found) for found in rows.log_launches.values()) - free, 1)
    quantile = (1 + CONFIDENCE) / 2
    wider = math.sqrt((freedom + free) / freedom) * float(stdtrit(freedom, quantile)) / NORMAL.inv_cdf(quantile)
    return moves * wider
