"""Several arrays of one shape in different ways: what the sentences and the table say, worked out by hand."""

import pytest
from fourscore_analysis.page.report import section_of
from fourscore_analysis.points.fields import field_ways
from fourscore_analysis.tables.fields import field_findings, field_table
from fourscore_analysis.tables.findings import findings
from synthetic import launches_alike, make_point, view_of

LAUNCHES = 6
TOGETHER, IN_TURN, PIPELINED = ({"fields": 3, "field_order": order} for order in ("together", "in-turn", "pipelined"))
INSTANCES = {"instances": 3}


def launches(seconds: float, count: int = LAUNCHES, **point) -> list:
    """Launches of slab/alltoallv, alike but for noise that differs by launch and is the same for every way."""
    return launches_alike(make_point(**({"shape": (64, 64, 64), "ranks": 2} | point)), seconds, count)


def test_each_way_is_set_beside_the_fastest():
    view = view_of(
        launches(0.010, **TOGETHER),
        launches(0.012, **IN_TURN),
        launches(0.011, **PIPELINED),
        launches(0.015, **INSTANCES),
    )
    [sentence] = field_findings(view)
    assert sentence == (
        "3 arrays of 64³ on 2 ranks take slab/alltoallv the shortest together (10.0 ms); "
        "times that: in turn 1.20, pipelined 1.10, as instances 1.50."
    )
    assert sentence in findings(view)
    table = field_table(view)
    assert table.ways == ["together", "in-turn", "pipelined", "instances"]
    assert [(row.arrays, row.fastest, row.times) for row in table.rows] == [
        (3, "together", ["10.0 ms", "12.0 ms", "11.0 ms", "15.0 ms"])
    ]


def test_the_numbers_are_in_the_json_of_a_report():
    view = view_of(launches(0.012, **TOGETHER), launches(0.010, **PIPELINED))
    [one] = section_of(view).counted_json()["fields"]
    assert (one["method"], one["arrays"], one["fastest"], one["tied"]) == ("slab/alltoallv", 3, "pipelined", [])
    assert one["time_s"]["together"] / one["time_s"]["pipelined"] == pytest.approx(1.2)


def test_ways_that_launches_do_not_tell_apart_are_named():
    view = view_of(launches(0.010, **TOGETHER), launches(0.010, **IN_TURN))
    assert field_findings(view)[0].endswith("; the launches do not tell it from in turn.")
    assert field_table(view).rows[0].tied == ["in-turn"]


def test_wins_are_counted_over_all_problems():
    larger = {"shape": (128, 64, 64)}
    view = view_of(
        launches(0.010, **TOGETHER),
        launches(0.012, **IN_TURN),
        launches(0.030, **TOGETHER, **larger),
        launches(0.024, **IN_TURN, **larger),
    )
    [sentence] = field_findings(view)
    assert "3 arrays of 128×64×64 on 2 ranks take slab/alltoallv the shortest in turn (24.1 ms)" in sentence
    assert sentence.endswith(
        "Of 2 such problems and methods the launches show a fastest way in 2: together 1, in turn 1."
    )


def test_too_few_launches_are_no_basis():
    view = view_of(launches(0.010, 2, **TOGETHER), launches(0.012, 2, **IN_TURN))
    assert "No basis for a claim: 2 launches" in field_findings(view)[0]


@pytest.mark.parametrize(
    "other",
    [
        IN_TURN | {"fields": 2},
        IN_TURN | {"exchange": "p2p"},
        IN_TURN | {"instances": 2},
        {},
        INSTANCES | {"instances": 2},
    ],
)
def test_other_problems_and_methods_are_no_way_of_these_fields(other):
    view = view_of(launches(0.010, **TOGETHER), launches(0.012, **other))
    assert field_ways(view.points) == []
    assert (field_findings(view), field_table(view)) == ([], None)


def test_instances_alone_are_no_fields():
    view = view_of(launches(0.010, **INSTANCES), launches(0.012, placement="subset", **INSTANCES))
    assert field_ways(view.points) == []
