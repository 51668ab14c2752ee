"""Trends: Table 1 of czechowski2012 gives its own column of 2020, and what has no unit of time is refused."""

from __future__ import annotations

import math

import pytest
from fourscore_analysis.models.machines import published_machines
from fourscore_analysis.models.trends import machine_in, read_trends, trends_of, without_base
from fourscore_analysis.records.archive import InputError
from fourscore_analysis.records.published import published


@pytest.mark.parametrize("processor", ["cpu", "gpu"])
def test_the_trends_of_table_1_give_its_column_of_2020(processor):
    machines = published_machines()
    then = machine_in(machines[f"czechowski2012-{processor}-2010"], trends_of("czechowski2012"), 2020)
    printed = machines[f"czechowski2012-{processor}-2020"]
    for name, value in printed.values.items():
        assert then.values[name] == pytest.approx(value, rel=0.015), name  # two digits are printed of some
    for name, one in printed.whole.items():
        assert then.whole[name].value == pytest.approx(one.value, rel=0.001), name
    # 1.3M is cut off, not rounded: docs/published.md
    assert float(f"{then.nodes:.2e}") == 1.38e6 if processor == "cpu" else round(then.nodes, -3) == 135_000


def test_the_factors_are_the_printed_ones_and_agree_with_the_doubling_times():
    table = published("czechowski2012", "table-1-trends")
    assert table is not None
    rows = {row["quantity"]: row for row in table.rows}
    columns = {
        "flop_rate": "peak_flops_per_s",
        "memory_bandwidth": "memory_bytes_per_s",
        "cache_bytes": "cache_bytes",
        "link_bandwidth": "link_bytes_per_s",
        "peak": "machine_peak_flops_per_s",
        "memory": "system_memory_bytes",
        "nodes": "nodes",
    }
    found = trends_of("czechowski2012").trends
    assert set(found) == set(columns)
    for name, column in columns.items():
        assert found[name].yearly ** 10 == pytest.approx(rows[column]["ten_year_factor"])
        doubling = math.log(2) / math.log(found[name].yearly)
        assert doubling == pytest.approx(rows[column]["doubling_years"], abs=0.06), name  # as rounded


def trend_file(folder, text: str):
    path = folder / "trends.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "yearly"),
    [
        ('flop_rate = { doubling = 2, unit = "years" }', math.sqrt(2)),
        ('flop_rate = { doubling = 6, unit = "months" }', 4.0),
        ('flop_rate = { factor = 1.25, per = "year" }', 1.25),
        ('flop_rate = { factor = 0.5, per = "decade" }', 0.5**0.1),
    ],
)
def test_doubling_times_and_factors_are_read_with_their_unit_of_time(tmp_path, text, yearly):
    found = read_trends(trend_file(tmp_path, f"[trends]\n{text}\n"))
    assert found.trends["flop_rate"].yearly == pytest.approx(yearly)


def test_a_machine_of_an_earlier_year_is_slower_and_its_interval_goes_with_it(tmp_path):
    text = '[trends]\nmemory_bandwidth = { doubling = 1, unit = "years" }\n'
    machine = published_machines()["czechowski2012-cpu-2010"]
    earlier = machine_in(machine, read_trends(trend_file(tmp_path, text)), 2008)
    assert earlier.values["memory_bandwidth"] == pytest.approx(21.3e9 / 4)
    assert earlier.values["flop_rate"] == machine.values["flop_rate"]
    assert (earlier.year, earlier.nodes) == (2008, machine.nodes)


def test_trends_of_what_a_machine_lacks_are_named():
    assert without_base(published_machines()["ncube1"], trends_of("czechowski2012")) == [
        "cache_bytes",
        "memory_bandwidth",
        "peak",
        "memory",
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("flop_rate = { doubling = 2 }", "has no unit of time: unit is missing; expected years or months"),
        ("flop_rate = { factor = 2 }", "has no unit of time: per is missing; expected year or decade"),
        ('flop_rate = { doubling = 2, unit = "s" }', "unit is 's'; expected years or months"),
        ('flop_rate = { factor = 2, per = "month" }', "per is 'month'"),
        ('flop_rate = { doubling = -2, unit = "years" }', "doubling is -2; expected a number above 0"),
        ('flop_rate = { doubling = true, unit = "years" }', "doubling is True; expected a number above 0"),
        ('flop_rate = { doubling = "2", unit = "years" }', "doubling is '2'; expected a number above 0"),
        ('flop_rate = { factor = inf, per = "year" }', "factor is inf; expected a number above 0"),
        ('flop_rate = { factor = 0, per = "year" }', "factor is 0"),
        ('flop_rate = { factor = 1e9, per = "year" }', "is absurd"),
        ('flop_rate = { doubling = 1e-9, unit = "years" }', "is absurd"),
        ('flop_rate = { doubling = 1, unit = "years", factor = 2 }', "expected { doubling = 1.7"),
        ("flop_rate = 2", "trends.flop_rate is 2; expected { doubling"),
        ('flop_rat = { factor = 2, per = "year" }', "did you mean flop_rate?"),
    ],
)
def test_trends_that_cannot_be_used_are_named_with_what_was_expected(tmp_path, text, words):
    path = trend_file(tmp_path, f"[trends]\n{text}\n")
    with pytest.raises(InputError) as refused:
        read_trends(path)
    assert words in str(refused.value)
    assert str(refused.value).startswith(str(path))


def test_files_without_trends_unknown_names_and_absurd_years_are_refused(tmp_path):
    with pytest.raises(InputError, match="expected a table, as flop_rate"):
        read_trends(trend_file(tmp_path, 'name = "x"\n'))
    text = '[trends]\nflop_rate = { factor = 2, per = "year" }\n'
    assert [read_trends(trend_file(tmp_path, f"year = {year}\n{text}")).year for year in (1900, 2200)] == [1900, 2200]
    for year in (1899, 2201, 2000.0, "true"):
        with pytest.raises(InputError, match="expected a whole number from 1900 to 2200"):
            read_trends(trend_file(tmp_path, f"year = {year}\n{text}"))
    with pytest.raises(InputError, match="year is 12;"):
        read_trends(trend_file(tmp_path, 'year = 12\n[trends]\nflop_rate = { factor = 2, per = "year" }'))
    with pytest.raises(InputError, match=r"no trends 'moore'; expected a file that ends with \.toml, or one of: czech"):
        trends_of("moore")
    machine = published_machines()["czechowski2012-cpu-2010"]
    fast = read_trends(trend_file(tmp_path, '[trends]\nflop_rate = { factor = 900, per = "year" }'))
    with pytest.raises(InputError, match="flop_rate would be"):
        machine_in(machine, fast, 2020)
    with pytest.raises(InputError, match="from which year on"):
        machine_in(published_machines()["frontier"].__class__("x"), fast, 2020)
