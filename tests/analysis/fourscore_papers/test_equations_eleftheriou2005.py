"""The bounds of eleftheriou2005, by hand."""

import pytest
from fourscore_papers.eleftheriou2005 import equations


def test_a_line_a_plane_and_a_volume_take_the_same_time():
    assert [equations.average_hops(d, 8) for d in (1, 2, 3)] == [2, 4, 6]
    assert [equations.links(d) for d in (1, 2, 3)] == [2, 4, 6]
    times = [equations.all_to_all_time_s(1e6, d, 8, 175e6, 0.8) for d in (1, 2, 3)]
    assert times == pytest.approx([1e6 / (175e6 * 0.8)] * 3)


def test_the_bound_of_32_cubed_on_512_nodes_is_that_worked_out_by_hand():
    """64 elements a node: 1,024 bytes, 2 hops, 2 links of 175 MB/s at 80 %, three times."""
    assert equations.link_bytes_per_s(700e6) == 175e6
    assert equations.bandwidth_time_s(32, 512, 700e6) == pytest.approx(3 * 1024 / 140e6)
    assert equations.fft_cycles(32) == 8 * 32 * 5
    assert equations.computation_time_s(32, 512, 700e6) == pytest.approx(3 * 1024 * 1280 / 512 / 700e6)


def test_parts_of_a_time_are_found_again_from_torus_and_mesh():
    torus, mesh = equations.torus_time_s(64, 512, 700e6), equations.mesh_time_s(64, 512, 700e6)
    rest, network = equations.parts_s(mesh, torus)
    assert rest == pytest.approx(equations.computation_time_s(64, 512, 700e6))
    assert network == pytest.approx(equations.bandwidth_time_s(64, 512, 700e6))


def test_volumes_use_the_square_of_the_nodes_that_slabs_use():
    assert (equations.most_nodes_of_slabs(128), equations.most_nodes_of_volumes(128)) == (128, 16384)
