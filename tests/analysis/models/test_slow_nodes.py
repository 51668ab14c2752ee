"""A slow node is found among noise, and nothing else is taken for one."""

from __future__ import annotations

import statistics
from typing import Any

import pytest
from fourscore_analysis.models.slow_nodes import (
    ALIKE,
    COMPUTING,
    LAUNCHES,
    MARGIN,
    SLOW,
    UNKNOWN,
    Effect,
    node_effects,
)
from fourscore_analysis.points.claims import doubts
from fourscore_analysis.points.points import group_points
from fourscore_analysis.tables.findings import findings
from fourscore_analysis.tables.nodes import node_table, slow_node_findings
from fourscore_analysis.views.view import View
from synthetic import CLUSTER, Maker, campaign_of, make_point
from synthetic.slow_nodes import POINTS, effects_of, maker, noisy

WHOLE = [make_point("slab", "p2p", ranks=8, nodes=8)]  # always on every node


def without_phases(record: dict[str, Any]) -> dict[str, Any]:
    """As with --no-phases: nothing tells the nodes of a launch apart."""
    for key in ("rank_phase_s", "closure"):
        del record["samples"][key]
    return record


def launched(made: Maker, launches: int, points=POINTS) -> list[dict[str, Any]]:
    return [made.ok(point, launch) for launch in range(launches) for point in points]


def test_one_slow_node_of_eight_is_found_by_how_long_it_computes():
    found = effects_of(launched(maker(slow={"n3": 1.3}), 12))
    assert found.slow == {"n3"}
    effect = next(one for one in found.effects if one.hosts == ("n3",) and one.measure == COMPUTING)
    assert effect.interval[0] < 1.3 < effect.interval[1]
    assert effect.ratio == pytest.approx(1.3, rel=0.02)


def test_launches_on_every_node_are_enough_where_phases_are_known():
    found = effects_of(launched(maker(slow={"n7": 1.2}), 12, WHOLE))
    assert found.slow == {"n7"}
    assert found.untold == ()
    assert {effect.measure for effect in found.effects} == {COMPUTING}


def test_one_slow_node_of_eight_is_found_by_the_launches_with_and_without_it():
    found = effects_of(without_phases(record) for record in launched(maker(slow={"n3": 1.4}), 24))
    assert found.slow == {"n3"}
    [effect] = [one for one in found.effects if one.verdict == SLOW]
    assert (effect.measure, effect.launches + effect.without) == (LAUNCHES, 48)
    assert statistics.median(effect.ratios) == pytest.approx(effect.ratio, rel=0.1)  # what is drawn
    totals = {with_it: [] for with_it in (True, False)}
    for record in launched(maker(slow={"n3": 1.4}), 24):
        totals["n3" in record["provenance"]["volatile"]["hosts"]].append(record)
    assert effect.launches == len(totals[True])
    assert effect.interval[0] < effect.ratio < effect.interval[1]


def test_two_slow_nodes_are_found_and_nobody_is_blamed_for_their_company():
    for strip in (without_phases, lambda record: record):
        found = effects_of(strip(record) for record in launched(maker(seed=3, slow={"n3": 1.5, "n6": 1.4}), 40))
        assert found.slow == {"n3", "n6"}


def test_a_slow_variant_is_not_taken_for_a_slow_node():
    """n1 to n4 ran nothing but pencil, which takes twice as long."""
    halves = {"slab": CLUSTER[4:], "pencil": CLUSTER[:4]}
    records = []
    for launch in range(15):
        for point in POINTS:
            made = maker(seed=launch, hosts=halves[point["variant"]])
            scale = 2.0 if point["variant"] == "pencil" else 1.0
            records.append(made.ok(point | {"nodes": 2, "ranks_per_node": 4}, launch, scale))
    assert effects_of(records).slow == frozenset()
    assert effects_of(without_phases(record) for record in records).slow == frozenset()


def test_nothing_is_said_of_few_launches():
    campaign_of_few = campaign_of(launched(maker(slow={"n3": 1.3}), 2))
    found = node_effects(group_points(campaign_of_few))
    assert found.slow == frozenset()
    assert set(found.untold) == set(found.hosts)
    assert {effect.verdict for effect in found.effects} == {UNKNOWN}
    assert "Whether any node is slow cannot be told" in node_table(found).conclusion
    assert slow_node_findings(found) == []


def test_an_interval_that_reaches_beyond_the_margin_says_nothing():
    found = effects_of(noisy(1, 16))
    wide = [
        effect for effect in found.effects if effect.interval and effect.interval[0] <= 1 + MARGIN < effect.interval[1]
    ]
    assert wide
    assert all(effect.verdict == UNKNOWN for effect in wide)


