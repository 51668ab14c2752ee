"""Equations 1 to 11 of czechowski2012, by hand on round numbers."""

import math

import pytest
from fourscore_papers.czechowski2012 import equations


def test_the_times_of_a_small_problem_are_those_worked_out_by_hand():
    """n = 1024, P = 64, so 2^24 elements of 16 bytes a node."""
    elements = 2**24
    assert equations.flops(1024) == 5 * 2**30 * 30
    assert equations.flops_time_s(1024, 64, 1e9) == pytest.approx(3 * elements * 5 * 10 / 1e9)
    assert equations.memory_time_s(1024, 64, 16e9, 16 * 1024, a=2) == pytest.approx(3 * 2 * elements / 1e9)
    assert equations.memory_time_s(1024, 64, 16e9, 16 * 32, a=2) == pytest.approx(2 * 3 * 2 * elements / 1e9)
    assert equations.shuffle_time_s(1024, 64, 16e9) == pytest.approx(4 * elements / 1e9)
    assert equations.pcie_time_s(1024, 64, 16e9) == pytest.approx(2 * elements / 1e9)


def test_a_torus_carries_the_data_by_the_exponent_of_its_dimensions():
    assert [equations.torus_bisection(d) for d in (3, 4, 5)] == pytest.approx([2 / 3, 3 / 4, 4 / 5])
    assert equations.torus_ideal(3) == pytest.approx(5 / 6)
    one = equations.network_time_s(64, 64, 16e9, equations.FULLY_CONNECTED)
    assert one == pytest.approx(2 * 64**3 / 64 / 1e9)
    assert equations.network_time_s(64, 64, 16e9) == pytest.approx(2 * 64**3 / 16 / 1e9)
    assert equations.network_time_s(64, 64, 16e9, equations.torus_ideal(3), 1) == pytest.approx(64**3 / 32 / 1e9)


def test_equations_6_7_and_10_are_equations_2_and_5_up_to_a_constant():
    """The same ratio between two machines, where log_Z n is above 1."""
    n, z = 2.0**20, 2.0**10
    machines = [(4e15, 50e9, 20e9, 10e9), (4e18, 3e12, 200e9, 218e9)]
    memory, network, ratio = [], [], []
    for peak, node, memory_bytes, link in machines:
        nodes = equations.nodes_of(peak, node)
        memory_s = equations.memory_time_s(n, nodes, memory_bytes, 16 * z)
        network_s = equations.network_time_s(n, nodes, link)
        memory.append(memory_s / equations.memory_growth(n, peak, node, memory_bytes, z))
        network.append(network_s / equations.network_growth(n, peak, node, link, 2 / 3))
        ratio.append(memory_s / network_s / equations.memory_over_network(n, peak, node, memory_bytes, link, z, 2 / 3))
    for constants in (memory, network, ratio):
        assert constants[0] == pytest.approx(constants[1])


def test_equations_6_7_and_10_on_round_numbers():
    """n = 2^20, Z = 2^10, so log_Z n = 2; 1,000 nodes of 1 Tflop/s, memory of 1e10 words a second, a link of 1e9."""
    n, z, peak, node, memory_bytes, link_bytes = 2.0**20, 2.0**10, 1e15, 1e12, 16e10, 16e9
    assert equations.nodes_of(peak, node) == 1000
    assert equations.memory_growth(n, peak, node, memory_bytes, z) == pytest.approx(100 / 1e15 * 2**60 * 2)
    assert equations.network_growth(n, peak, node, link_bytes, 2 / 3) == pytest.approx(0.01 * 2**60 / 1e9)
    ratio = equations.memory_over_network(n, peak, node, memory_bytes, link_bytes, z, 2 / 3)
    assert ratio == pytest.approx(0.1 * 0.1 * 2)


def test_stacked_memory_is_balanced_while_flops_a_word_do_not_outgrow_the_logarithm():
    left, right = equations.stacked_memory_balance(448, 1.15e9, 144e9, 2.7e6 / 16)
    assert left == pytest.approx(448 * 1.15e9 / 9e9)
    assert right == pytest.approx(math.log2(168750 / 448))


def test_times_add_up_without_overlap_and_the_longer_counts_with_it():
    assert (equations.sum_time_s(1, 2), equations.max_time_s(1, 2)) == (3, 2)
