"""Figure 5 of czechowski2012 by its equations, read in several ways: a GPU system of 4 EF/s against CPU systems.

CPU-1 has the GPU system's peak, CPU-2 its T_mem + T_net, CPU-3 its max(T_mem, T_net)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product

from fourscore_analysis.papers.ranges import rows_of

from fourscore_papers.czechowski2012 import equations

PAPER = "czechowski2012"
EXTENT = 21000
PEAK_FLOPS_PER_S = 4e18
YEARS = 10


@dataclass(frozen=True)
class Node:
    """One node of Table 1."""

    flops_per_s: float
    memory_bytes_per_s: float
    cache_bytes: float
    link_bytes_per_s: float
    cores: float
    is_gpu: bool


def _columns() -> dict[str, str]:
    return {
        "flops_per_s": "peak_flops_per_s",
        "memory_bytes_per_s": "memory_bytes_per_s",
        "cache_bytes": "cache_bytes",
        "link_bytes_per_s": "link_bytes_per_s",
        "cores": "cores",
    }


@cache
def trends(exact: bool = False) -> dict[str, float]:
    """Ten-year factors by Table 1's quantities: as printed, or 2^(10 / years) of the printed doubling times."""
    rows = rows_of(PAPER, "table-1-trends")
    if exact:
        return {row["quantity"]: 2 ** (YEARS / float(row["doubling_years"])) for row in rows}
    return {row["quantity"]: float(row["ten_year_factor"]) for row in rows}


@cache
def node_of(processor: str, years: float = YEARS, exact: bool = False, still: tuple[str, ...] = ()) -> Node:
    """A node of "CPU" or "GPU", so many years after 2010; what is in `still` (columns of Table 1) does not grow."""
    [row] = [row for row in rows_of(PAPER, "table-1") if (row["processor"], row["year"]) == (processor, 2010)]
    factors = {name: factor ** (years / YEARS) for name, factor in trends(exact).items()}
    values = {
        field: float(row[column]) * (1 if column in still else factors[column]) for field, column in _columns().items()
    }
    return Node(**values, is_gpu=processor == "GPU")


def as_printed(node: Node, nodes: float) -> float:
    """max(log_Z n, 1) of Eq. 2."""
    return equations.cache_factor(EXTENT, node.cache_bytes / equations.WORD_BYTES)


@dataclass(frozen=True)
class Reading:
    """What may be read otherwise; by default nothing is."""

    name: str
    exact_trends: bool = False
    table_nodes: bool = False  # 135,000 and 1.3 million nodes in place of R_peak / C
    still: tuple[str, ...] = ()  # what does not grow from 2010 on
    computations: int = equations.COMPUTATIONS
    a: float = equations.A
    word_bytes_of_memory: float = equations.WORD_BYTES
    logarithm: Callable[[Node, float], float] = as_printed  # for a node and a number of nodes
    shuffle: bool = False  # Eq. 8 is a part of T_mem
    pcie_bytes_per_s: float = 0.0  # Eq. 9, three times, is a part of the GPU's T_mem
    net_over_mem: float = 0.0  # where not 0: T_mem is scaled to give this on the GPU system


@dataclass(frozen=True)
class Outcome:
    """The numbers of Fig. 5, and the speed of Prediction 1."""

    gpu_nodes: float
    network_s: float  # on the GPU system
    memory_s: float
    cpu_1_nodes: float
    cpu_1_network_over_gpu: float
    cpu_1_speedup: float
    cpu_2_nodes: float
    cpu_2_peak_flops_per_s: float
    cpu_3_nodes: float
    bars_s: Mapping[str, tuple[float, float]]  # T_mem and T_net of each system

    @property
    def net_over_mem(self) -> float:
        return self.network_s / self.memory_s

    @property
    def flops_per_s(self) -> float:
        """5 N log2 N over T_mem + T_net of the GPU system."""
        return equations.flops(EXTENT) / equations.sum_time_s(self.memory_s, self.network_s)


def memory_s(reading: Reading, node: Node, nodes: float) -> float:
    """T_mem as the reading has it, unscaled."""
    words = reading.computations * reading.a * reading.logarithm(node, nodes)
    time_s = words * EXTENT**3 * reading.word_bytes_of_memory / (nodes * node.memory_bytes_per_s)
    if reading.shuffle:
        time_s += equations.shuffle_time_s(EXTENT, nodes, node.memory_bytes_per_s)
    if reading.pcie_bytes_per_s and node.is_gpu:
        time_s += equations.COMPUTATIONS * equations.pcie_time_s(EXTENT, nodes, reading.pcie_bytes_per_s)
    return time_s


