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
# What computes on an accelerator, and the variant whose stages it has.
ON_DEVICE = {"serial-gpu": "serial", "slab-gpu": "slab", "pencil-gpu": "pencil"}
NONBLOCKING = ("p2p", "ialltoallv", "active")  # exchanges that begin and return
PENCILS = ("pencil", "pencil-overlap", "overdecomposed", "node")
PIECES, MOST_PENCILS, SEGMENT_BYTES = 4, 4, 2**16  # defaults of parameters: drivers/variants
KEPT = 2**12  # questions that answers are kept for: a fit asks the same again for each size of a cache


@dataclass(frozen=True)
class Exchanged:
    """What a rank sends in one exchange: bytes in so many messages to others of a group; the part of these that are on
    another node."""

    group: int
    bytes: float
    messages: float
    away: float


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
    """The bytes of the data of all ranks of a node, twice where the result goes elsewhere."""
    copies = 1 if question.contract.buffers == "in-place" else 2
    return copies * share_bytes(question) * question.cell.place.ranks_per_node * question.arrays


def beyond(cache_bytes: float, data_bytes: float) -> float:
    """The part of data, passed over again and again, that a cache of this size does not hold: 0 where it fits."""
    return max(0.0, 1 - cache_bytes / data_bytes) if data_bytes > 0 else 0.0


@lru_cache(KEPT)
def fft_flops(question: Question) -> tuple[float, float]:
    """Credited flops of a rank's 1-D FFTs, 5 n log2 n each (half for real data): those of the factors 2 of the lengths,
    and of the others."""
    each = (2.5 if question.contract.kind == "r2c" else 5.0) * share(question) * question.runs
    parts = [log2_parts(extent) for extent in question.cell.shape]
    shares = transformed_shares(question)
    even, odd = (sum(of_axis[i] * share for of_axis, share in zip(parts, shares, strict=True)) for i in (0, 1))
    return each * even, each * odd


