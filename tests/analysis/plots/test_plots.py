"""What the plots of algorithms are made of: which points meet, and the papers' numbers beside them."""

from pathlib import Path

import numpy as np
import pytest
from fourscore_analysis.plots import breakdown_size, decomposition, instances, plan_time, threads, timeline, traffic
from fourscore_analysis.plots.shared import colours
from fourscore_analysis.records.cells import Method
from fourscore_analysis.records.transforms import parse_record
from fourscore_analysis.records.values import RecordError
from fourscore_analysis.views.view import View
from fourscore_papers.haynes2000.plots import crossover
from synthetic import (
    Maker,
    campaign_of,
    canonical,
    crossover_points,
    decomposition_points,
    instance_points,
    make_point,
    strong_points,
    thread_points,
)


def view_of(points, timelines: bool = False, launches: int = 1) -> View:
    maker = Maker("a-11111111", "a", timeline=timelines)
    records = [maker.ok(point, launch) for launch in range(launches) for point in points]
    return View(campaign_of(records), 0)


def test_points_that_differ_in_decomposition_alone_are_one_curve():
    [[group]] = decomposition.pages(view_of(decomposition_points()))
    assert sorted(sweep.label for sweep in group.sweeps) == ["overdecomposed/alltoallv", "overdecomposed/p2p"]
    for sweep in group.sweeps:
        assert sweep.quantity == [1, 4, 16, 64, 256]
        assert all(point.measured for point in sweep.points)
    assert decomposition.pages(view_of(strong_points())) == []
    # A variant may choose for itself, or use the word for something else.
    others = [make_point("heffte", "none", parameters={"decomposition": word}) for word in ("auto", "slabs", "pencils")]
    assert decomposition.pages(view_of(others)) == []


def test_points_that_differ_in_threads_alone_are_one_curve():
    [[group]] = threads.pages(view_of(thread_points()))
    assert [sweep.quantity for sweep in group.sweeps] == [[1, 2, 4, 8]] * 2
    assert "threads" not in group.subtitle
    assert threads.pages(view_of(strong_points())) == []


def test_the_axes_of_too_many_sweeps_are_told_apart_by_their_titles():
    methods = [
        (variant, exchange) for variant in ("slab", "pencil", "node") for exchange in ("alltoallv", "p2p", "shared")
    ]
    points = [make_point(*method, (64,) * 3, 2, threads=count) for method in methods for count in (1, 2)]
    [page] = threads.pages(view_of(points))
    assert [len(group.sweeps) for group in page] == [4, 5]
    assert [group.title for group in page] == ["64³ · 2 ranks (1 of 2)", "64³ · 2 ranks (2 of 2)"]


def test_the_crossover_compares_the_fastest_of_both_on_the_same_problem():
    points = [*crossover_points(), make_point("rods", "shared", (16,) * 3, 2), make_point("rods", "p2p", (8,) * 3, 2)]
    [[group]] = crossover.pages(view_of(points, launches=3))
    assert len(group) == 9  # 8^3 lacks the other method
    for one in group:
        assert one.ratio == one.new.time_s / one.traditional.time_s
        assert one.range[0] <= one.ratio <= one.range[1]
    both = next(one for one in group if one.comparison.cell.shape == (16, 16, 16) and one.comparison.cell.ranks == 2)
    assert both.traditional.method.exchange == "shared"


def test_instances_are_drawn_against_how_many_and_against_ranks():
    many, ranks = instances.pages(view_of(instance_points()))
    assert (many.against, ranks.against) == ("instances", "ranks")
    assert len(many.groups) == 2  # 4 and 8 ranks
    for group in many.groups:
        assert [sweep.label for sweep in group.sweeps] == ["pencil/p2p, on all ranks", "pencil/p2p, on its own ranks"]
        assert [sweep.quantity for sweep in group.sweeps] == [[1, 2, 4]] * 2
        assert "instances" not in group.subtitle
        for sweep in group.sweeps:
            assert sweep.points[0].instance_mean_s is None
            assert all(point.instance_mean_s <= point.time_s for point in sweep.points[1:])
    assert [group.sweeps[0].quantity for group in ranks.groups] == [[4, 8]] * 2  # 2 and 4 instances
    assert instances.pages(view_of(strong_points())) == []


def test_traffic_is_that_of_the_busiest_rank_and_of_points_that_move_anything():
    maker = Maker()
    record = maker.ok(make_point(ranks=2), 0)
    record["cost"] |= {
        "bytes_sent_per_rank": [10, 30],
        "messages_per_rank": [1, 3],
        "bytes_read_shared_per_rank": [0, 7],
    }
    found = parse_record(canonical(record), "a.json").traffic
    assert (found.bytes_sent, found.messages, found.bytes_read_shared, found.model_bytes) == (30, 3, 7, None)
    alone = [make_point("serial", "none", ranks=1)]
    assert traffic.pages(view_of(alone)) == []
    [page] = traffic.pages(view_of([*alone, make_point("slab"), make_point("pencil")]))
    assert [point.label for facet in page for point in facet.points] == ["slab/alltoallv", "pencil/alltoallv"]


