"""What follows from the text of lee2018: objects, messages and bytes of Charm-FFT and Charm-NodeFFT.

A 3-D transform has three states, of pencils along z, y and x. The pencils along z are a x b (cut along x and y), those
along y are a x c (cut along x and z). The x state is cut along z alone (chapter 2), in as many parts as the others
have pencils. The thesis has no numbered equations."""

from __future__ import annotations

import math
from collections.abc import Sequence

STATES = 3


def pencils(cuts: Sequence[int]) -> int:
    """Pencils of a state: of "10x10" 100 (Table 2.1)."""
    return math.prod(cuts)


def chares(pencils_a_state: int) -> int:
    """Objects of all three states (Table 2.1)."""
    return STATES * pencils_a_state


def most_chares_a_core(pencils_a_state: int, cores: int) -> int:
    """Objects of one state on the core that has most (section 2.2.1), mapped in blocks."""
    return -(-pencils_a_state // cores)


def cores(nodes: int, cores_a_node: int) -> int:
    """PEs of a run (section 3.3.4)."""
    return nodes * cores_a_node


def nodes_of(elements: float, points_a_node: Sequence[int]) -> float:
    """Nodes that share the grid (Table 3.1)."""
    return elements / math.prod(points_a_node)


def messages_received(cuts: tuple[int, int]) -> int:
    """By one pencil of each state, all states together, in one transform: b of a pencil along y, one from each of the
    pencils along z with the same cut of x, then a of a part of the x state. The same backward."""
    along_x, across = cuts
    return across + along_x


def messages_a_worker(cuts: tuple[int, int], workers: int, transforms: int) -> float:
    """Messages that a worker (a PE of Charm-FFT, a node of Charm-NodeFFT) receives on average in so many transforms,
    forward and backward counted apart."""
    return transforms * messages_received(cuts) * pencils(cuts) / workers


def share(part: float, total: float) -> float:
    """The share in the time of the GPU (Table 4.1), or of the processor (Figs. 2.2 and 2.3)."""
    return part / total


def operations(total_s: float, average_s: float) -> float:
    """The number of operations of one kind (Table 4.1): time of all over the time of one."""
    return total_s / average_s


def copies(transforms: int) -> int:
    """To the GPU, and as many back (section 4.1): one before and one after the 1-D FFTs of each state."""
    return STATES * transforms


def copied_bytes(elements: float, nodes: int, transforms: int = 1, word_bytes: int = 16) -> float:
    """Bytes to the GPU of one node, and as many back, in so many transforms: its pencil of each state (section 4.1)."""
    return copies(transforms) * elements * word_bytes / nodes


def line_fft_bytes(elements: float, nodes: int, word_bytes: int = 16) -> float:
    """Bytes that the 1-D FFTs of one state on one GPU must read and write at least."""
    return 2 * elements * word_bytes / nodes


def shorter(time: float, than: float) -> float:
    """The share by which a time is shorter (sections 3.3.4, 4.2, 5.2.2)."""
    return 1 - time / than


def longer(time: float, than: float) -> float:
    """The share by which a time is longer (sections 2.2.1, 3.3.4, 5.2.2)."""
    return time / than - 1
