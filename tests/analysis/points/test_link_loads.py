"""Which links of a simulated machine are busy: what is read, the table, the sentence, by hand."""

import pytest
from fourscore_analysis.page.report import section_of
from fourscore_analysis.points.link_loads import SATURATED, busiest_of, kind_order
from fourscore_analysis.records.link_loads import read_link_loads
from fourscore_analysis.records.transforms import parse_record
from fourscore_analysis.records.values import RecordError
from fourscore_analysis.tables.findings import findings
from fourscore_analysis.tables.link_loads import kinds_text, link_findings, link_rows
from fourscore_analysis.views.view import View
from synthetic import Maker, canonical, exchange_load, make_point, simulated, view_of

IDLE = [("+0", 0.0, 0.0), ("-0", 0.0, 0.0)]
EVEN = [("+0", 0.5, 0.7), ("-0", 0.3, 0.7), ("+1", 0.1, 0.2)]
FULL = [("+0", 0.1, 0.3), ("-0", 0.1, 0.3), ("+1", 0.4, 0.97)]


def busy_view() -> View:
    maker = Maker(isolate=False)
    calm = simulated(maker, [exchange_load(EVEN), exchange_load(IDLE)])
    busy = simulated(maker, [exchange_load(EVEN), exchange_load(FULL, 2e-4, "0,1,0 +1")], host_order="random")
    return view_of(calm, busy)


def test_the_busiest_kinds_are_all_that_have_a_link_as_busy():
    [even, full] = [busiest_of(one) for one in read_link_loads([exchange_load(EVEN), exchange_load(FULL)])]
    assert (even.kinds, even.most_busy, even.mean_busy) == (("+0", "-0"), 0.7, pytest.approx(0.4))
    assert (full.kinds, full.most_busy, full.mean_busy) == (("+1",), 0.97, pytest.approx(0.4))
    assert (even.saturated, full.saturated) == (False, True)


def test_a_mean_over_kinds_is_one_over_links():
    loads = exchange_load(EVEN)
    loads["kinds"][0]["links"] = 192
    [one] = [busiest_of(one) for one in read_link_loads([loads])]
    assert one.mean_busy == pytest.approx((3 * 0.5 + 0.3) / 4)


def test_a_link_is_saturated_from_the_threshold_on():
    for most, saturated in ((SATURATED, True), (SATURATED - 0.01, False)):
        [one] = read_link_loads([exchange_load([("+0", 0.1, most)])])
        assert busiest_of(one).saturated is saturated


def test_the_table_has_a_row_for_each_exchange_of_each_point():
    view = busy_view()
    rows = sorted(link_rows(view), key=lambda row: (row.nodes, row.exchange))
    assert [(row.exchange, row.time, row.kinds, row.most, row.mean, row.link, row.saturated) for row in rows] == [
        (1, "100 µs", "+0, -0", "70 %", "40 %", "0,0,0 +0", False),
        (2, "100 µs", "+0, -0", "0 %", "0 %", "0,0,0 +0", False),
        (1, "100 µs", "+0, -0", "70 %", "40 %", "0,0,0 +0", False),
        (2, "200 µs", "+1", "97 %", "40 %", "0,1,0 +1", True),
    ]
    assert section_of(view).counted_json()["link_loads"][0]["exchanges"][0]["kinds"] == ["+0", "-0"]


def test_a_finding_names_the_exchange_that_saturates_a_link_and_only_that():
    [sentence] = link_findings(busy_view())
    assert sentence == (
        "An exchange saturates a link (90 % busy or more) at 1 of 2 simulated points. Most of all: pencil/alltoallv at "
        "64³ on 16 ranks on 16 nodes, simulated bluegene-l, random, whose second exchange saturates links +1 (97 % "
        "busy at 0,1,0 +1, 40 % on average)."
    )
    assert sentence in findings(busy_view())
    assert link_findings(view_of(simulated(Maker(isolate=False), [exchange_load(EVEN)]))) == []


def test_a_real_point_has_no_links():
    view = view_of(Maker(isolate=False).ok(make_point(), 0))
    assert (view.link_loads, link_rows(view), link_findings(view)) == ([], [], [])


def test_kinds_are_sorted_by_their_number_and_named_up_to_four():
    assert sorted(["-0", "bit 10", "+1", "bit 2", "+0"], key=kind_order) == ["+0", "-0", "+1", "bit 2", "bit 10"]
    bits = [f"bit {number}" for number in range(6)]
    assert kinds_text(bits[:2], 6) == "bit 0, bit 1"
    assert kinds_text(bits[:5], 6) == "bit 0, bit 1, bit 2, bit 3 and 1 more"
    assert kinds_text(bits, 6) == "all 6 kinds"


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"seconds": 0}, "seconds"),
        ({"kinds": []}, "kinds"),
        ({"kinds": [{"kind": "+0", "links": 0, "mean_busy": 0, "most_busy": 0}]}, "links"),
        ({"kinds": [{"kind": "+0", "links": 1, "mean_busy": 0, "most_busy": "full"}]}, "most_busy"),
        ({"busiest": [{"bytes": 1}]}, "link"),
    ],
)
def test_loads_that_are_none_are_refused_by_name(change, named):
    record = simulated(Maker(isolate=False), [exchange_load(EVEN) | change])
    with pytest.raises(RecordError, match=named):
        parse_record(canonical(record), "a.json")
