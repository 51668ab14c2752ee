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


def simulated(
    *options: str, variant: str = "pencil", ranks: int = 64, nodes: int | None = None
) -> subprocess.CompletedProcess[str]:
    places = {"FOURSCORE_SIMULATED_RANKS": str(ranks), "FOURSCORE_SIMULATED_NODES": str(nodes or ranks)}
    if "--planner" not in options:
        options = (*options, "--planner", "estimate")
    command = [str(BENCH), "--variant", variant, "--shape", "32x32x32", *options]
    return subprocess.run(command, env=os.environ | places, capture_output=True, text=True, timeout=120)


def record(*options: str, variant: str = "pencil", ranks: int = 64, nodes: int | None = None) -> dict:
    few = ("--repetitions", "2", "--warmup", "1", "--check", "spots", "--json")
    platform = () if "--platform" in options else ("--platform", "bluegene-l")
    run = simulated(*platform, *few, *options, variant=variant, ranks=ranks, nodes=nodes)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


@pytest.mark.parametrize("variant", ["pencil", "pencil-overlap", "volumetric", "danielson-lanczos", "overdecomposed"])
def test_two_runs_have_the_same_digits(variant: str) -> None:
    first, second = (record(variant=variant)["samples"] for _ in range(2))
    assert first == second


EXCHANGES = ["alltoallv", "alltoallw", "ialltoallv", "p2p", "pairwise", "bruck", "rma", "active", "hierarchical", "shared"]


@pytest.mark.parametrize("exchange", EXCHANGES)
def test_every_exchange_is_right_and_a_rank_does_not_wait_for_messages_of_the_run_before(exchange: str) -> None:
    made = record("--exchange", exchange, ranks=16, nodes=4)
    assert made["verdict"]["status"] == "ok"
    assert made["samples"]["time_s"][0] == pytest.approx(made["samples"]["time_s"][1], rel=0.02)


def test_partners_may_put_into_windows_and_a_flag_follows_each_array_when_that_has_arrived() -> None:
    """So a step takes two latencies of 160 us in place of one; four nodes take two steps."""
    times = []
    for messages in ("two-sided", "one-sided"):
        asked = ("--parameter", f"messages={messages}", "--platform", "ethernet-100mbit")
        made = record(*asked, variant="danielson-lanczos", ranks=4)
        assert made["verdict"]["status"] == "ok"
        first, second = made["samples"]["time_s"]
        assert first == pytest.approx(second, rel=1e-9)
        times.append(first)
    latency_s = 160e-6
    assert times[1] - times[0] == pytest.approx(2 * latency_s, rel=0.02)


def test_four_messages_through_one_link_take_four_times_as_long(tmp_path: pathlib.Path) -> None:
    """Ranks of a star send to all others at once: each link carries the messages of one rank."""
    times = []
    for share, bandwidth in (("each direction", 1e6), ("both directions", 1e6), ("both directions", 2e6)):
        platform = tmp_path / f"star-{len(times)}.toml"
        platform.write_text(
            'summary = "s"\nsource = "s"\n[network]\ntopology = "star"\n'
            f'link_bandwidth_bytes_per_s = {bandwidth}\nlink_latency_s = 0\nsharing = "{share}"\n'
            "[host]\nspeed_flops_per_s = 1e9\nmemory_bandwidth_bytes_per_s = 1e12\n"
        )
        made = record("--platform", str(platform), variant="slab", ranks=4)
        times.append(max(rank[-1] for rank in made["samples"]["rank_phase_s"]["exchange"]))
    sent_s = 3 * 32**3 * 16 / 4 / 4 / 1e6  # to three others, of what a rank has
    assert times == pytest.approx([sent_s, 2 * sent_s, sent_s], rel=1e-3)


def test_a_map_of_link_loads_says_which_links_are_busy_in_which_exchange() -> None:
    """Rows of the 8x8 grid are two lines of the 4x4x4 torus side by side, columns lie across them."""
    loads = record("--grid", "8x8")["link_loads"]
    rows, columns = ({kind["kind"]: kind for kind in exchange["kinds"]} for exchange in loads)
    assert set(rows) == {"+0", "-0", "+1", "-1", "+2", "-2"}
    assert all(kind["links"] == 64 for kind in rows.values())
    assert [name for name, kind in rows.items() if kind["most_busy"] == 0] == ["+0", "-0"]
    assert [name for name, kind in columns.items() if kind["most_busy"] == 0] == ["+2", "-2"]
    assert all(0.5 < exchange["busiest"][0]["busy"] <= 1 for exchange in loads)  # the rest: messages of 4 us each


def test_the_record_says_that_it_is_simulated_and_where() -> None:
    made = record(ranks=8, nodes=4)
    assert made["flags"] == ["simulated"]
    point, identity = made["point"], made["provenance"]["identity"]
    assert (point["ranks"], point["nodes"], point["platform"]) == (8, 4, "bluegene-l")
    assert "host_order" not in point
    assert identity["machine"]["simulator"].startswith("SimGrid 3.")
    assert identity["machine"]["platform"]["network"]["link_bandwidth_bytes_per_s"] == 140e6
    assert made["verification"]["ok"]


def test_computation_takes_what_the_host_is_charged() -> None:
    made = record(ranks=8)
    for times in made["samples"]["rank_phase_s"]["fft"]:
        assert times == pytest.approx([5 * 32**3 * 15 / 8 / 1.75e9] * 2, rel=1e-3)


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
