"""Points are suggested that tell what the measured ones do not."""

from __future__ import annotations

import pytest
from fourscore_analysis.models.base import models
from fourscore_analysis.models.fit import Given, fit
from fourscore_analysis.models.observations import Series
from fourscore_analysis.models.suggest import MOST_POINTS, candidates, suggested
from synthetic.modelled import GIVEN, TRUE, cubes, observed

CZECHOWSKI = models()["czechowski2012"]
FORMS = CZECHOWSKI.default_forms()


def series_of(questions, **options):
    measured = tuple(observed(questions, **options))
    first = measured[0].question
    return Series("pencil/alltoallv", first.method, first.contract, "m", measured)


def refused(series):
    fitted = fit(CZECHOWSKI, series.observations, FORMS, GIVEN)
    return fitted, {name for one in fitted.refused for name in one.names}


def test_what_is_suggested_for_a_latency_determines_it():
    large = cubes(extents=(128, 160, 192, 224), ranks=(1, 2))
    series = series_of(large)
    fitted, before = refused(series)
    assert "latency" in before
    points = suggested(series, fitted, most_ranks=4)
    assert 0 < len(points) <= MOST_POINTS
    _, after = refused(series_of([*large, *points]))
    assert "latency" not in after


@pytest.mark.parametrize(("extent", "suggests"), [(24, 0), (40, 1), (64, 1)])
def test_as_many_points_are_suggested_as_make_the_parameter_sure(extent, suggests):
    """A latency alone: noise of 5 % must leave less than a half of it, so slopes of 0.1 in all do."""
    given = {name: Given(value, "known") for name, value in TRUE.items() if name != "latency"}
    series = series_of(cubes(extents=(extent,), ranks=(2,)), noise=0.0)
    fitted = fit(CZECHOWSKI, series.observations, FORMS, given)
    assert bool(fitted.refused) == bool(suggests)
    points = suggested(series, fitted, most_ranks=4)
    assert len(points) == suggests
    measured = series_of([*cubes(extents=(extent,), ranks=(2,)), *points], noise=0.0)
    assert not fit(CZECHOWSKI, measured.observations, FORMS, given).refused


def test_points_are_added_as_long_as_each_tells_more_than_those_before():
    """Two ranks at most, so that the smallest cube does not tell the latency alone: the next one adds to it."""
    given = {name: Given(value, "known") for name, value in TRUE.items() if name != "latency"}
    series = series_of(cubes(extents=(160,), ranks=(2,)), noise=0.0)
    fitted = fit(CZECHOWSKI, series.observations, FORMS, given)
    points = suggested(series, fitted, most_ranks=2)
    assert [(one.cell.shape[0], one.ranks) for one in points] == [(40, 2), (80, 2)]


def test_nothing_is_suggested_where_everything_is_known():
    series = series_of(cubes())
    fitted, before = refused(series)
    assert not before
    assert suggested(series, fitted, most_ranks=16) == []


def test_candidates_are_new_and_fit_the_machine():
    series = series_of(cubes(extents=(32, 64), ranks=(1, 2)))
    measured = {(one.question.cell.shape, one.question.ranks) for one in series.observations}
    found = candidates(series, most_ranks=4)
    assert not measured & {(one.cell.shape, one.ranks) for one in found}
    assert {one.ranks for one in found} == {1, 2, 4}
    assert max(one.elements for one in found) <= 8 * 64**3


def test_neighbours_of_measured_points_are_suggested_where_nothing_could_be_fitted():
    series = series_of(cubes(extents=(64,), ranks=(2,)))
    points = suggested(series, None, most_ranks=2)
    assert {one.cell.shape[0] for one in points} > {64}
    assert {one.ranks for one in points} == {1, 2}
