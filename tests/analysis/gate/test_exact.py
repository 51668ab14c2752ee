"""Numbers that no noise touches: how a change of one is called, and which come first."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest
from fourscore_analysis.gate.exact import compare_exact
from fourscore_analysis.gate.sentences import exact_sentence


def launch(**declared: tuple[float, ...]):
    return SimpleNamespace(declared=declared, counters=None)


def series(base: list, candidate: list):
    return SimpleNamespace(
        title="slab", base=SimpleNamespace(counted=base), candidate=SimpleNamespace(counted=candidate)
    )


@pytest.mark.parametrize(
    ("before", "after", "word", "ratio", "said"),
    [
        ((4, 4), (4, 4), "same", None, "n of all ranks: 8 to 8"),
        ((4, 4), (5, 3), "more", 5 / 4, "n at most on a rank: 4 to 5 (+25.0 %)"),
        ((4, 4), (3, 3), "less", 3 / 4, "n at most on a rank: 4 to 3 (-25.0 %)"),
        ((9, 1, 1), (8, 8, 8), "less", 8 / 9, "n at most on a rank: 9 to 8 (-11.1 %)"),
        ((4, 2), (4, 3), "more", 7 / 6, "n of all ranks: 6 to 7 (+16.7 %)"),
        ((4, 4), (4, 3), "less", 7 / 8, "n of all ranks: 8 to 7 (-12.5 %)"),
        ((4, 1, 1), (4, 2, 0), "other", None, "n: the ranks share them out differently, the sum is the same"),
        ((400, 400), (401, 399), "more", 401 / 400, "n at most on a rank: 400 to 401 (+0.25 %)"),
        ((4, 4), None, "gone", None, "n is no longer in the record"),
        (None, (4, 4), "new", None, "n is not in the base's record"),
    ],
)
def test_a_change_is_named_by_the_busiest_rank_and_then_by_the_sum(before, after, word, ratio, said):
    sides = [[launch(**({"n": values} if values else {}))] for values in (before, after)]
    [one] = compare_exact([series(*sides)])
    assert (one.word, one.ratio) == (word, pytest.approx(ratio) if ratio else None)
    assert one.blocks == (word == "more")
    assert exact_sentence(one) == f"slab: {said}"
    ends = [(max(values), math.fsum(values)) if values else (None, None) for values in (before, after)]
    assert (one.base, one.candidate) == (ends[0][0], ends[1][0])
    if before and after:
        assert (one.base_sum, one.candidate_sum) == (ends[0][1], ends[1][1])


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("other", [(4, 5), (4,), (4, 4, 4)])
def test_a_number_that_launches_of_a_side_do_not_agree_in_varies(side, other):
    sides = [[launch(n=(4, 4)), launch(n=(4, 4))], [launch(n=(4, 4)), launch(n=(4, 4))]]
    sides[side][1] = launch(n=other)
    [one] = compare_exact([series(*sides)])
    assert one.word == "varies"
    assert exact_sentence(one) == "slab: n vary from launch to launch, so they are not compared"


def test_what_grew_comes_first_and_the_largest_growth_before():
    base = launch(same=(1,), less=(2,), gone=(3,), more=(10,), most=(10,))
    candidate = launch(same=(1,), less=(1,), more=(11,), most=(20,), new=(4,))
    found = compare_exact([series([base], [candidate])])
    assert [one.name for one in found] == ["most", "more", "gone", "new", "less", "same"]


def test_a_side_without_launches_has_nothing_to_compare():
    assert compare_exact([series([], [launch(n=(1,))]), series([launch(n=(1,))], [])]) == []
