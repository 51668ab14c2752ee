"""fft_bench on 8 ranks of four nodes of a Slurm: TCP between the nodes, shared memory within."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import Bench, recorded
from slurm_rig import SlurmRig, temporary_folder, unavailable

if no_rig := unavailable():
    pytest.skip(no_rig, allow_module_level=True)

RANKS = 8
SHAPES = ([30, 28, 26], [5005], [4096])  # a variant takes the first that it can; the last is for binary-exchange
PLANNERS = ("estimate", "measure")  # likewise; dtfft measures only
QUICK = ("--repetitions", "2", "--warmup", "0")
REFUSALS = ("8 ranks; serial takes 1", "8 ranks; serial-gpu takes 1", "cannot have several pieces in flight")  # true of any 8 ranks


def ask(question: str, lines: str = "") -> str:
    """An answer of fft_bench, for which it needs no ranks."""
    command = [os.environ["FOURSCORE_FFT_BENCH"], question]
    return subprocess.run(command, input=lines, capture_output=True, text=True, check=True).stdout


def available() -> tuple[dict[str, bool], list[str]]:
    """Variants with whether they take an exchange, and exchanges."""
    listed = json.loads(ask("--list"))
    variants = {entry["name"]: entry["takes_exchange"] for entry in listed["variants"] if entry["available"]}
    return variants, [entry["name"] for entry in listed["exchanges"] if entry["available"]]


def combinations() -> tuple[list[dict], list[str]]:
    """The first point that can be measured of each variant with each exchange, and why others have none."""
    variants, exchanges = available()
    points = [
        {"variant": variant, "exchange": exchange, "shape": shape, "ranks": RANKS, "contract": {"planner": planner}}
        for variant, takes_exchange in variants.items()
        for exchange in (exchanges if takes_exchange else ["none"])
        for planner in PLANNERS
        for shape in SHAPES
    ]
    fitting, refused = {}, {}
    answers = ask("--check-points", "\n".join(map(json.dumps, points))).splitlines()
    for point, answer in zip(points, map(json.loads, answers), strict=True):
        pair = (point["variant"], point["exchange"])
        if answer["supported"]:
            fitting.setdefault(pair, point)
        else:
            refused.setdefault(pair, answer["reason"])
    return list(fitting.values()), [reason for pair, reason in refused.items() if pair not in fitting]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "point" in metafunc.fixturenames:
        points = combinations()[0]
        metafunc.parametrize("point", points, ids=[f"{point['variant']}-{point['exchange']}" for point in points])


class FourNodes:
    """fft_bench on the ranks of a rig. Its record says that it ran there."""

    def __init__(self, rig: SlurmRig, bench: Bench):
        self.rig = rig
        self.program = rig.folder / "bin/fft_bench"  # which the nodes see, wherever the build folder is
        self.program.parent.mkdir()
        shutil.copy(bench.plain, self.program)
        shutil.copytree(Path(bench.plain).parents[1] / "share", rig.folder / "share", symlinks=True)  # MKL is found by it
        self.is_open_mpi = json.loads(ask("--identity"))["identity"]["code"]["mpi"].startswith("Open MPI")
        self.numbers = itertools.count()

    def launch(self, *arguments: str, options: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
        mpi = "pmix" if self.is_open_mpi else "pmi2"
        return self.rig.srun(RANKS, [self.program, *arguments], mpi=mpi, options=options)

    def record(self, variant: str, shape: list[int], *arguments: str, **how) -> dict:
        point = ("--variant", variant, "--shape", "x".join(map(str, shape)))
        out = self.rig.folder / f"record{next(self.numbers)}.json"
        return recorded(self.launch, *point, *QUICK, *arguments, out=out, **how)

    def __call__(self, variant: str, shape: list[int], *options: str, planner: str = "estimate") -> dict:
        record = self.record(variant, shape, "--planner", planner, *options)
        launch = record["provenance"]["identity"]["launch"]
        place = {"nodes": 4, "ranks_per_node": RANKS // 4, "placement_of_ranks": "block"}
        assert place.items() <= record["point"].items()
        assert (launch["nodes"], launch["placement_of_ranks"]) == (4, "block")
        assert [len(kind["cores"]) for kind in launch["core_maps"]] == [2]  # two ranks, on all nodes alike
        assert record["provenance"]["volatile"]["hosts"] == ["n1", "n2", "n3", "n4"]
        return record


@pytest.fixture(scope="module")
def on_four_nodes(bench: Bench) -> Iterator[FourNodes]:
    with temporary_folder() as folder, SlurmRig(folder) as rig:
        yield FourNodes(rig, bench)


def check_result(record: dict) -> None:
    assert (record["verdict"]["status"], record["verdict"]["reason"]) == ("ok", "")
    assert record["verification"]["ok"]
    assert len(record["samples"]["rank_total_s"]) == RANKS
    assert record["samples"]["clock"]["alignment"] == "ping-pong"
    assert record["samples"]["clock"]["uncertainty_s"] > 0
    assert "heterogeneous" not in record["flags"]


def test_no_variant_and_no_exchange_is_left_out() -> None:
    variants, exchanges = available()
    points, refusals = combinations()
    assert {point["variant"] for point in points} == set(variants) - {"serial", "serial-gpu"}
    assert {point["exchange"] for point in points} == {"none", *exchanges}
    assert [reason for reason in refusals if not any(known in reason for known in REFUSALS)] == []


def test_a_result_is_right_on_four_nodes(on_four_nodes: FourNodes, point: dict) -> None:
    exchange = [] if point["exchange"] == "none" else ["--exchange", point["exchange"]]
    record = on_four_nodes(point["variant"], point["shape"], *exchange, planner=point["contract"]["planner"])
    call = {"rma": "MPI_Win_create", "active": "MPI_Win_allocate"}.get(point["exchange"])
    if call and on_four_nodes.is_open_mpi:
        assert record["verdict"]["status"] == "skipped"
        assert f"MPI makes no window between these ranks: {call} failed" in record["verdict"]["reason"]
    else:
        check_result(record)


def test_clocks_of_nodes_are_aligned_by_messages(on_four_nodes: FourNodes) -> None:
    record = on_four_nodes("pencil", [30, 28, 26], "--timeline")
    check_result(record)
    clock = record["timeline"]["clock"]
    assert clock["alignment"] == "ping-pong"
    assert clock["uncertainty_s"][:2] == [0, 0]  # n1 has the clock of the others
    assert all(uncertainty > 0 for uncertainty in clock["uncertainty_s"][2:])
    # In truth the four nodes have one clock.
    for offset, uncertainty in zip(clock["offset_s"], clock["uncertainty_s"], strict=True):
        assert abs(offset) <= uncertainty
    assert sorted({lane["rank"] for lane in record["timeline"]["lanes"]}) == list(range(RANKS))


@pytest.mark.parametrize("instances", [3, 4])
def test_instances_on_subsets_end_within_a_node_or_at_its_border(on_four_nodes: FourNodes, instances: int) -> None:
    record = on_four_nodes("pencil", [30, 28, 26], "--instances", str(instances), "--placement", "subset")
    check_result(record)
    counts = [ranks["count"] for ranks in record["resolved"]["instance_ranks"]]
    assert counts == ([3, 3, 2] if instances == 3 else [2, 2, 2, 2])
    names = {check["name"] for check in record["verification"]["checks"]}
    assert {f"inverse of instance {i}" for i in range(1, instances + 1)} <= names


def test_threads_of_a_rank_send_to_other_nodes(on_four_nodes: FourNodes) -> None:
    record = on_four_nodes("node", [30, 28, 26], "--threads", "2")
    check_result(record)
    assert record["point"]["threads"] == 2


def test_ranks_in_turn_over_nodes_are_another_point(on_four_nodes: FourNodes) -> None:
    record = on_four_nodes.record("slab", [12, 12, 12], options=("--distribution=cyclic",))
    assert (record["point"]["nodes"], record["point"]["placement_of_ranks"]) == (4, "cyclic")
    assert record["point_id"] != on_four_nodes("slab", [12, 12, 12])["point_id"]


@pytest.mark.parametrize(
    ("asked", "said"),
    [(("--nodes", "2"), "--nodes 2, but"), (("--placement-of-ranks", "cyclic"), "--placement-of-ranks cyclic, but")],
)
def test_a_launch_on_other_nodes_than_asked_for_has_no_time(on_four_nodes: FourNodes, asked: tuple, said: str) -> None:
    out = on_four_nodes.rig.folder / "elsewhere.json"
    run = on_four_nodes.launch("--variant", "slab", "--shape", "12x12x12", *asked, "--record", str(out))
    assert run.returncode != 0 and said in run.stderr and f"{RANKS} ranks on 4 nodes, block" in run.stderr
    assert not out.exists()