def outcome(reading: Reading) -> Outcome:
    gpu, cpu = (node_of(name, exact=reading.exact_trends, still=reading.still) for name in ("GPU", "CPU"))
    gpu_nodes, cpu_nodes = (equations.nodes_of(PEAK_FLOPS_PER_S, node.flops_per_s) for node in (gpu, cpu))
    if reading.table_nodes:
        counts = {row["processor"]: float(row["nodes"]) for row in rows_of(PAPER, "table-1") if row["year"] == 2020}
        gpu_nodes, cpu_nodes = counts["GPU"], counts["CPU"]
    network_s = equations.network_time_s(EXTENT, gpu_nodes, gpu.link_bytes_per_s)
    gpu_memory_s = memory_s(reading, gpu, gpu_nodes)
    scale = network_s / reading.net_over_mem / gpu_memory_s if reading.net_over_mem else 1.0

    def times(nodes: float) -> tuple[float, float]:
        """T_mem and T_net of so many CPU nodes."""
        return scale * memory_s(reading, cpu, nodes), equations.network_time_s(EXTENT, nodes, cpu.link_bytes_per_s)

    gpu_times = scale * gpu_memory_s, network_s
    cpu_2 = _nodes_for(lambda nodes: equations.sum_time_s(*times(nodes)), equations.sum_time_s(*gpu_times))
    cpu_3 = _nodes_for(lambda nodes: equations.max_time_s(*times(nodes)), equations.max_time_s(*gpu_times))
    return Outcome(
        gpu_nodes=gpu_nodes,
        network_s=network_s,
        memory_s=gpu_times[0],
        cpu_1_nodes=cpu_nodes,
        cpu_1_network_over_gpu=times(cpu_nodes)[1] / network_s,
        cpu_1_speedup=equations.sum_time_s(*gpu_times) / equations.sum_time_s(*times(cpu_nodes)),
        cpu_2_nodes=cpu_2,
        cpu_2_peak_flops_per_s=cpu_2 * cpu.flops_per_s,
        cpu_3_nodes=cpu_3,
        bars_s={"GPU": gpu_times, "CPU-1": times(cpu_nodes), "CPU-2": times(cpu_2), "CPU-3": times(cpu_3)},
    )


def _nodes_for(time_s: Callable[[float], float], wanted_s: float) -> float:
    """Nodes on which the time is the wanted one, by bisection: it falls as nodes are added."""
    low, high = 1.0, 1e9
    for _ in range(100):
        centre = math.sqrt(low * high)
        low, high = (centre, high) if time_s(centre) > wanted_s else (low, centre)
    return low


def _log(argument: Callable[[float], float], cache: Callable[[Node], float]) -> Callable[[Node, float], float]:
    """max(log_Z of the argument, 1), where the argument depends on the number of nodes."""
    return lambda node, nodes: max(math.log(argument(nodes)) / math.log(cache(node)), 1.0)


def _words(node: Node) -> float:
    return node.cache_bytes / equations.WORD_BYTES


MEMORY, CACHE = "memory_bytes_per_s", "cache_bytes"
AS_PRINTED = Reading("Eqs 2 and 5, Table 1, A = 6.3, as printed")
FOUND = Reading("memory bandwidth of 2010, and Eq. 8 added", still=(MEMORY,), shuffle=True)
READINGS = (
    AS_PRINTED,
    Reading("trends 2^(10 / years) in place of Table 1's rounded factors", exact_trends=True),
    Reading("Table 1's 135,000 and 1.3 million nodes in place of R_peak / C", table_nodes=True),
    Reading("one phase of computation", computations=1),
    Reading("memory in bytes where the equation has words: 16 times", word_bytes_of_memory=equations.WORD_BYTES**2),
    Reading("A twice", a=2 * equations.A),
    Reading("log2 n in place of log_Z n", logarithm=lambda node, nodes: math.log2(EXTENT)),
    Reading("ln n in place of log_Z n", logarithm=lambda node, nodes: math.log(EXTENT)),
    Reading(
        "1 + log_Z n, as the count of misses in section 3.1.2",
        logarithm=lambda node, nodes: 1 + math.log(EXTENT) / math.log(_words(node)),
    ),
    Reading("log_Z of n^3", logarithm=_log(lambda _: EXTENT**3.0, _words)),
    Reading("log_Z of a node's n^3 / P", logarithm=_log(lambda nodes: EXTENT**3 / nodes, _words)),
    Reading("cache Z of one core", logarithm=_log(lambda _: EXTENT**1.0, lambda node: _words(node) / node.cores)),
    Reading("Eq. 8 added (local transposes)", shuffle=True),
    Reading("Eq. 9 added on the GPU, 8 GB/s", pcie_bytes_per_s=8e9),
    Reading("memory bandwidth of 2010", still=(MEMORY,)),
    FOUND,
    Reading(
        "memory bandwidth and cache of 2010, Z in kB",
        still=(MEMORY, CACHE),
        logarithm=_log(lambda _: EXTENT**1.0, lambda node: node.cache_bytes / 1e3),
    ),
    Reading("T_net / T_mem = 2.8 as printed, the rest by Table 1", net_over_mem=2.8),
    Reading("T_net / T_mem = 3.0, the rest by Table 1", net_over_mem=3.0),
)


