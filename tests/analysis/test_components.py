"""Components alone: which benchmarks are one curve, the ceiling they are held against, and what is emulated."""

import pytest
from fourscore_analysis.plots import component_bandwidth, component_rates, emulated_copies, local_fft_curves
from fourscore_analysis.points.components import Bench, grouped
from fourscore_analysis.records.archive import read_campaigns
from fourscore_analysis.records.basics import Place
from fourscore_analysis.records.transforms import parse_record
from fourscore_analysis.records.values import RecordError
from fourscore_analysis.tables.components import bench_tables
from fourscore_analysis.tables.findings import findings
from fourscore_analysis.views.view import View
from synthetic import Maker, benchmark, canonical, component_point, component_record, component_records, view_of


def recorded(program: str, benchmarks: list, ranks: int = 1, launch: int = 0, **parameters: str) -> dict:
    return component_record(Maker(), component_point(program, ranks, **parameters), launch, benchmarks)


def memory(size: float, rate: float, kernel: str = "copy", **labels: str) -> dict:
    return benchmark(kernel, size, rate, {"precision": "double"} | labels)


BEYOND, WITHIN = 2.0**28, 2.0**14
EFFORTS = ("estimate", "measure")


def test_a_point_of_a_curve_is_bytes_over_the_median_over_launches():
    slow, fast = memory(BEYOND, 4e9), memory(BEYOND, 8e9)
    bench = view_of(recorded("memory_bench", [slow]), recorded("memory_bench", [fast], launch=1)).bench
    [curve] = bench.curves("memory_bench")
    [point] = curve.points
    assert point.time_s == pytest.approx((2 * BEYOND / 4e9 + 2 * BEYOND / 8e9) / 2)
    assert point.rate == pytest.approx(2 * BEYOND / point.time_s)
    assert (point.low_s, point.high_s) == (2 * BEYOND / 8e9, 2 * BEYOND / 4e9)


def test_the_range_of_a_single_launch_is_over_its_repetitions():
    [curve] = view_of(recorded("memory_bench", [memory(BEYOND, 8e9)])).bench.curves("memory_bench")
    seconds = 2 * BEYOND / 8e9
    assert (curve.points[0].low_s, curve.points[0].high_s) == pytest.approx((0.99 * seconds, 1.02 * seconds))


def test_labels_and_asked_parameters_tell_curves_apart():
    one = recorded("memory_bench", [memory(BEYOND, 8e9, stores="plain"), memory(BEYOND, 9e9, stores="streaming")])
    [group] = grouped(view_of(one).bench.curves("memory_bench"))
    assert [curve.label for curve in group.curves] == ["plain", "streaming"]
    asked = [recorded("alltoall_bench", [memory(BEYOND, 1e9)], 4, radix=radix) for radix in ("2", "4")]
    [group] = grouped(view_of(*asked).bench.curves("alltoall_bench"))
    assert [curve.label for curve in group.curves] == ["2", "4"]
    # Points that were asked for other sizes are one curve all the same.
    asked = [recorded("memory_bench", [memory(size, 1e9)], size=f"{size:g}") for size in (BEYOND, WITHIN)]
    [curve] = view_of(*asked).bench.curves("memory_bench")
    assert ([point.x for point in curve.points], curve.labels) == ([WITHIN, BEYOND], {"precision": "double"})
    grids = [recorded("alltoall_bench", [memory(BEYOND, 1e9)], 4, grid=grid) for grid in ("1x4", "2x2")]
    groups = grouped(view_of(*grids).bench.curves("alltoall_bench"))
    assert [group.title for group in groups] == ["1x4 · 4 ranks", "2x2 · 4 ranks"]


def test_the_ceiling_is_the_copy_beyond_the_cache_of_the_most_ranks_that_are_not_too_many():
    runs = [
        recorded("memory_bench", [memory(WITHIN, 50e9), memory(BEYOND, rate), memory(BEYOND, 99e9, "read")], ranks)
        for ranks, rate in ((1, 8e9), (2, 6e9), (8, 2e9))
    ]
    bench = view_of(*runs).bench
    machine = bench.runs[0].machine_hash
    for ranks, rate, found in ((1, 8e9, 1), (3, 6e9, 2), (8, 2e9, 8), (64, 2e9, 8)):
        ceiling = bench.copy_ceiling(machine, Place(ranks))
        assert (ceiling.rate, ceiling.ranks) == (pytest.approx(rate), found)
    assert bench.copy_ceiling("another machine", Place(1)) is None
    assert Bench([]).copy_ceiling(machine, Place(1)) is None


def transform(kernel: str, **labels: str) -> dict:
    return benchmark(kernel, 64.0, 1e9, {"precision": "double"} | labels, length=64, flops=1e6)


