"""Counted memory traffic and the constant A against values worked out by hand; what is simulated has no time."""

import math
import re

import pytest
from fourscore_analysis.models.constant import cache_bytes as cache_bytes_of
from fourscore_analysis.models.constant import cache_complexity, fit_through_origin, printed_a
from fourscore_analysis.page import figures
from fourscore_analysis.plots import all_plots, counted_traffic, fft_constant, over_minimum, roofline_plot
from fourscore_analysis.points.counting import doubts
from fourscore_analysis.records.transforms import parse_record
from fourscore_analysis.records.values import RecordError
from fourscore_analysis.tables.findings import findings
from fourscore_analysis.tables.points import memory_rows
from fourscore_analysis.tables.traffic import constant_tables, traffic_tables, uncounted_rows
from fourscore_analysis.tables.transforms import contract_tables
from fourscore_analysis.tables.wall_time import harness_rows
from fourscore_analysis.views.shelf import Shelf
from fourscore_analysis.views.view import View
from synthetic import (
    Maker,
    canonical,
    component_records,
    constant_points,
    count_unavailable,
    counted,
    line_bytes,
    make_point,
    view_of,
)

TRAFFIC_PLOTS = {"counted-traffic", "over-minimum", "roofline", "fft-constant"}


def constant_view(powers: range = range(14, 21), a: float = 5.0, **changes) -> View:
    maker = Maker(isolate=False)
    return view_of(
        *(counted(maker.ok(point, 0), phase_bytes=line_bytes(point, a), **changes) for point in constant_points(powers))
    )


def test_traffic_of_a_phase_is_that_of_all_readers_over_the_least_of_all_ranks():
    record = Maker(isolate=False).ok(make_point("slab", "p2p", (4, 4, 4), 2), 0)
    bytes_of = {"fft": [1000.0, 3000.0], "exchange": [10.0, 30.0]}
    [one] = view_of(counted(record, phase_bytes=bytes_of)).counted
    assert one.phases["fft"].total == pytest.approx(4000)
    assert one.phases["fft"].read == pytest.approx(2400)
    assert one.phases["fft"].written == pytest.approx(1600)
    # 64 elements of 16 bytes, read and written in each of 3 dimensions
    assert one.over_least("fft") == pytest.approx(4000 / (64 * 16 * 2 * 3))
    assert one.over_least("exchange") == pytest.approx(40 / (64 * 16 * 2))
    assert one.over_least("twiddle") is None
    assert one.total.total == pytest.approx(4040)
    assert one.bytes_an_element == pytest.approx(4040 / 64)


def test_a_count_that_one_reader_lacks_is_no_count():
    record = counted(Maker(isolate=False).ok(make_point("slab", "p2p", ranks=2), 0))
    record["counters"]["phases"]["fft"]["dram_write_bytes"][1] = None
    [one] = view_of(record).counted
    assert "fft" not in one.phases
    assert one.over_least("fft") is None
    assert one.over_least("exchange") > 0
    one.launches[0].least_bytes.clear()  # a record that does not say what must be moved
    assert (one.over_least("exchange"), one.total_over_least) == (None, None)
    record["counters"]["total"]["dram_write_bytes"][0] = None
    view = view_of(record)
    assert view.counted == []
    [row] = uncounted_rows(view)
    assert "no bytes of memory traffic" in row.reason


def test_a_backend_that_knows_the_sum_alone_gives_the_sum():
    record = counted(Maker(isolate=False).ok(make_point("slab", "p2p", ranks=2), 0), simulated=False)
    counters = record["counters"]
    counters["metrics"] = [{"name": "dram_bytes", "unit": "bytes"}]
    counters["total"] = {"dram_bytes": [5.0, 7.0]}
    counters["phases"] = {"fft": {"dram_bytes": [5.0, 7.0]}}
    [one] = view_of(record).counted
    assert (one.total.read, one.total.written, one.total.total) == (None, None, 12.0)
    [table] = traffic_tables(view_of(record))
    assert (table.rows[0].read, table.rows[0].total) == ("–", "12 B")


def test_arrays_that_do_not_fit_the_readers_are_refused():
    record = counted(Maker().ok(make_point(ranks=2), 0))
    record["counters"]["total"]["dram_read_bytes"].append(1.0)
    with pytest.raises(RecordError, match="3 values for 2 readers"):
        parse_record(canonical(record), "a.json")


