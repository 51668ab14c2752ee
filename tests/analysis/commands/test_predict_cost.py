"""What predicted jobs cost by [cost] of a parameter file: price, joules, and machines that cost as much."""

import csv
import json

import pytest
from fourscore_analysis.cli import main
from fourscore_analysis.models.cost import Cost, job_cost
from fourscore_analysis.models.machines import machine_text, read_machine

NODE = """name = "{name}"
nodes = {nodes}
ranks_per_node = 2
[parameters]
flop_rate = {{ value = {rate}, unit = "Gflop/s" }}
memory_constant = {{ value = 6.3, unit = "1" }}
memory_bandwidth = {{ value = 5, unit = "GB/s" }}
cache_bytes = {{ value = 1, unit = "MB" }}
link_bandwidth = {{ value = 1, unit = "GB/s" }}
[forms]
lengths = "paper"
memory = "paper"
messages = "paper"
"""
PRICED = "[cost]\nnode_hour_price = 2.5\nnode_watts = 500\nnode_idle_watts = 200\n"
ASKED = ("--variant", "pencil", "--shape", "256x256x256")


def machine_file(folder, name="mine", nodes=8, rate=2.0, cost=PRICED):
    path = folder / f"{name}.toml"
    path.write_text(NODE.format(name=name, nodes=nodes, rate=rate) + cost)
    return str(path)


