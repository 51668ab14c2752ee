"""What overlap won: a transform with other work, the same alone, and the work alone."""

import pytest
from fourscore_analysis.models.observations import usable
from fourscore_analysis.page.report import section_of
from fourscore_analysis.papers.here import Here
from fourscore_analysis.points.overlap import overlaps
from fourscore_analysis.tables.overlap import overlap_rows
from fourscore_analysis.views.view import View
from synthetic import campaign_of, launches_alike, make_point, view_of

WORK_S = 2e-3


def launches(phases: dict[str, float], count: int = 6, **work: str) -> list[dict]:
    records = launches_alike(make_point("pencil", "p2p") | work, phases, count)
    for record in records:
        if work:
            record["other_work"] = {"unit": "multiply-adds", "time_s": [WORK_S], "rank_units": [1e7, 1e7]}
    return records


ALONE = {"fft": 4e-3, "exchange": 1e-3}


def test_what_is_won_is_the_sum_less_both_together():
    both = {"fft": 4e-3, "exchange": 0.4e-3, "work": 2e-3}
    view = view_of(launches(ALONE), launches(both, other_work="2ms", other_work_place="during"))
    [one] = overlaps(view.points)
    assert one.work_s == WORK_S
    assert one.won_s == pytest.approx(0.6e-3, rel=0.05)
    assert one.efficiency == pytest.approx(0.6, rel=0.05), "of the exchange, which is shorter than the work"
    assert one.told
    [row] = overlap_rows(view)
    assert (row.load, row.place, row.work, row.exchange) == ("compute", "during", "2.00 ms", "1.00 ms")
    assert not row.tied
    assert "other work" not in row.contract
    [found] = section_of(view).counted_json()["overlap"]
    assert found["other_work_place"] == "during"
    assert "other_work_load" not in found
    assert found["won_s"] == one.won_s


def test_work_that_costs_more_than_its_time_wins_less_than_nothing():
    both = {"fft": 5e-3, "exchange": 1e-3, "work": 2.5e-3}
    view = view_of(launches(ALONE), launches(both, other_work="2ms", other_work_load="memory"))
    [one] = overlaps(view.points)
    assert one.won_s == pytest.approx(-1.5e-3, rel=0.05)
    assert one.told
    [row] = overlap_rows(view)
    assert (row.won[0], row.load, row.place) == ("-", "memory", "between")


def test_one_after_the_other_wins_nothing_that_launches_show():
    view = view_of(launches(ALONE), launches(ALONE | {"work": WORK_S}, other_work="2ms"))
    [row] = overlap_rows(view)
    assert row.tied


def test_work_has_no_row_where_the_transform_alone_is_missing():
    assert overlaps(view_of(launches(ALONE, other_work="2ms")).points) == []
    assert overlaps(view_of(launches(ALONE)).points) == []


def test_a_library_without_phases_has_no_efficiency():
    whole = launches({"other": 5e-3}), launches({"other": 5e-3, "work": 2e-3}, other_work="2ms")
    [one] = overlaps(view_of(*whole).points)
    assert one.efficiency is None
    assert overlap_rows(view_of(*whole))[0].efficiency == ""


def test_times_with_other_work_are_ranked_with_none_without_and_fitted_by_no_model():
    campaign = campaign_of(launches(ALONE) + launches(ALONE | {"work": WORK_S}, other_work="2ms"))
    view = View(campaign, 0)
    assert len(view.comparisons) == 2
    assert {launch.cell.contract.other_work for launch in usable([campaign])} == {""}
    [point] = Here(None, [campaign]).transforms("pencil")
    assert point.cell.contract.other_work == ""
    contracts = {view.contract_of(point) for point in view.points}
    assert any("2ms of other work between transforms (compute)" in text for text in contracts)