def test_simulated_launches_are_in_no_table_or_plot_of_times():
    maker = Maker(isolate=True, timeline=True)
    view = view_of(*(counted(maker.ok(make_point(variant), i)) for i in (0, 1) for variant in ("slab", "pencil")))
    assert view.measured == []
    assert view.comparisons == []
    assert contract_tables(view) == memory_rows(view) == harness_rows(view.campaign.runs) == []
    assert all(point.plan is None for point in view.points)
    drawn = {plot.name for plot in all_plots() if list(plot.pages(view))}
    assert drawn == {"counted-traffic", "over-minimum"}
    [page] = counted_traffic.pages(view)
    assert [facet.times for facet in page] == [[None, None]]
    assert any("simulator" in sentence for sentence in findings(view))
    assert not any("fastest" in sentence for sentence in findings(view))


def test_a_flag_alone_makes_a_launch_simulated():
    view = view_of(Maker().ok(make_point(), 0, flags=["simulated"]))
    assert view.measured == []


def test_times_beside_simulated_counts_are_those_of_the_same_point_elsewhere():
    maker = Maker()
    same, other = make_point("slab"), make_point("pencil")
    counts = view_of(counted(maker.ok(same, 0, scale=50)), counted(maker.ok(other, 0, scale=50)))
    times = view_of(maker.ok(same, 0))
    counts.shelf = Shelf([counts, times])
    found = {one.point.method.variant: counts.shelf.timed(one.point) for one in counts.counted}
    assert found["pencil"] is None
    assert found["slab"] is times.points[0]
    elsewhere = maker.ok(other, 0)
    elsewhere["provenance"]["machine_hash"] = "another machine"
    counts.shelf = Shelf([counts, view_of(elsewhere)])
    assert all(counts.shelf.timed(one.point) is None for one in counts.counted)


def test_what_was_counted_on_the_machine_itself_has_its_own_time():
    view = view_of(counted(Maker().ok(make_point("slab"), 0), simulated=False))
    assert len(view.measured) == 1
    [one] = view.counted
    assert view.shelf.timed(one.point) is one.point


def test_unfit_unqualified_and_elected_are_said_beside_the_numbers():
    def doubts_of(**changes) -> list[str]:
        view = view_of(counted(Maker().ok(make_point(), 0), simulated=False, **changes))
        [table] = traffic_tables(view)
        assert table.doubts == doubts(view.counted[0].source, view.counted[0].multiplexed)
        return table.doubts

    assert doubts_of() == []
    assert doubts(view_of(counted(Maker().ok(make_point(), 0), simulated=False)).counted[0].source) == []
    assert "not qualified" in doubts_of(qualification={"fit": None})[0]
    assert "unfit on this machine: it counts 1.31" in doubts_of(qualification={"fit": False, "worst_ratio": 1.31})[0]
    for scope, said in (("socket", "socket"), ("node", "node"), ("", "socket")):
        doubt = doubts_of(attribution="elected", scope=scope)[0]
        assert doubt.startswith(f"counts are of the whole {said}, phases are those of one elected rank there")
    assert "multiplexed" in doubts_of(multiplexed=True)[0]


def test_counters_that_are_unavailable_show_why(reported):
    _, text = reported([count_unavailable(Maker().ok(make_point(), 0), "perf_event_paranoid is <4>")])
    assert "<h3>Not counted</h3>" in text
    assert text.count("perf_event_paranoid is &lt;4&gt;") >= 2  # the finding and the table
    assert "Memory traffic by variant" not in text


def test_the_table_has_the_least_traffic_first_and_the_declared_bytes():
    maker = Maker(isolate=False)
    slab, pencil = (counted(maker.ok(make_point(variant, "p2p"), 0)) for variant in ("slab", "pencil"))
    for values in (*pencil["counters"]["total"].values(), *pencil["counters"]["phases"]["fft"].values()):
        values[:] = [value / 2 for value in values]
    [table] = traffic_tables(view_of(slab, pencil))
    assert [row.method for row in table.rows] == ["pencil/p2p", "slab/p2p"]
    assert table.phases == ["fft", "pack", "exchange", "unpack"]
    assert [row.first for row in table.rows] == [True, False]
    assert table.rows[1].phases[0][1] == "1.20"  # counted over least
    assert all(row.time == "–" for row in table.rows)


