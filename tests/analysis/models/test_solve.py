"""The robust solution of the rows of a design, against a search that knows the cost alone."""

from __future__ import annotations

import math

import numpy as np
import pytest
from fourscore_analysis.models.design import Design
from fourscore_analysis.models.parameters import PARAMETERS
from fourscore_analysis.models.solve import ROBUST_SCALE, row_costs, solve
from scipy.optimize import leastsq, minimize

LATENCY, BANDWIDTH = 2e-6, 1e10


def design(messages: np.ndarray, amounts: np.ndarray) -> Design:
    """Rows of messages * latency + amounts / bandwidth."""
    count = len(messages)
    return Design(
        rows=tuple((number, "exchange") for number in range(count)),
        parameters=("latency", "link_bandwidth"),
        sides=1,
        row=np.tile(np.arange(count), 2),
        side=np.zeros(2 * count, dtype=int),
        log_amount=np.log(np.concatenate([messages, amounts])),
        powers=np.array([[1.0, 0.0]] * count + [[0.0, -1.0]] * count),
        larger=np.zeros(count, dtype=bool),
    )


def soft_l1(residuals: np.ndarray) -> np.ndarray:
    """Half the square of a small residual, and the scale times a large one."""
    return ROBUST_SCALE**2 * (np.sqrt(1 + (residuals / ROBUST_SCALE) ** 2) - 1)


@pytest.fixture
def disturbed() -> tuple[Design, np.ndarray]:
    """Noise of 5 %, and one row that took five times as long."""
    drawn = np.random.default_rng(2)
    matrix = design(drawn.uniform(1, 100, 20), 10 ** drawn.uniform(3, 7, 20))
    measured = np.log(matrix.seconds(np.log([LATENCY, BANDWIDTH]))) + 0.05 * drawn.standard_normal(20)
    measured[3] += math.log(5)
    return matrix, measured


def test_a_solution_makes_the_robust_cost_least(disturbed):
    matrix, measured = disturbed

    def cost(log_values: np.ndarray) -> float:
        return float(soft_l1(np.log(matrix.seconds(log_values)) - measured).sum())

    found = solve(matrix, measured, {})
    least = minimize(cost, np.log([1e-6, 1e9]), method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-14})
    assert found.log_free == pytest.approx(least.x, abs=1e-4)
    assert found.cost == pytest.approx(least.fun, rel=1e-6)
    assert np.exp(found.log_free) == pytest.approx([LATENCY, BANDWIDTH], rel=0.1)
    costs = row_costs(matrix, measured, found)
    assert costs == pytest.approx(soft_l1(np.log(matrix.seconds(found.log_all)) - measured))
    assert costs.argmax() == 3


def test_what_is_given_stays_and_what_is_not_felt_ends_at_its_bound(disturbed):
    matrix, measured = disturbed
    found = solve(matrix, measured, {"latency": LATENCY})
    assert (found.free, math.exp(found.log_all[0])) == (("link_bandwidth",), pytest.approx(LATENCY))
    everything = solve(matrix, measured, {"latency": LATENCY, "link_bandwidth": BANDWIDTH})
    assert (everything.free, len(everything.log_free)) == ((), 0)
    faster = solve(matrix, measured - 60.0, {"latency": 1e-30})
    assert math.exp(faster.log_free[0]) == pytest.approx(PARAMETERS["link_bandwidth"].most, rel=1e-3)


def test_a_solution_that_is_near_is_where_the_search_begins(disturbed):
    matrix, measured = disturbed
    first = solve(matrix, measured, {})
    again = solve(matrix, measured, {}, near=first)
    assert again.log_free == pytest.approx(first.log_free, abs=1e-4)


def test_the_search_never_meets_columns_that_depend_on_each_other(monkeypatch):
    """SciPy's leastsq then reads past its Jacobian (see PULL), and two runs of one fit differ."""
    amounts = np.linspace(1, 100, 20)
    matrix = design(amounts, amounts)  # both parameters change each row in the same way
    measured = np.log(matrix.seconds(np.log([LATENCY, 1 / LATENCY])))
    smallest = []

    def watched(residuals, begin, arguments, jacobian, *rest, **more):
        def seen(*values):
            found = jacobian(*values)
            smallest.append(np.linalg.svd(found / np.linalg.norm(found, axis=0), compute_uv=False)[-1])
            return found

        return leastsq(residuals, begin, arguments, seen, *rest, **more)

    monkeypatch.setattr("scipy.optimize.leastsq", watched)
    solve(matrix, measured, {})
    assert min(smallest) > 1e-6
