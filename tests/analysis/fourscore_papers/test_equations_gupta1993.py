"""Each equation of gupta1993 gives what a calculation by hand gives, and those that the paper derives from one another
agree."""

import math

import pytest
from fourscore_papers.gupta1993 import equations as paper
from fourscore_papers.gupta1993.equations import Machine

# 64 points on 16 processors: log n = 6, log p = 4, n/p = 4, sqrt(p) = 4.
ROUND = Machine(t_c_s=10.0, t_w_s=2.0, t_s_s=100.0, t_h_s=5.0)


@pytest.mark.parametrize(
    ("computed", "by_hand"),
    [
        (paper.work(ROUND, 64), 10 * 64 * 6),
        (paper.efficiency(1.0, 3.0), 0.75),
        (paper.speedup(16, 0.75), 12),
        (paper.overhead(16, 3.0, 40.0), 8),
        (paper.k_of(0.9), 9),
        (paper.hypercube_overhead(ROUND, 64, 16), 100 * 16 * 4 + 2 * 64 * 4),
        (paper.mesh_overhead(ROUND, 64, 16), 100 * 16 * 4 + 2 * 2 * 64 * 4),
        (paper.mesh_overhead_exactly(ROUND, 64, 16), 100 * 16 * 4 + 2 * 2 * 64 * 3),
        (paper.ordered_steps(16), 9),
        (paper.ordered_overhead(ROUND, 64, 16), 9 * (100 * 16 + 2 * 64)),
        (paper.start_isoefficiency(ROUND, 0.5, 16), 100 * 16 * 4),
        (paper.hypercube_isoefficiency(ROUND, 0.5, 16), 2 * 16**0.2 * 4),
        (paper.mesh_isoefficiency(ROUND, 0.5, 16), 2 * 2 * 4 * 2 ** (2 * 0.2 * 4)),
        (paper.slope(0.2, 0.9), 1.8),
        (paper.threshold(0.2), 1 / 1.2),
        (paper.transpose_overhead(ROUND, 64, 16), 2 * 64 + 100 * 256),
        (paper.transpose_overhead_store_and_forward(ROUND, 64, 16), 2 * 64 * 4 + 100 * 256),
        (paper.transpose_overhead(ROUND, 64, 1), 0),  # nothing moves on one processor
        (paper.transpose_overhead_store_and_forward(ROUND, 64, 1), 0),
        (paper.m_dimensional_overhead(ROUND, 64, 1, 3), 0),
        (paper.ordered_steps(1), 0),
        (paper.transpose_isoefficiency(ROUND, 0.5, 16), 100 * 256),
        (paper.transpose_concurrency(ROUND, 16), 10 * 256 * 8),
        (paper.most_processors(4096, 3), 256),
        (paper.throughput_gain(0.25, 0.5), 1 / 7),
        (paper.mesh_channel_width(16), 2),
        (paper.hypercube_links_cost(16), 64),
        (paper.mesh_links_cost(16), 128),
        (paper.hypercube_bisection_cost(16), 8),
        (paper.mesh_bisection_cost(16), 8),
        (paper.mesh_channel_width(64, 3), 3 * 4 / 6),
        (paper.mesh_links_cost(16, width=1), 64),
        (paper.mesh_links_cost(64, dimensions=3), 6 * 2 * 64),
        (paper.mesh_bisection_cost(16, width=3), 12),
        (paper.mesh_bisection_cost(64, dimensions=3), 16 * 2),
        (paper.widened_mesh_overhead(ROUND, 64, 16, 0.5), 100 * 16 * 4 + 2 * 2 * 64),
        (paper.widened_mesh_isoefficiency(ROUND, 0.5, 16, 0.25), 2 * 2 * 2 * 2 ** (2 * 0.2 * 2)),
        (paper.widened_mesh_concurrency(ROUND, 16, 0.5), 10 * 64 * 6),
        (paper.grid_overhead(ROUND, 64, 64, 3), 100 * 64 * 6 + 3 * 2 * 64 * 4),
        (paper.grid_isoefficiency(ROUND, 0.5, 64, 3), 3 * 4 * 2 * 2 ** (3 * 4 * 0.2)),
        (paper.twiddle_overhead(3.0, 64, 16), 3 * (64 + 64)),
        (paper.twiddle_isoefficiency(3.0, 0.5, 16), 3 * 64),
        (paper.serial_fraction(8, 16), (1 / 8 - 1 / 16) / (15 / 16)),
        (paper.overhead_function(16, 3.0, 40.0), 1.2),
        (paper.hypercube_serial_fraction(0.2, 64, 16), 0.2 * 4 / (16 * 6)),
        (paper.mesh_serial_fraction(0.2, 64, 16), 0.2 / (4 * 6)),
        (paper.hypercube_overhead_function(0.2, 64, 16), 1 + 0.2 * 4 / 6),
        (paper.mesh_overhead_function(0.2, 64, 16), 1 + 0.2 * 4 / 6),
        (paper.hypercube_scaled_speedup(0.2, 16), 16 / 1.2),
        (paper.mesh_scaled_speedup(0.2, 16), 16 / (1 + 0.4)),
        (paper.hypercube_scalability(0.2), 1 / 1.2),
        (paper.mesh_scalability(0.2, 16), 1 / 1.4),
        (paper.cut_through_mesh_overhead(ROUND, 64, 16), 2 * 16 * (100 * 2 + 5 * 4 + 2 * 4 * 4)),
        (paper.cut_through_mesh_overhead(ROUND, 64, 16, contention=False), 2 * 16 * (100 * 2 + 5 * 4 + 2 * 4 * 2)),
        (paper.hop_isoefficiency(ROUND, 0.5, 16), 2 * 5 * 64),
        (paper.overlapped_word(Machine(10, 15)), 5),
        (paper.overlapped_word(ROUND), 0),
        (paper.overlapped_overhead(Machine(10, 15, 0, 5), 64, 16), (5 * 64 + 5 * 16) * 4),
        (paper.overlapped_isoefficiency(Machine(10, 15), 0.5, 16), 5 * 16**0.5 * 4),
        (paper.overlapped_isoefficiency(ROUND, 0.5, 16), 5 * 16 * 4),
        (paper.overlapped_mesh_isoefficiency(Machine(10, 15), 0.5, 16), 2 * 5 * 4 * 2 ** (2 * 0.5 * 4)),
        (paper.overlapped_mesh_isoefficiency(ROUND, 0.5, 16), 2 * 5 * 64),
    ],
)
def test_an_equation_gives_what_is_computed_by_hand(computed, by_hand):
    assert computed == pytest.approx(by_hand)