# The search: every combination of these changes.
LOGARITHMS = {
    "": as_printed,
    "log2 n": lambda node, nodes: math.log2(EXTENT),
    "ln n": lambda node, nodes: math.log(EXTENT),
    "1 + log_Z n": lambda node, nodes: 1 + math.log(EXTENT) / math.log(_words(node)),
    "log_Z n^3": _log(lambda _: EXTENT**3.0, _words),
    "log_Z (n^3 / P)": _log(lambda nodes: EXTENT**3 / nodes, _words),
    "Z in bytes": lambda node, nodes: max(math.log(EXTENT) / math.log(node.cache_bytes), 1.0),
    "Z in kB": _log(lambda _: EXTENT**1.0, lambda node: node.cache_bytes / 1e3),
    "Z in thousands of words": _log(lambda _: EXTENT**1.0, lambda node: _words(node) / 1e3),
    "Z in MB": _log(lambda _: EXTENT**1.0, lambda node: node.cache_bytes / 1e6),
    "Z of a core": _log(lambda _: EXTENT**1.0, lambda node: _words(node) / node.cores),
    "log_Z n^3, Z in kB": _log(lambda _: EXTENT**3.0, lambda node: node.cache_bytes / 1e3),
}
CHANGES = {
    "exact_trends": (False, True),
    "table_nodes": (False, True),
    "still": ((), (MEMORY,), (CACHE,), (MEMORY, CACHE)),
    "computations": (equations.COMPUTATIONS, 1, 2),
    "a": (equations.A, 2 * equations.A, 1.0),
    "word_bytes_of_memory": (equations.WORD_BYTES, 1, 8, 2 * equations.WORD_BYTES, equations.WORD_BYTES**2),
    "logarithm": tuple(LOGARITHMS.values()),
    "shuffle": (False, True),
    "pcie_bytes_per_s": (0.0, 8e9, 8e9 * 9.7, 8e9 * 21.8),
}
# What is printed of Fig. 5, and of Prediction 1 in PF/s: the ends of what each rounds or is cut off to.
PRINTED = {
    "net_over_mem": (2.75, 2.9),
    "cpu_1_speedup": (3.15, 3.3),
    "cpu_2_nodes": (345e3, 360e3),
    "cpu_3_nodes": (294.5e3, 296e3),
    "network_s": (0.5275, 0.529),
    "flops_per_s": (2.75e15, 2.9e15),
}


def changes(reading: Reading) -> int:
    """How many things it reads otherwise."""
    count = sum(getattr(reading, name) != values[0] for name, values in CHANGES.items())
    return count + (reading.still == (MEMORY, CACHE))


def miss(found: Outcome) -> float:
    """How far the number that fits worst lies beyond its rounding, over that number: 0 where all agree."""
    values = ((getattr(found, name), *ends) for name, ends in PRINTED.items())
    return max(max(low - value, value - high, 0.0) / low for value, low, high in values)


def search(most_changes: int) -> list[tuple[float, Reading]]:
    """Every combination of at most so many changes, the nearest first. Without a limit there are 69,120 and it
    takes a minute."""
    found = []
    for values in product(*CHANGES.values()):
        reading = Reading("", **dict(zip(CHANGES, values, strict=True)))
        if changes(reading) <= most_changes:
            found.append((miss(outcome(reading)), reading))
    return sorted(found, key=lambda one: one[0])


# Figure 4: a transform of 2048^3 on Keeneland.
GPUS_A_NODE, CPUS_A_NODE = 3, 2


def keeneland_parts_s(
    nodes: int, n: int, link_bytes_per_s: float, pcie_bytes_per_s: float, on_gpus: bool
) -> dict[str, float]:
    """Seconds of FFT (Eq. 2), local transposes in the host's memory (Eq. 8), copies (Eq. 9, three times) and network
    (Eq. 3: InfiniBand's switches are no torus), with the bandwidths of Table 1 in 2010."""
    gpu, cpu = node_of("GPU", 0), node_of("CPU", 0)
    hosts = nodes * CPUS_A_NODE
    processor, count = (gpu, nodes * GPUS_A_NODE) if on_gpus else (cpu, hosts)
    copies_s = equations.COMPUTATIONS * equations.pcie_time_s(n, count, pcie_bytes_per_s)
    return {
        "FFT": equations.memory_time_s(n, count, processor.memory_bytes_per_s, processor.cache_bytes),
        "local transpose": equations.shuffle_time_s(n, hosts, cpu.memory_bytes_per_s),
        "copies": copies_s if on_gpus else 0.0,
        "network": equations.network_time_s(n, nodes, link_bytes_per_s, equations.FULLY_CONNECTED),
    }