def test_the_fit_through_the_origin_is_least_squares_with_students_interval():
    fit = fit_through_origin([1, 2, 3], [2, 3, 7])
    assert fit.a == pytest.approx(29 / 14)  # (2 + 6 + 21) / (1 + 4 + 9)
    residuals = [2 - 29 / 14, 3 - 58 / 14, 7 - 87 / 14]
    error = math.sqrt(sum(value**2 for value in residuals) / 2 / 14)
    assert fit.interval == pytest.approx((fit.a - 4.302653 * error, fit.a + 4.302653 * error), rel=1e-6)  # t, 2 d.o.f.
    assert fit_through_origin([2], [5]).interval is None
    assert fit_through_origin([1, 2], [3, 6]).interval == (3, 3)
    with pytest.raises(ValueError, match="0 and 0"):
        fit_through_origin([], [])


def test_the_digits_of_the_fit_do_not_depend_on_the_order():
    x, y = [cache_complexity(2**k, 65536) for k in range(16, 24)], [5.1 * 2**k * (1 + 1e-3 * k) for k in range(16, 24)]
    assert fit_through_origin(x, y) == fit_through_origin(x[::-1], y[::-1])


def test_the_complexity_is_that_of_equation_2():
    assert cache_complexity(2**20, 2**16) == pytest.approx(2**20 * 20 / 16)
    assert cache_complexity(2**10, 2**16) == 2**10  # max(log_Z n, 1)


def test_a_is_words_of_one_transform_over_the_complexity_beyond_the_cache():
    view = constant_view(a=5.0)
    [one] = view.constants
    assert one.z == 2**16  # 1 MiB in words of 16 bytes
    assert [sample.n for sample in one.samples] == [2**power for power in range(14, 21)]
    assert [sample.n for sample in one.fitted] == [2**power for power in range(17, 21)]
    assert all(sample.a == pytest.approx(5.0) for sample in one.fitted)
    assert one.samples[0].a == pytest.approx(0.4)
    assert one.fit.a == pytest.approx(5.0)
    assert one.fit.interval == pytest.approx((5.0, 5.0))
    [table] = constant_tables(view)
    assert (table.a, table.interval, table.published) == ("5.000", "5.000–5.000", "6.3")
    assert table.rows[0].n == "16384 = 2^14"


def test_a_of_real_counters_takes_the_last_level_cache_of_the_machine():
    assert constant_view(simulated=False).constants == []  # 32 MiB: 2^21 words are held
    view = constant_view(range(20, 25), simulated=False)
    [one] = view.constants
    assert one.cache_bytes == 33554432
    assert [sample.n for sample in one.fitted] == [2**22, 2**23, 2**24]


@pytest.mark.parametrize(
    ("caches", "cache_bytes"),
    [
        ([{"level": 2, "bytes": 2**20}, {"level": 3, "bytes": 2**25}, {"level": 1, "bytes": 2**15}], 2**25),
        ([{"level": 3, "bytes": "?"}, {"level": 2, "bytes": 2**20}, 7, {"bytes": 2**30}, {"level": 4}], 2**20),
        ([{"level": 3, "bytes": 0}, {"level": 2, "bytes": 2**20}], 2**20),
        ([{"level": 3, "bytes": -1}], None),
        ("?", None),
    ],
)
def test_the_last_level_is_the_highest_whose_size_is_known(caches, cache_bytes):
    record = counted(Maker(isolate=False).ok(make_point("serial", "none", (2**20,), 1), 0), simulated=False)
    record["provenance"]["identity"]["machine"]["caches"] = caches
    [one] = view_of(record).counted
    assert cache_bytes_of(one) == cache_bytes


def test_a_needs_two_lines_beyond_the_cache_that_were_counted_alone():
    assert constant_view(range(10, 18)).constants == []
    maker = Maker(isolate=False)
    unlike = [make_point("serial", "none", (2**17,), 1, instances=2), make_point("serial", "none", (3 * 2**16,), 1)]
    assert view_of(*(counted(maker.ok(point, 0)) for point in unlike)).constants == []


