"""What a paper's equations need of a simulated network is read from the record, or not at all."""

import pytest
from fourscore_analysis.points.points import group_points
from fourscore_analysis.points.simulated import Network, network_of
from fourscore_analysis.records.archive import Campaign
from fourscore_analysis.records.transforms import parse_record
from synthetic import (
    ETHERNET,
    GEMINI,
    OVERHEADS,
    Maker,
    canonical,
    make_point,
    simulated_records,
)


def network(described, messages=None) -> Network | None:
    point = make_point("pencil", ranks=4, nodes=4, platform="some")
    [record] = simulated_records(Maker("a-11111111", "a"), [point], lambda _: 1e-3, described, messages)
    [found] = group_points(Campaign("a-11111111", "a", [parse_record(canonical(record), "0.json")]))
    return network_of(found)


def test_a_message_through_one_switch_takes_two_links_and_the_time_of_both_ranks():
    assert network(ETHERNET) == Network("star", 0, 12.5e6, 80e-6, 0.0, 0.0)
    assert network(ETHERNET).alpha_s == pytest.approx(160e-6)
    assert network(ETHERNET, OVERHEADS).alpha_s == pytest.approx(161e-6)


def test_a_torus_has_its_dimensions_and_no_latency_of_all_pairs():
    found = network(GEMINI, OVERHEADS)
    assert found == Network("torus", 3, 4.68e9, 1.05e-7, 6e9, pytest.approx(1e-6))
    assert found.alpha_s is None
    by_extents = {key: value for key, value in GEMINI.items() if key != "dimensions"} | {"extents": [8, 8, 8, 8]}
    assert network(by_extents).dimensions == 4


@pytest.mark.parametrize(
    "changes",
    [{"topology": 3}, {"link_bandwidth_bytes_per_s": 0}, {"link_latency_s": "none"}],
)
def test_what_is_no_network_is_none(changes):
    assert network(GEMINI | changes) is None


def test_a_real_machine_has_none():
    record = Maker("a-11111111", "a").ok(make_point("pencil", ranks=4), 0)
    [point] = group_points(Campaign("a-11111111", "a", [parse_record(canonical(record), "0.json")]))
    assert network_of(point) is None
