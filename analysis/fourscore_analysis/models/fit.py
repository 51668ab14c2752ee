"""Parameters of a machine from measured phases: what the data determine, with an interval, and nothing else.

Least squares of log(predicted / measured), one row for each point and phase: in relative error, so that small problems
count as much as large ones. Robust (scipy's soft_l1): a point far off pulls with bounded force. Bounded by what is
absurd (models/parameters.py).

Intervals are of a Bayesian bootstrap over launches (rubin1981): each launch gets a random weight, all of its phases the
same, and the parameters move by one Newton step. The spread is widened by sqrt(n / (n - k)) and by Student's quantile
over the normal one, as hesterberg2015 has it, so that a few launches do not look surer than they are."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import least_squares
from scipy.special import ndtri, stdtrit

from fourscore_analysis.models.base import Forms, Model, Question
from fourscore_analysis.models.design import Design, design
from fourscore_analysis.models.observations import Observation
from fourscore_analysis.models.parameters import parameter
from fourscore_analysis.models.work import node_bytes

CONFIDENCE = 0.95
DRAWS = 1000
SEED = 1993
ROBUST_SCALE = 0.1  # relative error from which on a row pulls less
# Of an assumed noise of 5 %: a parameter whose logarithm would then be unsure by more than this is not determined.
NOISE, LEAST_SURE = 0.05, 0.5
CACHE_CANDIDATES = 12
PRIVATE_CACHE_BYTES = 2.0**20  # where the record does not say
# Where a search begins that no term alone gives a value for.
TYPICAL = {"memory_constant": 6.3, "memory_bandwidth": 2e10, "latency": 1e-6}


@dataclass(frozen=True)
class Given:
    """A parameter that is not fitted: by whom it is known, and how well."""

    value: float
    origin: str
    interval: tuple[float, float] | None = None


@dataclass(frozen=True)
class Refused:
    """Parameters that these points do not tell, alone or from each other."""

    names: tuple[str, ...]
    reason: str


@dataclass(frozen=True)
class Fitted:
    """`values`: of every parameter that the terms need. `origin`: fitted, searched, or as it was given; or
    undetermined: then the value is good for predictions within what was measured, and says nothing of the machine."""

    model: Model
    forms: dict[str, str]
    values: dict[str, float]
    origin: dict[str, str]
    intervals: dict[str, tuple[float, float]]
    refused: tuple[Refused, ...]
    residual: float  # median |predicted / measured - 1| over the rows that were fitted
    rows: int
    launches: int
    draws: np.ndarray = field(repr=False)  # of log parameters, (DRAWS, free)
    free: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Rows:
    """Measured logarithms by point and phase: the mean over launches, and each launch's."""

    questions: list[Question]
    log_mean: dict[tuple[int, str], float]
    log_launches: dict[tuple[int, str], list[tuple[int, float]]]  # (number of the launch, log seconds)
    launches: int


def fit(
    model: Model,
    observations: Sequence[Observation],
    forms: Forms,
    given: Mapping[str, Given] | None = None,
    draws: int = DRAWS,
) -> Fitted:
    """`given`: parameters that are not fitted, with where they are from. Raises ValueError where no observation has a
    phase that the model has."""
    given = dict(given or {})
    if model.specialise:
        model = model.specialise(observations)
    rows = _rows_of(observations)
    best = None
    for shaping in _shapings(model, rows.questions, given):
        matrix, measured = _matched(model, rows, forms, shaping)
        if not len(measured):
            raise ValueError(f"{model.name} models none of the phases that were measured")
        found = _solve(matrix, measured, {name: one.value for name, one in given.items()})
        if best is None or found.cost < best[0].cost * (1 - 1e-9):
            best = (found, matrix, measured, shaping)
    assert best is not None
    return _described(model, dict(forms), rows, given, *best, draws)


