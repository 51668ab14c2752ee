"""Equations 1 to 11 of czechowski2012: a 3-D FFT of n^3 elements by the pencil method on P nodes.

A word is one double-complex element, 16 bytes. Flops are scalar. Bandwidths are in bytes a second: the paper has them
in words."""

from __future__ import annotations

import math

WORD_BYTES = 16
A = 6.3  # section 3.1.2: words that a 1-D FFT of n points moves, over n max(log_Z n, 1)
COMPUTATIONS, EXCHANGES = 3, 2  # phases of each kind

# P to this power divides the data that the network carries: equations 3, 4 and 5.
FULLY_CONNECTED = 1.0


def torus_bisection(dimensions: int) -> float:
    """The exponent kappa of a torus by its bisection, Eq. 5 for three dimensions (2/3): the bisection has P^kappa
    links."""
    return (dimensions - 1) / dimensions


def torus_ideal(dimensions: int) -> float:
    """The exponent of a torus where every all-to-all of sqrt(P) nodes has a block of its own, Eq. 4 for three
    dimensions (5/6): P^(1/2) of these at once, each with the bisection of a torus of P^(1/2) nodes."""
    return (1 + torus_bisection(dimensions)) / 2


def flops(n: float) -> float:
    """5 N log2 N of all n^3 elements, N = n^3."""
    return 5 * n**3 * math.log2(n**3)


def flops_time_s(n: float, nodes: float, node_flops_per_s: float) -> float:
    """Eq. 1."""
    return COMPUTATIONS * n**2 / nodes * 5 * n * math.log2(n) / node_flops_per_s


def cache_factor(n: float, cache_words: float) -> float:
    """max(log_Z n, 1) of Eq. 2: a transform that the cache holds still moves its data once."""
    return max(math.log(n) / math.log(cache_words), 1.0)


def memory_time_s(n: float, nodes: float, memory_bytes_per_s: float, cache_bytes: float, a: float = A) -> float:
    """Eq. 2."""
    words = COMPUTATIONS * n**2 / nodes * a * n * cache_factor(n, cache_bytes / WORD_BYTES)
    return words * WORD_BYTES / memory_bytes_per_s


def network_time_s(
    n: float, nodes: float, link_bytes_per_s: float, kappa: float = torus_bisection(3), exchanges: float = EXCHANGES
) -> float:
    """Eq. 3 with kappa = FULLY_CONNECTED, Eq. 5 with torus_bisection(3). Eq. 4, with torus_ideal(3), is a lower bound
    and has no factor for the exchanges: 1."""
    return exchanges * n**3 * WORD_BYTES / (nodes**kappa * link_bytes_per_s)


def nodes_of(machine_flops_per_s: float, node_flops_per_s: float) -> float:
    """P = R_peak / C_node, section 4."""
    return machine_flops_per_s / node_flops_per_s


def memory_growth(
    n: float, machine_flops_per_s: float, node_flops_per_s: float, memory_bytes_per_s: float, cache_words: float
) -> float:
    """Eq. 6, up to its constant: (1 / R_peak) (C / beta_mem) n^3 log_Z n."""
    balance = node_flops_per_s / (memory_bytes_per_s / WORD_BYTES)
    return balance / machine_flops_per_s * n**3 * math.log(n) / math.log(cache_words)


def network_growth(
    n: float, machine_flops_per_s: float, node_flops_per_s: float, link_bytes_per_s: float, kappa: float
) -> float:
    """Eq. 7, up to its constant: (C / R_peak)^kappa n^3 / beta_link."""
    return (node_flops_per_s / machine_flops_per_s) ** kappa * n**3 / (link_bytes_per_s / WORD_BYTES)


def shuffle_time_s(n: float, nodes: float, memory_bytes_per_s: float) -> float:
    """Eq. 8: the local transposes before both exchanges, each a load and a store."""
    return EXCHANGES * 2 * n**3 * WORD_BYTES / (nodes * memory_bytes_per_s)


def pcie_time_s(n: float, nodes: float, pcie_bytes_per_s: float) -> float:
    """Eq. 9: to the GPU and back, around one phase of computation."""
    return 2 * n**3 * WORD_BYTES / (nodes * pcie_bytes_per_s)


def memory_over_network(
    n: float,
    machine_flops_per_s: float,
    node_flops_per_s: float,
    memory_bytes_per_s: float,
    link_bytes_per_s: float,
    cache_words: float,
    kappa: float,
) -> float:
    """Eq. 10, up to its constant: (C / R_peak)^(1 - kappa) (beta_link / beta_mem) log_Z n."""
    nodes = nodes_of(machine_flops_per_s, node_flops_per_s)
    return nodes ** (kappa - 1) * link_bytes_per_s / memory_bytes_per_s * math.log(n) / math.log(cache_words)


def stacked_memory_balance(
    cores: float, core_flops_per_s: float, chip_bytes_per_s: float, cache_words: float
) -> tuple[float, float]:
    """Both sides of Eq. 11: cores C / beta, in flops a word, and log2(Z / cores), up to its constant. A chip is
    balanced while the left does not outgrow the right."""
    return cores * core_flops_per_s * WORD_BYTES / chip_bytes_per_s, math.log2(cache_words / cores)


def sum_time_s(memory_s: float, network_s: float) -> float:
    """Without overlap of memory and network (CPU-2 of Fig. 5)."""
    return memory_s + network_s


def max_time_s(memory_s: float, network_s: float) -> float:
    """With perfect overlap (CPU-3 of Fig. 5)."""
    return max(memory_s, network_s)
