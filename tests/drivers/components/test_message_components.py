"""alltoall_bench and pairwise_bench as their users meet them: records at 2, 3 and 4 ranks, and what is refused."""

from __future__ import annotations

import os

import pytest
from component_programs import FOLDER, QUICK, answers, given, measured, refused
from conftest import Record, skip_reason

pytestmark = pytest.mark.skipif(not (FOLDER / "pairwise_bench").exists(), reason="Google Benchmark is not here")
EXCHANGES = {"active", "alltoallv", "alltoallw", "pairwise", "p2p", "rma", "shared", "bruck", "hierarchical", "ialltoallv"}
COLLECTIVES = {"mpi-alltoall", "mpi-alltoallv", "mpi-ialltoall"}


def record_of(program: str, ranks: int, **parameters: object) -> Record:
    return measured(program, *given(parameters), ranks=ranks, timeout=300)


def check(program: str, ranks: int, **parameters: object) -> dict:
    """What --check-points says, without MPI."""
    [answer] = answers(program, {"component": program, "ranks": ranks, "parameters": {k: str(v) for k, v in parameters.items()}})
    return answer


def share(n: int, parts: int, part: int) -> int:
    """As block_range: the first n % parts parts get one more."""
    return n // parts + (part < n % parts)


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_every_exchange_among_all_ranks_leaves_times_and_what_it_sent(ranks: int) -> None:
    record = record_of("alltoall_bench", ranks, exchange="all", communicator="world", sizes="8,4KiB")
    assert record["verdict"]["status"] == "ok"
    assert record["point"]["component"] == "alltoall_bench"
    benchmarks = record["benchmarks"]
    assert {one["labels"]["exchange"] for one in benchmarks} >= EXCHANGES | COLLECTIVES
    assert {one["numbers"]["size_bytes"] for one in benchmarks} == {8, 4096}
    for one in benchmarks:
        size, numbers = one["numbers"]["size_bytes"], one["numbers"]
        assert numbers["bytes"] == (ranks - 1) * size
        assert numbers["bytes_self"] == size
        assert numbers["bytes_node"] == ranks * (ranks - 1) * size
        assert numbers["bytes_off_node"] == 0
        assert numbers["messages"] == ranks - 1
        assert numbers["working_set_bytes"] == 2 * ranks * size
        assert len(one["rank_s"]) == ranks
        assert min(one["time_s"]) > 0
    checked = {one["name"] for one in record["verification"]["checks"]}
    assert checked == {one["name"] for one in benchmarks}


def test_rows_and_columns_of_a_grid_exchange_what_the_pencil_method_does() -> None:
    n, p1, p2 = (9, 10, 11), 2, 2
    record = record_of(
        "alltoall_bench", 4, exchange="p2p,shared,mpi-alltoallv", communicator="row,column,world",
        grid="2x2", shape="9x10x11", parts="whole",
    )  # fmt: skip
    by_name = {one["name"]: one for one in record["benchmarks"]}
    assert len(by_name) == 9
    row = 16 * share(n[0], p1, 0) * max(share(n[1], p2, i) * share(n[2], p2, 1 - i) for i in range(2))
    column = 16 * share(n[2], p2, 0) * max(share(n[0], p1, i) * share(n[1], p1, 1 - i) for i in range(2))
    for exchange in ("p2p", "shared", "mpi-alltoallv"):
        of_row, of_column = by_name[f"{exchange}/row/9x10x11"], by_name[f"{exchange}/column/9x10x11"]
        assert of_row["numbers"]["bytes"] == row
        assert of_column["numbers"]["bytes"] == column
        assert of_row["numbers"]["messages"] == of_column["numbers"]["messages"] == 1
        assert by_name[f"{exchange}/world/9x10x11"]["numbers"]["messages"] == 3
        assert of_row["labels"]["grid"] == "2x2"
        assert of_row["labels"]["precision"] == "double"


def test_the_messages_alone_are_told_from_the_whole_exchange() -> None:
    record = record_of(
        "alltoall_bench", 2, exchange="alltoallv,p2p-pipelined", sizes="64", parts="all", pieces=2
    )
    assert {one["name"]: one["labels"]["parts"] for one in record["benchmarks"]} == {
        "alltoallv/row/64": "whole",
        "alltoallv/row/transport/64": "transport",
        "p2p-pipelined/row/64": "whole",
        "p2p-pipelined/row/transport/64": "transport",
    }


