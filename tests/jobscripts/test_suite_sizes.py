"""Suites of several sizes: what --size chooses, and where the choice is seen."""

from __future__ import annotations

import json
import os
import pathlib

import pytest
import tomllib
from fourscore_command import BIN

SUITES = pathlib.Path(__file__).parents[2] / "suites"
PACKAGES = SUITES.parent / "analysis" / "fourscore_papers"
REAL = {"FOURSCORE_BENCH": str(BIN / "fft_bench"), "FOURSCORE_COMPONENTS": str(BIN)}
TEXT = """name = "s"
sizes = ["here", "paper", "third"]
paper = ["lee2018/table-2.1", "lee2018/table-3.1"]
launches = 1
repetitions = 3
seed = 1

[size.paper]
launches = 2
repetitions = 11
max_oversubscription = 0.0

[defaults]
variant = "good"
shape = "4x4x4"

[[sweep]]
ranks = 1

[[sweep]]
size = "paper"
ranks = 2

[[sweep]]
size = ["here", "third"]
ranks = 3
"""


def plan(fourscore, *options: str, text: str = TEXT) -> dict:
    return fourscore.plan(fourscore.suite(text), *options)


def ranks(planned: dict) -> list[int]:
    return sorted({launch["point"]["ranks"] for launch in planned["launches"]})


def test_a_size_has_its_own_tables_and_those_without_a_size(fourscore):
    assert ranks(plan(fourscore)) == ranks(plan(fourscore, "--size", "here")) == [1, 3]
    assert ranks(plan(fourscore, "--size", "paper")) == [1, 2]
    assert ranks(plan(fourscore, "--size", "third")) == [1, 3]


def test_keys_of_a_size_replace_those_of_the_top(fourscore):
    fourscore("run", fourscore.suite(TEXT), "--size", "paper")
    argvs = fourscore.finished("argv")
    assert len(argvs) == 4
    assert {argv[argv.index("--repetitions") + 1] for argv in argvs} == {"11"}


def test_counters_of_a_size_leave_the_group_of_the_others_behind(fourscore):
    top = 'counters = "callgrind"\ncounter_cache = "1MiB,16,64"\n'
    text = TEXT.replace("launches = 1\n", "launches = 1\n" + top).replace("launches = 2\n", 'launches = 2\ncounters = "none"\n')
    fourscore("run", fourscore.suite(text), "--size", "paper")
    (campaign,) = fourscore.archive.glob("campaigns/*/campaign.json")
    assert json.loads(campaign.read_text())["counters"] == {"backend": "none"}


def test_the_size_stands_in_the_campaign_its_name_and_its_records(fourscore):
    suite = fourscore.suite(TEXT)
    names = {}
    for options in ([], ["--size", "paper"]):
        fourscore("run", suite, *options)
    for file in fourscore.archive.glob("campaigns/*/campaign.json"):
        campaign = json.loads(file.read_text())
        names[campaign["size"]] = campaign["id"]
        assert campaign["paper"] == ["lee2018/table-2.1", "lee2018/table-3.1"]
        assert campaign["suite"] == {"here": "s", "paper": "s-paper"}[campaign["size"]]
    assert names["here"].startswith("s-") and not names["here"].startswith("s-paper")
    assert names["paper"].startswith("s-paper-")
    assert {record["campaign"]["suite"] for record in fourscore.records().values()} == {"s", "s-paper"}


def test_a_campaign_goes_on_in_its_own_size_only(fourscore):
    suite = fourscore.suite(TEXT)
    fourscore("run", suite, "--campaign", "mine", "--size", "paper")
    error = fourscore("run", suite, "--campaign", "mine", code=2).stderr
    assert "size (paper, now here)" in error
    assert "done" in fourscore("run", suite, "--campaign", "mine", "--size", "paper", "--dry-run").stdout


def test_a_dry_run_says_the_size_and_the_others(fourscore):
    said = fourscore("run", fourscore.suite(TEXT), "--dry-run").stdout
    assert "size here (also: paper, third): 2 launches" in said
    planned = plan(fourscore, "--size", "paper")
    assert planned["size"] == "paper" and planned["paper"] == ["lee2018/table-2.1", "lee2018/table-3.1"]
    assert "size" not in plan(fourscore, text='name = "s"\n[[sweep]]\nvariant = "good"\nshape = "4"\nranks = 1\n')


def test_a_list_of_suites_says_their_sizes(fourscore):
    said = {entry["name"]: entry for entry in fourscore.json("list", "suites")}
    assert said["papers/lee2018/table-2.1"]["sizes"] == ["here", "paper"]
    assert said["papers/lee2018/table-2.1"]["paper"] == ["lee2018/table-2.1"]
    assert "sizes" not in said["smoke"]
    assert "; sizes: here, paper)" in fourscore("list", "suites").stdout


