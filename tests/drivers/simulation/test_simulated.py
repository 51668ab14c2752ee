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
    if "--shape" not in options:
        options = (*options, "--shape", "32x32x32")
    command = [str(BENCH), "--variant", variant, *options]
    return subprocess.run(command, env=os.environ | places, capture_output=True, text=True, timeout=120)


def record(*options: str, variant: str = "pencil", ranks: int = 64, nodes: int | None = None) -> dict:
    few = ("--repetitions", "2", "--warmup", "1", "--json", *(() if "--check" in options else ("--check", "spots")))
    platform = () if "--platform" in options else ("--platform", "bluegene-l")
    run = simulated(*platform, *few, *options, variant=variant, ranks=ranks, nodes=nodes)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


@pytest.fixture(scope="module")
def on_64_ranks() -> dict:
    return record()


def test_two_runs_on_64_ranks_have_the_same_digits(on_64_ranks: dict) -> None:
    assert record()["samples"] == on_64_ranks["samples"]


@pytest.mark.parametrize("variant", ["pencil-overlap", "volumetric", "danielson-lanczos", "overdecomposed"])
def test_two_runs_have_the_same_digits(variant: str) -> None:
    first, second = (record(variant=variant, ranks=16)["samples"] for _ in range(2))
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


def threaded(tmp_path: pathlib.Path, host: str, *options: str, ranks: int = 4, nodes: int | None = None) -> dict:
    """A record of node on hosts of 16 cores whose network costs next to nothing."""
    platform = tmp_path / "threaded.toml"
    platform.write_text(
        'summary = "s"\nsource = "s"\n[network]\ntopology = "star"\nlink_bandwidth_bytes_per_s = 1e12\n'
        f"link_latency_s = 0\n[host]\ncores = 16\nspeed_flops_per_s = 1e9\nmemory_bandwidth_bytes_per_s = 1e9\n{host}"
    )
    made = record("--platform", str(platform), *options, variant="node", ranks=ranks, nodes=nodes)
    assert made["verdict"]["status"] == "ok"
    return made


def last(made: dict, phase: str) -> float:
    return max(rank[-1] for rank in made["samples"]["rank_phase_s"][phase])


STYLES = ["mpi=funneled", "mpi=multiple", "style=charm"]


@pytest.mark.parametrize("style", STYLES)
def test_a_rank_of_four_threads_computes_four_times_as_fast(style: str, tmp_path: pathlib.Path) -> None:
    one, four = (threaded(tmp_path, "", "--threads", threads, "--parameter", style) for threads in ("1", "4"))
    assert last(four, "fft") == pytest.approx(last(one, "fft") / 4, rel=1e-3)
    assert four["samples"]["time_s"][0] < 0.6 * one["samples"]["time_s"][0]
    assert four["flags"] == ["simulated"]


@pytest.mark.parametrize("style", [*STYLES, "z-to-y=one-thread"])
def test_threads_on_several_nodes_are_right_and_take_the_same_digits_each_time(style: str, tmp_path: pathlib.Path) -> None:
    options = ("--threads", "4", "--check", "all", "--parameter", style, "--shape", "24x20x18")
    if style == "z-to-y=one-thread":
        options += ("--parameter", "style=charm")
    for ranks, nodes in ((2, 2), (8, 8), (8, 2)):
        first, second = (threaded(tmp_path, "", *options, ranks=ranks, nodes=nodes) for _ in range(2))
        assert first["samples"] == second["samples"]


def test_one_thread_that_packs_alone_takes_the_time_of_one(tmp_path: pathlib.Path) -> None:
    """On a 1x4 grid a rank has three messages, for three threads, and a block of its own, for the first of them."""
    options = ("--threads", "4", "--grid", "1x4", "--parameter", "style=charm")
    packed_s = 2 * 16 * 32**3 / 4 / 1e9  # read and written
    assert last(threaded(tmp_path, "", *options), "pack") == pytest.approx(packed_s / 2, rel=1e-3)
    alone = threaded(tmp_path, "", *options, "--parameter", "z-to-y=one-thread")
    assert last(alone, "pack") == pytest.approx(packed_s, rel=1e-3)


def test_threads_share_the_memory_of_their_host(tmp_path: pathlib.Path) -> None:
    free = threaded(tmp_path, "", "--threads", "4")
    for of_host, longer in (("4e9", 1), ("2e9", 2), ("1e9", 4)):
        shared = threaded(tmp_path, f"host_memory_bandwidth_bytes_per_s = {of_host}\n", "--threads", "4")
        assert last(shared, "fft") == pytest.approx(longer * last(free, "fft"), rel=1e-3), of_host


def test_barriers_and_hand_overs_take_what_the_platform_says(tmp_path: pathlib.Path) -> None:
    options = ("--threads", "4", "--parameter", "style=charm")
    none, barriers, hand_overs = (
        threaded(tmp_path, host, *options)["samples"]["time_s"][0]
        for host in ("", "barrier_s_per_thread = 1e-3\n", "hand_over_s = 1e-3\n")
    )
    assert round((barriers - none) / 4e-3) == 6  # after each of 3 passes, before and after messages, at the end
    assert hand_overs > none + 1e-3


def test_another_order_of_hosts_is_another_point_of_the_machine_and_another_time(on_64_ranks: dict) -> None:
    row, shuffled = on_64_ranks, record("--host-order", "random")
    assert row["point_id"] != shuffled["point_id"]
    assert row["provenance"]["machine_hash"] == shuffled["provenance"]["machine_hash"]
    hosts = [one["provenance"]["identity"]["launch"]["simulated_hosts"] for one in (row, shuffled)]
    assert hosts[0] == {"count": 64, "extents": [4, 4, 4], "order": "row-major"}
    assert hosts[1]["order"] == "random"
    assert row["samples"]["time_s"] != shuffled["samples"]["time_s"]


def test_an_exchange_and_a_grid_are_tuned_by_simulated_time() -> None:
    first, second = (record("--exchange", "tuned", "--grid", "tuned", ranks=16) for _ in range(2))
    tuning = first["resolved"]["tuning"]
    assert tuning == second["resolved"]["tuning"]
    assert len({one["time_s"] for one in tuning["candidates"]}) > 10
    named = ("--exchange", tuning["exchange"], "--grid", "x".join(map(str, tuning["grid"])))
    alone = record(*named, ranks=16)
    # But for the last digits: the simulated clock has gone on when the samples begin.
    assert first["samples"]["time_s"] == pytest.approx(alone["samples"]["time_s"], rel=1e-4)
    bytes_of = [[[link["bytes"] for link in load["busiest"]] for load in one["link_loads"]] for one in (first, alone)]
    assert bytes_of[0] == bytes_of[1], "links are loaded by samples alone"


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
        (("--platform", "bluegene-l", "--threads", "2"), 8, "does not say how many cores a host has"),
        (("--platform", "knl-omni-path", "--threads", "69"), 8, "1 rank of 69 threads each on a host"),
    ],
)
def test_what_cannot_be_simulated_is_refused(options: tuple[str, ...], ranks: int, message: str) -> None:
    run = simulated(*options, ranks=ranks)
    assert run.returncode == 2, run.stderr
    assert message in run.stderr