def answered(capsys, *arguments, command="predict"):
    assert main([command, "--archive", "none", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_job_costs_what_its_nodes_cost_for_its_time():
    job = job_cost(Cost(2.0, "EUR", 600.0, 150.0), nodes=10, seconds=7.2, runs=1000)
    assert job.node_hours == pytest.approx(20.0)
    assert (job.price, job.currency) == (pytest.approx(40.0), "EUR")
    assert job.joules == pytest.approx(43.2e6)
    assert job.joules_above_idle == pytest.approx(32.4e6)
    only_watts = job_cost(Cost(node_watts=600.0), nodes=1, seconds=1.0)
    assert (only_watts.price, only_watts.joules, only_watts.joules_above_idle) == (None, 600.0, None)


def test_predict_and_advise_have_the_price_and_the_joules_of_a_job(capsys, tmp_path):
    mine = machine_file(tmp_path)
    [answer] = answered(capsys, *ASKED, "--machine", mine, "--ranks", "8", "--runs", "1000")
    cost, seconds = answer["cost"], answer["prediction"]["total"]["seconds"]
    assert (cost["estimate"], cost["runs"], cost["nodes"], cost["currency"]) == (True, 1000, 4, "EUR")
    assert cost["node_hours"] == pytest.approx(4 * seconds * 1000 / 3600)
    assert cost["price"] == pytest.approx(2.5 * cost["node_hours"])
    assert cost["joules"] == pytest.approx(500 * 4 * seconds * 1000)
    assert cost["joules_above_idle"] == pytest.approx(300 * 4 * seconds * 1000)
    asked = (*ASKED[2:], "--machine", mine, "--ranks", "8", "--runs", "1000")
    [group] = answered(capsys, *asked, command="advise")["groups"]
    pencil = next(one for one in group["answers"] if (one["variant"], one["grid"]) == ("pencil", answer["grid"]))
    assert pencil["cost"] == cost
    assert main(["predict", "--archive", "none", *ASKED, "--machine", mine, "--ranks", "8"]) == 0
    [line] = [line for line in capsys.readouterr().out.splitlines() if "estimated" in line]
    assert line.startswith("  1 run, estimated: ")
    assert " EUR, " in line
    assert " above idle)" in line
    assert main(["advise", "--archive", "none", *asked]) == 0
    assert "price of 1,000 runs, estimated" in capsys.readouterr().out


def test_a_table_and_a_csv_have_a_column_for_it_where_a_machine_says_it(capsys, tmp_path):
    mine, plain = machine_file(tmp_path), machine_file(tmp_path, "plain", cost="")
    both = (*ASKED, "--machine", mine, "--machine", plain, "--ranks", "8")
    assert main(["predict", "--archive", "none", *both, "--csv", str(tmp_path / "x.csv")]) == 0
    head, first, second = capsys.readouterr().out.splitlines()[1:4]
    assert "price, estimated" in head
    assert " EUR" in first
    assert " EUR" not in second
    rows = list(csv.DictReader((tmp_path / "x.csv").open()))
    assert float(rows[0]["price"]) > 0
    assert rows[0]["currency"] == "EUR"
    assert rows[1]["price"] == ""
    assert main(["predict", "--archive", "none", *ASKED, "--machine", plain, "--ranks", "4,8"]) == 0
    assert "estimated" not in capsys.readouterr().out
    assert all(one["cost"] is None for one in answered(capsys, *ASKED, "--machine", plain, "--ranks", "4,8"))


@pytest.mark.parametrize(
    ("cost", "words"),
    [
        ("[cost]\nnode_hour_price = -1", "cost.node_hour_price is -1; expected 0 to 1e+12"),
        ('[cost]\nnode_hour_price = "2"', "cost.node_hour_price is '2'; expected a number"),
        ("[cost]\nnode_hour_price = nan", "cost.node_hour_price is nan; expected a number"),
        ("[cost]\nnode_hour_price = true", "cost.node_hour_price is True; expected a number"),
        ("[cost]\nnode_watts = -500", "cost.node_watts is -500; expected 0"),
        ("[cost]\nnode_watts = 100\nnode_idle_watts = 200", "node_idle_watts is 200; expected node_watts, and no more"),
        ("[cost]\nnode_hour_price = 1\nnode_idle_watts = 2", "node_idle_watts is 2; expected node_watts, and no more"),
        ("[cost]\nnode_hour_price = 1\ncurrency = 5", "cost.currency is 5; expected letters, as EUR"),
        ('[cost]\ncurrency = "EUR"', "cost has neither node_hour_price nor node_watts"),
        ("[cost]\nprice = 1", "'price' is not known; expected a key: node_hour_price"),
    ],
)
def test_costs_that_are_none_are_refused(capsys, tmp_path, cost, words):
    mine = machine_file(tmp_path, cost=cost)
    assert main(["predict", "--archive", "none", *ASKED, "--machine", mine]) == 2
    assert words in capsys.readouterr().err


def test_costs_are_written_and_read_back(tmp_path):
    machine = read_machine(tmp_path / machine_file(tmp_path))
    assert machine.cost == Cost(2.5, "EUR", 500.0, 200.0)
    (tmp_path / "again.toml").write_text(machine_text(machine))
    assert read_machine(tmp_path / "again.toml") == machine


def test_equal_cost_is_of_an_hour_of_the_nodes_and_says_who_is_faster(capsys, tmp_path):
    mine = machine_file(tmp_path, nodes=8)
    cheap = machine_file(tmp_path, "cheap", nodes=64, rate=0.5, cost="[cost]\nnode_hour_price = 0.7\n")
    found = answered(capsys, *ASKED, "--equal-cost", mine, cheap)
    given, [other] = found["given"], found["machines"]
    assert (given["nodes"], given["price_an_hour"], given["currency"]) == (8, 20.0, "EUR")
    side = other["as_expensive"]
    assert side["nodes"] == 28  # 20 / 0.7 = 28.6
    times = [one["prediction"]["total"]["seconds"] for one in (given, side)]
    assert other["faster"] == ("cheap" if times[1] < times[0] else "mine")
    assert side["cost"]["price"] == pytest.approx(0.7 * 28 * times[1] / 3600)
    assert main(["predict", "--archive", "none", *ASKED, "--equal-cost", mine, cheap, "--runs", "1000"]) == 0
    out = capsys.readouterr().out
    assert f"  {other['faster']} is faster" in out
    assert "price of 1,000 runs" in out


def test_one_node_that_costs_more_than_all_of_another_machine_is_an_answer_too(capsys, tmp_path):
    mine = machine_file(tmp_path, nodes=1)
    dear = machine_file(tmp_path, "dear", cost="[cost]\nnode_hour_price = 99\n")
    assert main(["predict", "--archive", "none", *ASKED, "--equal-cost", mine, dear]) == 1
    assert "one node of dear costs more than 1 of mine" in capsys.readouterr().out


def test_prices_of_two_currencies_are_not_compared(capsys, tmp_path):
    mine = machine_file(tmp_path)
    other = machine_file(tmp_path, "other", cost='[cost]\nnode_hour_price = 1\ncurrency = "USD"\n')
    assert main(["predict", "--archive", "none", *ASKED, "--equal-cost", mine, other]) == 2
    assert "mine has its price in EUR, other in USD; expected one currency" in capsys.readouterr().err