def test_axes_are_named_by_what_differs_and_by_their_machine_where_there_are_several():
    runs = [recorded("local_fft_bench", [transform(kernel)]) for kernel in ("c2c", "r2c")]
    groups = grouped(view_of(*runs).bench.curves("local_fft_bench"))
    assert [(group.title, group.subtitle) for group in groups] == [("c2c · 1 rank", ""), ("r2c · 1 rank", "")]
    [group] = grouped(view_of(runs[0]).bench.curves("local_fft_bench"))
    assert group.title == "1 rank"
    for run, machine in zip(runs, ("abcdef0123", "bbcdef0123"), strict=True):
        run["provenance"]["machine_hash"] = machine
    groups = grouped(view_of(*runs).bench.curves("local_fft_bench"))
    assert [(group.title, group.subtitle) for group in groups] == [
        ("c2c · 1 rank", "machine abcdef"),
        ("r2c · 1 rank", "machine bbcdef"),
    ]


def test_simulated_failed_and_foreign_runs_reach_nothing():
    record = recorded("memory_bench", [memory(BEYOND, 8e9)])
    for changes in ({"flags": ["simulated"]}, {"verdict": record["verdict"] | {"status": "failed"}}):
        bench = view_of(record | changes).bench
        assert (bench.measured, bench.programs, bench.curves("memory_bench")) == ([], [], [])
    foreign = view_of(record | {"flags": ["foreign"]}).bench
    assert len(foreign.measured) == 1
    assert foreign.copy_ceiling(foreign.runs[0].machine_hash, Place(1)) is None


def test_the_peak_is_that_of_the_fastest_local_transform_of_the_precision():
    fast, slow = transform("c2c", layout="a"), transform("c2c", layout="b")
    single = transform("c2c", precision="single")
    for one, rate in ((fast, 4e9), (slow, 2e9), (single, 9e9)):
        one["time_s"] = [1e6 / rate] * 3
        one["rank_s"] = [one["time_s"]]
    bench = view_of(recorded("local_fft_bench", [fast, slow, single])).bench
    machine = bench.runs[0].machine_hash
    for precision, rate in (("double", 4e9), ("single", 9e9)):
        peak = bench.transform_peak(machine, precision)
        assert (peak.rate, peak.ranks, peak.label) == (pytest.approx(rate), 1, "local FFT of 64")
    assert bench.transform_peak(machine, "half") is None


def test_what_only_ran_in_the_cache_is_no_ceiling():
    bench = view_of(recorded("memory_bench", [memory(WITHIN, 50e9)])).bench
    assert bench.copy_ceiling(bench.runs[0].machine_hash, Place(1)) is None


def test_reshuffles_are_set_against_the_copy_of_the_same_ranks():
    view = view_of(
        recorded("memory_bench", [memory(BEYOND, 8e9)]),
        recorded("local_transpose_bench", [memory(BEYOND, 6e9, "simd", permutation="zxy")]),
    )
    tables = {table.program: table for table in bench_tables(view)}
    assert [row.over_copy for row in tables["local_transpose_bench"].rows] == ["0.75"]


def test_a_copy_of_the_same_run_stands_before_that_of_memory_bench():
    copy = memory(BEYOND, 6e9, "streaming-copy")
    permuted = memory(BEYOND, 4.8e9, "permute", method="simd", permutation="zxy", baseline=copy["name"])
    view = view_of(recorded("memory_bench", [memory(BEYOND, 8e9)]), recorded("local_transpose_bench", [copy, permuted]))
    tables = {table.program: table for table in bench_tables(view)}
    assert {row.axes.split(" · ")[0]: row.over_copy for row in tables["local_transpose_bench"].rows} == {
        "permute": "0.80",
        "streaming-copy": "0.75",
    }


def test_two_sizes_are_rows_each_by_itself():
    runs = [memory(size, 5e9, "permute", method="simd", permutation="zxy") for size in (BEYOND, WITHIN)]
    view = view_of(recorded("local_transpose_bench", runs))
    [page] = component_rates.pages(view)
    assert [facet.subtitle for facet in page] == ["256 MiB", "16.0 KiB, in the cache"]
    assert component_bandwidth.pages(view) == []


def test_what_has_one_size_is_drawn_as_rows_with_methods_side_by_side():
    view = view_of(*component_records(Maker(), 1))
    facets = [facet for page in component_rates.pages(view) for facet in page]
    [permuted] = [facet for facet in facets if "permute · 1 rank" in facet.title]
    assert sorted(permuted.rows) == ["xzy", "yxz", "yzx", "zxy", "zyx"]
    assert {len(curves) for curves in permuted.rows.values()} == {4}
    assert permuted.ceiling == pytest.approx(8e9, rel=0.03)
    [packed] = [facet for facet in facets if facet.title.endswith(" · pack · 1 rank")]
    assert sorted(packed.rows) == ["blocks 2", "blocks 4", "blocks 8"]  # never merged into one
    for page in component_rates.pages(view):
        assert all("B/s" in axes.get_xlabel() for axes in component_rates.draw(view, page, "x").axes)


