"""Counted memory traffic in records of transforms."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from synthetic.transforms import make_point

CACHE = {"size_bytes": 1048576, "ways": 16, "line_bytes": 64}
OVER_LEAST = {"fft": 1.2, "pack": 1.5, "exchange": 1.3, "unpack": 1.45}
FIT = {"fit": True, "worst_ratio": 1.03, "file": "qualifications/callgrind-MEM.json"}


def least_bytes(point: dict[str, Any], phases: list[str]) -> dict[str, list[float]]:
    """Each stage of a transform and each copy reads and writes the local data once."""
    local = math.prod(point["shape"]) * (16 if point["precision"] == "double" else 8) / point["ranks"]
    stages = {"fft": len(point["shape"]), "pack": 1, "exchange": 1, "unpack": 1}
    return {phase: [2 * stages[phase] * local] * point["ranks"] for phase in phases if phase in stages}


def read_and_written(total: float) -> tuple[float, float]:
    """Rather more is read than written: a store reads its line first."""
    return 0.6 * total, 0.4 * total


def values(totals: list[float]) -> dict[str, list[float]]:
    """Metrics of a group MEM from the bytes of each reader."""
    return {
        "dram_read_bytes": [read_and_written(total)[0] for total in totals],
        "dram_write_bytes": [read_and_written(total)[1] for total in totals],
    }


def counted(
    record: dict[str, Any],
    simulated: bool = True,
    phase_bytes: dict[str, list[float]] | None = None,
    **changes: Any,
) -> dict[str, Any]:
    """`record` with counters, one reader a rank: bytes of each phase as given, else OVER_LEAST times the least."""
    point = record["point"]
    phases = [phase for phase in record["samples"]["rank_phase_s"] if phase != "other"]
    least = least_bytes(point, phases)
    if phase_bytes is None:
        phase_bytes = {phase: [OVER_LEAST[phase] * value for value in ranks] for phase, ranks in least.items()}
    record["cost"]["least_bytes_per_rank"] = least
    totals = [sum(column) for column in zip(*phase_bytes.values(), strict=True)]
    record["counters"] = {
        "backend": "callgrind" if simulated else "perf",
        "group": "MEM",
        "arch": "any",
        "scope": "process",
        "simulated": simulated,
        "attribution": "own",
        "multiplexed": False,
        "runs": 1,
        "metrics": [{"name": name, "unit": "bytes"} for name in ("dram_read_bytes", "dram_write_bytes")],
        "readers": [{"rank": rank, "scope": "process"} for rank in range(point["ranks"])],
        "total": values(totals),
        "phases": {phase: values(ranks) for phase, ranks in phase_bytes.items()},
        "components": {f"{phase}-1": values([0.9 * one for one in ranks]) for phase, ranks in phase_bytes.items()},
        "qualification": dict(FIT),
        "unavailable": "",
    }
    if simulated:
        record["counters"]["cache"] = dict(CACHE)
        record["flags"].append("simulated")
        record["sampling"] |= {"counters": "callgrind", "counter_cache": "1MiB,16,64"}
    record["counters"] |= changes
    return record


def count_unavailable(record: dict[str, Any], reason: str) -> dict[str, Any]:
    record["counters"] = {"backend": "perf", "group": "MEM", "simulated": False, "unavailable": reason}
    return record


def with_energy(
    record: dict[str, Any], above_idle_j: float, run_s: float, idle_w: float = 10.0, **changes: Any
) -> dict[str, Any]:
    """`record` with joules of the packages of its nodes, one reader a node; no DRAM there."""
    nodes = record["point"].get("nodes", 1)

    def of_nodes(joules: float) -> dict[str, list[float | None]]:
        return {"package_j": [joules / nodes] * nodes, "dram_j": [None] * nodes}

    record["counters"] = {
        "backend": "powercap",
        "group": "ENERGY",
        "arch": "any",
        "scope": "node",
        "simulated": False,
        "attribution": "elected",
        "multiplexed": False,
        "runs": 7,
        "run_s": run_s,
        "idle_s": 1.0,
        "update_s": 0.001,
        "other_cores": [0.0] * nodes,
        "metrics": [{"name": name, "unit": "J"} for name in ("package_j", "dram_j")],
        "readers": [{"rank": rank, "scope": "node"} for rank in range(nodes)],
        "idle_per_s": of_nodes(idle_w),
        "total": of_nodes(above_idle_j),
        "with_idle": of_nodes(above_idle_j + idle_w * run_s),
        "phases_refused": "7 runs were counted together",
        "qualification": {"fit": None},
        "unavailable": "",
    } | changes
    return record


def constant_points(powers: range = range(14, 21)) -> Iterator[dict[str, Any]]:
    """Lines on one rank; 2^16 elements of 16 bytes are the whole of CACHE."""
    for power in powers:
        yield make_point("serial", "none", (2**power,), 1, planner="estimate")


def line_bytes(point: dict[str, Any], a: float) -> dict[str, list[float]]:
    """Bytes of one line for a given A of Eq. 2 of czechowski2012: less in the cache."""
    [n] = point["shape"]
    z = CACHE["size_bytes"] / 16
    if n <= z:
        return {"fft": [0.4 * n * 16]}
    return {"fft": [a * n * max(math.log(n, z), 1) * 16]}
