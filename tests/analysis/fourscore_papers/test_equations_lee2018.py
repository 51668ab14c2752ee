"""What follows from the text of lee2018, against counts by hand."""

from itertools import product

import pytest
from fourscore_papers.lee2018 import equations as lee2018


def counted(across: int, along: int) -> int:
    """Messages of one forward transform: the pairs of pencils that hold a common part of the grid. Pencils along z are
    `across` x `along` (x, y), those along y `across` x `along` (x, z), the x state is cut along z in as many parts."""
    cuts = list(product(range(across), range(along)))
    slabs = across * along
    z_to_y = sum(z[0] == y[0] for z, y in product(cuts, cuts))
    y_to_x = sum(y[1] == slab // across for y, slab in product(cuts, range(slabs)))
    return z_to_y + y_to_x


@pytest.mark.parametrize("cuts", [(5, 5), (2, 4), (4, 2), (10, 10), (1, 1)])
def test_messages_are_those_of_pencils_that_share_a_part_of_the_grid(cuts):
    assert lee2018.messages_received(cuts) * lee2018.pencils(cuts) == counted(*cuts)
    assert lee2018.messages_a_worker(cuts, 1, 2) == 2 * counted(*cuts)


def test_counts_of_objects_cores_and_nodes_are_those_of_the_tables():
    assert lee2018.pencils((10, 10)) == 100
    assert lee2018.chares(100) == 300
    assert lee2018.most_chares_a_core(400, 128) == 4
    assert lee2018.cores(16, 64) == 1024
    assert lee2018.nodes_of(300**3, (150, 75, 300)) == 8


def test_operations_and_bytes_of_the_gpu():
    """A pencil of each state goes there and back in each transform; 300^3 double-complex elements are 432 MB."""
    assert lee2018.operations(174.94, 29.157) == pytest.approx(6, rel=1e-4)
    assert lee2018.copies(2) == 6
    assert lee2018.copied_bytes(300**3, 4) == 3 * 108e6
    assert lee2018.copied_bytes(300**3, 1, transforms=2) == 6 * 432e6
    assert lee2018.line_fft_bytes(300**3, 4) == 216e6
    assert lee2018.share(25, 100) == 0.25
    assert lee2018.shorter(59, 223) == pytest.approx(0.7354, rel=1e-3)
    assert lee2018.longer(70, 41) == pytest.approx(0.7073, rel=1e-3)
