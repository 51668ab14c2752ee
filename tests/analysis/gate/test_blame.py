"""Which phase explains a change: those that came or went too, the largest first, in seconds that add up."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from fourscore_analysis.gate.blame import blame
from synthetic import launches_alike, make_point, read_back


def launches(phases: dict[str, float], count: int = 12) -> list[SimpleNamespace]:
    """Launches of two ranks that take so long in each phase, and a little more from one to the next."""
    runs = read_back(launches_alike(make_point(ranks=2), phases, count))
    return [SimpleNamespace(number=run.launch, time_s=run.median_s, phase_s=run.phase_max_s, run=run) for run in runs]


def blamed(base: dict[str, float], candidate: dict[str, float], paired: bool = True):
    sides = launches(base), launches(candidate)
    series = SimpleNamespace(paired=paired, launches=lambda: sides)
    return blame(series, (sum(base.values()), sum(candidate.values())))


@pytest.mark.parametrize("paired", [True, False])
def test_phases_stand_by_how_much_they_explain_also_those_that_came_or_went(paired):
    base = {"fft": 1.0, "pack": 0.2, "unpack": 0.3, "exchange": 0.5}
    candidate = {"fft": 1.0, "pack": 0.3, "h2d": 0.4, "exchange": 0.2}
    found = blamed(base, candidate, paired)
    assert [(one.phase, one.word) for one in found] == [
        ("h2d", "slower"),
        ("exchange", "faster"),
        ("unpack", "faster"),
        ("pack", "slower"),
        ("fft", "unchanged"),
    ]
    assert [one.grew_s for one in found] == pytest.approx([0.4, -0.3, -0.3, 0.1, 0.0], abs=3e-3)
    ratios = {one.phase: one.ratio for one in found}
    assert (ratios["h2d"], ratios["unpack"]) == (None, None)
    assert (ratios["pack"], ratios["exchange"], ratios["fft"]) == pytest.approx((1.5, 0.4, 1.0))


def test_seconds_of_phases_add_up_to_the_time_and_small_ones_are_the_rest():
    base = {"fft": 1.0, "pack": 0.004, "unpack": 0.003, "exchange": 0.5}
    found = blamed(base, base | {"exchange": 0.75})
    assert [one.phase for one in found] == ["exchange", "fft", "the rest"]
    assert [one.base_s for one in found] == pytest.approx([0.5, 1.0, 0.007])
    assert [one.candidate_s for one in found] == pytest.approx([0.75, 1.0, 0.007])
    assert (found[-1].word, found[-1].ratio) == ("not tested", None)


def test_a_phase_that_is_small_on_one_side_alone_is_tested():
    [first, *_] = blamed({"fft": 1.0, "pack": 0.005}, {"fft": 1.0, "pack": 0.5})
    assert (first.phase, first.word, first.ratio) == ("pack", "slower", pytest.approx(100))
