"""Equations 4 and 5 of haynes2000: communication time of the traditional method, two all-to-alls, and of the new one,
log2 P pairwise phases, on P nodes. (The paper writes N for the nodes.)

Over the latency alpha both need of the machine only the product alpha beta, which is what its section 5 prints."""

from __future__ import annotations

import math

WORD_BYTES = 16  # u: of one element of the grid


def traditional_packet_bytes(elements: float, nodes: float, word_bytes: float = WORD_BYTES) -> float:
    return elements * word_bytes / nodes**2


def new_packet_bytes(elements: float, nodes: float, word_bytes: float = WORD_BYTES) -> float:
    return elements * word_bytes / nodes


def traditional_messages(nodes: float) -> float:
    """Latencies that Eq. 4 counts."""
    return 2 * (nodes - 1)


def new_messages(nodes: float) -> float:
    """Latencies that Eq. 5 counts."""
    return math.log2(nodes)


def traditional(elements: float, nodes: float, alpha_beta_bytes: float) -> float:
    """Eq. 4 over alpha: 2 (P - 1) (1 + n u / (alpha beta P^2))."""
    return traditional_messages(nodes) * (1 + traditional_packet_bytes(elements, nodes) / alpha_beta_bytes)


def traditional_on_many(elements: float, nodes: float, alpha_beta_bytes: float) -> float:
    """Eq. 4 for large P, over alpha: 2 (P + n u / (alpha beta P))."""
    return 2 * (nodes + new_packet_bytes(elements, nodes) / alpha_beta_bytes)


def new(elements: float, nodes: float, alpha_beta_bytes: float) -> float:
    """Eq. 5 over alpha: log2 P (1 + n u / (alpha beta P))."""
    return new_messages(nodes) * (1 + new_packet_bytes(elements, nodes) / alpha_beta_bytes)


def traditional_time_s(elements: float, nodes: float, alpha_s: float, beta_bytes_per_s: float) -> float:
    """Eq. 4."""
    return alpha_s * traditional(elements, nodes, alpha_s * beta_bytes_per_s)


def new_time_s(elements: float, nodes: float, alpha_s: float, beta_bytes_per_s: float) -> float:
    """Eq. 5."""
    return alpha_s * new(elements, nodes, alpha_s * beta_bytes_per_s)


def crossover_elements(nodes: float, alpha_beta_bytes: float) -> float:
    """Elements of the grid at which Eqs 4 and 5 give the same time: below it the new method wins. Infinite on two
    nodes, where it sends less in fewer messages."""
    fewer = traditional_messages(nodes) - new_messages(nodes)
    more = new_messages(nodes) / nodes - traditional_messages(nodes) / nodes**2
    return alpha_beta_bytes / WORD_BYTES * fewer / more if more > 0 else math.inf
