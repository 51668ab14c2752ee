"""Where a campaign was measured, as the page says it."""

from types import SimpleNamespace

import pytest
from fourscore_analysis.points.provenance import (
    differences,
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


@pytest.mark.parametrize(
    ("value", "fields"),
    [
        ({"a": {"b": 1, "c": {"d": "x"}}}, {"a.b": "1", "a.c.d": "x"}),
        ({"memory_bytes": 2**30, "page_bytes": "?"}, {"memory": "1.00 GiB", "page_bytes": "?"}),
        (
            {"list": [1, [2, 3], "x"], "none": [], "empty": "", "nothing": None},
            {
                "list": "1, 2+3, x",
                "none": "none",
                "empty": "–",
                "nothing": "–",
            },
        ),
        (
            {"caches": [{"level": 2, "bytes": 2**20, "shared_by": 2}, {"bytes": "?"}, "odd"]},
            {
                "caches": "L2 1.00 MiB for 2, L? ? for ?, odd",
            },
        ),
        ({"core_kinds": [{"type": "Big", "caches": "odd"}]}, {"core_kinds": "? cores, Big"}),
        ({"core_maps": [{"nodes": "0"}, {"cores": [0, 1]}]}, {"core_maps": "{'nodes': '0'}; nodes ?: 0, 1"}),
        (
            {"core_kinds": "odd", "core_maps": "odd", "caches": "odd"},
            dict.fromkeys(("core_kinds", "core_maps", "caches"), "odd"),
        ),
    ],
)
def test_an_identity_is_one_level_of_texts(value, fields):
    assert flatten(value) == fields


def run(digest: str, machine: dict, status: str = "ok", **volatile):
    parts = {"machine": machine, "code": {}, "launch": {}}
    hashes = {"machine_hash": digest, "code_hash": "c" if digest else "", "launch_hash": ""}
    return SimpleNamespace(status=status, identity=parts, volatile=volatile, **hashes)


def test_each_machine_stands_once_with_how_many_launches_and_which_campaigns_had_it():
    one, two = run("m", {"cores": 4}), run("n", {"cores": 8})
    failed, unknown = run("o", {"cores": 9}, "failed"), run("", {"cores": 9})
    parts = identity_parts({"first": [one, two, one, failed], "second": [one, unknown]})
    assert [(part.part, part.digest, part.launches, part.campaigns) for part in parts] == [
        ("machine", "m", 3, ["first", "second"]),
        ("machine", "n", 1, ["first"]),
        ("code", "c", 4, ["first", "second"]),
    ]
    assert parts[0].fields == [("cores", "4")]


def test_what_differs_is_counted_in_launches_the_most_common_first():
    few, many = run("m", {"cores": 4, "same": 1, "only": "x"}), run("n", {"cores": 8, "same": 1})
    found = differences([few, many, many, run("o", {"cores": 9}, "failed")], "machine")
    assert [(one.field, one.values) for one in found] == [
        ("cores", [("8", 2), ("4", 1)]),
        ("only", [("absent", 2), ("x", 1)]),
    ]
    assert differences([few, few], "machine") == []
    assert differences([few, run("", {"cores": 9})], "machine") == []


@pytest.mark.parametrize(
    ("name", "values", "text"),
    [
        ("load", [1, 2.5, 0.25], "0.250 to 2.50"),
        ("load", [2, 2], "2.00"),
        ("turbo", [True, False], "False, True"),
        ("governor", ["b", "a", "b", "", None], "a, b"),
        ("governor", [""], "–"),
        ("started_at", ["2026-01-03", "2026-01-01", "2026-01-02"], "2026-01-01 to 2026-01-03"),
        ("started_at", ["2026-01-01", "2026-01-01"], "2026-01-01"),
        ("job", list("fedcba"), "a, b, c, d, e, f"),
        ("job", list("hgfedcba"), "a, b, c, d, e, f and 2 more"),
        ("hosts", [["n2", "n1"], ["n1", "n3"]], "n1, n2, n3"),
        ("environment", [{"B": 1, "A": 2}], "A=2 B=1"),
    ],
)
def test_what_varies_is_a_range_of_numbers_or_the_distinct_texts(name, values, text):
    assert volatile_ranges(run("m", {}, **{name: value}) for value in values) == [(name, text)]
