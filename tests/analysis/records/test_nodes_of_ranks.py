"""Which node each rank was on, and how long the ranks of each node computed."""

from __future__ import annotations

import numpy as np
import pytest
from fourscore_analysis.records.basics import Place
from fourscore_analysis.records.nodes import node_of_rank, numbers_of, seconds_by_node, work_of_ranks
from fourscore_analysis.records.transforms import parse_record
from synthetic import CLUSTER, Maker, canonical, make_point


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("0-3,8,16-28/4", [0, 1, 2, 3, 8, 16, 20, 24, 28]),
        ("5", [5]),
        ("0-99999999", list(range(32))),  # never more than there are
        ("40", []),
        ("3-1", []),
        ("", []),
        ("0-", []),
        ("a", []),
        (7, []),
    ],
)
def test_ranges_of_numbers_are_read_and_bounded(text, numbers):
    assert numbers_of(text, 32) == numbers


@pytest.mark.parametrize(
    ("launch", "place", "nodes"),
    [
        ({}, Place(3), [0, 0, 0]),
        ({"placement_of_ranks": "cyclic"}, Place(5, 2, "cyclic"), [0, 1, 0, 1, 0]),
        (
            {
                "placement_of_ranks": "block",
                "core_maps": [{"nodes": "0,2", "cores": ["0", "1"]}, {"nodes": "1", "cores": ["0"]}],
            },
            Place(5, 3),
            [0, 0, 1, 2, 2],
        ),
        ({"placement_of_ranks": ["0-1,4", "2-3"]}, Place(5, 2, "irregular"), [0, 0, 1, 1, 0]),
        ({"placement_of_ranks": ["0-1", "2-3"]}, Place(5, 2, "irregular"), None),  # rank 4 is nowhere
        ({"placement_of_ranks": "block"}, Place(4, 2), None),
        ({"placement_of_ranks": "block", "core_maps": [{"nodes": "0-1", "cores": ["0"]}]}, Place(4, 2), None),
        ({"placement_of_ranks": "block", "core_maps": "x"}, Place(4, 2), None),
        ({}, Place(4, 2), None),
    ],
)
def test_a_rank_is_on_the_node_that_the_launch_saw(launch, place, nodes):
    assert node_of_rank(launch, place) == nodes


def test_a_node_computes_as_long_as_the_middle_one_of_its_ranks_over_their_share_of_the_work():
    by_phase = {
        "fft": np.array([[4.0, 6.0, 5.0], [9.0, 9.0, 9.0], [5.4, 5.4, 5.4], [5.6, 5.6, 5.6]]),
        "pack": np.array([[1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [0.9, 0.9, 0.9], [1.1, 1.1, 1.1]]),
        "exchange": np.full((4, 3), 100.0),  # where ranks wait for others
    }
    even = seconds_by_node(by_phase, [3, 3, 3, 3], [0, 0, 1, 1], 2)
    assert even == pytest.approx(((6 + 10) / 2, (6.3 + 6.7) / 2))
    uneven = seconds_by_node(by_phase, [1.04, 1.04, 0.96, 0.96], [0, 0, 1, 1], 2)
    assert uneven == pytest.approx((8 / 1.04, 6.5 / 0.96))


def test_nothing_is_said_of_nodes_where_the_work_is_too_uneven_or_not_known():
    by_phase = {"fft": np.ones((2, 3))}
    for work in ([1, 1.11], [0, 1], []):
        assert seconds_by_node(by_phase, work, [0, 1], 2) == ()
    assert seconds_by_node({"exchange": np.ones((2, 3))}, [1, 1], [0, 1], 2) == ()


def test_the_work_is_what_the_phases_must_move_else_the_data():
    cost = {"least_bytes_per_rank": {"fft": [4.0, 2.0], "pack": [1.0, 1.0], "exchange": [9.0, 9.0]}}
    memory = {"local_data_bytes": [7.0, 8.0]}
    assert work_of_ranks({"cost": cost, "memory": memory}, 2) == [5.0, 3.0]
    assert work_of_ranks({"memory": memory}, 2) == [7.0, 8.0]
    assert work_of_ranks({"memory": memory}, 3) == []
    assert work_of_ranks({}, 2) == []


def test_a_launch_knows_its_hosts_and_how_long_each_computed():
    maker = Maker(hosts=CLUSTER, slow={"n5": 2.0}, isolate=False)
    launches = [
        parse_record(canonical(maker.ok(make_point(ranks=8, nodes=4), number)), "a.json") for number in range(8)
    ]
    with_slow = [launch for launch in launches if "n5" in launch.hosts]
    assert with_slow
    for launch in with_slow:
        slow = launch.hosts.index("n5")
        others = [seconds for node, seconds in enumerate(launch.computing_s) if node != slow]
        assert launch.computing_s[slow] / np.median(others) == pytest.approx(2.0, rel=0.05)


@pytest.mark.parametrize("nodes", [1, 2, 4])
def test_how_long_each_node_computed_is_known_of_two_nodes_on(nodes):
    launch = parse_record(
        canonical(Maker(hosts=CLUSTER, isolate=False).ok(make_point(ranks=8, nodes=nodes), 0)), "a.json"
    )
    assert len(launch.computing_s) == (nodes if nodes > 1 else 0)


@pytest.mark.parametrize("hosts", [["a"], ["a", "a"], ["a", ""], ["a", 3], "ab", None, ["a", "b\n"], ["a", "b", "c"]])
def test_hosts_that_do_not_tell_the_nodes_apart_are_none(hosts):
    record = Maker().ok(make_point(ranks=4, nodes=2), 0)
    record["provenance"]["volatile"]["hosts"] = hosts
    assert parse_record(canonical(record), "a.json").hosts == ()
