"""What the methods do on a problem, counted: flops, bytes and messages of the busiest rank in one sample, by phase.
Amounts that several models share, so that they differ in what they make of them and in nothing else.

The counts of messages and bytes are those of the papers, as the cards of the variants have them (drivers/variants); a
test compares them with records."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from fourscore_analysis.models.base import Question

PAIRWISE = ("danielson-lanczos", "binary-exchange")
CHAINS = ("serial", "slab", "pencil", "pencil-overlap", "volumetric", "rods", "overdecomposed", "node", "transpose")
VARIANTS = (*CHAINS, *PAIRWISE)
KEPT = 2**12  # questions that answers are kept for: a fit asks the same again for each size of a cache


@dataclass(frozen=True)
class Exchanged:
    """What a rank sends in one exchange: bytes in so many messages to others of a group."""

    group: int
    bytes: float
    messages: float


def log2_parts(extent: int) -> tuple[float, float]:
    """log2 of the power of two in a length, and of the rest: (4, 1.58) of 48."""
    even = (extent & -extent).bit_length() - 1
    return float(even), math.log2(extent >> even)


def share(question: Question) -> float:
    """Elements of one rank, on average."""
    return question.elements / question.ranks


@lru_cache(KEPT)
def share_bytes(question: Question) -> float:
    return share(question) * question.word_bytes


@lru_cache(KEPT)
def node_bytes(question: Question) -> float:
    """Of the data of all ranks of a node, twice where the result goes elsewhere."""
    copies = 1 if question.contract.buffers == "in-place" else 2
    return copies * share_bytes(question) * question.cell.place.ranks_per_node * question.contract.instances


def beyond(cache_bytes: float, data_bytes: float) -> float:
    """The part of data, passed over again and again, that a cache of this size does not hold: 0 where it fits."""
    return max(0.0, 1 - cache_bytes / data_bytes) if data_bytes > 0 else 0.0


@lru_cache(KEPT)
def fft_flops(question: Question) -> tuple[float, float]:
    """Credited flops of a rank's 1-D FFTs, 5 n log2 n each (half for real data): those of the factors 2 of the lengths,
    and of the others."""
    each = (2.5 if question.contract.kind == "r2c" else 5.0) * share(question) * question.runs
    parts = [log2_parts(extent) for extent in question.cell.shape]
    return each * sum(even for even, _ in parts), each * sum(odd for _, odd in parts)


@lru_cache(KEPT)
def exchanges(question: Question) -> tuple[Exchanged, ...]:
    """Those that move anything, in order."""
    p, variant = question.ranks, question.method.variant
    natural = question.contract.layout == "natural"
    mine = share_bytes(question)
    if variant == "danielson-lanczos":
        found = [Exchanged(2, mine, 1)] * _log2(p) + ([_even(mine, p)] if natural else [])
    elif variant == "binary-exchange":
        found = [Exchanged(2, mine, 1)] * _log2(p) + ([Exchanged(2, mine / 2, 1)] * _log2(p) if natural else [])
    else:
        found = [_even(mine, group) for group in _groups(question)]
    return tuple(one for one in found if one.group > 1 for _ in range(question.runs))


def pairwise_steps(question: Question) -> int:
    """Exchanges with one partner, each followed by a combination."""
    return _log2(question.ranks) * question.runs if question.method.variant in PAIRWISE else 0


def twiddles(question: Question) -> int:
    """Multiplications of all data by roots of unity: one before each combination, and between the axes of a 1-D
    transform that is seen as m-dimensional."""
    if question.method.variant == "transpose":
        return question.runs * max(len(question.grid), 1)
    return pairwise_steps(question) if question.method.variant == "binary-exchange" else 0


def messages_per_worker(question: Question) -> float:
    """Of all exchanges, by the threads of a rank; of more than one pencil a rank, each has messages of its own."""
    sent = math.fsum(one.messages for one in exchanges(question))
    pencils = question.method.option("decomposition") or question.method.option("pencils") or ""
    parts = [int(part) for part in pencils.split("x") if part.isdecimal()]
    own = math.prod(parts) / question.ranks if parts else 1.0
    return sent * max(own, 1.0) / question.contract.threads


def _even(mine: float, group: int) -> Exchanged:
    return Exchanged(group, mine * (group - 1) / group, group - 1)


def _log2(ranks: int) -> int:
    return max(ranks.bit_length() - 1, 0)


def _groups(question: Question) -> list[int]:
    """Ranks in each all-to-all."""
    p, variant = question.ranks, question.method.variant
    natural = question.contract.layout == "natural"
    grid = question.grid or default_grid(variant, p)
    if variant == "serial":
        return []
    if variant == "slab":
        return [p] * (2 if natural else 1)
    if variant == "rods":
        return [p, p]
    if variant == "transpose":
        return [*grid, *([p] if natural else [])]
    if variant == "volumetric":
        px, py, pz = (*grid, 1, 1, 1)[:3]
        return [pz, py * pz, px * py, px if natural else 1]
    rows, columns = (*grid, 1, 1)[:2]
    return [columns, rows] * (2 if natural else 1)


def default_grid(variant: str, ranks: int) -> tuple[int, ...]:
    """As square, or cubic, as the divisors allow, the larger extent first; () where a method has none."""
    if variant == "volumetric":
        first = min((d for d in _divisors(ranks) if d**3 >= ranks), default=ranks)
        return (first, *default_grid("pencil", ranks // first))
    if variant in ("pencil", "pencil-overlap", "overdecomposed", "node"):
        first = min(d for d in _divisors(ranks) if d * d >= ranks)
        return (first, ranks // first)
    if variant == "transpose":
        return (ranks,)
    return ()


def _divisors(number: int) -> list[int]:
    small = [d for d in range(1, math.isqrt(number) + 1) if number % d == 0]
    return small + [number // d for d in reversed(small) if d * d != number]