def test_emulated_copies_are_in_a_plot_of_their_own_and_against_nothing():
    view = view_of(*component_records(Maker(), 1))
    drawn = {page.program for page in component_bandwidth.pages(view)}
    assert drawn == {"memory_bench", "alltoall_bench", "pairwise_bench"}
    [page] = emulated_copies.pages(view)
    assert all(curve.emulated for group in page.groups for curve in group.curves)
    heading = emulated_copies.draw(view, page, "x").texts[0].get_text()
    assert heading.startswith("EMULATED")
    [table] = [table for table in bench_tables(view) if table.program == "copy_bench"]
    assert {(row.over_copy, row.flags) for row in table.rows} == {("", ("emulated",))}
    sizes = (2.0**16, 2.0**20, 2.0**24)
    real = recorded("copy_bench", [memory(size, 9e9, direction="h2d", memory="pinned") for size in sizes])
    assert len(component_bandwidth.pages(view_of(real))) == 1
    assert emulated_copies.pages(view_of(real)) == []


def test_local_transforms_are_drawn_in_flops_against_length():
    view = view_of(*component_records(Maker(), 1))
    [page] = local_fft_curves.pages(view)
    labels = [f"{layout} {planner}" for layout in ("contiguous", "middle", "slowest") for planner in EFFORTS]
    assert [curve.label for curve in page.groups[0].curves] == labels
    assert "GFLOP/s a rank" in {axes.get_ylabel() for axes in local_fft_curves.draw(view, page, "x").axes}


def test_every_axis_of_the_curves_has_a_unit():
    view = view_of(*component_records(Maker(), 1))
    for page in component_bandwidth.pages(view):
        for axes in component_bandwidth.draw(view, page, "x").axes:
            if axes.get_visible():
                assert axes.get_ylabel() in ("GB/s a rank", "MB/s a rank")
                assert all(" " in tick.get_text() for tick in axes.get_xticklabels())  # 64 KiB


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda record: record["benchmarks"][0].update(time_s=[]), "time_s: expected a list with at least one entry"),
        (lambda record: record["benchmarks"][0].update(time_s=[0.0]), "not positive"),
        (lambda record: record["benchmarks"][0].pop("kernel"), "lacks the key 'kernel'"),
        (lambda record: record.pop("benchmarks"), "lacks the key 'benchmarks'"),
        (lambda record: record["point"].update(ranks=0), "ranks: expected 1 or more, found 0"),
    ],
)
def test_a_component_record_that_cannot_be_used_says_why(change, reason):
    record = recorded("memory_bench", [memory(BEYOND, 8e9)])
    change(record)
    with pytest.raises(RecordError, match=reason):
        parse_record(canonical(record), "a.json")


@pytest.mark.parametrize(
    ("synchronised", "time_s", "right"),
    [
        (False, 3.0, True),
        (False, 4.0, False),
        (True, 3.0, True),
        (True, 4.0, True),
        (True, 5.1, False),
        (True, 2.9, False),
    ],
)
def test_a_time_is_the_slowest_ranks_or_the_mean_of_the_slowest_of_each_iteration(synchronised, time_s, right):
    record = recorded("memory_bench", [memory(BEYOND, 8e9)])
    record["sampling"]["synchronised"] = synchronised
    record["benchmarks"][0].update(time_s=[time_s], rank_s=[[2.0], [3.0]])
    if right:
        assert parse_record(canonical(record), "a.json").benchmarks[0].time_s == (time_s,)
    else:
        with pytest.raises(RecordError, match="samples disagree: a time is not"):
            parse_record(canonical(record), "a.json")


def test_components_count_among_points_records_and_troubles(tmp_path, reported):
    maker = Maker("components-88888888", "components")
    skipped = maker.ended(component_point("memory_bench", 64), 0, "skipped", "64 ranks were asked for")
    _, text = reported([*component_records(maker, 1), skipped])
    [campaign] = read_campaigns(tmp_path, [maker.campaign])
    assert campaign.launches == []
    count = len(campaign.components)
    assert f"{count} points, {count} records" in text
    assert "64 ranks were asked for" in text
    assert "more than one build" not in text
    assert "<dt><span" in text
    assert ">emulated</span></dt>" in text
    assert findings(View(campaign, 0))[0].startswith("Copy bandwidth beyond the cache: 8.")