def test_the_overheads_are_equation_3_with_the_distances_of_each_network():
    assert paper.hops_overhead(ROUND, 64, [1, 1, 1, 1]) == pytest.approx(paper.hypercube_overhead(ROUND, 64, 16))
    assert paper.hops_overhead(ROUND, 64, [1, 2, 1, 2]) == pytest.approx(paper.mesh_overhead_exactly(ROUND, 64, 16))


def test_the_transpose_method_of_most_dimensions_is_binary_exchange_and_of_two_is_equation_11():
    for processors, points in ((4, 256), (16, 4096), (64, 2**14)):
        dimensions = int(math.log2(processors)) + 1
        assert paper.m_dimensional_overhead(ROUND, points, processors, dimensions) == pytest.approx(
            paper.hypercube_overhead(ROUND, points, processors)
        )
        in_two = paper.m_dimensional_overhead(ROUND, points, processors, 2)
        assert in_two + ROUND.t_s_s * processors == pytest.approx(paper.transpose_overhead(ROUND, points, processors))
    starts = [paper.m_dimensional_overhead(Machine(1, 0, 1), 2**20, 64, m) for m in range(2, 8)]
    words = [paper.m_dimensional_overhead(Machine(1, 1, 0), 2**20, 64, m) for m in range(2, 8)]
    assert starts == sorted(starts, reverse=True)
    assert words == sorted(words)


def test_two_dimensions_have_the_overhead_of_one():
    assert paper.two_dimensional_overhead(ROUND, 64, 16) == pytest.approx(paper.hypercube_overhead(ROUND, 64, 16))


def test_a_mesh_of_two_dimensions_and_of_plain_channels_is_that_of_equations_8_and_10():
    assert paper.grid_overhead(ROUND, 64, 16, 2) == pytest.approx(paper.mesh_overhead(ROUND, 64, 16))
    assert paper.widened_mesh_overhead(ROUND, 64, 16, 0) == pytest.approx(paper.mesh_overhead(ROUND, 64, 16))
    eq_10 = paper.mesh_isoefficiency(ROUND, 0.5, 16)
    assert paper.grid_isoefficiency(ROUND, 0.5, 16, 2) == pytest.approx(eq_10)
    assert paper.widened_mesh_isoefficiency(ROUND, 0.5, 16, 0) == pytest.approx(eq_10)


