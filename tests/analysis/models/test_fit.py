"""Parameters of a known machine are found again, as sure as the intervals say, and what the data do not tell is
refused."""

from __future__ import annotations

import math

import pytest
from fourscore_analysis.models.base import models, predict
from fourscore_analysis.models.fit import Given, fit
from fourscore_analysis.models.parameters import PARAMETERS
from synthetic.modelled import GIVEN, TRUE, cubes, observed, question

CZECHOWSKI = models()["czechowski2012"]
FORMS = CZECHOWSKI.default_forms()


def test_every_parameter_is_exact_without_noise():
    fitted = fit(CZECHOWSKI, observed(cubes(), launches=1, noise=0.0), FORMS, GIVEN)
    assert not fitted.refused
    for name in fitted.free:
        assert fitted.values[name] == pytest.approx(TRUE[name], rel=0.002), name


def test_every_parameter_is_within_5_percent_with_noise_of_5_percent():
    fitted = fit(CZECHOWSKI, observed(cubes(), launches=20), FORMS, GIVEN)
    assert set(fitted.free) == {name for name in TRUE if name in fitted.values} - set(GIVEN)
    for name in fitted.free:
        assert fitted.values[name] == pytest.approx(TRUE[name], rel=0.05), name


def test_the_cache_is_found_between_the_sizes_that_were_measured():
    fitted = fit(CZECHOWSKI, observed(cubes(), launches=5), FORMS, GIVEN)
    low, high = fitted.intervals["cache_bytes"]
    assert low <= TRUE["cache_bytes"] <= high
    assert high / low < 1.3


@pytest.mark.parametrize("cache_bytes", [1.2e7, 2e7, 3e7])
def test_the_cache_is_found_to_a_tenth_without_noise(cache_bytes):
    true = TRUE | {"cache_bytes": cache_bytes}
    fitted = fit(CZECHOWSKI, observed(cubes(), launches=1, noise=0.0, true=true), FORMS, GIVEN, draws=0)
    assert fitted.values["cache_bytes"] == pytest.approx(cache_bytes, rel=0.1)


@pytest.mark.parametrize("name", sorted(name for name, model in models().items() if not model.specialise))
def test_every_model_is_found_again_from_its_own_times(name):
    model = models()[name]
    variant = model.variants[-1] if model.name != "eleftheriou2005" else "volumetric"
    line = variant in ("binary-exchange", "transpose")
    extents = [(2**k,) for k in range(10, 23)] if line else [(n, n, n) for n in (16, 32, 48, 64, 96, 128, 256)]
    questions = [question(variant, shape, ranks) for shape in extents for ranks in (1, 2, 4, 8)]
    measured = observed(questions, name, launches=2, noise=0.0)
    fitted = fit(model, measured, model.default_forms(), GIVEN, draws=10)
    for one in measured:
        assert predict(model, one.question, fitted.values, fitted.forms).total_s == pytest.approx(one.total_s, rel=0.01)


def test_a_parameter_that_is_given_is_not_fitted():
    given = GIVEN | {"memory_constant": Given(5.0, "given")}
    fitted = fit(CZECHOWSKI, observed(cubes()), FORMS, given)
    assert fitted.values["memory_constant"] == 5.0
    assert fitted.origin["memory_constant"] == "given"
    assert "memory_constant" not in fitted.free


def test_what_acts_in_the_same_way_everywhere_is_refused_together():
    """On one rank nothing is packed or sent: A and the bandwidth of memory are one product."""
    given = GIVEN | {"cache_bytes": Given(TRUE["cache_bytes"], "known")}
    fitted = fit(CZECHOWSKI, observed(cubes(ranks=(1,))), FORMS, given)
    names = {name for refused in fitted.refused for name in refused.names}
    assert {"memory_constant", "memory_bandwidth"} <= names
    assert fitted.origin["memory_constant"] == "undetermined"
    assert "memory_constant" not in fitted.intervals
    together = next(refused for refused in fitted.refused if "memory_constant" in refused.names)
    assert "only together" in together.reason