def _shapings(model: Model, questions: Sequence[Question], given: Mapping[str, Given]) -> list[dict[str, float]]:
    """What the shaping parameters may be: the given values, and for a cache of unknown size as many sizes as there are
    between the smallest and the largest data of a node."""
    fixed = {name: given[name].value for name in model.shaping if name in given}
    fixed.setdefault("private_cache_bytes", PRIVATE_CACHE_BYTES)
    fixed = {name: value for name, value in fixed.items() if name in model.shaping}
    if "cache_bytes" not in model.shaping or "cache_bytes" in fixed:
        return [fixed]
    data = [node_bytes(question) for question in questions]
    sizes = np.geomspace(min(data), max(data) * 1.01, CACHE_CANDIDATES)
    return [fixed | {"cache_bytes": float(size)} for size in sizes]


@dataclass(frozen=True)
class _Solution:
    cost: float
    free: tuple[str, ...]
    log_free: np.ndarray
    log_all: np.ndarray


def _solve(matrix: Design, measured: np.ndarray, given: Mapping[str, float]) -> _Solution:
    free = tuple(name for name in matrix.parameters if name not in given)
    columns = [matrix.parameters.index(name) for name in free]
    log_all = np.array([math.log(given.get(name, 1.0)) for name in matrix.parameters])
    if not free:
        residuals = np.log(matrix.seconds(log_all)) - measured
        return _Solution(float(residuals @ residuals), free, np.zeros(0), log_all)
    low = np.log([parameter(name).least for name in free])
    high = np.log([parameter(name).most for name in free])

    def everything(log_free: np.ndarray) -> np.ndarray:
        values = log_all.copy()
        values[columns] = log_free
        return values

    def residuals(log_free: np.ndarray) -> np.ndarray:
        return np.log(matrix.seconds(everything(log_free))) - measured

    def slopes(log_free: np.ndarray) -> np.ndarray:
        return matrix.sensitivity(everything(log_free))[1][:, columns]

    start = np.clip(_start(matrix, measured, free, log_all), low + 1e-6, high - 1e-6)
    found = least_squares(
        residuals,
        start,
        jac=slopes,
        bounds=(low, high),
        loss="soft_l1",
        f_scale=ROBUST_SCALE,
        x_scale=1.0,
        max_nfev=200,
    )
    return _Solution(float(found.cost), free, found.x, everything(found.x))


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


def _rows_of(observations: Sequence[Observation]) -> _Rows:
    numbers: dict[Question, int] = {}
    launches: dict[tuple[int, str], list[tuple[int, float]]] = defaultdict(list)
    for launch, one in enumerate(observations):
        number = numbers.setdefault(one.question, len(numbers))
        for phase, seconds in one.phases.items():
            launches[number, phase].append((launch, math.log(seconds)))
    means = {key: math.fsum(value for _, value in found) / len(found) for key, found in launches.items()}
    return _Rows(list(numbers), means, dict(launches), len(observations))


def _matched(model: Model, rows: _Rows, forms: Forms, shaping: Mapping[str, float]) -> tuple[Design, np.ndarray]:
    """The model's rows that were measured, and their logarithms."""
    phases = {phase for _, phase in rows.log_mean}
    matrix = design(model, rows.questions, forms, shaping, tuple(phases))
    kept = [number for number, key in enumerate(matrix.rows) if key in rows.log_mean]
    matrix = matrix.of_rows(kept)
    return matrix, np.array([rows.log_mean[key] for key in matrix.rows])


