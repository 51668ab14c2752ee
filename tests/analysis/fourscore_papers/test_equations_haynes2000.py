"""Equations 4 and 5 of haynes2000, by hand, and their crossover."""

import math

import pytest
from fourscore_papers.haynes2000 import equations


def test_the_times_on_four_nodes_are_those_worked_out_by_hand():
    """1,600 elements of 16 bytes: packets of 1,600 and 6,400 bytes; 1 ms and 1 MB/s."""
    assert equations.traditional_time_s(1600, 4, 1e-3, 1e6) == pytest.approx(6 * (1e-3 + 1.6e-3))
    assert equations.new_time_s(1600, 4, 1e-3, 1e6) == pytest.approx(2 * (1e-3 + 6.4e-3))


@pytest.mark.parametrize("nodes", [4, 8, 64, 1024])
def test_both_methods_take_the_same_time_at_the_crossover(nodes):
    elements = equations.crossover_elements(nodes, 2e3)
    assert equations.new(elements, nodes, 2e3) == pytest.approx(equations.traditional(elements, nodes, 2e3))
    assert equations.new(elements / 2, nodes, 2e3) < equations.traditional(elements / 2, nodes, 2e3)


def test_the_new_method_always_wins_on_two_nodes():
    assert math.isinf(equations.crossover_elements(2, 2e3))


def test_the_form_for_many_nodes_comes_near_equation_4():
    assert equations.traditional_on_many(64**3, 1024, 2e3) == pytest.approx(
        equations.traditional(64**3, 1024, 2e3), rel=2e-3
    )