def test_a_mesh_as_fast_as_a_hypercube_has_channels_of_the_width_of_section_7():
    """Binary exchange, t_s = 0, in 2 and 3 dimensions."""
    for dimensions in (2, 3):
        width = paper.mesh_channel_width(64, dimensions)
        mesh = paper.grid_overhead(Machine(10.0, 2.0 / width), 4096, 64, dimensions)
        assert mesh == pytest.approx(paper.hypercube_overhead(Machine(10.0, 2.0), 4096, 64))


def test_contention_takes_from_a_mesh_what_cut_through_routing_gives():
    """Appendix D, but for hops."""
    no_hops = Machine(10.0, 2.0, 100.0)
    assert paper.cut_through_mesh_overhead(no_hops, 64, 16) == pytest.approx(paper.mesh_overhead(no_hops, 64, 16))


def test_the_recurrence_of_twiddle_factors_has_the_solution_that_the_paper_gives():
    assert [paper.twiddle_factors(8, p) for p in (1, 2, 4, 8)] == [8, 7, 4, 3]
    for points in (2, 64, 1024):
        for power in range(1, int(math.log2(points)) + 1):
            assert paper.twiddle_factors(points, 2**power) == paper.twiddle_factors_solved(points, 2**power)


def test_powers_of_omega_are_leading_bits_reversed_and_each_processor_counts_its_new_ones():
    """Table 3 for eight points; the last of p processors has the most new ones, as all of its bits are set."""
    assert [[paper.exponent(8, step, index) for index in range(8)] for step in range(3)] == [
        [0, 0, 0, 0, 4, 4, 4, 4],
        [0, 0, 4, 4, 2, 2, 6, 6],
        [0, 4, 2, 6, 1, 5, 3, 7],
    ]
    assert [paper.new_twiddle_factors(8, p) for p in (1, 2, 4, 8)] == [[2, 2, 4], [1, 2, 4], [1, 1, 2], [1, 1, 1]]


def test_measures_of_appendix_b_follow_from_speedup_and_efficiency():
    """Karp and Flatt's fraction of the model has p - 1 where the paper has p; Zorbas's function is 1 / E."""
    machine, n, p = Machine(1.0, 0.2), 4096, 16
    e = paper.efficiency(paper.hypercube_overhead(machine, n, p), paper.work(machine, n))
    assert paper.serial_fraction(paper.speedup(p, e), p) * (p - 1) / p == pytest.approx(
        paper.hypercube_serial_fraction(0.2, n, p)
    )
    assert paper.hypercube_overhead_function(0.2, n, p) == pytest.approx(1 / e)
    mesh = paper.efficiency(paper.mesh_overhead(machine, n, p), paper.work(machine, n))
    assert 1 / mesh - 1 == pytest.approx(2 * (paper.mesh_overhead_function(0.2, n, p) - 1))


@pytest.mark.parametrize("level", [0.5, 0.66, 0.9])
@pytest.mark.parametrize(
    "overhead",
    [paper.hypercube_overhead, paper.mesh_overhead, paper.transpose_overhead, paper.ordered_overhead],
)
def test_the_size_of_equation_5_keeps_the_efficiency(overhead, level):
    machine = Machine(1.0, 0.2, 30.0)
    for processors in (2, 16, 64):
        log2_points = paper.log2_points_for(overhead, machine, level, processors)
        n = 2**log2_points
        found = paper.efficiency(overhead(machine, n, processors), paper.work(machine, n))
        assert found == pytest.approx(level) if log2_points > 1 else found >= level


def test_the_size_grows_as_equation_7_says_where_words_alone_count():
    machine = Machine(1.0, 2.0)
    for level, power in ((0.5, 2), (0.9, 18)):
        for processors in (4, 16):
            log2_points = paper.log2_points_for(paper.hypercube_overhead, machine, level, processors)
            assert log2_points == pytest.approx(power * math.log2(processors))
            w = machine.t_c_s * log2_points * 2**log2_points
            assert w == pytest.approx(paper.hypercube_isoefficiency(machine, level, processors))
    assert paper.log2_points_for(paper.hypercube_overhead, machine, 0.1, 2) == 1
    assert paper.log2_points_for(paper.mesh_overhead, Machine(1.0, 1.0), 0.999999, 2.0**20) == math.inf


def test_no_size_beyond_two_to_the_millionth_is_sought():
    """Two processors and an efficiency of a half: log n is t_w / t_c."""
    found = [paper.log2_points_for(paper.hypercube_overhead, Machine(1.0, w), 0.5, 2) for w in (1e6 - 0.5, 1e6 + 0.5)]
    assert found == [pytest.approx(1e6 - 0.5, abs=1e-3), math.inf]
