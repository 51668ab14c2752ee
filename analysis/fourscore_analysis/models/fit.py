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
from functools import cached_property

import numpy as np
from scipy.optimize import minimize_scalar

from fourscore_analysis.models.base import Forms, Model
from fourscore_analysis.models.certainty import CONFIDENCE, Refused, bootstrap, undetermined
from fourscore_analysis.models.design import Design
from fourscore_analysis.models.observations import Observation
from fourscore_analysis.models.rows import Designs, Rows, key_of, matched, rows_of
from fourscore_analysis.models.solve import FTOL, ROUGHLY, Solution, robust_cost, solve
from fourscore_analysis.models.work import node_bytes

DRAWS = 1000
SEARCHED = "cache_bytes"  # shapes the amounts, and is found by searching
STEP = 1e-3  # of the logarithm
CANDIDATES = 12  # sizes of the cache that are tried first
TOLERANCE = 1e-3  # of its logarithm, then
# Where only predictions are wanted: how many of the sizes are solved for again, and steps to each side of the best.
AGAIN, STEPS_BETWEEN = 3, 3
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
    shared: Designs | None = None,
) -> Fitted:
    """`given`: parameters that are not fitted, with where they are from. Raises ValueError where no observation has a
    phase that the model has. `draws`: of the bootstrap; 0 for predictions alone. `shared`: of this
    model, these forms and at least these questions."""
    if model.specialise:
        model, shared = model.specialise(observations), None
    designs = shared or Designs(model, (one.question for one in observations), forms)
    search = _Search(model, designs, rows_of(observations, designs.questions), dict(forms), dict(given or {}))
    return _described(search, search.best() if draws else search.roughly_best(), draws)


@dataclass(frozen=True)
class _At:
    """The best fit where the shaping parameters are these."""

    shaping: dict[str, float]
    matrix: Design
    measured: np.ndarray
    solution: Solution


@dataclass
class _Search:
    model: Model
    designs: Designs
    rows: Rows
    forms: dict[str, str]
    given: dict[str, Given]

    @property
    def searches(self) -> bool:
        return SEARCHED in self.model.shaping and SEARCHED not in self.given

    def at(self, cache_bytes: float | None, near: _At | None = None, tolerance: float = FTOL) -> _At:
        shaping = self.shaping(cache_bytes)
        matrix, measured = matched(self.designs, self.rows, shaping)
        if not len(measured):
            raise ValueError(f"{self.model.name} models none of the phases that were measured")
        begin = near.solution if near else self.designs.solutions.get(key_of(shaping))
        return _At(shaping, matrix, measured, solve(matrix, measured, self.known, begin, tolerance))

    def shaping(self, cache_bytes: float | None) -> dict[str, float]:
        found = {name: self.given[name].value for name in self.model.shaping if name in self.given}
        if "private_cache_bytes" in self.model.shaping:
            found.setdefault("private_cache_bytes", PRIVATE_CACHE_BYTES)
        return found | ({SEARCHED: cache_bytes} if cache_bytes is not None else {})

    @property
    def known(self) -> dict[str, float]:
        return {name: one.value for name, one in self.given.items()}

    @cached_property
    def sizes(self) -> np.ndarray:
        """Logarithms of the sizes of the cache that are tried first, by the data of a node."""
        data = [node_bytes(question) for question in self.designs.questions]
        return np.log(np.geomspace(min(data), max(data) * 1.01, CANDIDATES))

    def best(self) -> _At:
        """With a cache between the neighbours of the best of `sizes`."""
        if not self.searches:
            return self.at(None)
        found = [self.at(math.exp(size)) for size in self.sizes]
        lowest = int(np.argmin([one.solution.cost for one in found]))
        self.designs.solutions.update({key_of(one.shaping): one.solution for one in found})
        near, ends = found[lowest], self._ends(lowest)
        closer = minimize_scalar(
            lambda size: self.at(math.exp(size), near).solution.cost,
            bounds=ends,
            method="bounded",
            options={"xatol": TOLERANCE},
        )
        return self.at(math.exp(closer.x), near) if closer.fun < near.solution.cost else near

    def roughly_best(self) -> _At:
        """The same, with a cache of one of a few sizes between the neighbours, so that fits of other parts of the same
        questions share their designs; of `sizes` those are tried that are best with what all questions gave there."""
        if not self.searches:
            return self.at(None, tolerance=ROUGHLY)
        costs = {number: self._cost_of_all(size) for number, size in enumerate(self.sizes)}
        order = sorted(costs, key=lambda number: costs[number])
        tried = [number for place, number in enumerate(order) if place < AGAIN or costs[number] < 0]
        found = {number: self.at(math.exp(self.sizes[number]), tolerance=ROUGHLY) for number in tried}
        lowest = min(found, key=lambda number: found[number].solution.cost)
        near = found[lowest]
        between = np.linspace(*self._ends(lowest), 2 * STEPS_BETWEEN + 1)[1:-1]
        closer = [self.at(math.exp(size), near, ROUGHLY) for size in between if size != self.sizes[lowest]]
        return min([near, *closer], key=lambda one: one.solution.cost)

    def _cost_of_all(self, size: float) -> float:
        """Of these rows, with what all questions gave for a cache of this size; -1 where nobody asked."""
        shaping = self.shaping(math.exp(size))
        solution = self.designs.solutions.get(key_of(shaping))
        return robust_cost(*matched(self.designs, self.rows, shaping), solution) if solution else -1.0

    def _ends(self, lowest: int) -> tuple[float, float]:
        return self.sizes[max(lowest - 1, 0)], self.sizes[min(lowest + 1, len(self.sizes) - 1)]

    def slope_of_search(self, best: _At) -> np.ndarray:
        """d log seconds / d log cache_bytes of each row, the other parameters as they are."""
        logs = []
        for step in (-STEP, STEP):
            shaping = best.shaping | {SEARCHED: best.shaping[SEARCHED] * math.exp(step)}
            matrix, _ = matched(self.designs, self.rows, shaping)
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