def test_what_no_point_depends_on_is_refused_alone():
    """Messages of megabytes say nothing of a latency of microseconds."""
    fitted = fit(CZECHOWSKI, observed(cubes(extents=(192, 224, 256), ranks=(1, 2))), FORMS, GIVEN)
    assert ("latency",) in [refused.names for refused in fitted.refused]
    assert "no point" in next(refused.reason for refused in fitted.refused if refused.names == ("latency",))


def test_a_cache_smaller_than_all_data_that_were_measured_is_refused():
    known = ("memory_constant", "memory_bandwidth", "cache_bandwidth", "core_bandwidth", "link_bandwidth")
    given = GIVEN | {name: Given(TRUE[name], "known") for name in known}
    questions = cubes(extents=(160, 192, 224, 256, 320), ranks=(1, 2))
    forms = FORMS | {"compute": "sum"}
    fitted = fit(CZECHOWSKI, observed(questions, noise=0.01, forms=forms), forms, given)
    reasons = [refused.reason for refused in fitted.refused if "cache_bytes" in refused.names]
    assert reasons == ["the best value is that of the smallest data that were measured: it may be less"]
    assert fitted.origin["cache_bytes"] == "undetermined"
    assert "cache_bytes" not in fitted.intervals


def test_what_rests_on_a_parameter_that_ended_at_its_bound_is_refused_too():
    """With A beyond what is allowed, the bandwidth of memory is only as large as the allowed A needs."""
    given = GIVEN | {"cache_bytes": Given(TRUE["cache_bytes"], "known")}
    beyond = TRUE | {"memory_constant": 400.0}
    fitted = fit(CZECHOWSKI, observed(cubes(), true=beyond), FORMS, given)
    reasons = {name: refused.reason for refused in fitted.refused for name in refused.names}
    assert "absurd" in reasons["memory_constant"]
    assert "rests on that of memory_constant" in reasons["memory_bandwidth"]
    assert fitted.intervals
    for name, (low, high) in fitted.intervals.items():
        assert low <= fitted.values[name] <= high, name


def test_predictions_do_not_need_what_was_refused():
    given = GIVEN | {"cache_bytes": Given(TRUE["cache_bytes"], "known")}
    measured = observed(cubes(ranks=(1,)), noise=0.0)
    fitted = fit(CZECHOWSKI, measured, FORMS, given, draws=0)
    for one in measured:
        found = predict(CZECHOWSKI, one.question, fitted.values, fitted.forms)
        assert found.total_s == pytest.approx(one.total_s, rel=0.01)


def test_one_launch_that_was_disturbed_moves_no_parameter_by_5_percent():
    measured = observed(cubes(), launches=3, noise=0.02)
    disturbed = list(measured)
    slow = disturbed[40]
    phases = {phase: 3 * seconds for phase, seconds in slow.phases.items()}
    disturbed[40] = type(slow)(slow.question, 3 * slow.total_s, phases)
    before = fit(CZECHOWSKI, measured, FORMS, GIVEN, draws=0)
    after = fit(CZECHOWSKI, disturbed, FORMS, GIVEN, draws=0)
    for name in before.free:
        assert abs(math.log(after.values[name] / before.values[name])) < 0.05, name


def test_the_same_observations_give_the_same_digits():
    first, second = (fit(CZECHOWSKI, observed(cubes()), FORMS, GIVEN) for _ in range(2))
    assert first.values == second.values
    assert first.intervals == second.intervals


def test_a_model_without_a_phase_that_was_measured_says_so():
    measured = [type(one)(one.question, one.total_s, {"twiddle": one.total_s}) for one in observed(cubes())]
    with pytest.raises(ValueError, match="models none of the phases"):
        fit(CZECHOWSKI, measured, FORMS, GIVEN)


def test_every_parameter_has_a_unit_and_bounds_that_hold_what_machines_have():
    for name, value in TRUE.items():
        assert PARAMETERS[name].least < value < PARAMETERS[name].most
    assert all(one.unit in ("flop/s", "B/s", "1/s", "s", "B", "1") for one in PARAMETERS.values())
