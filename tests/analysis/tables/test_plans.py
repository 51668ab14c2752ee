"""What a report says of the local plans that launches ran: which differ, and how many were reused."""

import re

import pytest
from fourscore_analysis.points.points import group_points
from fourscore_analysis.records.archive import Campaign
from fourscore_analysis.records.transforms import parse_record
from fourscore_analysis.tables.findings import plan_findings
from fourscore_analysis.tables.points import memory_rows
from fourscore_analysis.tables.wall_time import wall_time
from fourscore_analysis.views.view import View
from synthetic import Maker, canonical, make_point

FIRST, SECOND, THIRD = "a" * 16, "b" * 16, "c" * 16


def campaign_of(*plans_of_points: list[tuple[str, bool] | None]) -> Campaign:
    """A point for each list of plans, a launch for each plan: hash and whether it was reused; None: not told."""
    maker, launches = Maker(isolate=False), []
    for variant, plans in zip(("slab", "pencil"), plans_of_points, strict=False):
        for number, plan in enumerate(plans):
            record = maker.ok(make_point(variant=variant), number)
            if plan:
                record["plan"] |= {"hash": plan[0], "reused": plan[1]}
            launches.append(parse_record(canonical(record), f"{variant}-{number}.json"))
    return Campaign("plans-00000000", "plans", launches)


@pytest.mark.parametrize(
    ("plans", "expected"),
    [
        ([None, None], (0, "–")),
        ([(FIRST, False)], (1, "1 in 1 launch")),
        ([(FIRST, False), (FIRST, True), (FIRST, True)], (1, "1 in 3 launches")),
        ([(FIRST, False), (SECOND, False), (FIRST, True)], (2, "2 in 3 launches")),
        ([None, (SECOND, False)], (1, "1 in 1 launch")),  # an older record beside it
    ],
)
def test_a_point_counts_the_different_plans_of_its_launches(plans, expected):
    campaign = campaign_of(plans)
    [point] = group_points(campaign)
    [row] = memory_rows(View(campaign, 0))
    assert (point.plans, row.plans) == expected


def test_a_finding_says_which_points_ran_different_plans():
    same, two, three = (
        [(FIRST, False)] * 3,
        [(FIRST, False), (SECOND, False)] * 2,
        [(FIRST, False), (SECOND, False), (THIRD, True)],
    )
    assert plan_findings(View(campaign_of(same, same), 0)) == []
    [sentence] = plan_findings(View(campaign_of(same, two), 0))
    assert sentence.startswith("1 of 2 points ran different local plans in different launches")
    assert re.search(r"pencil/\w+ at .* had 2 in 4 launches\.$", sentence)
    [sentence] = plan_findings(View(campaign_of(three, two), 0))
    assert sentence.startswith("2 of 2 points")
    assert re.search(r"slab/\w+ at .* had 3 in 3 launches\.$", sentence)


def test_the_wall_time_says_how_many_launches_reused_their_plans():
    campaign = campaign_of([(FIRST, False), (FIRST, True), (FIRST, True), None])
    assert wall_time(campaign.launches).reused == "2 of 3 launches reused their plans."
    assert wall_time(campaign_of([None]).launches).reused == ""
