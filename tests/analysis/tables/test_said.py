"""What tables and sentences say of points: flags, shares, doubts and intervals, worked out by hand."""

import pytest
from fourscore_analysis.models.alpha_beta import estimate
from fourscore_analysis.models.roofline import reached, roof_points
from fourscore_analysis.points.points import comparisons, group_points
from fourscore_analysis.points.stats import spread
from fourscore_analysis.records.archive import Campaign
from fourscore_analysis.tables.findings import finding
from fourscore_analysis.tables.transforms import contract_tables, status_counts
from fourscore_analysis.views.view import View
from synthetic import Maker, counted, make_point, read_back


def launches_of(*records) -> list:
    return read_back(records)


def points_of(*records) -> list:
    return group_points(Campaign("hand-00000000", "hand", launches_of(*records)))


def timed(maker: Maker, point, launch: int, fft: float, exchange: float, **changes) -> dict:
    return maker.timed(point, launch, {"fft": fft, "exchange": exchange}, **changes)


def flagged(record: dict, *flags: str) -> dict:
    record["flags"] = list(flags)
    return record


def test_a_flag_of_any_launch_is_one_of_the_point():
    maker, point = Maker(isolate=False), make_point(ranks=2)
    [found] = points_of(*(flagged(timed(maker, point, i, 1.0, 1.0), *["unbound"] * (i == 2)) for i in range(3)))
    assert found.flags == ("unbound",)
    [row] = contract_tables(View(Campaign("c", "c", list(found.launches)), 0))[0].rows
    assert row.flags == ("unbound",)


def test_the_share_of_the_exchange_is_that_of_its_phase():
    maker, point = Maker(isolate=False), make_point(ranks=2)
    [found] = points_of(timed(maker, point, 0, 1.0, 3.0))
    assert found.exchange_share == pytest.approx(0.75)
    assert "75 % of its time is exchange" in finding(comparisons([found]))


@pytest.mark.parametrize("flag", ["oversubscribed", "cold", "clock-suspect"])
def test_a_finding_names_what_makes_its_time_doubtful(flag):
    record = flagged(timed(Maker(isolate=False), make_point(ranks=2), 0, 1.0, 1.0), flag)
    assert flag in finding(comparisons(points_of(record)))


def test_the_interval_of_an_estimate_is_that_of_students_t():
    found = estimate([1.0, 2.0, 3.0, 4.0])
    half = 3.182446305284263 * 1.2909944487358056 / 2  # t of 3 degrees of freedom at 97.5 %, deviation, root of 4
    assert found.value == 2.5
    assert found.interval == pytest.approx((2.5 - half, 2.5 + half))


def test_launches_are_counted_by_how_they_ended():
    maker, point = Maker(isolate=False), make_point(ranks=2)
    ended = [maker.ended(point, i, status, "why") for i, status in enumerate(("failed", "failed", "timeout"))]
    counts = status_counts(launches_of(*ended, timed(maker, point, 3, 1.0, 1.0)))
    assert counts == {"ok": 1, "failed": 2, "timeout": 1}


def test_the_centre_over_launches_is_the_median_and_no_mean():
    assert spread([1.0, 2.0, 9.0]).median == 2.0
    assert spread([9.0, 1.0, 2.0, 4.0]).median == 3.0


def test_real_and_complex_transforms_are_never_in_one_comparison():
    maker = Maker(isolate=False)
    kinds = ("c2c", "r2c")
    found = comparisons(points_of(*(timed(maker, make_point(ranks=2, kind=kind), 0, 1.0, 1.0) for kind in kinds)))
    assert [[point.cell.contract.kind for point in one.ranked] for one in found] == [["c2c"], ["r2c"]]


def test_the_roofline_is_of_one_rank():
    record = timed(Maker(isolate=False), make_point(ranks=2), 0, 1.0, 3.0)
    bytes_of = {"fft": [1e9, 3e9], "exchange": [2e9, 2e9]}
    launches = launches_of(counted(record, simulated=False, phase_bytes=bytes_of))
    [one] = View(Campaign("c", "c", launches), 0).counted
    flops = one.flops("fft")
    of_fft, of_all = roof_points(one, one.point)
    assert (of_fft.phase, of_all.phase) == ("fft", "")
    assert of_fft.intensity == pytest.approx(flops / 4e9)
    assert of_all.intensity == pytest.approx(flops / 8e9)
    assert of_fft.flops_rate == pytest.approx(flops / 2 / 1.0)
    assert of_all.flops_rate == pytest.approx(flops / 2 / 4.0)
    assert {each.phase: each.rate for each in reached(one, one.point)} == pytest.approx(
        {"fft": 2e9, "exchange": 2e9 / 3}
    )