@pytest.mark.parametrize(
    ("interval", "verdict"),
    [
        (None, UNKNOWN),
        ((1.0, 1.06), UNKNOWN),
        ((1.05, 1.5), UNKNOWN),
        ((1.051, 1.5), SLOW),
        ((0.5, 1.05), ALIKE),
        ((0.5, 0.9), ALIKE),
    ],
)
def test_a_node_is_slow_where_the_whole_interval_lies_above_the_margin(interval, verdict):
    assert Effect(("n1",), LAUNCHES, 1.1, interval, (1.1,)).verdict == verdict


def test_nodes_that_always_ran_together_are_named_together():
    pairs = (("n1", "n2"), ("n3", "n4"), ("n5", "n6"), ("n7", "n8"))
    records = [
        without_phases(maker(seed=launch, hosts=pairs[launch % 4], slow={"n3": 1.5}).ok(point, launch))
        for launch in range(40)
        for point in (make_point("slab", "p2p", ranks=4, nodes=2),)
    ]
    found = effects_of(records)
    assert found.slow == {"n3", "n4"}
    [sentence] = slow_node_findings(found)
    assert "the nodes n3, n4, always together, take" in sentence


def test_launches_of_one_job_count_once():
    """Every launch of a job is as slow as the machine was then: 3 slow jobs are not 60 launches."""
    records = []
    for job in range(6):
        made = maker(seed=job, job=str(1000 + job), hosts=CLUSTER[:4] if job % 2 else CLUSTER[4:])
        records += [
            without_phases(made.ok(point, 10 * job + launch, scale=1.4 if job % 2 else 1.0))
            for launch in range(10)
            for point in POINTS
        ]
    found = effects_of(records)
    assert found.slow == frozenset()
    assert {(effect.launches, effect.without) for effect in found.effects} == {(3, 3)}  # one value a job


def test_launches_of_a_job_that_placed_them_by_chance_count_each():
    """One job of eight nodes, each launch on four of them: nothing but chance chose which."""
    made = maker(slow={"n3": 1.4}, job="77")
    found = effects_of(without_phases(record) for record in launched(made, 24))
    assert found.slow == {"n3"}
    [effect] = [one for one in found.effects if one.verdict == SLOW]
    assert effect.launches + effect.without == 48


def in_jobs(slow: float, with_both: int) -> list[dict[str, Any]]:
    """20 jobs, half of them on n1 to n4, where pencil, which takes twice as long, was launched nine times as often; the
    first `with_both` jobs have both variants."""
    records = []
    for job in range(20):
        here = job % 2
        made = maker(seed=job, job=str(1000 + job), hosts=CLUSTER[:4] if here else CLUSTER[4:])
        for variant, launches in (("slab", 1 if here else 9), ("pencil", 9 if here else 1)):
            if job >= with_both and launches == 1:
                continue
            scale = (2.0 if variant == "pencil" else 1.0) * (slow if here else 1.0)
            point = make_point(variant, "p2p", ranks=8, nodes=4)
            records += [without_phases(made.ok(point, 10 * job + launch, scale)) for launch in range(launches)]
    return records


def test_a_slow_variant_in_jobs_is_no_slow_node_and_the_reverse():
    for with_both in (2, 20):
        assert effects_of(in_jobs(1.0, with_both)).slow == frozenset()
    found = effects_of(in_jobs(1.3, 20))
    assert found.slow == set(CLUSTER[:4])
    assert found.effects[0].ratio == pytest.approx(1.3, rel=0.05)


@pytest.mark.parametrize("flag", ["simulated", "emulated", "oversubscribed"])
def test_launches_that_say_nothing_of_a_node_are_left_out(flag):
    made = maker(slow={"n3": 1.3})
    records = [made.ok(point, launch, flags=[flag]) for launch in range(12) for point in POINTS]
    assert effects_of(records).hosts == ()


def test_nothing_is_found_on_one_node():
    found = effects_of(Maker().ok(make_point(), launch) for launch in range(6))
    assert (found.hosts, found.effects) == ((), ())
    assert node_table(found) is None


def test_the_report_names_a_slow_node_first_and_flags_what_it_touched():
    records = launched(maker(slow={"n3": 1.3}), 12)
    one_node = [maker(hosts=("n1",)).ok(make_point("slab", "p2p", ranks=2), launch) for launch in range(5)]
    view = View(campaign_of([*records, *one_node]), 0)
    first = findings(view)[0]
    assert first.startswith("Node n3 computes 1.30 times as long as the other nodes of its launches (95 % interval 1.")
    assert first.endswith("its launches are not the code's times.")
    for point in view.points:
        touched = any("n3" in launch.hosts for launch in point.measured)
        assert ("slow-node" in point.flags) == touched == (point.cell.place.nodes == 4)
        assert any("slow-node" in doubt for doubt in doubts(point)) == touched
