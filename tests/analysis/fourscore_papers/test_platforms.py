"""A simulated machine after a paper has the numbers that the paper's page computes with: a platform and a reading that
contradict each other would put two machines of one name beside each other."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import tomllib
from fourscore_analysis.records.published import published
from fourscore_papers.eleftheriou2005 import equations as bluegene
from fourscore_papers.gupta1993 import readings as ncube

ROOT = Path(__file__).parents[3]
PLATFORMS = ROOT / "jobscripts/platforms"
FLOPS = 5  # n log2 n of them are credited


def platform(name: str) -> dict:
    return tomllib.loads((PLATFORMS / f"{name}.toml").read_text())


def platforms_of_papers() -> set[str]:
    """What the suites of the papers run on."""
    found = set()
    for file in ROOT.glob("suites/papers/*/*.toml"):
        suite = tomllib.loads(file.read_text())
        for table in (suite.get("defaults", {}), *suite.get("sweep", [])):
            named = table.get("platform", [])
            found |= {named} if isinstance(named, str) else set(named)
    return found


@pytest.mark.parametrize("name", ["bluegene-l", "bluegene-l-mesh"])
def test_blue_gene_is_what_the_model_of_table_1_reads(name):
    clock_hz = published("eleftheriou2005", "table-1").setup["clock_hz"]
    read = platform(name)
    cycles = bluegene.CYCLES / 4  # by which the table's model comes out: see its notes
    assert read["host"]["speed_flops_per_s"] == pytest.approx(FLOPS * clock_hz / cycles)
    link = bluegene.UTILISATION * bluegene.link_bytes_per_s(clock_hz)
    assert read["network"]["link_bandwidth_bytes_per_s"] == pytest.approx(link)
    assert read["network"]["topology"] == ("mesh" if name.endswith("mesh") else "torus")
    assert {key: read[key] for key in ("host", "messages")} == {
        key: platform("bluegene-l")[key] for key in ("host", "messages")
    }


@pytest.mark.parametrize(
    ("name", "routing"),
    [
        ("ncube", "store-and-forward"),
        ("ncube-mesh", "store-and-forward"),
        ("ncube-mesh-3d", "store-and-forward"),
        ("ncube-cut-through", "cut-through"),
    ],
)
def test_ncube_has_the_constants_of_section_8_and_the_start_up_of_figure_2(name, routing):
    printed = published("gupta1993", "section-8")
    t_c_us = min(row["t_c_us"] for row in printed.rows)  # in assembly: the one that the figures have
    read = platform(name)
    assert read["host"]["speed_flops_per_s"] == pytest.approx(FLOPS / (t_c_us * 1e-6))
    assert read["network"]["link_bandwidth_bytes_per_s"] == pytest.approx(8 / (printed.setup["t_w_us"] * 1e-6))
    assert read["messages"]["send_overhead_s"] == ncube.START_S
    assert read["network"].get("routing", "cut-through") == routing


def test_the_cluster_of_pcs_has_the_product_of_latency_and_bandwidth():
    network = platform("ethernet-100mbit")["network"]
    printed = published("haynes2000", "section-5").rows[0]["alpha_beta_bytes"]
    assert 2 * network["link_latency_s"] * network["link_bandwidth_bytes_per_s"] == pytest.approx(printed)


def test_hopper_is_the_torus_of_section_5_1():
    network = platform("hopper")["network"]
    assert network["extents"] == [17, 8, 24]
    assert published("czechowski2012", "section-5.1").rows[0]["nodes"] <= 17 * 8 * 24 * network["hosts_per_router"]
    for cubic in ("hopper-gemini", "hopper-torus-4d", "hopper-torus-5d"):
        for key in ("host", "messages"):
            assert platform(cubic)[key] == platform("hopper")[key]
        for key in ("link_bandwidth_bytes_per_s", "injection_bandwidth_bytes_per_s", "link_latency_s"):
            assert platform(cubic)["network"][key] == network[key]


def test_knights_landing_transforms_as_fast_as_section_2_2_1_says():
    table, timeline = published("lee2018", "table-2.1"), published("lee2018", "figure-2.2")
    of_transforms_s = min(row["backward_ms"] for row in table.rows) * 1e-3 * timeline.rows[0]["fft_percent"] / 100
    flops = FLOPS * 300**3 * math.log2(300**3)
    host = platform("knl-omni-path")["host"]
    assert host["speed_flops_per_s"] == pytest.approx(flops / table.setup["cores"] / of_transforms_s, rel=0.02)
    assert host["cores"] >= max(
        row["cores_per_node"] for row in published("lee2018", "figure-3.3").rows if row["cores_per_node"]
    )


def test_every_platform_of_a_papers_suite_is_held_to_the_paper():
    todays = {"hdr-fat-tree", "slingshot-dragonfly"}  # machines of today: lee2018/nodes, gupta1993/networks
    held = {
        "bluegene-l",
        "bluegene-l-mesh",
        "ncube",
        "ncube-mesh",
        "ncube-mesh-3d",
        "ncube-cut-through",
        "ethernet-100mbit",
    }
    held |= {"hopper", "hopper-gemini", "hopper-torus-4d", "hopper-torus-5d", "knl-omni-path"}
    assert platforms_of_papers() == held | todays
