"""Process grids without a driver: as records of the drivers have them, and by the rules of the variants."""

from __future__ import annotations

from pathlib import Path

import pytest
from fourscore_analysis.models.grids import MOST_GRIDS, chosen_grid, grids, reason_against, used_ranks
from fourscore_analysis.models.observations import usable
from fourscore_analysis.records.archive import campaign_names, read_campaigns

CUBE = (64, 64, 64)


def test_the_chosen_grid_is_that_of_records():
    archive = Path(__file__).resolve().parents[3] / "docs/example/archive"
    launches = usable(read_campaigns(archive, campaign_names(archive)))
    chosen = [one for one in launches if one.method.variant == "pencil" and one.method.grid == "auto"]
    assert chosen
    for one in chosen:
        grid = chosen_grid("pencil", one.cell.shape, one.cell.contract.kind, one.cell.ranks)
        assert "x".join(map(str, grid)) == one.resolved_grid


@pytest.mark.parametrize(
    ("shape", "kind", "ranks", "grid"),
    [
        (CUBE, "c2c", 64, (64, 1)),  # one exchange in place of two, as long as it fits
        (CUBE, "c2c", 128, (8, 16)),
        ((16, 64, 64), "c2c", 32, (1, 32)),
        ((8, 8, 8), "c2c", 64, (8, 8)),
        ((64, 64, 8), "r2c", 64, (64, 1)),
        ((8, 64, 64), "r2c", 32, (1, 32)),  # 33 extents are left of 64
        ((8, 64, 16), "r2c", 72, (8, 9)),  # 9 are left of 16
    ],
)
def test_pencils_are_long_where_they_fit_and_square_beyond(shape, kind, ranks, grid):
    assert chosen_grid("pencil", shape, kind, ranks) == grid


def test_grids_to_compare_fit_and_are_few_for_any_number_of_ranks():
    for ranks in (1, 7, 64, 720720, 2**31 - 1):
        found = grids("pencil", (4096, 4096, 4096), "c2c", ranks)
        assert 1 <= len(found) <= MOST_GRIDS
        assert len(set(found)) == len(found)
        if reason_against("pencil", (4096, 4096, 4096), "c2c", ranks) is None:
            assert all(a * b == ranks and max(a, b) <= 4096 for a, b in found)
    assert grids("slab", CUBE, "c2c", 8) == [()]


@pytest.mark.parametrize(
    ("variant", "shape", "ranks", "words"),
    [
        ("slab", CUBE, 65, "more than slab can use: 64"),
        ("fftw-mpi", CUBE, 65, "wants a plane for each of 65 ranks: there are 64"),
        ("rods", (64, 64), 2, "takes 3 extents, not 2"),
        ("pencil", CUBE, 4097, "no grid of 4097 ranks fits: at most 64 x 64"),
        ("node", (64, 64), 2, "takes 3 extents"),
        ("pencil", (64, 32), 33, "more than pencil can use: 32"),
        ("danielson-lanczos", (12, 6, 5), 16, "halved 3 times, which gives at most 8 ranks"),
        ("binary-exchange", (1000,), 16, "do not divide among 16 ranks"),
        ("transpose", (1000,), 30, "no two factors of at least 30"),
        ("volumetric", (8, 8, 8), 65, "more than volumetric can use: 64"),
        ("danielson-lanczos", CUBE, 6, "no power of two"),
        ("binary-exchange", CUBE, 4, "1 or 2 extents"),
        ("transpose", (64, 64), 4, "takes 1 extent"),
        ("serial", CUBE, 2, "one rank"),
    ],
)
def test_what_a_variant_cannot_do_has_its_reason(variant, shape, ranks, words):
    assert words in (reason_against(variant, shape, "c2c", ranks) or "")


@pytest.mark.parametrize(
    ("shape", "ranks", "fits"),
    [((10,), 2, True), ((10,), 1, True), ((10,), 3, False), ((9,), 3, True), ((35,), 5, True), ((35,), 6, False)],
)
def test_a_transpose_takes_two_factors_of_as_many_as_there_are_ranks(shape, ranks, fits):
    assert (reason_against("transpose", shape, "c2c", ranks) is None) == fits


@pytest.mark.parametrize(
    ("shape", "grid", "fits"),
    [
        ((8, 16, 32), (8, 16), True),  # pencils cut x and y, then y and z
        ((8, 16, 32), (9, 1), False),
        ((32, 8, 16), (9, 1), False),
        ((32, 8, 16), (1, 8), True),
        ((32, 8, 16), (1, 9), False),
        ((32, 16, 8), (16, 8), True),
        ((32, 16, 8), (16, 9), False),
    ],
)
def test_a_grid_fits_where_each_rank_has_a_part_of_every_pencil(shape, grid, fits):
    chosen = [found for found in grids("pencil", shape, "c2c", grid[0] * grid[1]) if found == grid]
    assert bool(chosen) == fits


def test_methods_of_complex_data_refuse_real_data():
    for variant in ("danielson-lanczos", "binary-exchange", "transpose", "overdecomposed"):
        assert "takes complex data" in (reason_against(variant, (64,), "r2c", 2) or "")


def test_what_a_variant_can_do_has_none():
    assert reason_against("pencil", (64, 64), "c2c", 8) is None
    assert len(grids("pencil", (64, 64), "c2c", 8)) == 1
    assert reason_against("transpose", (2**61,), "c2c", 1024) is None  # too many divisors to try
    for variant, shape in (("slab", CUBE), ("pencil", CUBE), ("volumetric", CUBE), ("transpose", (4096,))):
        assert reason_against(variant, shape, "c2c", 8) is None


def test_ranks_that_fill_a_grid_are_nearly_all():
    for ranks in (10, 1009, 135_198, 1_381_560):
        used = used_ranks("pencil", (21000,) * 3, "c2c", ranks)
        assert used <= ranks < used * 1.5
        assert reason_against("pencil", (21000,) * 3, "c2c", used) is None
    assert used_ranks("slab", CUBE, "c2c", 1000) == 64
    for shape, used in (((4, 64, 64), 4 * 64), ((64, 4, 64), 4 * 4), ((64, 64, 4), 31 * 4), ((4, 8, 16), 4 * 8)):
        assert used_ranks("pencil", shape, "c2c", 1000) == used
    assert [used_ranks("slab", shape, "c2c", 1000) for shape in ((4, 8, 16), (8, 4, 16), (16, 8, 4))] == [4, 4, 8]
    assert used_ranks("serial", CUBE, "c2c", 1000) == 1000
    assert used_ranks("volumetric", CUBE, "c2c", 1000) == 1000
