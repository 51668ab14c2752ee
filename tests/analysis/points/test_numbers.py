"""Every number of a report against a value worked out by hand."""

import math
from types import SimpleNamespace

import pytest
from fourscore_analysis.points.points import comparisons, group_points
from fourscore_analysis.points.scaling import Series, strong_series, weak_series
from fourscore_analysis.points.stats import interval_rank, spread
from fourscore_analysis.points.units import bytes_text, digits, range_text, shape_text, time_text
from fourscore_analysis.records.basics import Place
from fourscore_analysis.records.transforms import parse_record
from fourscore_analysis.tables.findings import finding
from synthetic import Maker, campaign_of, canonical, make_point


def test_a_launch_is_the_median_of_its_samples_and_phases_are_those_of_the_slowest_rank():
    totals = [[5.0, 1.0, 9.0], [4.0, 2.0, 1.0]]  # slowest rank: 0, 1, 0
    phases = {"fft": [[3.0, 0.4, 2.0], [1.0, 0.5, 0.6]], "exchange": [[2.0, 0.6, 7.0], [3.0, 1.5, 0.4]]}
    record = Maker(isolate=False).with_samples(make_point(ranks=2), 0, totals, phases)
    launch = parse_record(canonical(record), "a.json")
    assert launch.time_s == (5.0, 2.0, 9.0)
    assert launch.median_s == 5.0
    assert launch.phase_s == {"fft": 2.0, "exchange": 2.0}  # medians of 3, 0.5, 2 and of 2, 1.5, 7
    assert launch.phase_max_s == {"fft": 2.0, "exchange": 3.0}  # medians of 3, 0.5, 2 and of 3, 1.5, 7


def test_an_even_number_of_samples_has_the_mean_of_the_middle_two_as_median():
    times = [[4.0, 1.0, 2.0, 8.0]]
    record = Maker(isolate=False).with_samples(make_point("serial", "none", ranks=1), 0, times, {"fft": times})
    launch = parse_record(canonical(record), "a.json")
    assert launch.median_s == 3.0
    assert launch.phase_s == {"fft": 3.0}


def test_a_point_is_the_median_over_launches_of_their_medians_with_their_range():
    maker, point = Maker(), make_point(ranks=2)
    points = group_points(campaign_of([maker.timed(point, i, seconds) for i, seconds in enumerate((3.0, 1.0, 2.0))]))
    assert len(points) == 1
    assert points[0].time_s == 2.0
    assert (points[0].time.low, points[0].time.high, points[0].time.count) == (1.0, 3.0, 3)


def test_gflops_are_credited_five_n_log2_n():
    record = Maker().timed(make_point(shape=(8, 8, 8), ranks=2), 0, 1e-3)
    point = group_points(campaign_of([record]))[0]
    assert point.gflops == pytest.approx(5 * 512 * 9 / 1e-3 / 1e9)  # 512 elements, log2 512 = 9


def test_alone_is_the_sum_of_the_components_of_a_phase():
    record = Maker(isolate=False).timed(make_point(ranks=2), 0, 1.0)
    record["isolated"] = [
        {"name": "exchange-1", "phase": "exchange", "time_s": [1.0, 3.0, 2.0], "rank_s": []},
        {"name": "exchange-2", "phase": "exchange", "time_s": [0.5], "rank_s": []},
        {"name": "fft-1", "phase": "fft", "time_s": [4.0], "rank_s": []},
    ]
    point = group_points(campaign_of([record]))[0]
    assert point.alone == {"exchange": 2.5, "fft": 4.0}
    assert point.components == {"exchange-1": 2.0, "exchange-2": 0.5, "fft-1": 4.0}


def test_speedup_and_efficiency_are_against_the_fewest_ranks():
    maker, seconds = Maker(), {2: 8.0, 4: 5.0, 16: 2.0}
    records = [maker.timed(make_point(ranks=ranks), 0, time) for ranks, time in seconds.items()]
    [[series]] = strong_series(group_points(campaign_of(records)))
    assert series.ranks == [2, 4, 16]
    assert series.speedup() == [1.0, 1.6, 4.0]
    assert series.strong_efficiency() == [1.0, 0.8, 0.5]


def test_weak_scaling_joins_no_shapes_of_different_dimensions():
    maker, cases = Maker(), (((64, 64), 1), ((16, 16, 32), 2))  # 4096 elements a rank, both
    records = [maker.timed(make_point(shape=shape, ranks=ranks), 0, 1.0) for shape, ranks in cases]
    assert weak_series(group_points(campaign_of(records))) == []


def test_weak_efficiency_is_credited_flops_a_rank_over_that_of_the_fewest_ranks():
    maker = Maker()
    cases = (((8, 8, 8), 1, 1.0), ((16, 8, 8), 2, 2.0), ((16, 16, 16), 2, 9.0))
    records = [maker.timed(make_point(shape=shape, ranks=ranks), 0, time) for shape, ranks, time in cases]
    [[series]] = weak_series(group_points(campaign_of(records)))  # 16^3 on 2 ranks has more elements a rank
    assert series.ranks == [1, 2]
    assert series.weak_efficiency() == pytest.approx(
        [1.0, (2 * 10 / 9) / 2 / 2]
    )  # flops x 2 x 10/9, ranks x 2, time x 2


def test_a_rate_without_credited_flops_is_in_elements():
    def point(ranks: int, elements: int, time_s: float) -> SimpleNamespace:
        cell = SimpleNamespace(ranks=ranks, elements=elements, place=Place(ranks))
        return SimpleNamespace(gflops=None, cell=cell, time_s=time_s)

    assert Series([point(1, 100, 2.0), point(4, 400, 4.0)]).weak_efficiency() == [1.0, 0.5]


