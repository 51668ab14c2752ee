"""fft_bench under SimGrid's MPI: 64 ranks on a simulated torus, to the same digits each time, and what is refused."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess

import pytest

BIN = pathlib.Path(os.environ["FOURSCORE_FFT_BENCH"]).parent
BENCH = pathlib.Path(os.environ.get("FOURSCORE_SMPI_BENCH", BIN / "../../smpi/bin/fft_bench"))

pytestmark = pytest.mark.skipif(not BENCH.is_file(), reason="no fft_bench of the preset smpi")


def simulated(*options: str, variant: str = "pencil", ranks: int = 64, nodes: int | None = None) -> subprocess.CompletedProcess[str]:
    places = {"FOURSCORE_SIMULATED_RANKS": str(ranks), "FOURSCORE_SIMULATED_NODES": str(nodes or ranks)}
    if "--planner" not in options:
        options = (*options, "--planner", "estimate")
    command = [str(BENCH), "--variant", variant, "--shape", "32x32x32", *options]
    return subprocess.run(command, env=os.environ | places, capture_output=True, text=True, timeout=120)


def record(*options: str, variant: str = "pencil", ranks: int = 64, nodes: int | None = None) -> dict:
    few = ("--repetitions", "2", "--warmup", "1", "--check", "spots", "--json")
    run = simulated("--platform", "bluegene-l", *few, *options, variant=variant, ranks=ranks, nodes=nodes)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


@pytest.mark.parametrize("variant", ["pencil", "volumetric"])
def test_two_runs_have_the_same_digits(variant: str) -> None:
    first, second = (record(variant=variant)["samples"] for _ in range(2))
    assert first == second
    # Ranks leave the barrier before a run as the messages of the one before let them.
    assert first["time_s"][0] == pytest.approx(first["time_s"][1], rel=0.02)


def test_the_record_says_that_it_is_simulated_and_where() -> None:
    made = record(ranks=8, nodes=4)
    assert made["flags"] == ["simulated"]
    point, identity = made["point"], made["provenance"]["identity"]
    assert (point["ranks"], point["nodes"], point["platform"]) == (8, 4, "bluegene-l")
    assert "host_order" not in point
    assert identity["machine"]["simulator"].startswith("SimGrid 3.")
    assert identity["machine"]["platform"]["network"]["link_bandwidth_bytes_per_s"] == 175e6
    assert made["verification"]["ok"]


def test_computation_takes_what_the_host_is_charged() -> None:
    made = record(ranks=8)
    for times in made["samples"]["rank_phase_s"]["fft"]:
        assert times == pytest.approx([5 * 32**3 * 15 / 8 / 4.375e8] * 2, rel=1e-3)


def test_another_order_of_hosts_is_another_point_of_the_machine_and_another_time() -> None:
    row, shuffled = record(), record("--host-order", "random")
    assert row["point_id"] != shuffled["point_id"]
    assert row["provenance"]["machine_hash"] == shuffled["provenance"]["machine_hash"]
    hosts = [one["provenance"]["identity"]["launch"]["simulated_hosts"] for one in (row, shuffled)]
    assert hosts[0] == {"count": 64, "extents": [4, 4, 4], "order": "row-major"}
    assert hosts[1]["order"] == "random"
    assert row["samples"]["time_s"] != shuffled["samples"]["time_s"]


@pytest.mark.parametrize(
    ("options", "ranks", "message"),
    [
        ((), 8, "expected --platform"),
        (("--platform", "bluegene"), 8, "did you mean 'bluegene-l'?"),
        (("--platform", "bluegene-l", "--planner", "measure"), 8, "expected estimate"),
        (("--platform", "bluegene-l", "--host-order", "sub-cube"), 32, "expected a sixth power"),
        (("--platform", "hdr-fat-tree", "--host-order", "hilbert"), 8, "expected a torus or a mesh"),
        (("--platform", "slingshot-dragonfly"), 5000, "has 4224 hosts, and 5000 are asked for"),
        (("--platform", "ncube"), 12, "expected a power of two"),
    ],
)
def test_what_cannot_be_simulated_is_refused(options: tuple[str, ...], ranks: int, message: str) -> None:
    run = simulated(*options, ranks=ranks)
    assert run.returncode == 2, run.stderr
    assert message in run.stderr