def _described(
    model: Model,
    forms: dict[str, str],
    rows: _Rows,
    given: Mapping[str, Given],
    solution: _Solution,
    matrix: Design,
    measured: np.ndarray,
    shaping: Mapping[str, float],
    draws: int,
) -> Fitted:
    seconds, slopes = matrix.sensitivity(solution.log_all)
    residuals = np.log(seconds) - measured
    values = dict(shaping) | {name: one.value for name, one in given.items() if name in matrix.parameters}
    values |= {name: float(np.exp(value)) for name, value in zip(solution.free, solution.log_free, strict=True)}
    origin = {name: given[name].origin if name in given else "searched" for name in shaping}
    origin |= {name: given[name].origin for name in given if name in matrix.parameters}
    origin |= dict.fromkeys(solution.free, "fitted")
    columns = [matrix.parameters.index(name) for name in solution.free]
    refused = _undetermined(solution.free, slopes[:, columns], solution.log_free)
    for name in {name for one in refused for name in one.names}:
        origin[name] = "undetermined"
    moved = _bootstrap(matrix, rows, residuals, slopes[:, columns], draws) + solution.log_free
    quantiles = np.quantile(moved, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2], axis=0) if draws else None
    intervals = {name: one.interval for name, one in given.items() if name in origin and one.interval}
    intervals |= {
        name: (float(np.exp(quantiles[0, column])), float(np.exp(quantiles[1, column])))
        for column, name in enumerate(solution.free)
        if quantiles is not None and origin[name] == "fitted"
    }
    return Fitted(
        model=model,
        forms=forms,
        values=values,
        origin=origin,
        intervals=intervals,
        refused=refused,
        residual=float(np.median(np.abs(np.expm1(residuals)))),
        rows=len(measured),
        launches=rows.launches,
        draws=moved,
        free=solution.free,
    )


def _undetermined(free: Sequence[str], slopes: np.ndarray, log_values: np.ndarray) -> tuple[Refused, ...]:
    """By the directions in which the parameters may move without moving a prediction."""
    if not len(free):
        return ()
    _, strengths, directions = np.linalg.svd(slopes, full_matrices=True)
    strengths = np.concatenate([strengths, np.zeros(len(free) - len(strengths))])
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
    at_bound = [
        name
        for name, value in zip(free, log_values, strict=True)
        if min(abs(value - math.log(parameter(name).least)), abs(value - math.log(parameter(name).most))) < 1e-3
        and not any(name in one.names for one in found)
    ]
    return (
        *found,
        *(Refused((name,), "the best value is absurd: at the end of what was allowed") for name in at_bound),
    )


def _bootstrap(matrix: Design, rows: _Rows, residuals: np.ndarray, slopes: np.ndarray, draws: int) -> np.ndarray:
    """Moves of the log parameters, one line a draw."""
    free = slopes.shape[1]
    if not free or not draws:
        return np.zeros((draws, free))
    random = np.random.default_rng(SEED)
    weights = random.standard_exponential((draws, rows.launches))
    # Of each row in each draw: its weight, and its value moved by the launches' weights.
    row_weight = np.empty((draws, len(matrix.rows)))
    row_residual = np.empty((draws, len(matrix.rows)))
    for number, key in enumerate(matrix.rows):
        found = rows.log_launches[key]
        of_row = weights[:, [launch for launch, _ in found]]
        total = of_row.sum(axis=1)
        logs = np.array([value for _, value in found])
        row_weight[:, number] = total / len(found)
        row_residual[:, number] = residuals[number] - (of_row @ logs / total - rows.log_mean[key])
    robust = 1 / np.sqrt(1 + (residuals / ROBUST_SCALE) ** 2)  # soft_l1: the weight of a row in the normal equations
    row_weight *= robust
    normal = np.einsum("bn,nk,nl->bkl", row_weight, slopes, slopes)
    ridge = 1e-9 * np.trace(normal, axis1=1, axis2=2)[:, None, None] * np.eye(free)
    right = np.einsum("bn,bn,nk->bk", row_weight, row_residual, slopes)
    moves = -np.linalg.solve(normal + ridge, right[:, :, None])[:, :, 0]
    freedom = max(sum(len(found) for found in rows.log_launches.values()) - free, 1)
    quantile = (1 + CONFIDENCE) / 2
    wider = math.sqrt((freedom + free) / freedom) * float(stdtrit(freedom, quantile) / ndtri(quantile))
    return moves * wider
