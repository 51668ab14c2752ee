"""Terms as arrays: sums of sides, the larger of two sides, and slopes, by hand and by small steps."""

from __future__ import annotations

import math

import numpy as np
import pytest
from fourscore_analysis.models.base import models
from fourscore_analysis.models.certainty import at_end, bootstrap
from fourscore_analysis.models.design import Design, design
from fourscore_analysis.models.parameters import PARAMETERS
from fourscore_analysis.models.rows import Rows
from fourscore_analysis.models.solve import ROBUST_SCALE
from synthetic.modelled import TRUE, cubes, question

# Two rows: the larger of 3 x and 4, and 2 x + 5 y^2.
HAND = Design(
    rows=((0, "fft"), (0, "exchange")),
    parameters=("x", "y"),
    sides=2,
    row=np.array([0, 0, 1, 1]),
    side=np.array([0, 1, 0, 0]),
    log_amount=np.log([3.0, 4.0, 2.0, 5.0]),
    powers=np.array([[1.0, 0.0], [0.0, 0.0], [1.0, 0.0], [0.0, 2.0]]),
    larger=np.array([True, False]),
)


@pytest.mark.parametrize(
    ("x", "sharpness", "seconds", "slopes"),
    [
        (1.0, math.inf, [4, 7], [[0, 0], [2 / 7, 10 / 7]]),
        (2.0, math.inf, [6, 9], [[1, 0], [4 / 9, 10 / 9]]),
        (1.0, 2.0, [5, 7], [[9 / 25, 0], [2 / 7, 10 / 7]]),  # 3^2 + 4^2 = 5^2
        (1.0, 1.0, [7, 7], [[3 / 7, 0], [2 / 7, 10 / 7]]),
    ],
)
def test_a_row_is_the_sum_of_its_terms_or_the_larger_side_felt_as_sharply_as_asked_for(x, sharpness, seconds, slopes):
    values = np.log([x, 1.0])
    assert HAND.seconds(values, sharpness) == pytest.approx(seconds)
    found, found_slopes = HAND.sensitivity(values, sharpness)
    assert found == pytest.approx(seconds)
    assert found_slopes == pytest.approx(np.array(slopes))


def test_some_rows_alone_have_the_parameters_that_they_need():
    one = HAND.of_rows(np.array([0]))
    assert (one.rows, one.parameters) == (((0, "fft"),), ("x",))
    assert one.seconds(np.log([2.0])) == pytest.approx([6.0])
    other = HAND.of_rows(np.array([1]))
    assert (other.rows, other.parameters) == (((0, "exchange"),), ("x", "y"))
    assert other.seconds(np.log([2.0, 3.0])) == pytest.approx([49.0])


@pytest.mark.parametrize("sharpness", [math.inf, 8.0])
def test_slopes_are_those_of_small_steps(sharpness):
    model = models()["czechowski2012"]
    questions = [*cubes(ranks=(1, 4)), question("pencil", (64,) * 3, 4, nodes=2, grid=(2, 2))]
    made = design(model, questions, model.default_forms(), TRUE, None)
    values = np.log([TRUE[name] for name in made.parameters])
    _, slopes = made.sensitivity(values, sharpness)
    for column in range(len(values)):
        step = np.zeros(len(values))
        step[column] = 1e-6
        ends = [np.log(made.seconds(values + sign * step, sharpness)) for sign in (-1, 1)]
        assert slopes[:, column] == pytest.approx((ends[1] - ends[0]) / 2e-6, abs=1e-4)


def test_only_phases_that_are_asked_for_have_rows():
    model = models()["czechowski2012"]
    asked = design(model, cubes(ranks=(1, 2)), model.default_forms(), TRUE, ["exchange"])
    assert {phase for _, phase in asked.rows} == {"exchange"}
    whole = design(model, cubes(ranks=(1, 2)), model.default_forms(), TRUE, None)
    assert {phase for _, phase in whole.rows} == {"fft", "shuffle", "exchange"}


@pytest.mark.parametrize("spread", [0.02, 0.1, 0.3])
def test_draws_spread_as_an_estimate_with_the_robust_cost_does(spread):
    """Huber, Ann. Math. Stat. 35, 1964: the root of the sum of the squared pulls over the sum of their slopes; and
    Student's quantile over the normal one, as 60 launches know their own noise."""
    count = 60
    residuals = spread * np.random.default_rng(1).standard_normal(count)
    for _ in range(50):  # to where the pulls balance
        root = np.sqrt(1 + (residuals / ROBUST_SCALE) ** 2)
        residuals -= np.sum(residuals / root) / np.sum(root**-3.0)
    keys = [(number, "fft") for number in range(count)]
    rows = Rows([], dict.fromkeys(keys, 0.0), {key: [(key[0], 0.0)] for key in keys}, count)
    moves = bootstrap(keys, rows, residuals, np.ones((count, 1)), np.array([False]), 8000)
    root = np.sqrt(1 + (residuals / ROBUST_SCALE) ** 2)
    expected = math.sqrt(np.sum((residuals / root) ** 2)) / np.sum(root**-3.0) * math.sqrt(60 / 59) * 2.001 / 1.95996
    assert float(np.std(moves)) == pytest.approx(expected, rel=0.1)
    held = bootstrap(keys, rows, residuals, np.ones((count, 1)), np.array([True]), 10)
    assert not held.any()


@pytest.mark.parametrize(
    ("factor", "of", "ended"),
    [(1.0005, "least", True), (1.1, "least", False), (1 / 1.0005, "most", True), (1 / 1.1, "most", False)],
)
def test_a_value_at_the_end_of_what_is_allowed_is_absurd(factor, of, ended):
    parameter = PARAMETERS["latency"]
    found = at_end(["latency"], np.log([getattr(parameter, of) * factor]))
    assert [one.names for one in found] == [("latency",)] * ended
