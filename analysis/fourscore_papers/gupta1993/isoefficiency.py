"""The overhead of measured 1-D transforms by the paper's equations, with t_c, t_s and t_w fitted to their times."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from fourscore_analysis.isoefficiency.models import Fitted
from fourscore_analysis.isoefficiency.points import Family, Measured
from fourscore_analysis.points.units import digits, time_text

from fourscore_papers.gupta1993 import equations
from fourscore_papers.gupta1993.equations import Machine

LEAST_SIZES = 2  # sizes that a fit needs: t_s and t_w are told apart by their growth


@dataclass(frozen=True)
class Overhead:
    """T_o of one method, and the least n that gives every processor something to do: p to the power `concurrency`."""

    of: Callable[[Machine, float, float], float]
    equation: str
    concurrency: float = 1.0


def overhead_of(family: Family) -> Overhead | None:
    """None for a method that the paper does not model: it has binary exchange in one dimension and in two (appendix C),
    and the transpose method of m dimensions for a 1-D transform."""
    method, extents = family.first.method, len(family.first.cell.shape)
    if method.variant == "binary-exchange" and extents <= 2:
        return Overhead(equations.hypercube_overhead, "Eq. 4")
    if method.variant == "transpose" and extents == 1:
        m = int(method.option("dimensions") or 2)
        if m == 2:
            return Overhead(equations.transpose_overhead, "Eq. 11", 2.0)
        of = partial(equations.m_dimensional_overhead, dimensions=m)
        return Overhead(of, f"Eq. 11 in {m} dimensions", m / (m - 1))
    return None


def fitted(family: Family) -> Fitted | None:
    overhead, machine = overhead_of(family), machine_of(family)
    if overhead is None or machine is None:
        return None
    named = (("t_c", machine.t_c_s), ("t_s", machine.t_s_s), ("t_w", machine.t_w_s))
    values = ", ".join(f"{name} = {time_text(seconds)}" for name, seconds in named)
    text = f"{overhead.equation} with {values}, fitted to these points"
    if overhead.equation == "Eq. 4":
        text += f": threshold {digits(equations.threshold(machine.t_w_s / machine.t_c_s), 2)}"
    return Fitted("gupta1993", text, partial(log2_size_kept, overhead, machine))


def machine_of(family: Family) -> Machine | None:
    """t_c, t_s and t_w of the measured times: t_c is the median of W / (n log2 n); t_s and t_w, neither negative, make
    the sum of ((p T_p - W - T_o) / (p T_p))^2 least. None for a method without a model, and with too few sizes."""
    overhead, measured = overhead_of(family), family.measured
    if overhead is None or len({one.elements for one in measured}) < LEAST_SIZES:
        return None
    from scipy.optimize import nnls  # slow to load

    t_c_s = statistics.median(one.serial.time_s / (one.elements * math.log2(one.elements)) for one in measured)
    rows = np.array([_row(overhead, one) for one in measured])
    scale = rows[:, :2].max(axis=0)  # so that the solver sees t_s and t_w as alike
    found, _ = nnls(rows[:, :2] / scale, rows[:, 2])
    t_s_s, t_w_s = found / scale
    return Machine(t_c_s, float(t_w_s), float(t_s_s))


def _row(overhead: Overhead, one: Measured) -> tuple[float, float, float]:
    """What a second of t_s and of t_w make of the overhead, and the overhead, over p T_p."""
    total_s = one.ranks * one.point.time_s
    starts = overhead.of(Machine(0.0, 0.0, 1.0), one.elements, one.ranks)
    words = overhead.of(Machine(0.0, 1.0), one.elements, one.ranks)
    return starts / total_s, words / total_s, one.overhead_s / total_s


def log2_size_kept(overhead: Overhead, machine: Machine, level: float, ranks: float) -> float:
    """log2 of the least n that keeps the efficiency `level` and gives every rank something to do. Infinity where none
    does."""
    least = overhead.concurrency * math.log2(ranks)
    return max(least, equations.log2_points_for(overhead.of, machine, level, ranks))