def test_a_size_that_the_suite_lacks_is_refused(fourscore):
    suite = fourscore.suite(TEXT)
    error = fourscore("run", suite, "--size", "papr", code=2).stderr
    assert f"{suite}: --size 'papr' is no size of this suite, did you mean 'paper'?; expected one of: here, paper, third" in error
    plain = fourscore.suite('name = "s"\n[[sweep]]\nvariant = "good"\nshape = "4"\nranks = 1\n', "plain.toml")
    error = fourscore("run", plain, "--size", "here", code=2).stderr
    assert f"{plain}: --size here: this suite has no sizes" in error
    assert not fourscore.archive.exists()


PAPERS = sorted(str(file.relative_to(SUITES).with_suffix("")) for file in SUITES.glob("papers/*/*.toml"))


@pytest.mark.parametrize("size", ["here", "paper"])
@pytest.mark.parametrize("suite", PAPERS)
def test_a_papers_suite_plans_both_sizes(fourscore, suite, size):
    """As the programs themselves answer: what is launched here is no more than what the machine has."""
    cores = sorted(os.sched_getaffinity(0))[:2]
    said = fourscore(
        "run", suite, "--size", size, "--dry-run", "--json", environment=REAL, preexec_fn=lambda: os.sched_setaffinity(0, cores)
    )
    planned = json.loads(said.stdout)
    points = [launch["point"] for launch in planned["launches"]]
    simulated = {"platform" in point for point in points}
    assert points and planned["size"] == size and len(simulated) == 1
    items = planned.get("paper", [])
    assert items or simulated == {True}  # on machines beyond the paper's own numbers
    paper = suite.split("/")[1]
    assert all(item.startswith(f"{paper}/") for item in items)
    assert all((PACKAGES / "{}/published/{}.json".format(*item.split("/"))).is_file() for item in items)
    assert planned["campaign"].startswith(paper)
    most = max(point["ranks"] * point.get("threads", 1) for point in points)
    offloads = any("offload" in point.get("parameters", {}) for point in points)  # a device each: the paper had four
    assert most <= (64 if simulated == {True} else 16) if size == "here" else most >= (4 if offloads else 64)


@pytest.mark.parametrize("suite", PAPERS)
def test_a_papers_suite_says_its_nodes(suite):
    """Two of ranks, nodes and ranks_per_node: else the machine decides, and the experiment is another one."""
    said = tomllib.loads((SUITES / f"{suite}.toml").read_text())
    usual = said.get("defaults", {})
    for table in said.get("sweep", []) + said.get("component", []):
        if "paper" in table.get("size", "paper"):
            keys = {"ranks", "nodes", "ranks_per_node"} & (table.keys() | usual.keys())
            assert len(keys) >= 2, table


def test_nodes_that_the_machine_cannot_have_are_skipped_or_asked_for_repacked(fourscore, tmp_path):
    """figure-3 of lee2018 has 64 ranks a node, table-2.1 32 on each of 4 nodes."""
    machine = tmp_path / "narrow.toml"
    machine.write_text(
        'name = "narrow"\ndescription = "16 cores a node"\nscheduler = "slurm"\nlauncher = "srun"\n'
        '[nodes]\ncount = 16\ncores = 16\n[queue]\npartition = "p"\ntime_limit = "01:00:00"\n'
    )

    def planned(*words):
        said = fourscore(
            "run", "papers/lee2018/table-2.1", "--size", "paper", "--machine", machine, *words, "--dry-run", "--json", environment=REAL
        )
        return json.loads(said.stdout)

    whole = planned()
    assert not whole["launches"] and len(whole["skipped"]) == 14
    reason = "it needs 32 ranks of 1 thread on each node, which has 16 cores (key 'cores' of [nodes]); --repack takes other nodes"
    assert {point["reason"] for point in whole["skipped"]} == {reason}
    assert {(point["point"]["nodes"], point["point"]["ranks_per_node"]) for point in whole["skipped"]} == {(4, 32)}
    repacked = planned("--repack")
    assert not repacked["skipped"] and repacked["campaign"] != whole["campaign"]
    assert {(launch["point"]["nodes"], launch["point"]["ranks"]) for launch in repacked["launches"]} == {(8, 128)}


def test_the_crossover_is_for_a_cluster_too_with_the_messages_between_its_nodes(fourscore):
    said = fourscore("run", "papers/haynes2000/crossover", "--size", "cluster", "--dry-run", "--json", environment=REAL)
    planned = [launch["point"] for launch in json.loads(said.stdout)["launches"]]
    for program in ("danielson-lanczos", "rods", "pairwise_bench"):
        found = [point for point in planned if program in (point.get("variant"), point.get("component"))]
        assert {(point["nodes"], point["ranks"]) for point in found} == {(4, 4), (8, 8)}, program
