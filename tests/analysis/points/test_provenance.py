"""Where a campaign was measured, as the page says it."""

from fourscore_analysis.points.provenance import (
    flatten,
    identity_parts,
    volatile_ranges,
)
from fourscore_analysis.records.transforms import parse_record
from synthetic import Maker, canonical, make_point


def launch_with(**volatile):
    record = Maker().ok(make_point(ranks=2), 0)
    record["provenance"]["volatile"] |= volatile
    return record


def test_a_node_of_another_machine_is_a_machine_of_its_own():
    record = launch_with()
    other = record["provenance"]["identity"]["machine"] | {"cpu_model": "Another 1"}
    record["provenance"]["identity"]["other_machines"] = {"3,7": other}
    parts = identity_parts({"c": [parse_record(canonical(record), "a.json")]})
    first, second = [dict(part.fields) for part in parts if part.part == "machine"]
    assert first["cpu_model"] != second["cpu_model"] == "Another 1"
    assert second["nodes"] == "3,7"
    assert [part.part for part in parts] == ["machine", "machine", "code", "launch"]


def test_maps_of_cores_are_one_line_a_kind_of_node():
    kinds = [{"nodes": "0-2", "cores": ["0", "1"]}, {"nodes": "3", "cores": ["0-1", "2"]}]
    assert flatten({"core_maps": kinds}) == {"core_maps": "nodes 0-2: 0, 1; nodes 3: 0-1, 2"}


def test_kinds_of_core_are_shown_with_their_caches():
    kinds = [
        {
            "cores": 6,
            "threads_per_core": 2,
            "type": "IntelCore",
            "caches": [{"level": 1, "bytes": 49152, "shared_by": 1}],
        },
        {"cores": 8, "threads_per_core": 1, "caches": []},
        7,
    ]
    assert flatten({"core_kinds": kinds}) == {"core_kinds": "6 cores, IntelCore, L1 48.0 KiB for 1; 8 cores; 7"}


def test_what_changes_on_the_nodes_is_a_range_over_all_of_them():
    load = {"min": 0.25, "median": 1, "max": 4.5, "host_of_min": "a", "host_of_max": "b"}
    launch = parse_record(canonical(launch_with(nodes_before={"load_1min": load}, load_1min_after=2.0)), "a.json")
    ranges = dict(volatile_ranges([launch]))
    assert ranges["before, all nodes: load_1min"] == "0.250 to 4.50"
    assert ranges["load_1min_after"] == "2.00"
