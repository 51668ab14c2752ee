"""The bounds of eleftheriou2005: a 3-D FFT of n^3 elements by the volumetric method on a torus of P nodes.

The paper numbers none of them; section "Hardware limits on 3D FFT performance" has them all. An element has 16
bytes."""

from __future__ import annotations

import math

WORD_BYTES = 16
REDISTRIBUTIONS = 3
CYCLES = 8.0  # cycles of a 1-D FFT of n points, over n log2 n, as the section reads
BITS_PER_CYCLE = 2.0  # raw, of one link and direction
UTILISATION = 0.8
LINE, PLANE, VOLUME = 1, 2, 3  # dimensions over which an all-to-all goes


def average_hops(dimensions: int, extent: float) -> float:
    """N_hops on a torus with `extent` nodes in each dimension: p/4 in a line, p/2 in a plane, 3p/4 in a volume."""
    return dimensions * extent / 4


def links(dimensions: int) -> int:
    """N_links of a node that take part: 2, 4, 6."""
    return 2 * dimensions


def link_bytes_per_s(clock_hz: float, bits_per_cycle: float = BITS_PER_CYCLE) -> float:
    """BW: raw, in one direction."""
    return bits_per_cycle / 8 * clock_hz


def all_to_all_time_s(
    received_bytes: float, dimensions: int, extent: float, bytes_per_s: float, utilisation: float
) -> float:
    """T = V_received N_hops / (N_links BW f). The same for a line, a plane and a volume."""
    return received_bytes * average_hops(dimensions, extent) / (links(dimensions) * bytes_per_s * utilisation)


def bandwidth_time_s(n: int, nodes: float, clock_hz: float, utilisation: float = UTILISATION) -> float:
    """Three all-to-alls of all data on a cubic torus. A mesh takes twice as long: no link closes its lines."""
    received = WORD_BYTES * n**3 / nodes
    once = all_to_all_time_s(received, LINE, nodes ** (1 / 3), link_bytes_per_s(clock_hz), utilisation)
    return REDISTRIBUTIONS * once


def fft_cycles(n: int, cycles: float = CYCLES) -> float:
    """Cycles of one 1-D FFT of n points: 8 n log2 n."""
    return cycles * n * math.log2(n)


def computation_time_s(n: int, nodes: float, clock_hz: float, cycles: float = CYCLES) -> float:
    """3 n^2 transforms of n points, shared out evenly."""
    return 3 * n**2 * fft_cycles(n, cycles) / nodes / clock_hz


def torus_time_s(n: int, nodes: float, clock_hz: float, cycles: float = CYCLES) -> float:
    return computation_time_s(n, nodes, clock_hz, cycles) + bandwidth_time_s(n, nodes, clock_hz)


def mesh_time_s(n: int, nodes: float, clock_hz: float, cycles: float = CYCLES) -> float:
    return computation_time_s(n, nodes, clock_hz, cycles) + 2 * bandwidth_time_s(n, nodes, clock_hz)


def parts_s(mesh_s: float, torus_s: float) -> tuple[float, float]:
    """Table 1: what does not depend on bandwidth (software, latency, computation), and what does (hardware), from
    T_mesh = T_non + 2 T_bw and T_torus = T_non + T_bw."""
    return 2 * torus_s - mesh_s, mesh_s - torus_s


def most_nodes_of_slabs(n: int) -> int:
    return n


def most_nodes_of_volumes(n: int) -> int:
    return n**2
