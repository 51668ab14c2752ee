"""Parameter files: what is written is read back, published ones hold the papers' numbers, and bad ones are refused."""

from __future__ import annotations

import json
import os
from pathlib import Path

import fourscore_analysis.models
import jsonschema
import pytest
from fourscore_analysis.models.machines import (
    Machine,
    Quantity,
    machine_of,
    machine_text,
    named_files,
    parse_machine,
    published_machines,
    read_machine,
    read_toml,
    with_threads,
)
from fourscore_analysis.models.parameters import PARAMETERS
from fourscore_analysis.models.units import PLAIN, UNITS, size_of
from fourscore_analysis.records.archive import InputError
from fourscore_analysis.records.published import published

SCHEMA = Path(fourscore_analysis.models.__file__).with_name("machine.schema.json")
GOOD = """
name = "mine"
nodes = 4
[parameters]
memory_bandwidth = { value = 21.3, unit = "GB/s", source = "measured", interval = [20.5, 22.0] }
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "machine.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_values_are_read_in_si_units_with_source_and_interval(tmp_path):
    machine = read_machine(written(tmp_path, GOOD))
    assert (machine.name, machine.nodes, machine.ranks_per_node) == ("mine", 4, 1)
    bandwidth = machine.parameters["memory_bandwidth"]
    assert bandwidth.value == pytest.approx(21.3e9)
    assert bandwidth.interval == pytest.approx((20.5e9, 22e9))
    assert (bandwidth.unit, bandwidth.source) == ("GB/s", "measured")


@pytest.mark.parametrize(
    ("unit", "measures", "size"),
    [
        ("GiB/s", "B/s", 2**30),
        ("Gbit/s", "B/s", 1.25e8),
        ("MB", "B", 1e6),
        ("MiB", "B", 2**20),
        ("us", "s", 1e-6),
        ("Tflop/s", "flop/s", 1e12),
        ("Hz", "1/s", 1),
        ("kHz", "1/s", 1e3),
        ("MHz", "1/s", 1e6),
        ("GHz", "1/s", 1e9),
        ("1/s", "1/s", 1),
        ("ms", "s", 1e-3),
        ("ns", "s", 1e-9),
        ("bit/s", "B/s", 0.125),
        ("1", "1", 1),
        ("MB", "s", None),
    ],
)
def test_prefixes_are_decimal_or_binary_as_they_are_written(unit, measures, size):
    assert size_of(unit, measures) == size


def test_each_prefix_is_a_thousand_or_1024_times_the_one_before():
    for measures, unit in (("flop/s", "flop/s"), ("B/s", "B/s"), ("B", "B")):
        assert [size_of(f"{prefix}{unit}", measures) for prefix in ("", *"kMGTPE")] == [1000.0**i for i in range(7)]
    for measures in ("B/s", "B"):
        binary = [size_of(f"{prefix}i{measures}", measures) for prefix in "KMGTP"]
        assert binary == [1024.0**i for i in range(1, 6)]


def test_every_parameter_can_be_written_in_some_unit():
    assert {one.unit for one in PARAMETERS.values()} == set(UNITS) == set(PLAIN)
    assert all(PLAIN[measures] in units for measures, units in UNITS.items())


def test_what_is_written_is_read_back(tmp_path):
    assert len(published_machines()) >= 15
    hostile = Machine("a", 'quotes " and \\ and \n', parameters={"latency": Quantity(2.5e-6, "us", "é", (2e-6, 3e-6))})
    for machine in (*published_machines().values(), hostile):
        again = read_back(tmp_path, machine)
        assert machine_text(again) == machine_text(machine)
        assert again.values == pytest.approx(machine.values)
        assert (again.description, again.source, again.forms) == (machine.description, machine.source, machine.forms)
    assert again.parameters["latency"].interval == pytest.approx((2e-6, 3e-6))


def read_back(folder: Path, machine: Machine) -> Machine:
    return read_machine(written(folder, machine_text(machine)))


def test_published_machines_name_the_source_of_every_value_and_follow_the_schema():
    schema = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text()))
    for name, machine in published_machines().items():
        assert machine.name == name
        assert machine.source
        assert machine.description
        assert all(one.source for one in (*machine.parameters.values(), *machine.whole.values())), name
        schema.validate(read_toml(named_files("machines")[name]))


def test_the_schema_has_every_parameter_with_its_units():
    schema = json.loads(SCHEMA.read_text())
    own = schema["properties"]["parameters"]["properties"]
    assert set(own) == set(PARAMETERS)
    for name, one in own.items():
        kind = schema["$defs"][one["$ref"].rpartition("/")[2]]
        assert kind["properties"]["unit"]["enum"] == list(UNITS[PARAMETERS[name].unit])


def test_the_schema_refuses_what_the_reader_refuses():
    schema = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text()))
    good = {"name": "a", "parameters": {"latency": {"value": 1.0, "unit": "us"}}}
    assert schema.is_valid(good)
    bad = [
        {"parameters": {}},
        {"name": "a b"},
        good | {"speed": 1},
        good | {"nodes": 0},
        good | {"parameters": {"latency": {"value": 1.0}}},
        good | {"parameters": {"latency": {"value": 1.0, "unit": "GB/s"}}},
        good | {"parameters": {"latency": 1.0}},
        good | {"parameters": {"latenzy": {"value": 1.0, "unit": "us"}}},
    ]
    for one in bad:
        assert not schema.is_valid(one), one
        with pytest.raises(InputError):
            parse_machine(one, "bad")


def test_table_1_of_czechowski2012_is_in_its_machines():
    table = published("czechowski2012", "table-1")
    assert table is not None
    for row in table.rows:
        machine = machine_of(f"czechowski2012-{row['processor'].lower()}-{row['year']}")
        assert machine is not None
        assert machine.values["flop_rate"] == pytest.approx(row["peak_flops_per_s"])
        assert machine.values["memory_bandwidth"] == pytest.approx(row["memory_bytes_per_s"])
        assert machine.values["cache_bytes"] == pytest.approx(row["cache_bytes"])
        assert machine.values["link_bandwidth"] == pytest.approx(row["link_bytes_per_s"])
        assert machine.nodes == row["nodes"]
        assert machine.whole["peak"].value == pytest.approx(row["machine_peak_flops_per_s"])
        assert machine.whole["memory"].value == pytest.approx(row["system_memory_bytes"])


def test_section_8_of_gupta1993_is_in_its_machines():
    table = published("gupta1993", "section-8-machines")
    assert table is not None
    for row, name in zip(table.rows, ("ncube1", "gupta1993-m2", "gupta1993-m3", "gupta1993-m4"), strict=True):
        values = published_machines()[name].values
        assert values["link_bandwidth"] == pytest.approx(row["bandwidth_bytes_per_s"])
        assert values["flop_rate"] == pytest.approx(row["flops_per_s"])
        words = 16 / table.setup["word_bytes"]  # how many of the paper's words are one of ours
        ratio = values["word_time"] / words / values["butterfly_time"]
        assert ratio == pytest.approx(row["t_w_over_t_c"], rel=0.02), name


def test_hopper_and_keeneland_are_as_section_5_1_has_them():
    table = published("czechowski2012", "section-5.1")
    assert table is not None
    for row in table.rows:
        machine = published_machines()[row["machine"].lower()]
        assert machine.nodes == row["nodes"]
        if row["peak_flops_per_s"]:
            assert machine.whole["peak"].value == pytest.approx(row["peak_flops_per_s"])
            cores = row["nodes"] * row["cores_per_node"]
            assert machine.values["flop_rate"] == pytest.approx(row["peak_flops_per_s"] / cores, rel=1e-3)


def test_balance_is_flops_over_bytes_and_unknown_without_one_of_them():
    machine = published_machines()["czechowski2012-cpu-2010"]
    assert machine.balance("memory_bandwidth") == pytest.approx(50.4 / 21.3)
    assert machine.balance("link_bandwidth") == pytest.approx(5.04)
    assert published_machines()["ncube1"].balance("memory_bandwidth") is None


def bad(parameter: str) -> str:
    return f'name = "mine"\n[parameters]\n{parameter}\n'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (bad("memory_bandwidth = { value = 21.3 }"), "parameters.memory_bandwidth has no unit; expected B/s or bit/s"),
        (bad('memory_bandwidth = { value = 21.3, unit = "GB" }'), "unit is 'GB'; expected B/s or bit/s"),
        (bad("memory_bandwidth = { value = 21.3, unit = 7 }"), "unit is 7"),
        (bad('memory_bandwidth = { value = -1, unit = "GB/s" }'), "value is -1 GB/s; expected 0.0001 to"),
        (bad('memory_bandwidth = { value = 0, unit = "GB/s" }'), "value is 0 GB/s"),
        (bad('memory_bandwidth = { value = 1e30, unit = "GB/s" }'), "value is 1e+30 GB/s"),
        (bad('memory_bandwidth = { value = "fast", unit = "GB/s" }'), "value is 'fast'; expected a number"),
        (bad('memory_bandwidth = { value = nan, unit = "GB/s" }'), "expected a number"),
        (bad('memory_bandwidth = { value = true, unit = "GB/s" }'), "value is True; expected a number"),
        (bad('memory_bandwidth = { unit = "GB/s" }'), "value is None; expected a number"),
        (bad("memory_bandwidth = 21.3"), "expected { value = ..., unit"),
        (bad('memory_bandwith = { value = 1, unit = "GB/s" }'), "did you mean memory_bandwidth?"),
        (bad('latency = { value = 1, unit = "us", interval = [2, 3] }'), "expected [low, high] around the value 1"),
        (bad('latency = { value = 1, unit = "us", interval = [2] }'), "expected [low, high] in us"),
        (bad('latency = { value = 1, unit = "us", interval = [0, 3] }'), "interval is 0 us"),
        (bad('latency = { value = 1, unit = "us", sorce = "x" }'), "did you mean source?"),
        ('name = "mine"\nparameters = 3', "parameters is 3; expected a table"),
        ("nodes = 3", "name is None; expected letters"),
        ('name = "../etc"', "name is '../etc'"),
        ('name = "mine"\nnodes = 0', "nodes is 0; expected a whole number from 1"),
        ('name = "mine"\nnodes = 1000000001', "expected a whole number from 1 to 1000000000"),
        ('name = "mine"\nnodes = true', "nodes is True"),
        (bad('latency = { value = 1e-12, unit = "us" }'), "value is 1e-12 us; expected"),
        ('name = "mine"\nspeed = 1', "'speed' is not known"),
        ('name = "mine"\n[forms]\nnetwork = "ring"', "forms.network is 'ring'; expected one of full"),
        ('name = "mine"\n[forms]\nnetwrk = "full"', "did you mean network?"),
        ('name = "mine"\nforms = 1', "forms is 1; expected a table"),
        ('name = "mine"\n[whole]\npeak = { value = 1, unit = "B" }', "whole.peak.unit is 'B'"),
        ("name = ", "no TOML"),
        ("a = " + "[" * 100000, "no TOML"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_with_what_was_expected(tmp_path, text, words):
    path = written(tmp_path, text)
    with pytest.raises(InputError) as refused:
        read_machine(path)
    assert words in str(refused.value)
    assert str(refused.value).startswith(str(path))


def test_the_largest_values_that_are_allowed_are_read(tmp_path):
    assert read_machine(written(tmp_path, 'name = "mine"\nnodes = 1000000000')).nodes == 10**9
    for name, one in PARAMETERS.items():
        unit = next(unit for unit, size in UNITS[one.unit].items() if size == 1)
        for value in (one.least, one.most):
            text = f'name = "mine"\n[parameters]\n{name} = {{ value = {value!r}, unit = "{unit}" }}'
            assert read_machine(written(tmp_path, text)).parameters[name].value == value
        for value in (0.99 * one.least, 1.01 * one.most):
            text = f'name = "mine"\n[parameters]\n{name} = {{ value = {value!r}, unit = "{unit}" }}'
            with pytest.raises(InputError, match=f"parameters.{name}.value is "):
                read_machine(written(tmp_path, text))


def test_a_file_that_is_not_there_or_too_large_is_refused(tmp_path):
    with pytest.raises(InputError, match="No such file"):
        machine_of(str(tmp_path / "nosuch.toml"))
    large = tmp_path / "large.toml"
    large.write_bytes(b"#" * (2**20 + 1))
    with pytest.raises(InputError, match="expected at most"):
        machine_of(str(large))
    os.mkfifo(tmp_path / "pipe.toml")
    with pytest.raises(InputError, match="no regular file"):
        machine_of(str(tmp_path / "pipe.toml"))
    (tmp_path / "latin.toml").write_bytes(b'name = "\xe9"')
    with pytest.raises(InputError, match="no TOML"):
        machine_of(str(tmp_path / "latin.toml"))


def test_a_rank_with_threads_takes_the_places_of_as_many_ranks():
    machine = Machine(
        "mine",
        ranks_per_node=8,
        parameters={"flop_rate": Quantity(1e9, "flop/s", "", (9e8, 2e9)), "latency": Quantity(1e-6, "s")},
    )
    assert with_threads(machine, 1) == machine
    for threads in (2, 8):
        found = with_threads(machine, threads)
        assert found.ranks_per_node == 8 // threads
        assert found.values == pytest.approx({"flop_rate": threads * 1e9, "latency": 1e-6})
        assert found.parameters["flop_rate"].interval == pytest.approx((threads * 9e8, threads * 2e9))
    with pytest.raises(InputError, match="mine has 8 ranks a node; expected at most as many threads of one rank"):
        with_threads(machine, 9)


def test_a_name_that_is_neither_a_file_nor_published_is_refused():
    assert machine_of("99685afe") is None
