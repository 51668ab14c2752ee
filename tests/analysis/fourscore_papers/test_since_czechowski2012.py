"""The trends of Table 1 of czechowski2012, derived; and machines whose memory is stacked on their processors."""

import math

import pytest
from fourscore_analysis.models.machines import machine_of
from fourscore_analysis.models.trends import machine_in, trends_of
from fourscore_papers.czechowski2012 import equations, since


def test_the_trends_follow_from_the_factors_and_the_nodes_from_peak_and_flops():
    search = since.trends_search()
    by_factors, of_nodes, came = search.tried
    for printed, found in zip(search.printed, by_factors.values, strict=True):
        assert found == pytest.approx(float(printed), rel=0.025)
    assert of_nodes.values[:-1] == (None,) * 5
    assert of_nodes.values[-1] == pytest.approx(1 / (1 - 1 / 1.7))  # 2.43, printed 2.4
    flops, memory, link = came.values[:3]
    assert flops == pytest.approx(12 / math.log2(26.5e12 / 515e9))
    assert memory == pytest.approx(12 / math.log2(1.6e12 / 144e9))
    assert link == pytest.approx(12 / math.log2(12.5 / 10))
    assert "2.1 years" in search.found


@pytest.mark.parametrize("kind", ["cpu", "gpu"])
def test_a_stacked_memory_keeps_the_flops_a_byte_of_2010(kind):
    before, plain, stacked = (machine_of(f"czechowski2012-{kind}-{year}") for year in ("2010", "2020", "2020-stacked"))
    assert stacked.balance("memory_bandwidth") == pytest.approx(before.balance("memory_bandwidth"), rel=0.02)
    assert plain.balance("memory_bandwidth") > 5 * before.balance("memory_bandwidth")
    differ = {name for name in plain.values if plain.values[name] != stacked.values[name]}
    assert differ == {"memory_bandwidth"}
    then = machine_in(before, trends_of("czechowski2012-stacked"), 2020)
    assert then.values["memory_bandwidth"] == pytest.approx(stacked.values["memory_bandwidth"], rel=0.01)


def test_eq_11_stays_balanced_with_a_stacked_memory_alone():
    """Cores, Z and C of Table 1; the left side may not outgrow the right."""
    for factor, balanced in ((59.0, True), (9.7, False)):
        sides = [
            equations.stacked_memory_balance(cores, flops / cores, 21.3e9 * grown, cache / 16)
            for cores, flops, cache, grown in ((6, 50.4e9, 6e6, 1), (244, 50.4e9 * 59, 192e6, factor))
        ]
        growth = [after / before for before, after in zip(*sides, strict=True)]
        assert (growth[0] <= 1.1 * growth[1]) == balanced
