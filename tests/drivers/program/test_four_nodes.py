"""fft_bench on 8 ranks of four nodes of a Slurm: TCP between the nodes, shared memory within."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from combinations import Pair, ask, available, measurable
from conftest import Bench, Launch, Start, launched, recorded
from slurm_rig import SlurmRig, temporary_folder, unavailable

if no_rig := unavailable():
    pytest.skip(no_rig, allow_module_level=True)

RANKS = 8
SHAPES = ("30x28x26", "5005", "4096")  # a variant takes the first that it can; the last is for binary-exchange
QUICK = ("--repetitions", "2", "--warmup", "0")
REFUSALS = (
    "8 ranks; serial takes 1",
    "8 ranks; serial-gpu takes 1",
    "cannot have several pieces in flight",
)  # true of any 8 ranks
PENCIL = ("--variant", "pencil", "--shape", "30x28x26", "--planner", "estimate", *QUICK)
SLAB = ("--variant", "slab", "--shape", "12x12x12", "--planner", "estimate", *QUICK)


def combinations() -> tuple[dict[Pair, tuple[str, ...]], dict[Pair, str]]:
    """The launch of each variant with each exchange, and why others have none."""
    variants, exchanges = available()
    pairs = [(name, exchange) for name, takes in variants.items() for exchange in (exchanges if takes else ["none"])]
    fitting, refused = measurable(RANKS, pairs, SHAPES)
    return {pair: (*launch, *QUICK) for pair, launch in fitting.items()}, refused


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "exchange" in metafunc.fixturenames:
        launches = combinations()[0]
        cases = [(pair[1], Launch(RANKS, launch)) for pair, launch in launches.items()]
        metafunc.parametrize(("exchange", "record"), cases, ids=map("-".join, launches), indirect=["record"])


class FourNodes:
    """fft_bench on the ranks of a rig. Its record says that it ran there."""

    def __init__(self, rig: SlurmRig, bench: Bench):
        self.rig = rig
        self.program = rig.folder / "bin/fft_bench"  # which the nodes see, wherever the build folder is
        self.program.parent.mkdir()
        shutil.copy(bench.plain, self.program)
        shutil.copytree(Path(bench.plain).parents[1] / "share", rig.folder / "share", symlinks=True)  # MKL is found by it
        self.is_open_mpi = json.loads(ask("--identity"))["identity"]["code"]["mpi"].startswith("Open MPI")

    def launch(
        self, *arguments: str, options: tuple[str, ...] = (), timeout: float = 60
    ) -> subprocess.CompletedProcess[str]:
        mpi = "pmix" if self.is_open_mpi else "pmi2"
        return self.rig.srun(RANKS, [self.program, *arguments], mpi=mpi, options=options, timeout=timeout)


@pytest.fixture(scope="module")
def on_four_nodes(bench: Bench) -> Iterator[FourNodes]:
    with temporary_folder() as folder, SlurmRig(folder) as rig:
        yield FourNodes(rig, bench)


@pytest.fixture(scope="module")
def start_job(on_four_nodes: FourNodes) -> Start:
    return lambda settings, *arguments, ranks: on_four_nodes.launch(*arguments, timeout=300)


@pytest.fixture(scope="module")
def folder_of_jobs(on_four_nodes: FourNodes) -> Path:
    return on_four_nodes.rig.folder


@pytest.fixture
def record(record: dict) -> dict:
    """It says that it ran on the four nodes."""
    launch = record["provenance"]["identity"]["launch"]
    place = {"nodes": 4, "ranks_per_node": RANKS // 4, "placement_of_ranks": "block"}
    assert place.items() <= record["point"].items()
    assert (launch["nodes"], launch["placement_of_ranks"]) == (4, "block")
    assert [len(kind["cores"]) for kind in launch["core_maps"]] == [2]  # two ranks, on all nodes alike
    assert record["provenance"]["volatile"]["hosts"] == ["n1", "n2", "n3", "n4"]
    return record


def check_result(record: dict) -> None:
    assert (record["verdict"]["status"], record["verdict"]["reason"]) == ("ok", "")
    assert record["verification"]["ok"]
    assert len(record["samples"]["rank_total_s"]) == RANKS
    assert record["samples"]["clock"]["alignment"] == "ping-pong"
    assert record["samples"]["clock"]["uncertainty_s"] > 0
    assert "heterogeneous" not in record["flags"]


def test_no_variant_and_no_exchange_is_left_out() -> None:
    variants, exchanges = available()
    launches, refused = combinations()
    assert {variant for variant, _ in launches} == set(variants) - {"serial", "serial-gpu"}
    assert {exchange for _, exchange in launches} == {"none", *exchanges}
    assert [reason for reason in refused.values() if not any(known in reason for known in REFUSALS)] == []


def test_a_result_is_right_on_four_nodes(on_four_nodes: FourNodes, exchange: str, record: dict) -> None:
    call = {"rma": "MPI_Win_create", "active": "MPI_Win_allocate"}.get(exchange)
    if call and on_four_nodes.is_open_mpi:
        assert record["verdict"]["status"] == "skipped"
        assert f"MPI makes no window between these ranks: {call} failed" in record["verdict"]["reason"]
    else:
        check_result(record)


@launched(RANKS, (*PENCIL, "--timeline"))
def test_clocks_of_nodes_are_aligned_by_messages(record: dict) -> None:
    check_result(record)
    clock = record["timeline"]["clock"]
    assert clock["alignment"] == "ping-pong"
    assert clock["uncertainty_s"][:2] == [0, 0]  # n1 has the clock of the others
    assert all(uncertainty > 0 for uncertainty in clock["uncertainty_s"][2:])
    # In truth the four nodes have one clock.
    for offset, uncertainty in zip(clock["offset_s"], clock["uncertainty_s"], strict=True):
        assert abs(offset) <= uncertainty
    assert sorted({lane["rank"] for lane in record["timeline"]["lanes"]}) == list(range(RANKS))


@launched(RANKS, *((*PENCIL, "--instances", number, "--placement", "subset") for number in ("3", "4")))
def test_instances_on_subsets_end_within_a_node_or_at_its_border(record: dict) -> None:
    check_result(record)
    instances = record["point"]["instances"]
    counts = [ranks["count"] for ranks in record["resolved"]["instance_ranks"]]
    assert counts == {3: [3, 3, 2], 4: [2, 2, 2, 2]}[instances]
    names = {check["name"] for check in record["verification"]["checks"]}
    assert {f"inverse of instance {i}" for i in range(1, instances + 1)} <= names


@launched(RANKS, ("--variant", "node", "--shape", "30x28x26", "--planner", "estimate", *QUICK, "--threads", "2"))
def test_threads_of_a_rank_send_to_other_nodes(record: dict) -> None:
    check_result(record)
    assert record["point"]["threads"] == 2


@launched(RANKS, SLAB)
def test_ranks_in_turn_over_nodes_are_another_point(on_four_nodes: FourNodes, record: dict) -> None:
    out = on_four_nodes.rig.folder / "cyclic.json"
    cyclic = recorded(on_four_nodes.launch, *SLAB, options=("--distribution=cyclic",), out=out)
    assert (cyclic["point"]["nodes"], cyclic["point"]["placement_of_ranks"]) == (4, "cyclic")
    assert cyclic["point_id"] != record["point_id"]


@pytest.mark.parametrize(
    ("asked", "said"),
    [(("--nodes", "2"), "--nodes 2, but"), (("--placement-of-ranks", "cyclic"), "--placement-of-ranks cyclic, but")],
)
def test_a_launch_on_other_nodes_than_asked_for_has_no_time(on_four_nodes: FourNodes, asked: tuple, said: str) -> None:
    out = on_four_nodes.rig.folder / "elsewhere.json"
    run = on_four_nodes.launch("--variant", "slab", "--shape", "12x12x12", *asked, "--record", str(out))
    assert run.returncode != 0 and said in run.stderr and f"{RANKS} ranks on 4 nodes, block" in run.stderr
    assert not out.exists()