def test_the_report_and_its_json_have_the_constant_beside_the_papers(reported, monkeypatch):
    monkeypatch.setattr(figures, "all_plots", lambda: [fft_constant.PLOT])
    maker = Maker("fft-constant-99999999", "fft-constant", isolate=False)
    points = constant_points()
    [campaign], text = reported(counted(maker.ok(one, 0), phase_bytes=line_bytes(one, 5.5)) for one in points)
    [one] = campaign["constants"]
    assert one["a"] == pytest.approx(5.5)
    assert one["published_a"] == printed_a().a == 6.3
    assert one["z_words"] == 65536
    assert len(one["samples"]) == 7
    assert re.search(r"<strong>A = 5\.500</strong> \(95 % interval 5\.500–5\.500\); czechowski2012 has 6\.3", text)
    assert "<h3>The constant A of Eq. 2</h3>" in text
    assert campaign["findings"][0].startswith("A of Eq. 2 is 5.500")


def test_the_roofline_has_flops_over_counted_bytes_and_never_a_simulated_time():
    maker = Maker(isolate=False)
    point = make_point("slab", "p2p", (64, 64, 64), 2)
    counts = counted(maker.ok(point, 0))
    times = maker.ok(point, 0)
    view = view_of(counts)
    assert roofline_plot.pages(view) == []  # neither time nor roof
    view.shelf = Shelf([view, view_of(times)])
    [[facet]] = roofline_plot.pages(view)
    fft, whole = facet.points
    flops = 5 * 64**3 * 18
    moved = 1.2 * 64**3 * 16 * 6
    seconds = sorted(max(rank) for rank in zip(*times["samples"]["rank_total_s"], strict=True))
    assert fft.intensity == pytest.approx(flops / moved)
    assert whole.flops_rate == pytest.approx(flops / 2 / ((seconds[4] + seconds[5]) / 2))
    assert {one.phase for one in facet.reached} == {"fft", "pack", "exchange", "unpack"}
    assert "simulated" in facet.subtitle
    assert facet.ceiling is facet.peak is None


def test_the_roof_is_that_of_the_same_machine():
    maker = Maker(isolate=False)
    counts = counted(maker.ok(make_point("slab", "p2p"), 0))
    view = view_of(counts, *component_records(Maker(), 1))
    [[facet]] = roofline_plot.pages(view)
    assert facet.ceiling.rate == pytest.approx(8e9 / math.sqrt(2), rel=0.03)  # copy, two ranks at once
    assert facet.peak.rate == pytest.approx(2 * 3.3e9, rel=0.03)  # contiguous, in the cache
    assert not facet.timed
    counts["provenance"]["machine_hash"] = "another"
    assert roofline_plot.pages(view_of(counts, *component_records(Maker(), 1))) == []


def test_counted_flops_stand_before_those_of_the_formula():
    record = counted(Maker(isolate=False).ok(make_point("slab", "p2p", ranks=2), 0), simulated=False)
    record["counters"]["metrics"].append({"name": "flops", "unit": "flops"})
    record["counters"]["phases"]["fft"]["flops"] = [30.0, 12.0]
    [[facet]] = roofline_plot.pages(view_of(record))
    assert facet.counts_flops
    assert [point.phase for point in facet.points] == ["fft", ""]
    moved = sum(sum(record["counters"]["phases"]["fft"][name]) for name in ("dram_read_bytes", "dram_write_bytes"))
    assert facet.points[0].intensity == pytest.approx(42 / moved)


def test_bytes_against_the_least_are_drawn_inside_and_alone():
    view = view_of(counted(Maker().ok(make_point("slab", "p2p"), 0)))
    [[facet]] = over_minimum.pages(view)
    [one] = facet.rows
    assert over_minimum.compared(one) == ["fft", "pack", "exchange", "unpack"]
    assert one.alone_over_least("pack") == pytest.approx(0.9 * one.over_least("pack"))


def test_plots_of_counts_draw_without_any_time():
    view = constant_view()
    for page in fft_constant.pages(view):
        assert fft_constant.draw(view, page, "x").axes
    view = view_of(counted(Maker().ok(make_point("slab", "p2p"), 0)))
    for plot in (counted_traffic, over_minimum):
        for page in plot.pages(view):
            assert plot.draw(view, page, "x").axes


def test_records_without_counters_give_none_of_this():
    view = view_of(Maker().ok(make_point(), 0))
    assert view.counted == view.constants == []
    assert traffic_tables(view) == uncounted_rows(view) == constant_tables(view) == []
    assert not TRAFFIC_PLOTS & {plot.name for plot in all_plots() if list(plot.pages(view))}
