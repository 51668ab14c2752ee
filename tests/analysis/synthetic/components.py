"""Records of component programs: a machine of 8 GB/s a rank beyond its cache."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from synthetic.transforms import Maker

COPY_BYTES_PER_S = 8e9
CACHE_BYTES = 33554432
RANKS = {"memory_bench": (1, 2, 4), "alltoall_bench": (2,), "pairwise_bench": (2,)}
PROGRAMS = (
    "memory_bench",
    "local_transpose_bench",
    "alltoall_bench",
    "pairwise_bench",
    "copy_bench",
    "local_fft_bench",
)


def component_point(component: str, ranks: int = 1, nodes: int = 1, **parameters: str) -> dict[str, Any]:
    return {
        "component": component,
        "ranks": ranks,
        "nodes": nodes,
        "ranks_per_node": -(-ranks // nodes),
        "placement_of_ranks": "block",
        "parameters": parameters,
    }


def benchmark(
    kernel: str, size: float, rate: float, labels: dict[str, str], alpha_s: float = 0.0, **numbers: Any
) -> dict[str, Any]:
    """Moves 2 * size bytes at `rate` after `alpha_s`, twice as fast in the cache; `numbers` come on top."""
    in_cache = 2 * size < CACHE_BYTES
    emulated = numbers.pop("emulated", False)
    amount = numbers.get("flops", 2 * size)
    seconds = alpha_s + amount / (rate * (2 if in_cache and not alpha_s else 1))
    return {
        "name": "/".join([kernel, *labels.values(), str(int(size))]),
        "kernel": kernel,
        "labels": labels,
        "numbers": {"size_bytes": size, "working_set_bytes": 2 * size, "bytes": 2 * size} | numbers,
        "iterations": 10,
        "time_s": [seconds * noise for noise in (1.0, 1.02, 0.99)],
        "rank_s": [[seconds * noise for noise in (1.0, 1.02, 0.99)]],
        "in_cache": in_cache,
        "emulated": emulated,
    }


def component_record(
    maker: Maker, point: dict[str, Any], launch: int, benchmarks: list[dict[str, Any]], flags: tuple[str, ...] = ()
) -> dict[str, Any]:
    checks = [{"name": one["name"], "when": "before", "error": 0, "tolerance": 0, "ok": True} for one in benchmarks]
    return maker.head(point, launch) | {
        "cards": {"component": {"name": point["component"], "summary": "one part alone", "citation": "haynes2000"}},
        "sampling": {"repetitions": 3, "min_time_s": 0.05, "start": "barrier"},
        "verification": {"ok": True, "checks": checks},
        "counters": {"backend": "none"},
        "verdict": {"status": "ok", "reason": "", "exit_status": 0, "signal": 0, "stderr_tail": ""},
        "benchmarks": benchmarks,
        "flags": list(flags),
        "harness": {"launch_s": 0.3, "init_s": 0.1, "measure_s": 2.0, "write_s": 0.002},
        "provenance": maker.provenance(point),
    }


def benchmarks_of(program: str, ranks: int) -> Iterator[dict[str, Any]]:
    sizes = [2.0**power for power in range(14, 29, 2)]
    share = 1 / ranks**0.5  # ranks share the memory's bandwidth
    yield from {
        "memory_bench": memory,
        "local_transpose_bench": reshuffles,
        "alltoall_bench": exchanges,
        "pairwise_bench": messages,
        "copy_bench": copies,
        "local_fft_bench": transforms,
    }[program](ranks, sizes, COPY_BYTES_PER_S * share)


def memory(ranks: int, sizes: list[float], rate: float) -> Iterator[dict[str, Any]]:
    for kernel, factor in (("read", 1.3), ("write", 0.6), ("copy", 0.8), ("triad", 0.8), ("streaming-copy", 1.0)):
        stores = "streaming" if kernel.startswith("streaming") else "none" if kernel == "read" else "ordinary"
        for size in sizes:
            yield benchmark(kernel, size, rate * factor, {"stores": stores, "vectors": "avx2"})


def reshuffles(ranks: int, sizes: list[float], rate: float) -> Iterator[dict[str, Any]]:
    """One size, as the program has it; every method of a reshuffle is held against the copy of the same run."""
    shape = "double/256x256x256"
    copy = benchmark("streaming-copy", sizes[-1], rate, {"stores": "streaming", "precision": "double"})
    copy["name"] = f"streaming-copy/{shape}"
    yield copy
    methods = (("naive", 0.3), ("blocked", 0.7), ("simd-streaming", 0.9), ("fftw", 0.6))
    common = {"precision": "double", "baseline": copy["name"]}
    for method, factor in methods:
        for permutation in ("xzy", "yxz", "yzx", "zxy", "zyx"):
            labels = {"method": method, "permutation": permutation} | common
            yield benchmark("permute", sizes[-1], rate * factor, labels)
        for kernel in ("pack", "unpack"):
            for blocks in (2, 4, 8):
                labels = {"method": method, "axis": "y"} | common
                yield benchmark(kernel, sizes[-1], rate * factor * (1 - 0.02 * blocks), labels, blocks=blocks)


def exchanges(ranks: int, sizes: list[float], rate: float) -> Iterator[dict[str, Any]]:
    for number, exchange in enumerate(("p2p", "alltoallv", "shared")):
        for communicator in ("row", "column", "world"):
            labels = {"exchange": exchange, "communicator": communicator, "grid": "1x2", "parts": "whole"}
            for power in range(3, 27, 3):
                factor = 0.3 + 0.1 * number
                yield benchmark("alltoall", 2.0**power, rate * factor, labels, alpha_s=2e-6, messages=ranks - 1)


def messages(ranks: int, sizes: list[float], rate: float) -> Iterator[dict[str, Any]]:
    for kernel, steps in (("sendrecv", 1), ("pingpong", 2)):
        for power in range(3, 27, 3):
            labels = {"phase": "0"}
            yield benchmark(kernel, 2.0**power, 0.3 * rate, labels, alpha_s=2e-6, messages=1, steps=steps)


def copies(ranks: int, sizes: list[float], rate: float) -> Iterator[dict[str, Any]]:
    for direction in ("h2d", "d2h", "both"):
        for number, kind in enumerate(("pageable", "pinned", "managed")):
            for power in range(12, 31, 3):
                labels = {"direction": direction, "memory": kind}
                yield benchmark("copy", 2.0**power, rate * (1 + number), labels, alpha_s=8e-6, emulated=True)


def transforms(ranks: int, sizes: list[float], rate: float) -> Iterator[dict[str, Any]]:
    for layout, speed in (("contiguous", 3e9), ("middle", 2e9), ("slowest", 1.6e9)):
        for planner, factor in (("estimate", 1.0), ("measure", 1.1)):
            for power in range(4, 17, 2):
                n = 2**power
                labels = {"layout": layout, "precision": "double", "buffers": "in-place"}
                labels |= {"planner": planner, "library": "fftw"}
                numbers = {"length": n, "flops": 5 * n * power * 64, "elements": n * 64, "batch": 64}
                yield benchmark("c2c", n * 16 * 64, speed * factor, labels, **numbers)


def component_records(maker: Maker, launches: int = 2) -> Iterator[dict[str, Any]]:
    """Every program, the ones with messages on two ranks."""
    for launch in range(launches):
        for program in PROGRAMS:
            for ranks in RANKS.get(program, (1, 2)):
                flags = ("emulated",) if program == "copy_bench" else ()
                point = component_point(program, ranks)
                yield component_record(maker, point, launch, list(benchmarks_of(program, ranks)), flags)
