"""What to measure next: a point that the parameters depend on makes predictions surer, and by as much as is said."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from fourscore_analysis.models.advice import MOST_POINTS, next_points, tied
from fourscore_analysis.models.base import Question, models
from fourscore_analysis.models.certainty import NOISE
from fourscore_analysis.models.machines import Machine, Quantity
from fourscore_analysis.models.predictions import Basis, Timed, basis_of_machine, predicted
from fourscore_analysis.records.basics import Place
from fourscore_analysis.records.cells import Cell, Contract, Method
from fourscore_analysis.tables.columns import doubt_text
from synthetic.modelled_records import KNOWN

CONTRACT = Contract("transposed", "in-place", "none", "double", "c2c", "forward", "measure", 1, 1)


def question(size: int, ranks: int) -> Question:
    return Question(Cell(CONTRACT, (size,) * 3, Place(ranks)), Method("slab", "p2p", "fftw", "auto", ""))


def unsure(**spread: float) -> Basis:
    """KNOWN, with draws that are normal with such standard deviations of the logarithm."""
    machine = Machine("known", parameters={name: Quantity(value, "1") for name, value in KNOWN.items()})
    basis = basis_of_machine(models()["czechowski2012"], machine, {"links": "all"})
    random = np.random.default_rng(7)
    draws = np.stack([np.log(KNOWN[name]) + size * random.standard_normal(20000) for name, size in spread.items()], 1)
    return replace(basis, drawn=tuple(spread), draws=draws)


def test_a_point_that_depends_on_the_unsure_parameter_is_chosen_first():
    basis = unsure(latency=0.5)
    target = predicted(basis, question(16, 64))  # many ranks, small messages
    candidates = [predicted(basis, question(*at)) for at in ((256, 1), (256, 2), (16, 8), (64, 8))]
    points = next_points(basis, [target], candidates)
    assert (points[0].question.cell.shape, points[0].question.ranks) == ((16, 16, 16), 8)
    assert points[0].after < points[0].before
    assert all(point.question.ranks > 1 for point in points)  # one rank sends nothing


def test_uncertainty_before_and_after_follows_normal_theory():
    basis = unsure(latency=0.5)
    target, candidate = predicted(basis, question(16, 64)), predicted(basis, question(16, 8))
    [point] = next_points(basis, [target], [candidate])
    slope = target.elasticity["latency"]
    in_exchange = candidate.elasticity["latency"] * candidate.total.seconds / candidate.phases["exchange"].seconds
    assert point.before == pytest.approx(0.5 * slope, rel=0.03)
    after = 1 / np.sqrt(1 / 0.25 + in_exchange**2 / NOISE**2)
    assert point.after == pytest.approx(after * slope, rel=0.03)


def test_nothing_is_suggested_where_parameters_are_known_or_no_point_tells_them():
    basis = unsure(latency=1e-5)
    target, candidate = predicted(basis, question(16, 64)), predicted(basis, question(16, 8))
    assert next_points(basis, [target], [candidate]) == []
    assert next_points(unsure(latency=0.5), [target], [predicted(basis, question(256, 1))]) == []
    assert next_points(replace(basis, drawn=(), draws=np.zeros((1000, 0))), [target], [candidate]) == []
    assert next_points(unsure(latency=0.5), [], [candidate]) == []


def test_at_most_a_few_points_are_suggested_and_none_twice():
    basis = unsure(latency=0.5, link_bandwidth=0.5, memory_bandwidth=0.5, core_bandwidth=0.5)
    candidates = [predicted(basis, question(size, ranks)) for size in (16, 64, 256) for ranks in (2, 4, 8)]
    points = next_points(basis, [predicted(basis, question(128, 64))], candidates)
    assert 1 < len(points) <= MOST_POINTS
    assert len({point.question for point in points}) == len(points)
    assert [point.before for point in points[1:]] == pytest.approx([point.after for point in points[:-1]])


def test_predictions_are_tied_where_their_intervals_overlap():
    basis = unsure(latency=0.1)
    one = predicted(basis, question(16, 8))

    def timed(seconds: float, low: float, high: float):
        return replace(one, total=Timed(seconds, (low, high)))

    best = timed(1.0, 0.9, 1.1)
    assert tied(best, timed(1.15, 1.05, 1.3))
    assert tied(best, timed(1.2, 1.1, 1.3))  # they touch
    assert not tied(best, timed(1.5, 1.2, 1.8))
    assert not tied(replace(best, total=Timed(1.0)), replace(best, total=Timed(1.1)))
    assert tied(replace(best, total=Timed(1.0)), replace(best, total=Timed(1.0)))


@pytest.mark.parametrize(
    ("interval", "wide"),
    [(None, False), ((1.0, 1.9), False), ((1.0, 2.1), True), ((0.0, 1.0), True), ((2.0, 4.2), True)],
)
def test_an_interval_of_more_than_a_factor_of_two_decides_nothing(interval, wide):
    assert Timed(1.5, interval).too_wide is wide
    assert bool(doubt_text(Timed(1.5, interval))) is wide
