"""What follows from the formulas, tables and text of czechowski2012, item by item."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from papers.ranges import Claims, Range, each, exactly, rounded, rows_of


def section_2() -> Claims:
    """5 N log2 N flops."""
    yield 2, "flops_per_s", exactly(5 * 32**3 * math.log2(32**3) / 4e-6)


def section_5_1() -> Claims:
    row = rows_of("czechowski2012", "section-5.1")[0]
    yield 1, "used_cores", exactly(row["used_nodes"] * row["cores_per_node"])


def table_1() -> Claims:
    rows = rows_of("czechowski2012", "table-1")
    factors = {row["quantity"]: row["ten_year_factor"] for row in rows_of("czechowski2012", "table-1-trends")}
    for number, row in enumerate(rows, 1):
        yield number, "nodes", exactly(row["machine_peak_flops_per_s"]) / rounded(row["peak_flops_per_s"])
    for number, (before, after) in enumerate(zip(rows[:2], rows[2:], strict=True), 3):
        assert before["processor"] == after["processor"]
        for column, factor in factors.items():
            yield number, column, rounded(before[column]) * rounded(factor)


def table_1_trends() -> Claims:
    yield from each(
        "czechowski2012", "table-1-trends", "ten_year_factor", lambda row: 2 ** (10 / rounded(row["doubling_years"]))
    )


def section_6() -> Claims:
    yield 1, "of_peak_percent", rounded(rows_of("czechowski2012", "section-6")[0]["fft_flops_per_s"]) / 4e18 * 100


def figure_5() -> Claims:
    """Eq. 5 for the network, Eq. 2 for memory, nodes of 2010 with Table 1's trends. No n log_Z n is above n here."""
    cpu, gpu = rows_of("czechowski2012", "table-1")[:2]
    factor = {row["quantity"]: float(row["ten_year_factor"]) for row in rows_of("czechowski2012", "table-1-trends")}

    def in_2020(row: dict[str, Any], column: str) -> float:
        return float(row[column]) * factor[column]

    peak, n, word_bytes, a = 4e18, 21000, 16, 6.3
    gpu_nodes, cpu_nodes = (peak / in_2020(row, "peak_flops_per_s") for row in (gpu, cpu))
    assert n < in_2020(gpu, "cache_bytes") / word_bytes < in_2020(cpu, "cache_bytes") / word_bytes
    network_s = 2 * n**3 * word_bytes / (gpu_nodes ** (2 / 3) * in_2020(gpu, "link_bytes_per_s"))
    memory_s = 3 * n**3 * a * word_bytes / (gpu_nodes * in_2020(gpu, "memory_bytes_per_s"))
    # What is rounded in Table 1 is within 1 %.
    yield 4, "max_s", exactly(network_s) * Range(0.99, 1.01)
    yield 1, "net_over_mem", exactly(network_s / memory_s) * Range(0.98, 1.02)
    # From here on in units of the GPU system's time in the network, with its memory as the paper says.
    memory = 1 / rounded(rows_of("czechowski2012", "figure-5")[0]["net_over_mem"])
    bandwidths = in_2020(gpu, "memory_bytes_per_s") / in_2020(cpu, "memory_bytes_per_s")
    network_of_cpu_1 = (gpu_nodes / cpu_nodes) ** (2 / 3)
    memory_of_cpu_1 = memory * (gpu_nodes / cpu_nodes * bandwidths)
    yield 2, "network_over_gpu", exactly(network_of_cpu_1)
    yield 2, "nodes_over_gpu", exactly(cpu_nodes / gpu_nodes)
    yield 2, "nodes", exactly(cpu_nodes)
    yield 2, "speedup_over_gpu", (1 + memory) / (network_of_cpu_1 + memory_of_cpu_1)
    ends = [_equal_sum(gpu_nodes, bandwidths, end) for end in (memory.low, memory.high)]
    yield 3, "nodes", Range(*sorted(ends))
    yield 3, "peak_flops_per_s", Range(*sorted(ends)) * in_2020(cpu, "peak_flops_per_s")
    yield 4, "nodes", memory * (gpu_nodes * bandwidths)


def _equal_sum(gpu_nodes: float, bandwidths: float, memory: float) -> float:
    """CPU nodes for which (gpu_nodes/P)^(2/3) + memory bandwidths gpu_nodes/P is 1 + memory, by bisection."""
    low, high = gpu_nodes, 100 * gpu_nodes
    while high - low > 1:
        middle = (low + high) / 2
        time = (gpu_nodes / middle) ** (2 / 3) + memory * bandwidths * gpu_nodes / middle
        low, high = (middle, high) if time > 1 + memory else (low, middle)
    return low


FORMULAS: dict[str, Callable[[], Claims]] = {
    "figure-5": figure_5,
    "section-2": section_2,
    "section-5.1": section_5_1,
    "section-6": section_6,
    "table-1": table_1,
    "table-1-trends": table_1_trends,
}
