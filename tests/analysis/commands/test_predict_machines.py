"""fourscore predict and advise on machines that are known by a file: nodes, threads, overlap, and several at once."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from fourscore_analysis.cli import main
from fourscore_analysis.models.work import ON_DEVICE, VARIANTS

# -o is asked for one of them.
pytestmark = pytest.mark.usefixtures("every_kind_of_picture")


def answered(capsys, *arguments: str):
    assert main(list(arguments)) == 0
    return json.loads(capsys.readouterr().out)


def test_the_list_names_what_each_machine_cannot_predict_and_nothing_else(tmp_path, capsys):
    """Every machine and variant: listed as not predicted where asking for it is refused, with the same parameters."""
    for machine in answered(capsys, "predict", "--list-machines", "--json"):
        for variant in (*VARIANTS, *ON_DEVICE):
            shape = "1048576" if variant in ("binary-exchange", "transpose") else "1024x1024x1024"
            ranks = 1 if variant in ("serial", "serial-gpu") else 64 * machine["ranks_per_node"]
            asked = ["--variant", variant, "--shape", shape, "--ranks", str(ranks), "--machine", machine["name"]]
            code = main(["predict", "--archive", str(tmp_path), *asked])
            told = capsys.readouterr().err
            lacking = machine["not_predicted"].get(variant)
            assert code == (2 if lacking else 0), (machine["name"], variant, told)
            assert all(name in told for name in lacking or ())
    assert main(["predict", "--list-machines"]) == 0
    out = capsys.readouterr().out
    assert "hopper: nothing is; pencil takes" in out
    assert "frontier: danielson-lanczos (latency)" in out
    assert "12 of 14 variants" in out


MINE = """name = "mine"
nodes = 64
ranks_per_node = 64
[parameters]
flop_rate = { value = 4, unit = "Gflop/s" }
odd_flop_rate = { value = 2, unit = "Gflop/s" }
memory_constant = { value = 6.3, unit = "1" }
cache_bytes = { value = 256, unit = "MiB" }
private_cache_bytes = { value = 1, unit = "MiB" }
core_bandwidth = { value = 20, unit = "GB/s" }
cache_bandwidth = { value = 10, unit = "GB/s" }
memory_bandwidth = { value = 5, unit = "GB/s" }
link_bandwidth = { value = 0.39, unit = "GB/s" }
latency = { value = 2, unit = "us" }
"""


@pytest.fixture
def mine(tmp_path) -> Path:
    file = tmp_path / "mine.toml"
    file.write_text(MINE)
    return file


def predict_on(capsys, machine: Path, variant: str, ranks: str, *more: str):
    asked = ("--variant", variant, "--shape", "512x512x512", "--ranks", ranks, "--machine", str(machine))
    return answered(capsys, "predict", "--json", *asked, *more)


def test_ranks_fill_the_nodes_of_the_machine_and_one_node_has_no_network(mine, capsys):
    one, two, full = predict_on(capsys, mine, "pencil", "64,65,4096")
    assert [found["nodes"] for found in (one, two, full)] == [1, 2, 64]
    names = {term["name"] for term in one["prediction"]["terms"] if term["phase"] == "exchange"}
    assert names == {"T_exchange, in cache", "T_exchange, in memory"}
    assert main(["advise", "--shape", "512x512x512", "--ranks", "64", "--machine", str(mine)]) == 0
    assert "64 nodes" not in capsys.readouterr().out
    [crowded] = predict_on(capsys, mine, "pencil", "128", "--nodes", "1")
    assert crowded["prediction"]["extrapolated"] == ["ranks a node"]
    assert "mine has 64 ranks a node, fewer than this takes" in crowded["prediction"]["note"]


def test_a_rank_with_threads_has_the_rates_of_the_ranks_in_whose_place_it_is(mine, capsys):
    [apart] = predict_on(capsys, mine, "node", "64")
    [whole] = predict_on(capsys, mine, "node", "1", "--threads", "64")
    assert (whole["nodes"], whole["contract"]["threads"]) == (1, 64)
    assert "exchange" not in whole["prediction"]["phases"]
    flops = [
        next(term["seconds"] for term in one["prediction"]["terms"] if term["name"] == "T_flops")
        for one in (apart, whole)
    ]
    assert flops[0] == pytest.approx(flops[1])


def test_fields_together_have_the_latency_of_one_and_the_bytes_of_all(mine, capsys):
    def terms_s(*more: str) -> dict[tuple[str, str], float]:
        [found] = predict_on(capsys, mine, "slab", "256", *more)
        return {(term["phase"], term["name"]): term["seconds"] for term in found["prediction"]["terms"]}

    one, together = terms_s(), terms_s("--fields", "3")
    in_turn = terms_s("--fields", "3", "--field-order", "in-turn")
    differing = {name for name in one if together[name] != pytest.approx(in_turn[name])}
    assert len(differing) == 1
    for name in differing:
        assert (together[name], in_turn[name]) == pytest.approx((one[name], 3 * one[name]))


def test_fields_in_an_order_that_a_variant_has_not_are_refused(mine, capsys):
    asked = ("--shape", "512x512x512", "--ranks", "64", "--machine", str(mine), "--fields", "3")
    assert main(["predict", "--variant", "node", *asked]) == 2
    assert "node makes a plan for one field; expected --field-order in-turn or pipelined" in capsys.readouterr().err
    assert main(["predict", "--variant", "node", *asked, "--field-order", "in-turn"]) == 0


def test_methods_machines_and_ranks_stand_side_by_side_in_one_answer(mine, tmp_path, capsys):
    figure, table = tmp_path / "times.svg", tmp_path / "times.csv"
    asked = ("--variant", "pencil,pencil-gpu", "--shape", "512x512x512", "--ranks", "1:4096")
    machines = ("--machine", str(mine), "--machine", "frontier", "-o", str(figure), "--csv", str(table))
    found = answered(capsys, "predict", "--json", *asked, *machines)
    assert [one["ranks"] for one in found[:13]] == [2**step for step in range(13)]
    assert {(one["machine"], one["variant"]) for one in found if one["prediction"]} == {
        ("mine", "pencil"),
        ("frontier", "pencil"),
        ("frontier", "pencil-gpu"),
    }
    not_predicted = [one for one in found if not one["prediction"]]
    assert len(not_predicted) == 13
    assert all("pcie_bandwidth" in one["reason"] for one in not_predicted)
    lines = list(csv.DictReader(table.open()))
    assert len(lines) == len(found) == 52
    for line, one in zip(lines, found, strict=True):
        assert (line["by"], line["variant"], int(line["ranks"])) == (one["machine"], one["variant"], one["ranks"])
        if not one["prediction"]:
            assert (line["predicted_s"], line["reason"]) == ("", one["reason"])
            continue
        assert float(line["predicted_s"]) == one["prediction"]["total"]["seconds"]
        for phase, timed in one["prediction"]["phases"].items():
            assert float(line[f"{phase}_s"]) == timed["seconds"]
    drawn = figure.read_text()
    assert "pencil-gpu, frontier, 4096 ranks: " in drawn
    assert drawn.count("pencil, mine, ") == 13
    assert main(["predict", *asked, *machines]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert len([row for row in rows if " mine " in row or " frontier " in row]) == 52


def test_advice_tells_overlap_and_threads_apart_or_says_that_nothing_does(mine, capsys):
    asked = ("advise", "--json", "--shape", "512x512x512", "--ranks", "64,1024", "--machine", str(mine))
    one_node, many = answered(capsys, *asked)["groups"]
    alike = one_node["told_apart_by_nothing"]
    assert ["slab", "pencil", "pencil-overlap", "overdecomposed"] in alike  # on one node nothing is hidden
    assert not any("node, 64 threads" in labels for labels in alike)
    best = {}
    for one in many["answers"]:
        best.setdefault(one["variant"], one["prediction"]["total"]["seconds"])
    assert len({best[name] for name in ("pencil", "pencil-overlap", "overdecomposed", "node")}) == 4
    [node] = [one for one in many["answers"] if one["variant"] == "node" and one["grid"] == [16, 1]]
    assert (node["ranks"], node["nodes"], node["contract"]["threads"]) == (16, 16, 64)
    assert main([word for word in asked if word != "--json"]) == 0
    assert "told apart by nothing: slab, pencil, pencil-overlap, overdecomposed" in capsys.readouterr().out
