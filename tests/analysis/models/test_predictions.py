"""Predictions: elasticities are the slopes of the time, intervals cover, and what is not known is named."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace

import numpy as np
import pytest
from fourscore_analysis.models.base import Question, models, predict
from fourscore_analysis.models.held_out import Guess
from fourscore_analysis.models.machines import Machine, Quantity, published_machines
from fourscore_analysis.models.predictions import (
    LackingError,
    _counted,
    basis_of_machine,
    lacking,
    predicted,
    range_of,
)
from fourscore_analysis.records.archive import InputError
from fourscore_analysis.records.basics import Place
from fourscore_analysis.records.cells import Cell, Contract, Method
from synthetic.modelled_records import KNOWN

CONTRACT = Contract("transposed", "in-place", "none", "double", "c2c", "forward", "measure", 1, 1)
MODEL = models()["czechowski2012"]


def question(size: int = 128, ranks: int = 8, nodes: int = 1, variant: str = "pencil") -> Question:
    return Question(Cell(CONTRACT, (size,) * 3, Place(ranks, nodes)), Method(variant, "", "", "auto", ""), (ranks, 1))


def known(**intervals: float) -> Machine:
    """With KNOWN; an interval of plus and minus the share that is given."""
    parameters = {
        name: Quantity(value, "1", "", (value / (1 + intervals[name]), value * (1 + intervals[name])))
        if name in intervals
        else Quantity(value, "1")
        for name, value in KNOWN.items()
    }
    return Machine("known", parameters=parameters)


@pytest.mark.parametrize("compute", ["max", "sum"])
@pytest.mark.parametrize(("size", "ranks"), [(32, 2), (256, 8), (1024, 4)])
def test_phases_and_total_are_those_of_the_model(compute, size, ranks):
    basis = basis_of_machine(MODEL, known(), {"compute": compute})
    found, own = predicted(basis, question(size, ranks)), predict(MODEL, question(size, ranks), KNOWN, basis.forms)
    assert {phase: one.seconds for phase, one in found.phases.items()} == pytest.approx(own.phases)
    assert found.total.seconds == pytest.approx(own.total_s)
    assert found.flops_per_s == pytest.approx(question(size, ranks).cell.credited_flops / own.total_s)
    assert found.total.interval is None


@pytest.mark.parametrize(("size", "ranks"), [(32, 8), (256, 8), (512, 2)])
def test_an_elasticity_is_the_slope_of_log_time_against_the_log_of_the_parameter(size, ranks):
    basis = basis_of_machine(MODEL, known(), {})
    found = predicted(basis, question(size, ranks))
    step = 1e-5
    for name in found.basis.values:
        up = replace(basis, values=basis.values | {name: basis.values[name] * math.exp(step)})
        slope = math.log(predicted(up, question(size, ranks)).total.seconds / found.total.seconds) / step
        assert found.elasticity.get(name, 0.0) == pytest.approx(slope, abs=1e-4), name
    sizes = [abs(slope) for slope in found.elasticity.values()]
    assert sizes == sorted(sizes, reverse=True)
    assert found.limiting == next(iter(found.elasticity))


@pytest.mark.parametrize("size", [81, 96])
def test_a_length_without_a_power_of_two_needs_no_flops_of_it_and_no_logarithm_of_nothing(size):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        values = KNOWN | {"odd_flop_rate": 1e10}
        machine = Machine("known", parameters={name: Quantity(value, "1") for name, value in values.items()})
        found = predicted(basis_of_machine(MODEL, machine, {}), question(size, 1, variant="serial"))
    assert found.total.seconds == pytest.approx(
        predict(MODEL, question(size, 1, variant="serial"), values, found.basis.forms).total_s
    )
    assert math.isfinite(sum(found.elasticity.values()))


def test_an_interval_of_a_parameter_becomes_that_of_the_time():
    found = predicted(basis_of_machine(MODEL, known(memory_bandwidth=0.2), {"compute": "sum"}), question(1024, 1))
    low, high = found.total.interval
    ends = [
        predict(MODEL, question(1024, 1), KNOWN | {"memory_bandwidth": 2.2e10 * factor}, found.basis.forms).total_s
        for factor in (1.2, 1 / 1.2)
    ]
    assert (low, high) == pytest.approx(tuple(ends), rel=0.03)


def test_errors_on_points_left_out_widen_the_interval():
    basis = basis_of_machine(MODEL, known(), {})
    errors = {"total": (math.log(1.1), math.log(1.2), math.log(0.9), math.log(0.8), 0.0)}
    found = predicted(replace(basis, errors=errors), question())
    low, high = found.total.interval
    assert low == pytest.approx(found.total.seconds / 1.2, rel=1e-6)
    assert high == pytest.approx(found.total.seconds / 0.8, rel=1e-6)
    few = predicted(replace(basis, errors={"total": errors["total"][:3]}), question())
    assert few.total.interval is None


def test_predictions_beyond_what_was_seen_have_the_errors_made_there():
    seen = range_of([question(64, 2), question(128, 4)])
    outside = {"total": (math.log(2.0),) * 4}
    basis = replace(
        basis_of_machine(MODEL, known(), {}), seen=seen, errors={"total": (0.0,) * 8}, errors_outside=outside
    )
    inside, beyond = predicted(basis, question(128, 4)), predicted(basis, question(128, 32))
    assert inside.outside == ()
    assert inside.total.interval == pytest.approx((inside.total.seconds,) * 2)
    assert beyond.outside == ("size", "ranks")  # a share smaller than any seen is another size
    assert beyond.total.interval == pytest.approx((beyond.total.seconds / 2,) * 2)


@pytest.mark.parametrize(
    ("asked", "outside"),
    [
        (question(128, 4), ()),
        (question(512, 4), ("size",)),
        (question(16, 4), ("size",)),
        (question(96, 3), ()),
        (question(64, 2), ()),
        (question(128, 2, 1), ()),
        (question(96, 2), ()),
        (question(128, 4, 2), ("nodes",)),
        (question(256, 32), ("size", "ranks")),
    ],
)
def test_extrapolation_is_reported_by_size_ranks_and_nodes(asked, outside):
    assert range_of([question(64, 2), question(128, 4), question(128, 2)]).outside(asked) == outside


@pytest.mark.parametrize(("asked", "outside"), [(question(64, 2), ()), (question(128, 2), ("size",))])
def test_a_size_is_also_what_a_rank_has(asked, outside):
    assert range_of([question(64, 2), question(128, 4)]).outside(asked) == outside


def test_more_nodes_than_a_machine_has_are_an_extrapolation():
    basis = basis_of_machine(MODEL, replace(known(), nodes=4, ranks_per_node=2), {})
    assert predicted(basis, question(128, 8, 4)).outside == ()
    assert predicted(basis, question(128, 8, 8)).outside == ("nodes",)


def test_what_is_lacking_is_named_and_nothing_is_made_up():
    basis = basis_of_machine(MODEL, published_machines()["hopper"], {})
    assert "memory_bandwidth" in lacking(basis, question())
    with pytest.raises(LackingError, match=r"hopper does not give .*memory_bandwidth.*, which czechowski2012 needs"):
        predicted(basis, question())


def test_a_parameter_that_shapes_nothing_is_not_lacking():
    forms = {"butterflies": "paper", "memory": "paper", "topology": "hypercube"}
    basis = basis_of_machine(models()["gupta1993"], published_machines()["ncube1"], forms)
    asked = Question(Cell(CONTRACT, (65536,), Place(256, 256)), Method("binary-exchange", "", "", "auto", ""), ())
    assert lacking(basis, asked) == ("startup_time",)  # the paper prints none; cache_bytes changes nothing here
    given = replace(basis, values=basis.values | {"startup_time": 1e-4})
    n, p, t_c, t_w = 65536, 256, 80e-6, 32e-6
    expected = t_c * n / p * 16 + 8 * (1e-4 + t_w * n / p)
    assert predicted(given, asked).total.seconds == pytest.approx(expected)


def test_a_model_of_other_variants_and_forms_that_it_lacks_are_refused():
    basis = basis_of_machine(MODEL, known(), {})
    with pytest.raises(InputError, match="czechowski2012 is not of danielson-lanczos"):
        predicted(basis, question(variant="danielson-lanczos"))
    odd = replace(published_machines()["ncube1"], forms={"network": "ring"})
    with pytest.raises(InputError, match="ncube1 has network = ring, which czechowski2012 has not"):
        basis_of_machine(MODEL, odd, {})
    assert basis_of_machine(MODEL, odd, {"network": "full"}).forms["network"] == "full"


def test_guesses_are_kept_as_logarithms_of_predicted_over_measured():
    from fourscore_analysis.models.fit import fit
    from fourscore_analysis.models.observations import Observation
    from fourscore_analysis.models.predictions import basis_of_fit

    seen = [
        Observation(asked, own.total_s, own.phases)
        for size in (32, 64, 128, 256, 512)
        for ranks in (1, 2, 4)
        for asked in [question(size, ranks)]
        for own in [predict(MODEL, asked, KNOWN, MODEL.default_forms())]
    ]
    fitted = fit(MODEL, seen, MODEL.default_forms())
    guess = Guess("size", question(), "total", 2.0, None, 1.0, True)
    basis = basis_of_fit(fitted, seen, "it", [guess, replace(guess, predicted_s=0.5, outside=False)])
    assert basis.errors["total"] == pytest.approx((math.log(2), -math.log(2)))
    assert basis.errors_outside["total"] == pytest.approx((math.log(2),))
    assert not set(basis.drawn) & {name for one in fitted.refused for name in one.names}
    found = predicted(basis, question(128, 2))
    assert found.total.seconds == pytest.approx(predict(MODEL, question(128, 2), KNOWN, basis.forms).total_s, rel=0.02)
    assert np.isfinite(found.total.interval).all()


def overlapping(nodes: int = 64, **values: float):
    basis = basis_of_machine(MODEL, known(), {"memory": "paper"})
    asked = replace(question(512, nodes, nodes, variant="pencil-overlap"), grid=(8, 8))
    return replace(basis, values=basis.values | values), asked


@pytest.mark.parametrize("link", [2e8, 8e9, 1e12])
def test_what_is_hidden_is_a_term_of_its_own_and_phases_add_up_to_the_total(link):
    basis, asked = overlapping(link_bandwidth=link)
    found = predicted(basis, asked)
    own = predict(MODEL, asked, basis.values, basis.forms)
    assert found.total.seconds == pytest.approx(own.total_s)
    assert sum(timed.seconds for timed in found.phases.values()) == pytest.approx(own.total_s)
    terms = sum(seconds for term, seconds in found.terms if term.phase == "exchange")
    assert terms == pytest.approx(found.phases["exchange"].seconds)
    assert min(seconds for _, seconds in found.terms) < 0


@pytest.mark.parametrize("link", [2e8, 8e9, 1e12])
def test_elasticities_of_overlapped_exchanges_are_the_slopes_of_the_total(link):
    basis, asked = overlapping(link_bandwidth=link)
    found = predicted(basis, asked)
    for name in ("link_bandwidth", "memory_bandwidth", "flop_rate", "latency", "memory_constant"):
        ends = [
            predict(MODEL, asked, basis.values | {name: basis.values[name] * math.exp(step)}, basis.forms).total_s
            for step in (-1e-5, 1e-5)
        ]
        slope = math.log(ends[1] / ends[0]) / 2e-5
        assert found.elasticity.get(name, 0.0) == pytest.approx(slope, abs=1e-4), name


def test_draws_of_an_overlapped_exchange_are_the_model_at_their_values():
    basis, asked = overlapping()
    drawn = np.log([[2e8], [8e9], [1e12]])
    phases = _counted(basis, asked).drawn(drawn, ("link_bandwidth",))
    for number, value in enumerate(np.exp(drawn[:, 0])):
        own = predict(MODEL, asked, basis.values | {"link_bandwidth": value}, basis.forms)
        assert sum(seconds[number] for seconds in phases.values()) == pytest.approx(own.total_s)


def test_more_ranks_on_a_node_than_it_has_are_outside():
    basis = basis_of_machine(MODEL, replace(known(), nodes=4, ranks_per_node=8), {})
    assert predicted(basis, question(128, 32, 4)).outside == ()
    assert predicted(basis, question(128, 32, 2)).outside == ("ranks a node",)
