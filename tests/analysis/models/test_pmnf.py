"""The normal form: exponents are found again, and points left out are predicted as by a fit without them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from fourscore_analysis.models import pmnf
from fourscore_analysis.models.observations import Observation
from synthetic.modelled import cubes

QUESTIONS = cubes(extents=(16, 24, 32, 64, 128), ranks=(1, 2, 4, 8, 16))
# Extra-P's usual choice, calotoiu2013.
SIZES = [(i, j) for i in (0, 1 / 2, 2 / 3, 3 / 4, 1, 5 / 4, 4 / 3, 3 / 2, 2) for j in (0, 1, 2)]
RANKS = [(k, m) for k in (-1, -3 / 4, -2 / 3, -1 / 2, -1 / 3, 0, 1 / 3, 1 / 2, 2 / 3, 1) for m in (0, 1)]


def terms_of(seconds_of) -> list:
    measured = [Observation(one, 1.0, {"fft": seconds_of(one.elements, one.ranks)}) for one in QUESTIONS]
    return pmnf.MODEL.specialise(measured).terms(QUESTIONS[-1], {}, {})


@pytest.mark.parametrize(("i", "j", "k", "m"), [(*size, -1, 0) for size in SIZES] + [(1, 1, *ranks) for ranks in RANKS])
def test_the_exponents_of_a_phase_are_found_again(i, j, k, m):
    def grown(n: float, p: float) -> float:
        return n**i * math.log2(n) ** j * p**k * math.log2(p) ** m

    middle = grown(32**3, 4)  # so that both terms are felt
    [constant, growth] = terms_of(lambda n, p: 1e-3 + 1e-3 / middle * grown(n, p))
    assert constant.name == "constant"
    assert growth.amount == pytest.approx(grown(128**3, 16), rel=1e-9)
    assert growth.name == pmnf.text((i, j, k, m))


@pytest.mark.parametrize(
    ("exponents", "text"),
    [
        ((1.0, 1, -1.0, 0), "N log2 N P^-1"),
        ((0.5, 2, 1 / 3, 1), "N^0.5 log2 N^2 P^0.333 log2 P"),
        ((0.0, 0, 0.0, 0), "1"),
    ],
)
def test_a_term_is_named_by_its_exponents(exponents, text):
    assert pmnf.text(exponents) == text


def test_a_point_that_is_left_out_is_predicted_as_by_a_fit_of_the_others():
    drawn = np.random.default_rng(1)
    x = drawn.uniform(1, 10, (3, 9))
    seconds = (2 + 0.3 * x[0]) * np.exp(0.1 * drawn.standard_normal(9))
    x[2] = 20 - x[0]  # would need a coefficient below 0, so the constant is left out
    expected, kinds = [], set()
    for row in x:
        columns = np.stack([np.ones(9), row], axis=1) / seconds[:, None]
        if np.linalg.lstsq(columns, np.ones(9), rcond=None)[0].min() < 0:
            columns = columns[:, 1:]
        kinds.add(columns.shape[1])
        errors = []
        for out in range(9):
            rest = np.arange(9) != out
            found, *_ = np.linalg.lstsq(columns[rest], np.ones(8), rcond=None)
            errors.append(abs(1 - columns[out] @ found))
        expected.append(np.mean(errors))
    assert kinds == {1, 2}
    assert pmnf._left_out_errors(x, seconds) == pytest.approx(expected)
