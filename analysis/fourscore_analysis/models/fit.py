"""Parameters of a machine from measured phases: what the data determine, with an interval, and nothing else.

Least squares of log(predicted / measured), one row for each point and phase: in relative error, so that small problems
count as much as large ones. Robust (scipy's soft_l1): a point far off pulls with bounded force. Bounded by what is
absurd (models/parameters.py).

Intervals are of a Bayesian bootstrap over launches (rubin1981): each launch gets a random weight, all of its phases the
same, and the parameters move by one Newton step. The spread is widened by sqrt(n / (n - k)) and by Student's quantile
over the normal one, as hesterberg2015 has it, so that a few launches do not look surer than they are."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import minimize_scalar

from fourscore_analysis.models.base import Forms, Model
from fourscore_analysis.models.certainty import CONFIDENCE, Refused, bootstrap, undetermined
from fourscore_analysis.models.design import Design
from fourscore_analysis.models.observations import Observation
from fourscore_analysis.models.rows import Rows, matched, rows_of
from fourscore_analysis.models.solve import Solution, solve
from fourscore_analysis.models.work import node_bytes

DRAWS = 1000
SEARCHED = "cache_bytes"  # shapes the amounts, and is found by searching
STEP = 1e-3  # of the logarithm
CANDIDATES = 12  # sizes of the cache that are tried first
TOLERANCE, ROUGH_TOLERANCE = 1e-3, 0.05  # of its logarithm, then; rough where only predictions are wanted
PRIVATE_CACHE_BYTES = 2.0**20  # where the record does not say


@dataclass(frozen=True)
class Given:
    """A parameter that is not fitted: by whom it is known, and how well."""

    value: float
    origin: str
    interval: tuple[float, float] | None = None


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


def fit(
    model: Model,
    observations: Sequence[Observation],
    forms: Forms,
    given: Mapping[str, Given] | None = None,
    draws: int = DRAWS,
) -> Fitted:
    """`given`: parameters that are not fitted, with where they are from. Raises ValueError where no observation has a
    phase that the model has. `draws`: of the bootstrap; 0 for predictions alone."""
    if model.specialise:
        model = model.specialise(observations)
    search = _Search(model, rows_of(observations), dict(forms), dict(given or {}))
    return _described(search, search.best(TOLERANCE if draws else ROUGH_TOLERANCE), draws)


@dataclass(frozen=True)
class _At:
    """The best fit where the shaping parameters are these."""

    shaping: dict[str, float]
    matrix: Design
    measured: np.ndarray
    solution: Solution


@dataclass(frozen=True)
class _Search:
    model: Model
    rows: Rows
    forms: dict[str, str]
    given: dict[str, Given]

    @property
    def searches(self) -> bool:
        return SEARCHED in self.model.shaping and SEARCHED not in self.given

    def at(self, cache_bytes: float | None, near: _At | None = None) -> _At:
        shaping = {name: self.given[name].value for name in self.model.shaping if name in self.given}
        if "private_cache_bytes" in self.model.shaping:
            shaping.setdefault("private_cache_bytes", PRIVATE_CACHE_BYTES)
        if cache_bytes is not None:
            shaping[SEARCHED] = cache_bytes
        matrix, measured = matched(self.model, self.rows, self.forms, shaping)
        if not len(measured):
            raise ValueError(f"{self.model.name} models none of the phases that were measured")
        return _At(shaping, matrix, measured, solve(matrix, measured, self.known, near and near.solution))

    @property
    def known(self) -> dict[str, float]:
        return {name: one.value for name, one in self.given.items()}

    def best(self, tolerance: float) -> _At:
        """A cache is looked for between the smallest and the largest data of a node: first at some sizes, then between
        the neighbours of the best of them."""
        if not self.searches:
            return self.at(None)
        data = [node_bytes(question) for question in self.rows.questions]
        sizes = np.log(np.geomspace(min(data), max(data) * 1.01, CANDIDATES))
        found = [self.at(math.exp(size)) for size in sizes]
        costs = [one.solution.cost for one in found]
        lowest = int(np.argmin(costs))
        ends = (sizes[max(lowest - 1, 0)], sizes[min(lowest + 1, len(sizes) - 1)])
        near = found[lowest]
        closer = minimize_scalar(
            lambda size: self.at(math.exp(size), near).solution.cost,
            bounds=ends,
            method="bounded",
            options={"xatol": tolerance},
        )
        return self.at(math.exp(closer.x), near) if closer.fun < costs[lowest] else near

    def slope_of_search(self, best: _At) -> np.ndarray:
        """d log seconds / d log cache_bytes of each row, the other parameters as they are."""
        logs = []
        for step in (-STEP, STEP):
            shaping = best.shaping | {SEARCHED: best.shaping[SEARCHED] * math.exp(step)}
            matrix, _ = matched(self.model, self.rows, self.forms, shaping)
            values = dict(zip(best.matrix.parameters, best.solution.log_all, strict=True))
            there = np.array([values.get(name, np.nan) for name in matrix.parameters])
            seconds = dict(zip(matrix.rows, np.log(matrix.seconds(there)), strict=True))
            logs.append(np.array([seconds[key] for key in best.matrix.rows]))
        slopes = (logs[1] - logs[0]) / (2 * STEP)
        return np.where(np.isfinite(slopes), slopes, 0.0)


def _described(search: _Search, best: _At, draws: int) -> Fitted:
    matrix, solution, given = best.matrix, best.solution, search.given
    seconds, slopes = matrix.sensitivity(solution.log_all)
    residuals = np.log(seconds) - best.measured
    slopes = slopes[:, [matrix.parameters.index(name) for name in solution.free]]
    free, log_free = solution.free, solution.log_free
    if search.searches:
        free = (*free, SEARCHED)
        log_free = np.append(log_free, math.log(best.shaping[SEARCHED]))
        slopes = np.column_stack([slopes, search.slope_of_search(best)])
    values = best.shaping | {name: one.value for name, one in given.items() if name in matrix.parameters}
    values |= {name: float(np.exp(value)) for name, value in zip(free, log_free, strict=True)}
    origin = {name: given[name].origin if name in given else "not known: a guess" for name in best.shaping}
    origin |= {name: one.origin for name, one in given.items() if name in matrix.parameters}
    origin |= dict.fromkeys(free, "fitted")
    refused = undetermined(free, slopes, log_free)
    for name in {name for one in refused for name in one.names}:
        origin[name] = "undetermined"
    moved = bootstrap(matrix.rows, search.rows, residuals, slopes, draws) + log_free
    quantiles = np.quantile(moved, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2], axis=0) if draws else None
    intervals = {name: one.interval for name, one in given.items() if name in origin and one.interval}
    intervals |= {
        name: (float(np.exp(quantiles[0, column])), float(np.exp(quantiles[1, column])))
        for column, name in enumerate(free)
        if quantiles is not None and origin[name] == "fitted"
    }
    return Fitted(
        model=search.model,
        forms=search.forms,
        values=values,
        origin=origin,
        intervals=intervals,
        refused=refused,
        residual=float(np.median(np.abs(np.expm1(residuals)))),
        rows=len(best.measured),
        launches=search.rows.launches,
        draws=moved,
        free=free,
    )