@pytest.mark.parametrize(
    ("program", "ranks", "parameters", "words"),
    [
        ("alltoall_bench", 1, {}, ["one rank", "nobody"]),
        ("alltoall_bench", 3, {"grid": "3x1"}, ["a row of the grid 3x1 has one rank"]),
        ("alltoall_bench", 3, {"communicator": "column"}, ["a column of the grid 1x3 has one rank"]),
        ("alltoall_bench", 2, {"exchange": "mpi-alltoall", "shape": "4x5x6"}, ["differ in size", "mpi-alltoall"]),
        ("alltoall_bench", 3, {"shape": "8x2x8"}, ["extent 2", "3 parts"]),
        ("pairwise_bench", 1, {}, ["one rank has no partner"]),
        ("pairwise_bench", 3, {"phase": "2"}, ["phase 2", "3 ranks", "more than 4"]),
    ],
)
def test_what_cannot_be_measured_here_is_a_reason_to_skip(program, ranks, parameters, words) -> None:
    answer = check(program, ranks, **parameters)
    assert not answer["supported"]
    assert not answer["error"]
    assert all(word in answer["reason"] for word in words), answer["reason"]


@pytest.mark.parametrize(
    ("program", "ranks", "parameters", "key", "words"),
    [
        ("alltoall_bench", 2, {"exchange": "p3p"}, "exchange", ["did you mean 'p2p'", "mpi-alltoallv"]),
        ("alltoall_bench", 2, {"exchnge": "p2p"}, "exchnge", ["did you mean 'exchange'"]),
        ("alltoall_bench", 2, {"communicator": "rows"}, "communicator", ["did you mean 'row'"]),
        ("alltoall_bench", 3, {"grid": "2x2"}, "grid", ["4 places", "3 ranks"]),
        ("alltoall_bench", 2, {"grid": "2y1"}, "grid", ["2y1"]),
        ("alltoall_bench", 2, {"sizes": "9"}, "sizes", ["multiple of 8"]),
        ("alltoall_bench", 2, {"sizes": "64..8"}, "sizes", ["smaller to its larger"]),
        ("alltoall_bench", 2, {"sizes": "8", "shape": "8x8x8"}, "sizes", ["one of the two"]),
        ("alltoall_bench", 2, {"shape": "8x8"}, "shape", ["3 extents"]),
        ("alltoall_bench", 2, {"precision": "single"}, "precision", ["shape"]),
        ("alltoall_bench", 2, {"pieces": "2"}, "pieces", ["p2p-pipelined", "not asked for"]),
        ("alltoall_bench", 2, {"exchange": "p2p-pipelined", "pieces": "0"}, "pieces", ["allowed: 1 to"]),
        ("alltoall_bench", 2, {"exchange": "mpi-alltoall", "parts": "transport"}, "parts", ["one call of MPI"]),
        ("pairwise_bench", 2, {"pattern": "pinpong"}, "pattern", ["did you mean 'pingpong'", "sendrecv"]),
        ("pairwise_bench", 2, {"phase": "first"}, "phase", ["whole numbers"]),
        ("pairwise_bench", 2, {"sizes": "8..2GiB"}, "sizes", ["1 GiB"]),
    ],
)
def test_what_cannot_be_used_is_named_with_what_is_allowed(program, ranks, parameters, key, words) -> None:
    answer = check(program, ranks, **parameters)
    assert answer["error"]
    assert answer["key"] == key
    assert all(word in answer["reason"] for word in words), answer["reason"]


def test_bad_input_ends_all_ranks_with_2_and_one_message() -> None:
    assert "4 places" in refused("alltoall_bench", *QUICK, "--parameter", "grid=2x2", ranks=3)


@pytest.mark.skipif(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE") > 90e9, reason="it might fit here")
def test_messages_larger_than_memory_are_refused_with_the_figure_before_they_are_allocated() -> None:
    record = record_of("alltoall_bench", 6, communicator="world", exchange="mpi-alltoall", sizes="1GiB")
    assert "skipped" in record.screen + record.errors
    for word in ("6 GiB", "108 GiB", "memory"):
        assert word in skip_reason(record)


def test_a_skipped_launch_leaves_a_record_that_says_why() -> None:
    assert "no partner" in skip_reason(record_of("pairwise_bench", 1))


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_partners_differ_by_powers_of_two_and_those_without_are_said(ranks: int) -> None:
    record = record_of("pairwise_bench", ranks, sizes="1,8,64KiB")
    benchmarks = record["benchmarks"]
    phases = 1 if ranks == 2 else 2
    assert len(benchmarks) == 2 * phases * 3
    for one in benchmarks:
        distance = 2 ** int(one["labels"]["phase"])
        alone = [rank for rank in range(ranks) if rank ^ distance >= ranks]
        assert one["labels"].get("ranks_without_partner", "") == ",".join(map(str, alone))
        assert one["numbers"]["pairs"] == (ranks - len(alone)) / 2
        assert one["numbers"]["bytes"] == one["numbers"]["size_bytes"]
        assert one["numbers"]["steps"] == {"sendrecv": 1, "pingpong": 2}[one["kernel"]]
        assert all(max(of_rank) > 0 for rank, of_rank in enumerate(one["rank_s"]) if rank not in alone)
        assert min(one["time_s"]) > 0