def test_unlike_contracts_are_never_compared():
    maker = Maker()
    unlike = (
        {},
        {"layout": "natural"},
        {"buffers": "out-of-place"},
        {"planner": "estimate"},
        {"precision": "single"},
        {"wire": "single"},
        {"direction": "backward"},
        {"threads": 2},
        {"instances": 2},
        {"ranks": 4},
        {"shape": (64, 64, 32)},
    )
    records = [maker.timed(make_point(**changes), 0, 1.0 + i) for i, changes in enumerate(unlike)]
    records += [maker.timed(make_point("fftw-mpi", "none", **changes), 0, 2.0 + i) for i, changes in enumerate(unlike)]
    found = comparisons(group_points(campaign_of(records)))
    assert len(found) == len(unlike)
    for one in found:
        assert len(one.ranked) == 2
        ours = next(point for point in one.points if point.method.variant == "slab")
        assert one.ratio(ours) == pytest.approx(ours.time_s / (ours.time_s + 1))


def test_machines_and_builds_are_never_compared_within_a_campaign():
    point = make_point()
    records = [Maker(revision=revision).timed(point, i, 1.0 + i) for i, revision in enumerate(("old", "new"))]
    found = comparisons(group_points(campaign_of(records)))
    assert [len(one.ranked) for one in found] == [1, 1]
    assert {one.setting for one in found} == {"setting A", "setting B"}


def test_what_launches_do_not_show_to_be_slower_is_a_tie():
    maker, slab, pencil = Maker(), make_point("slab"), make_point("pencil")
    five = range(5)
    apart = campaign_of(
        [*[maker.timed(slab, i, 1.0 + i / 10) for i in five], *[maker.timed(pencil, i, 2.0 + i) for i in five]]
    )
    meet = campaign_of(
        [*[maker.timed(slab, i, 1.0 + i) for i in five], *[maker.timed(pencil, i, 1.9 + i) for i in five]]
    )
    assert comparisons(group_points(apart))[0].tied == []
    assert [point.label for point in comparisons(group_points(meet))[0].tied] == ["pencil/alltoallv"]
    assert "do not tell it from pencil/alltoallv" in finding(comparisons(group_points(meet)))


def test_the_finding_says_what_was_measured():
    maker = Maker()
    ours = maker.timed(make_point("slab", "shared", (128,) * 3), 0, {"fft": 0.5, "exchange": 0.5})
    theirs = maker.timed(make_point("fftw-mpi", "none", (128,) * 3), 0, 1.25)
    assert finding(comparisons(group_points(campaign_of([ours, theirs])))) == (
        "At 128³ on 2 ranks slab/shared has the lowest median, 1.00 s (one launch), but the launches do not tell it "
        "from fftw-mpi; 0.80 of the time of fftw-mpi; 50 % of its time is exchange. No basis for a claim: 1 launch, a "
        "claim takes 5."
    )
    assert finding([]) == "Nothing was measured."


@pytest.mark.parametrize("count", [5, 6, 10, 21, 40])
def test_the_interval_of_the_median_has_the_coverage_it_states(count):
    index, coverage = interval_rank(count)
    outside = sum(math.comb(count, i) for i in range(index + 1)) / 2**count
    assert coverage == pytest.approx(1 - 2 * outside)
    wider = 1 - 2 * sum(math.comb(count, i) for i in range(index + 2)) / 2**count
    assert wider < 0.95  # a narrower interval would not do
    assert coverage >= (0.95 if count > 5 else 0.93)


def test_intervals_appear_from_five_launches_on():
    assert spread([1, 2, 3, 4]).interval is None
    assert spread([3, 1, 2, 5, 4]).interval == (1, 5)
    assert spread(list(range(10))).interval == (1, 8)  # the table of Le Boudec, n = 10: second and ninth
    with pytest.raises(ValueError, match="no values"):
        spread([])


def test_numbers_read_well():
    assert [time_text(seconds) for seconds in (0.0123, 1.0, 59.96e-6, 9.996e-4, 2.7e-8)] == [
        "12.3 ms",
        "1.00 s",
        "60.0 µs",
        "1.00 ms",
        "27.0 ns",
    ]
    assert range_text(0.99e-3, 1.2e-3) == "0.990–1.20 ms"
    assert [digits(value) for value in (1234.5, 12.34, 0.9996, 0)] == ["1230", "12.3", "1.00", "0"]
    assert [bytes_text(count) for count in (12, 2048, 3 * 2**20, None)] == ["12 B", "2.00 KiB", "3.00 MiB", "–"]
    assert [shape_text(shape) for shape in ((8, 8, 8), (128, 96, 100), (64,))] == ["8³", "128×96×100", "64"]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(5.89e-29, "5.89e-29 s"), (1e-13, "1.00e-13 s"), (2.5e-12, "0.00250 ns"), (3.2e14, "3.20e+14 s"), (0.0, "0 ns")],
)
def test_a_constant_far_from_any_unit_has_an_exponent_and_no_row_of_zeros(seconds, text):
    assert time_text(seconds) == text


@pytest.mark.parametrize("exponent", range(-40, 40))
def test_no_number_is_a_row_of_zeros(exponent):
    assert len(digits(1.234 * 10.0**exponent)) <= 12
    assert float(digits(1.234 * 10.0**exponent)) == pytest.approx(1.23 * 10.0**exponent, rel=0.01)