def test_a_timeline_has_a_row_for_each_thread_that_worked():
    view = view_of([*thread_points()], timelines=True)
    traces = [trace for page in timeline.pages(view) for trace in page]
    assert len(traces) == 8
    for trace in traces:
        assert len(trace.lanes) == 2 * trace.point.cell.contract.threads
        assert trace.longest_s >= trace.timeline.end_s
        for lane in trace.lanes:
            assert all(begin <= end for begin, end in zip(lane.begin_s, lane.end_s, strict=True))
    assert timeline.pages(view_of(thread_points())) == []


def test_runs_of_one_problem_share_an_axis_but_for_outliers():
    maker = Maker("a-11111111", "a", timeline=True)
    variants = {"slab": 1.0, "pencil": 1.2, "volumetric": 9.0}
    records = [maker.ok(make_point(name), 0, scale) for name, scale in variants.items()]
    view = view_of([])
    view.campaign.launches = [
        parse_record(canonical(record), name) for name, record in zip("abc", records, strict=True)
    ]
    first, second, outlier = (trace for page in timeline.pages(view) for trace in page)
    assert first.longest_s == second.longest_s < outlier.longest_s
    assert (first.subtitle, outlier.subtitle) == ("", "a longer axis than its rivals")


def test_a_timeline_of_columns_that_differ_in_length_is_refused():
    record = Maker(timeline=True).ok(make_point(), 0)
    record["timeline"]["lanes"][0]["end_s"].pop()
    with pytest.raises(RecordError, match="differ in length"):
        parse_record(canonical(record), "a.json")


def test_a_timeline_of_many_events_stays_a_light_page(tmp_path: Path):
    """100,000 stretches as vectors would be tens of megabytes."""
    view = view_of([make_point("overdecomposed", "none", ranks=2)], timelines=True)
    for lane in view.measured[0].traced.timeline.lanes:
        times = 50_000 // len(lane.phases)
        lane.phases *= times
        lane.begin_s, lane.end_s = (np.tile(values, times) for values in (lane.begin_s, lane.end_s))
    [[trace]] = timeline.pages(view)
    figure = timeline.draw(view, [trace], "many")
    figure.savefig(tmp_path / "many.svg")
    assert (tmp_path / "many.svg").stat().st_size < 1_000_000


def test_a_library_that_is_timed_as_a_whole_has_no_breakdown_by_size():
    shapes = [(64,) * 3, (128,) * 3, (256,) * 3]
    methods = [("slab", "alltoallv"), ("accfft", "none")]
    records = [Maker("a-11111111", "a").ok(make_point(*method, shape, 2), 0) for method in methods for shape in shapes]
    for record in records:
        if record["point"]["variant"] == "accfft":
            record["samples"]["rank_phase_s"] = {"other": record["samples"]["rank_total_s"]}
            record["samples"]["closure"]["worst"] = 0.0
            record.pop("isolated", None)
    view = View(campaign_of(records), 0)
    [[group]] = breakdown_size.pages(view)
    assert {point.label for point in group} == {"slab/alltoallv"}
    breakdown_size.draw(view, [group], "heading")


def test_a_librarys_own_parameters_are_told_apart_by_their_markers():
    looks = [
        colours.method_style(Method(name, "none", "fftw", "auto", parameters))
        for name, parameters in (("heffte", "reorder=no"), ("heffte", "reorder=yes"), ("mkl-cdft", ""))
    ]
    assert len({(look.colour, look.marker) for look in looks}) == 3


@pytest.mark.parametrize(("seconds", "unit", "size"), [(2.5, "s", 1.0), (3e-3, "ms", 1e-3), (4e-5, "µs", 1e-6)])
def test_the_axis_of_planning_times_is_in_the_unit_that_it_names(seconds, unit, size):
    maker = Maker("a-11111111", "a")
    records = [maker.ok(make_point("slab", "p2p", (64,) * 3, 2), launch) for launch in range(3)]
    for number, record in enumerate(records):
        record["plan"] = {"time_s": seconds * (1 + 0.1 * number), "rank_s": [seconds * (1 + 0.1 * number)] * 2}
    view = View(campaign_of(records), 0)
    [page] = plan_time.pages(view)
    [axes] = plan_time.draw(view, page, "planning").axes
    assert axes.get_xlabel() == f"planning time ({unit})"
    *dots, medians = axes.lines
    drawn = sorted(x * size for line in dots for x in line.get_xdata())
    assert drawn == pytest.approx([seconds, 1.1 * seconds, 1.2 * seconds])
    assert medians.get_xdata() * size == pytest.approx([1.1 * seconds])
