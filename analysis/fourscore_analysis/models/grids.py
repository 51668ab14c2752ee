"""Process grids without a driver: which a variant takes, which it chooses itself, and which are worth a comparison.

The rules are those of drivers/variants and drivers/chain/limits_and_cost.cpp. Tests compare the chosen grid with
records, and what is refused with fft_bench. Only the divisors of the ranks are looked at: at most a few hundred pairs
for any number of ranks."""

from __future__ import annotations

import math
from collections.abc import Sequence

from fourscore_analysis.models.work import PENCILS, base_variant, default_grid

SLABS = ("slab", "rods", "fftw-mpi")
POWERS_OF_TWO = ("binary-exchange", "danielson-lanczos")
# Several fields in one plan.
TOGETHER = ("serial", "slab", "pencil", "pencil-overlap", "volumetric", "rods", "fftw-mpi")
COMPLEX_ONLY = (*POWERS_OF_TWO, "transpose", "overdecomposed")
MOST_GRIDS = 16
MOST_DIVISORS = 10**6  # that are tried; beyond it nothing is refused


def complex_extents(shape: Sequence[int], kind: str) -> tuple[int, ...]:
    """The extents of the data in Fourier space: real data halve the last extent."""
    return (*shape[:-1], shape[-1] // 2 + 1) if kind == "r2c" else tuple(shape)


def reason_of_order(variant: str, field_order: str) -> str | None:
    """Why the variant cannot transform several fields in this order."""
    if field_order == "together" and variant not in TOGETHER:
        return f"{variant} makes a plan for one field; expected --field-order in-turn or pipelined"
    if field_order == "pipelined" and variant == "fftw-mpi":
        return f"{variant} runs each field as a whole; expected --field-order in-turn"
    return None


def reason_against(variant: str, shape: Sequence[int], kind: str, ranks: int) -> str | None:
    """Why the variant cannot solve this on so many ranks, as far as that follows from sizes alone."""
    n, name, variant = complex_extents(shape, kind), variant, base_variant(variant)
    if variant == "serial" and ranks > 1:
        return f"{name} runs on one rank"
    if variant in COMPLEX_ONLY and kind != "c2c":
        return f"{variant} takes complex data, not {kind}"
    if variant in POWERS_OF_TWO and ranks & (ranks - 1):
        return f"{ranks} ranks are no power of two"
    if variant in ("transpose", *POWERS_OF_TWO):
        return _reason_of_lengths(variant, n, ranks)
    flat = name == "pencil" and len(n) == 2  # then it is a slab
    if variant in (*PENCILS, "volumetric", "rods") and len(n) != 3 and not flat:
        return f"{name} takes 3 extents, not {len(n)}"
    if variant in SLABS or flat:
        if len(n) < 2:
            return f"{name} takes 2 or 3 extents, not 1"
        most = min(n[0], n[1])
        if variant == "fftw-mpi" and ranks > most:  # runs with ranks that hold nothing
            return f"the model of fftw-mpi wants a plane for each of {ranks} ranks: there are {most}"
        return f"{ranks} ranks are more than {name} can use: {most}" if ranks > most else None
    if variant in PENCILS and not any(_fits(n, grid) for grid in _pairs(ranks)):
        return f"no grid of {ranks} ranks fits: at most {min(n[0], n[1])} x {min(n[1], n[2])}"
    if variant == "volumetric":
        most = math.prod(n) // max(n)
        return f"{ranks} ranks are more than volumetric can use: {most}" if ranks > most else None
    return None


def _reason_of_lengths(variant: str, n: Sequence[int], ranks: int) -> str | None:
    """For methods that cut an axis by its factors."""
    if variant == "transpose":
        if len(n) != 1:
            return f"transpose takes 1 extent, not {len(n)}"
        least, most = max(ranks, 2), math.isqrt(n[0])
        if most > MOST_DIVISORS or any(n[0] % first == 0 for first in range(least, most + 1)):
            return None
        return f"{n[0]} has no two factors of at least {least}, as many as there are ranks"
    if variant == "binary-exchange":
        if len(n) > 2:
            return f"binary-exchange takes 1 or 2 extents, not {len(n)}"
        return f"{math.prod(n)} elements do not divide among {ranks} ranks" if math.prod(n) % ranks else None
    halvings = sum((extent & -extent).bit_length() - 1 for extent in n)
    if 2**halvings < ranks:
        return f"the extents can be halved {halvings} times, which gives at most {2**halvings} ranks"
    return None


def chosen_grid(variant: str, shape: Sequence[int], kind: str, ranks: int) -> tuple[int, ...]:
    """What `auto` is: pencils are as long as they can be (P x 1), else as square."""
    n, variant = complex_extents(shape, kind), base_variant(variant)
    if variant not in PENCILS or len(n) != 3:
        return default_grid(variant, ranks)
    squarest = sorted(_pairs(ranks), key=max)
    fitting = [grid for grid in [(ranks, 1), (1, ranks), *squarest] if _fits(n, grid)]
    return fitting[0] if fitting else default_grid(variant, ranks)


def grids(variant: str, shape: Sequence[int], kind: str, ranks: int) -> list[tuple[int, ...]]:
    """Grids to compare, the chosen one first: for pencils, all pairs of divisors that fit, the most square ones."""
    chosen = chosen_grid(variant, shape, kind, ranks)
    n, variant = complex_extents(shape, kind), base_variant(variant)
    if variant not in PENCILS or len(n) != 3:
        return [chosen]
    others = sorted((grid for grid in _pairs(ranks) if grid != chosen and _fits(n, grid)), key=max)
    return [chosen, *others[: MOST_GRIDS - 1]]


def used_ranks(variant: str, shape: Sequence[int], kind: str, ranks: int) -> int:
    """How many of these ranks a method can use well: the largest a x b near a square, or all."""
    n, variant = complex_extents(shape, kind), base_variant(variant)
    if variant in SLABS and len(n) > 1:
        return min(ranks, n[0], n[1])
    if variant not in PENCILS or len(n) != 3:
        return ranks
    first = min(max(math.isqrt(ranks), 1), n[0], n[1])
    return first * min(ranks // first, n[1], n[2])


def _pairs(ranks: int) -> list[tuple[int, int]]:
    small = [d for d in range(1, math.isqrt(ranks) + 1) if ranks % d == 0]
    return sorted({pair for d in small for pair in ((d, ranks // d), (ranks // d, d))})


def _fits(n: Sequence[int], grid: tuple[int, int]) -> bool:
    return grid[0] <= min(n[0], n[1]) and grid[1] <= min(n[1], n[2])
