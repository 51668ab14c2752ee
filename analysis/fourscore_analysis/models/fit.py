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

from fourscore_analysis.models.base import Forms, Model
from fourscore_analysis.models.certainty import CONFIDENCE, Refused, at_end, bootstrap, undetermined
from fourscore_analysis.models.design import Design
from fourscore_analysis.models.observations import Observation
from fourscore_analysis.models.rows import Designs, Found, Rows, key_of, matched, rows_of
from fourscore_analysis.models.solve import FTOL, ROUGHLY, Solution, row_costs, solve
from fourscore_analysis.models.work import node_bytes

DRAWS = 1000
SEARCHED = "cache_bytes"  # shapes the amounts, and is found by searching
STEP = 1e-3  # in the logarithm, to either side, for slopes
CANDIDATES, BETWEEN = 12, 2  # sizes of the cache that are tried first, and steps of the lattice from one to the next
TOLERANCE = 1e-2  # in the logarithm of the size, when the search goes on from them
AGAIN = 2  # where only predictions are wanted: how many of the candidates are solved for again
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
    draws: np.ndarray = field(repr=False)  # log parameters, (DRAWS, free)
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
    phase that the model has. `draws`: of the bootstrap; 0 for predictions alone, which refuse no parameter. `shared`:
    of this model, these forms and at least these questions."""
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
        begin = near.solution if near else self._solution_of_all(shaping)
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
    def lattice(self) -> np.ndarray:
        """Logarithms of sizes of the cache, by the data of a node: the same for all parts of the questions, which so
        share designs. Every BETWEEN-th is a candidate."""
        data = [node_bytes(question) for question in self.designs.questions]
        return np.linspace(math.log(min(data)), math.log(max(data) * 1.01), (CANDIDATES - 1) * BETWEEN + 1)

    def best(self) -> _At:
        """With a cache between the neighbours of the best of the lattice."""
        if not self.searches:
            return self.at(None)
        from scipy.optimize import minimize_scalar  # slow to load

        candidates = range(0, len(self.lattice), BETWEEN)
        found = {place: self.at_place(place) for place in candidates}
        for one in found.values():
            costs = row_costs(one.matrix, one.measured, one.solution)
            self.designs.found[key_of(one.shaping)] = Found(one.solution, one.matrix.rows, costs)
        place = self.descended(found)
        near = self.at_place(place, found[place], FTOL)
        last = len(self.lattice) - 1
        closer = minimize_scalar(
            lambda size: self.at(math.exp(size), near).solution.cost,
            bounds=(self.lattice[max(place - 1, 0)], self.lattice[min(place + 1, last)]),
            method="bounded",
            options={"xatol": TOLERANCE},
        )
        return self.at(math.exp(closer.x), near) if closer.fun < near.solution.cost else near

    def roughly_best(self) -> _At:
        """The best of the lattice near the candidates that are best with what all questions gave there."""
        if not self.searches:
            return self.at(None, tolerance=ROUGHLY)
        costs = {place: self._cost_of_all(place) for place in range(0, len(self.lattice), BETWEEN)}
        order = sorted(costs, key=lambda place: costs[place])
        unknown = [place for place in order[AGAIN:] if costs[place] < 0]
        found = {place: self.at_place(place) for place in order[:AGAIN] + unknown}
        return found[self.descended(found)]

    def at_place(self, place: int, near: _At | None = None, tolerance: float = ROUGHLY) -> _At:
        return self.at(math.exp(self.lattice[place]), near, tolerance)

    def descended(self, found: dict[int, _At]) -> int:
        """Goes from the best of what was found to a place of the lattice with no better neighbour; `found` grows."""
        place = min(found, key=lambda one: found[one].solution.cost)
        while True:
            near = found[place]
            for neighbour in (place - 1, place + 1):
                if 0 <= neighbour < len(self.lattice) and neighbour not in found:
                    found[neighbour] = self.at_place(neighbour, near)
            around = [one for one in (place, place - 1, place + 1) if one in found]
            lowest = min(around, key=lambda one: found[one].solution.cost)
            if lowest == place:
                return place
            place = lowest

    def too_small(self, best: _At) -> tuple[Refused, ...]:
        """A cache as small as the smallest data, where the search ends."""
        if math.log(best.shaping[SEARCHED]) > self.lattice[0] + TOLERANCE:
            return ()
        return (Refused((SEARCHED,), "the best value is that of the smallest data that were measured: it may be less"),)

    def _cost_of_all(self, place: int) -> float:
        """The cost of these rows, with what all questions gave for a cache of this size; -1 where nobody asked."""
        found = self.designs.found.get(key_of(self.shaping(math.exp(self.lattice[place]))))
        return float(found.costs[self.rows.kept(found.rows)].sum()) if found else -1.0

    def _solution_of_all(self, shaping: Mapping[str, float]) -> Solution | None:
        found = self.designs.found.get(key_of(shaping))
        return found.solution if found else None

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
        if draws:
            slopes = np.column_stack([slopes, search.slope_of_search(best)])
    values = best.shaping | {name: one.value for name, one in given.items() if name in matrix.parameters}
    values |= {name: float(np.exp(value)) for name, value in zip(free, log_free, strict=True)}
    origin = {name: given[name].origin if name in given else "not known: a guess" for name in best.shaping}
    origin |= {name: one.origin for name, one in given.items() if name in matrix.parameters}
    origin |= dict.fromkeys(free, "fitted")
    smallest = search.too_small(best) if search.searches else ()
    ended = (*at_end(free, log_free), *smallest)
    refused = undetermined(free, slopes, ended) if draws else smallest
    for name in {name for one in refused for name in one.names}:
        origin[name] = "undetermined"
    moved, quantiles = np.zeros((0, len(free))), None
    if draws:
        held = np.array([any(name in one.names for one in ended) for name in free])
        moved = bootstrap(matrix.rows, search.rows, residuals, slopes, held, draws) + log_free
        quantiles = np.quantile(moved, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2], axis=0)
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
