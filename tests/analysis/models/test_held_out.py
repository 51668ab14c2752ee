"""Points that are left out are predicted from the others alone, beside the naive model."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fourscore_analysis.models.base import models
from fourscore_analysis.models.held_out import TOTAL, Guess, _Known, errors, held_out, interval
from fourscore_analysis.models.observations import Observation
from synthetic.modelled import GIVEN, cubes, observed, question

CZECHOWSKI = models()["czechowski2012"]
FORMS = CZECHOWSKI.default_forms()


def guesses(measured, model=CZECHOWSKI):
    return held_out(model, measured, model.default_forms(), GIVEN)


def test_each_point_is_left_out_once_with_its_size_and_once_with_its_ranks():
    measured = observed(cubes(ranks=(1, 2, 4)), launches=2)
    found = [guess for guess in guesses(measured) if guess.phase == TOTAL]
    for scheme in ("size", "ranks"):
        of_scheme = [guess.question for guess in found if guess.scheme == scheme]
        assert len(of_scheme) == len(set(of_scheme))
    assert {guess.question for guess in found if guess.scheme == "size"} == {one.question for one in measured}


def test_a_true_model_predicts_what_it_has_not_seen_within_the_noise_and_better_than_the_nearest_point():
    measured = observed(cubes(), noise=0.02)
    by_size = {one.phase: one for one in errors([guess for guess in guesses(measured) if guess.scheme == "size"])}
    assert by_size[TOTAL].median < 0.03
    assert by_size[TOTAL].median < by_size[TOTAL].naive_median


def test_what_is_left_out_has_no_say():
    """Points of one size that are ten times too slow are predicted as if they were not."""
    measured = observed(cubes(extents=(32, 48, 64, 80, 96, 112, 128), ranks=(1, 2)), noise=0.0)
    spoilt = [
        Observation(one.question, 10 * one.total_s, {phase: 10 * value for phase, value in one.phases.items()})
        if one.question.cell.shape == (80, 80, 80)
        else one
        for one in measured
    ]
    found = [guess for guess in guesses(spoilt) if guess.scheme == "size" and guess.phase == TOTAL]
    of_spoilt = [guess for guess in found if guess.question.cell.shape == (80, 80, 80)]
    assert of_spoilt
    assert all(guess.error == pytest.approx(-0.9, abs=0.02) for guess in of_spoilt)


def test_the_naive_model_is_as_fast_a_rank_as_the_nearest_point():
    measured = observed(cubes(extents=(32, 64, 128), ranks=(1, 2)), noise=0.0, launches=1)
    times = {(one.question.cell.shape[0], one.question.ranks): one for one in measured}
    found = next(
        guess
        for guess in guesses(measured)
        if (guess.scheme, guess.phase, guess.question.cell.shape[0], guess.question.ranks) == ("size", TOTAL, 64, 2)
    )
    near = times[32, 2]
    flops = [one.question.cell.credited_flops for one in (times[64, 2], near)]
    assert found.naive_s == pytest.approx(near.total_s * flops[0] / flops[1])


def test_phases_whose_parameters_the_rest_does_not_tell_are_not_guessed():
    """Without the points on two ranks nothing is known of exchanges."""
    measured = observed(cubes(ranks=(1, 2)))
    on_two = [guess for guess in guesses(measured) if guess.scheme == "ranks" and guess.question.ranks == 2]
    assert {guess.phase for guess in on_two} == {"fft"}


def test_points_outside_of_what_was_seen_are_marked():
    found = [guess for guess in guesses(observed(cubes(ranks=(1, 2)))) if guess.phase == TOTAL]
    by_size = {guess.question.cell.shape[0]: guess.outside for guess in found if guess.scheme == "size"}
    assert by_size[256]
    assert not by_size[64]
    assert all(guess.outside for guess in found if guess.scheme == "ranks")


@pytest.mark.parametrize(
    ("extent", "ranks", "outside"),
    [(64, 2, False), (128, 4, False), (64, 4, False), (64, 8, True), (32, 1, True), (256, 2, True), (32, 2, True)],
)
def test_a_point_lies_outside_by_its_ranks_or_by_what_a_rank_has(extent, ranks, outside):
    seen = _Known.of([question("slab", (size,) * 3, count) for size, count in ((64, 2), (64, 4), (128, 2), (128, 4))])
    assert seen.is_beyond(question("slab", (extent,) * 3, ranks)) is outside


def guess_of(ratio, outside, extent=64):
    return Guess("size", question("slab", (extent,) * 3, 2), TOTAL, 3.0, None, 3.0 / ratio, outside)


@pytest.mark.parametrize(("ratio", "error"), [(0.5, -0.5), (1.0, 0.0), (1.5, 0.5), (3.0, 2.0)])
def test_an_error_is_relative_to_what_was_measured(ratio, error):
    one = guess_of(ratio, outside=False)
    assert one.error == pytest.approx(error)
    assert one.naive_error is None
    assert replace(one, naive_s=2 * one.measured_s).naive_error == pytest.approx(1.0)


def test_an_interval_is_of_the_errors_on_the_other_points():
    """Predicted times are 1.0 to 1.4 times too long elsewhere, so this one is 1.0 to 1.4 times too long as well."""
    one = guess_of(9.0, outside=False, extent=32)
    low, high = interval(one, [one, *(guess_of(ratio, outside=False) for ratio in (1.0, 1.1, 1.2, 1.3, 1.4))])
    assert 3 / 1.4 < low < 3 / 1.3
    assert 3 / 1.1 < high < 3.0


def test_points_outside_have_the_errors_made_outside_where_there_are_enough():
    one = guess_of(1.0, outside=True, extent=32)
    near = [guess_of(1.0, outside=False)] * 9
    assert interval(one, [one, *near, *[guess_of(2.0, outside=True)] * 4]) == pytest.approx((1.5, 1.5))
    assert interval(one, [one, *near, *[guess_of(2.0, outside=True)] * 3])[1] == pytest.approx(3.0)
    assert interval(one, [one, *near[:3]]) is None


def test_the_normal_form_finds_the_growth_of_a_phase():
    model = models()["pmnf"]
    measured = []
    for one in observed(cubes(ranks=(1, 2, 4, 8)), noise=0.0, launches=1):
        n, p = one.question.elements, one.question.ranks
        seconds = 3e-6 + 2e-9 * n / p**0.5
        measured.append(Observation(one.question, seconds, {"fft": seconds}))
    chosen = model.specialise(measured)
    [constant, growth] = chosen.terms(measured[0].question, {}, {})
    assert (constant.name, growth.name) == ("constant", "N P^-0.5")
    assert max(abs(guess.error) for guess in guesses(measured, model) if guess.scheme == "size") < 0.01
