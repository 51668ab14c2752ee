"""Efficiency of the parallel 1-D FFT of gupta1993: E = 1 / (1 + T_o / W), W = t_c n log2 n.

T_o is the sum over all processes of what a serial run does not spend, on a hypercube; the paper's measurements give t_c
and t_w, and no t_s, which is left out as in its Tables 1 and 2."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from fourscore_analysis.records.published import Published, published


@dataclass(frozen=True)
class Machine:
    """Seconds of one unit of computation (line 8 of Figure 1), and of a word of 8 bytes on a link."""

    t_c_s: float
    t_w_s: float


def figure_2() -> Published | None:
    return published("gupta1993", "figure-2")


def ncube1() -> Machine | None:
    """The machine of Fig. 2; None without the paper's numbers."""
    table = figure_2()
    return Machine(table.setup["t_c_us"] * 1e-6, table.setup["t_w_us"] * 1e-6) if table else None


def binary_exchange_overhead(machine: Machine, points: int, ranks: int) -> float:
    """Equation 4 with t_s = 0: t_w n log2 p."""
    return machine.t_w_s * points * math.log2(ranks)


def transpose_overhead(machine: Machine, points: int, ranks: int) -> float:
    """Equation 11 with t_s = 0: t_w n; on one rank nothing moves."""
    return machine.t_w_s * points if ranks > 1 else 0.0


OVERHEADS: dict[str, Callable[[Machine, int, int], float]] = {
    "binary-exchange": binary_exchange_overhead,
    "transpose": transpose_overhead,
}


def efficiency(variant: str, machine: Machine, points: int, ranks: int) -> float:
    """Of a variant in OVERHEADS."""
    work = machine.t_c_s * points * math.log2(points)
    return 1 / (1 + OVERHEADS[variant](machine, points, ranks) / work)