def kept_shares(question: Question) -> tuple[float, ...]:
    """By axis the part of its modes that dealiasing by truncation keeps: those of |k| < n/3; 1 without it."""
    shape = question.cell.shape
    if question.method.option("truncation") != "before-exchange":
        return (1.0,) * len(shape)
    halved = len(shape) - 1 if question.contract.kind == "r2c" else None
    return tuple(
        ((n - 1) // 3 + 1) / (n // 2 + 1) if axis == halved else (2 * ((n - 1) // 3) + 1) / n
        for axis, n in enumerate(shape)
    )


def transformed_shares(question: Question) -> list[float]:
    """By axis the part of the other axes that is there while it is transformed: axes go last to first, and what one
    stage transforms is dropped behind it."""
    kept = kept_shares(question)
    shares = [math.prod(kept[axis + 1 :]) for axis in range(len(kept))]
    return shares if question.method.variant == "pencil" else [shares[0]] + [1.0] * (len(kept) - 1)


def exchanged_shares(question: Question, exchanges: int) -> list[float]:
    """The part of the data that each of so many exchanges of one direction moves."""
    kept = kept_shares(question)
    rest, last = math.prod(kept[1:]), math.prod(kept)
    begin = [rest]
    if question.method.variant == "pencil":
        begin = [1.0, rest] if len(kept) == 2 else [kept[-1], rest]
    return (begin + [last] * exchanges)[:exchanges]


@lru_cache(KEPT)
def exchanges(question: Question) -> tuple[Exchanged, ...]:
    """The exchanges that move anything, in order. Fields together have one for all."""
    mine = share_bytes(question) * question.fields_a_message * question.contract.wire_share
    natural = question.contract.layout == "natural"
    times = question.runs // question.fields_a_message
    if question.method.variant not in PAIRWISE:
        groups = _groups(question)
        shares = exchanged_shares(question, len(groups))
        each = [_even(question, mine * part, *one) for one, part in zip(groups, shares, strict=True) if one[0] > 1]
        return tuple(each * times)
    steps = combinations(question)
    pieces = int(question.method.option("pieces") or 1) if question.method.variant == "binary-exchange" else 1
    found = [
        Exchanged(ranks, mine * (ranks - 1), pieces * (ranks - 1), _away(question, ranks, stride))
        for ranks, stride in steps
    ]
    if natural and steps and question.method.variant == "binary-exchange":
        strides = [2**step for step in range(_log2(question.ranks))]
        found += [Exchanged(2, mine / 2, 1, _away(question, 2, stride)) for stride in strides]
    elif natural and steps:
        found.append(_even(question, mine, question.ranks, 1))
    return tuple(found * times)


def products(question: Question) -> float:
    """Products of a convolution's spectrum and its operator: one for each field that goes back, of what is kept."""
    if question.contract.direction != "convolution":
        return 0
    return question.contract.instances * question.fields_back * math.prod(kept_shares(question))


def copies_to_device(question: Question) -> bool:
    """Whether local transforms are on an accelerator: by the variant, its option, or the local library."""
    method = question.method
    return method.variant in ON_DEVICE or method.local_fft == "cufft" or method.option("offload") not in (None, "no")


def local_transforms(question: Question) -> int:
    """Stages of computation, each of one axis or of several that are whole on a rank."""
    parting = [group for group, _ in _groups(question, natural=False) if group > 1]
    return min(1 + len(parting), len(question.cell.shape))


def pieces_in_flight(question: Question) -> int:
    """In how many an exchange goes, so that others are computed meanwhile: slices of pencil-overlap, as far as a rank
    has planes, and the pencils of a rank of overdecomposed."""
    if question.method.variant == "pencil-overlap":
        planes = -(-question.cell.shape[0] // (question.grid or default_grid("pencil", question.ranks))[0])
        return min(int(question.method.option("pieces") or PIECES), planes)
    if question.method.variant == "overdecomposed":
        return math.prod(pencil_cuts(question)) // question.ranks or 1
    return 1


def pipelined_fields(question: Question) -> int:
    """Fields of which one computes while the messages of others are in flight; 1 where an exchange blocks."""
    overlapped = question.method.exchange in NONBLOCKING or question.method.variant == "overdecomposed"
    return question.contract.fields if overlapped and question.method.field_order == "pipelined" else 1


def pencil_cuts(question: Question) -> tuple[int, int]:
    """In how many pencils overdecomposed cuts each state (drivers/variants/overdecomposed/pencil_choice.cpp)."""
    asked = question.method.option("decomposition") or "auto"
    if asked != "auto":
        first, second = (int(part) for part in asked.split("x"))
        return first, second
    rows, columns = (*(question.grid or default_grid("pencil", question.ranks)), 1)[:2]
    n = question.cell.shape
    wanted = int(question.method.option("pencils") or 0)
    for pencils in (wanted,) if wanted else range(MOST_PENCILS, 0, -1):
        for first in range(pencils, 0, -1):
            cuts = (first * rows, pencils // first * columns)
            if pencils % first == 0 and cuts[0] <= min(n[0], n[1]) and cuts[1] <= min(n[1], n[2]):
                return cuts
    return rows, columns


@lru_cache(KEPT)
def combinations(question: Question) -> tuple[tuple[int, int], ...]:
    """Exchanges of whole arrays that a combination follows: the ranks that swap theirs, and how far each of them is
    from the next. A stage of radix q of binary-exchange is one among q ranks, or log2 q of pairs
    (drivers/variants/binary_exchange/butterfly_network.cpp)."""
    if question.method.variant not in PAIRWISE:
        return ()
    radix, pairwise, axes = 2, True, (question.ranks,)
    if question.method.variant == "binary-exchange":
        radix = int(question.method.option("radix") or radix)
        pairwise = question.method.option("stages") == "pairwise"
        axes = question.grid or axes
    found: list[tuple[int, int]] = []
    for axis, ranks in enumerate(axes):
        left, stride = 2 ** _log2(ranks), math.prod(axes[axis + 1 :])
        while left > 1:
            stage = min(left, radix)
            left //= stage
            pairs = [(2, stride * left * 2**bit) for bit in range(_log2(stage))]
            found += pairs if pairwise else [(stage, stride * left)]
    return tuple(sorted(found, key=lambda one: one[1]))


def pairwise_steps(question: Question) -> int:
    """How many combinations of whole arrays one sample has."""
    return len(combinations(question)) * question.runs


def words_combined(question: Question) -> float:
    """A combination reads the rank's own array and those of its partners, and writes its own."""
    return sum(ranks + 1 for ranks, _ in combinations(question)) * question.runs


def twiddles(question: Question) -> int:
    """Multiplications of all data by roots of unity: one before each combination, and between the axes of a 1-D
    transform that is seen as m-dimensional."""
    if question.method.variant == "transpose":
        return question.runs * max(len(question.grid), 1)
    return pairwise_steps(question) if question.method.variant == "binary-exchange" else 0


def _even(question: Question, mine: float, group: int, stride: int) -> Exchanged:
    """An exchange among so many ranks, each `stride` from the next."""
    sent = mine * (group - 1) / group
    return Exchanged(group, sent, _messages(question, group, stride, sent), _away(question, group, stride))


def _messages(question: Question, group: int, stride: int, sent: float) -> float:
    """One to each other rank; in pieces, segments, or one for each pair of pencils."""
    variant = question.method.variant
    if variant == "pencil-overlap":
        return (group - 1) * pieces_in_flight(question)
    if variant == "node" and question.method.option("style") != "charm":
        segments = int(question.method.option("segments") or question.contract.threads)
        least = int(question.method.option("segment-bytes") or SEGMENT_BYTES)
        return (group - 1) * max(1, min(segments, int(sent / (group - 1) / least)))
    if variant == "overdecomposed":
        cuts = pencil_cuts(question)
        columns = (*(question.grid or default_grid("pencil", question.ranks)), 1)[1]
        met = cuts[1] if columns > 1 and stride == 1 else cuts[0]
        return math.prod(cuts) / question.ranks * met * (group - 1) / group
    return group - 1


def _away(question: Question, group: int, stride: int) -> float:
    """The part of the other ranks of a group that are on other nodes, where ranks follow each other."""
    here = min(max(question.cell.place.ranks_per_node / stride, 1.0), group)
    return (group - here) / (group - 1)


def _log2(ranks: int) -> int:
    return max(ranks.bit_length() - 1, 0)


def _groups(question: Question, natural: bool | None = None) -> list[tuple[int, int]]:
    """Ranks in each all-to-all, and how far each of them is from the next: ranks are row-major in the grid."""
    p, variant = question.ranks, base_variant(question.method.variant)
    natural = question.contract.layout == "natural" if natural is None else natural
    grid = question.grid or default_grid(variant, p)
    if variant == "serial":
        return []
    if variant == "slab":
        return [(p, 1)] * (2 if natural else 1)
    if variant == "rods":
        return [(p, 1)] * 2
    if variant == "transpose":
        strides = [math.prod(grid[axis + 1 :]) for axis in range(len(grid))]
        return [*zip(grid, strides, strict=True), *([(p, 1)] if natural else [])]
    if variant == "volumetric":
        px, py, pz = (*grid, 1, 1, 1)[:3]
        back = [(px, py * pz)] if natural else []
        if question.method.option("redistributions") == "separate":
            return [(pz, 1), (pz, 1), (py, pz), (py, pz), (px, py * pz), *back]
        return [(pz, 1), (py * pz, 1), (px * py, pz), *back]
    rows, columns = (*grid, 1, 1)[:2]
    if variant == "pencil" and len(question.cell.shape) == 2:  # blocks, whole rows, whole columns
        return [(columns, 1), (p, 1), *([(rows, columns)] if natural else [])]
    return [(columns, 1), (rows, columns)] * (2 if natural else 1)


def base_variant(variant: str) -> str:
    """The variant whose stages, grids and limits this one has: pencil for pencil-gpu, else itself."""
    return ON_DEVICE.get(variant, variant)


def default_grid(variant: str, ranks: int) -> tuple[int, ...]:
    """As square, or cubic, as the divisors allow, the larger extent first; () where a method has none."""
    variant = base_variant(variant)
    if variant == "volumetric":
        first = min((d for d in _divisors(ranks) if d**3 >= ranks), default=ranks)
        return (first, *default_grid("pencil", ranks // first))
    if variant in PENCILS:
        first = min(d for d in _divisors(ranks) if d * d >= ranks)
        return (first, ranks // first)
    if variant == "transpose":
        return (ranks,)
    return ()


def _divisors(number: int) -> list[int]:
    small = [d for d in range(1, math.isqrt(number) + 1) if number % d == 0]
    return small + [number // d for d in reversed(small) if d * d != number]
