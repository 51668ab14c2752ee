"""Launcher `netns`: mpirun on hosts of this machine that MPI takes for nodes, by links of the machine file's rate."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import statistics
import subprocess

import pytest
from fourscore_command import BIN, REAL, is_open_mpi
from laboratories import Traces, unavailable

if no_laboratory := unavailable():
    pytest.skip(no_laboratory, allow_module_level=True)

HEAD = 'name = "b"\nlaunches = 1\nrepetitions = 2\nmin_time_s = 0.001\n'
MACHINE = 'name = "lab"\nlauncher = "netns"\n[nodes]\ncount = 4\n[launch]\nrate = "{}"\n'
OPEN_MPI, HYDRA = "mpirun (Open MPI) 4.1.4", "HYDRA build details:"
CORES = len(os.sched_getaffinity(0))


def machine(fourscore, rate: str = "200mbit") -> pathlib.Path:
    return fourscore.suite(MACHINE.format(rate), "lab.toml")


def sweep(nodes: int, ranks: int, placement: str = "block", threads: int = 1) -> str:
    """Data that does not fit the buffers of TCP."""
    return HEAD + (
        f'[[sweep]]\nvariant = "slab"\nshape = "48x40x32"\nplanner = "estimate"\nnodes = {nodes}\nranks = {ranks}\n'
        f'placement_of_ranks = "{placement}"\nthreads = {threads}\n'
    )


def record_of(fourscore, text: str, *options: object) -> dict:
    traces = Traces()
    fourscore("run", fourscore.suite(text), "--quiet", *options, environment=REAL | traces.environment)
    traces.wait_until_gone()
    [record] = fourscore.records().values()
    assert (record["verdict"]["status"], record["verdict"]["reason"]) == ("ok", "")
    return record


@pytest.mark.parametrize(
    ("nodes", "ranks", "placement", "observed"),
    [
        (2, 2, "block", "block"),
        (3, 3, "cyclic", "block"),  # one rank a node is both
        (2, 4, "block", "block"),
        (2, 4, "cyclic", "cyclic"),
        (2, 3, "block", "block"),
    ],
)
def test_mpi_takes_the_hosts_for_nodes_and_places_ranks_as_asked(fourscore, nodes, ranks, placement, observed):
    record = record_of(fourscore, sweep(nodes, ranks, placement), "--machine", machine(fourscore))
    launch = record["provenance"]["identity"]["launch"]
    assert (launch["launcher"], launch["nodes"], launch["placement_of_ranks"]) == ("netns", nodes, observed)
    assert record["provenance"]["volatile"]["hosts"] == [f"h{number}" for number in range(1, nodes + 1)]
    assert record["provenance"]["identity"]["machine"]["interconnect"] == ["netns TCP, 200mbit (tbf)"]
    assert "emulated" in record["flags"]


def test_the_campaign_knows_the_machine_before_anything_is_launched(fourscore):
    record = record_of(fourscore, sweep(2, 2), "--machine", machine(fourscore))
    [campaign] = fourscore.archive.glob("campaigns/*/campaign.json")
    assert json.loads(campaign.read_text())["machine_hash"] == record["provenance"]["machine_hash"]


@pytest.mark.skipif(CORES < 2, reason="one core: two hosts cannot but share it")
def test_hosts_have_cores_of_their_own_where_there_are_enough(fourscore):
    record = record_of(fourscore, sweep(2, 2), "--machine", machine(fourscore))
    kinds = record["provenance"]["identity"]["launch"]["core_maps"]
    assert len({kind["cores"][0] for kind in kinds}) == 2, kinds
    assert not {"oversubscribed", "unbound"} & set(record["flags"])


@pytest.mark.skipif(CORES > 16, reason="too many cores to oversubscribe with the planes of this shape")
def test_hosts_that_share_too_few_cores_are_flagged_though_each_has_enough(fourscore):
    record = record_of(fourscore, sweep(2, 2 * CORES), "--machine", machine(fourscore))
    [kind] = record["provenance"]["identity"]["launch"]["core_maps"]
    assert len(kind["cores"]) == CORES, "on each host there is a core for each of its ranks"
    assert "oversubscribed" in record["flags"]


def test_messages_between_hosts_go_by_the_link_at_its_rate(fourscore):
    """By shared memory the exchange would take a few per cent of that."""
    record = record_of(fourscore, sweep(2, 2), "--launcher", "netns", "--machine", machine(fourscore, "20mbit"))
    sent_bits = 8 * max(record["cost"]["bytes_sent_per_rank"])
    burst_bits = 8 * 4 * 3028
    assert min(record["samples"]["time_s"]) > 0.9 * (sent_bits - burst_bits) / 20e6


def test_messages_in_both_directions_share_no_bandwidth(fourscore):
    """One after the other they would take twice the time."""
    if not is_open_mpi():
        pytest.skip("MPICH asks for the data of a large message behind that of the other direction")
    program = [BIN / "pairwise_bench", "--parameter", "pattern=sendrecv", "--parameter", "sizes=1MiB"]
    program += ["--repetitions", "8", "--min-time-s", "0.01", "--record", "record.json"]
    mpirun = [REAL["FOURSCORE_MPIEXEC"], "--allow-run-as-root", "--host", "h1,h2", *program]
    traces = Traces()
    command = fourscore.command("laboratory", "--rate", "40mbit", "--", *mpirun)
    environment = fourscore.environment | traces.environment
    run = subprocess.run(command, cwd=fourscore.folder, env=environment, capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    [benchmark] = json.loads((fourscore.folder / "record.json").read_text())["benchmarks"]
    one_direction_s = 8 * 2**20 / 40e6
    assert 0.9 * one_direction_s < statistics.median(benchmark["time_s"]) < 1.7 * one_direction_s
    traces.wait_until_gone()


def test_what_it_cannot_start_is_said_before_anything_is_launched(fourscore):
    suite = fourscore.suite(
        HEAD + '[[sweep]]\nvariant = "slab"\nshape = "8x8x8"\nranks = 2\nplacement_of_ranks = "socket"\n'
    )
    run = fourscore("run", suite, "--machine", machine(fourscore), environment=REAL, code=2)
    assert "launcher 'netns': it binds no rank to a socket" in run.stderr
    run = fourscore("run", fourscore.suite(sweep(8, 8)), "--machine", machine(fourscore), environment=REAL)
    assert "it needs 8 nodes, and the machine has 4 (key 'count' of [nodes])" in run.stdout


@pytest.mark.parametrize(
    ("rate", "said"), [("fast", "expected a rate as tc(8) has it"), ("1bit", "holds rates from 64kbit")]
)
def test_a_machine_file_with_a_rate_that_is_none_names_its_line(fourscore, rate, said):
    run = fourscore(
        "run", fourscore.suite(sweep(2, 2)), "--machine", machine(fourscore, rate), environment=REAL, code=2
    )
    assert f"lab.toml:6: key 'rate' is '{rate}'" in run.stderr
    assert said in run.stderr


def test_the_machine_file_of_the_laboratory_is_as_it_says(fourscore):
    run = fourscore("machine", "check", "laboratory", environment=REAL)
    assert "2 ranks on 2 nodes: h1, h2" in run.stdout
    assert "Machine laboratory is as its file says" in run.stdout


def words_of(fourscore, version: str, text: str) -> list[str]:
    """How mpirun is called, by a fake one in a real laboratory."""
    log = fourscore.folder / "mpirun"
    environment = {"FAKE_MPIRUN_SAYS": version, "FAKE_MPIRUN_LOG": str(log)}
    fourscore("run", fourscore.suite(text), "--quiet", "--machine", machine(fourscore), environment=environment)
    return log.read_text().replace("--allow-run-as-root ", "").split()


@pytest.mark.parametrize(
    ("version", "placement", "expected"),
    [
        (OPEN_MPI, "block", "--host h1:2,h2:1,h3:1 --map-by slot --bind-to none -n 4"),
        (OPEN_MPI, "cyclic", "--host h1:2,h2:1,h3:1 --map-by node --bind-to none -n 4"),
        (HYDRA, "block", "-hosts h1:2,h2:1,h3:1 -bind-to none -n 4"),
        (HYDRA, "cyclic", "-hosts h1:1,h2:1,h3:1 -bind-to none -n 4"),
    ],
)
def test_each_mpirun_is_told_the_hosts_in_its_words(fourscore, version, placement, expected):
    text = (
        HEAD
        + f'[[sweep]]\nvariant = "good"\nshape = "4x4x4"\nnodes = 3\nranks = 4\nplacement_of_ranks = "{placement}"\n'
    )
    assert words_of(fourscore, version, text) == [*expected.split(), "OMP_NUM_THREADS=1"]


@pytest.mark.parametrize("mpirun", ["mpirun.openmpi", "mpiexec.mpich"])
@pytest.mark.parametrize("cyclic", [False, True])
def test_both_mpiruns_reach_the_hosts(fourscore, mpirun, cyclic):
    if shutil.which(mpirun) is None:
        pytest.skip(f"no {mpirun} in PATH")
    if mpirun == "mpiexec.mpich":
        words = ["-hosts", "h1:1,h2:1" if cyclic else "h1:2,h2:2"]
    else:
        words = ["--host", "h1:2,h2:2", "--map-by", "node" if cyclic else "slot", "--allow-run-as-root"]
    rank = "sh -c 'echo ${PMI_RANK:-$OMPI_COMM_WORLD_RANK} $(hostname)'"
    traces = Traces()
    command = fourscore.command("laboratory", "--", "sh", "-c", f"{mpirun} {' '.join(words)} -n 4 {rank}")
    run = subprocess.run(
        command, env=fourscore.environment | traces.environment, capture_output=True, text=True, timeout=60
    )
    assert run.returncode == 0, run.stderr
    hosts = dict(line.split() for line in run.stdout.splitlines())
    expected = ["h1", "h2", "h1", "h2"] if cyclic else ["h1", "h1", "h2", "h2"]
    assert [hosts[str(number)] for number in range(4)] == expected
    traces.wait_until_gone()
