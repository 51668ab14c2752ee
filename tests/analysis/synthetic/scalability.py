"""Records whose efficiency is known in closed form: T_p = (W + T_o) / p with W and T_o of gupta1993."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from synthetic.transforms import Maker, make_point

METHODS = {"binary-exchange": "none", "transpose": "alltoallv"}


@dataclass(frozen=True)
class Known:
    """Seconds: one unit of computation, a start, a word."""

    t_c: float
    t_s: float
    t_w: float

    def overhead(self, variant: str, n: int, p: int) -> float:
        if p == 1:
            return 0.0
        if variant == "binary-exchange":
            return (self.t_s * p + self.t_w * n) * math.log2(p)
        return self.t_w * n + self.t_s * p**2

    def time_s(self, variant: str, n: int, p: int) -> float:
        return (self.t_c * n * math.log2(n) + self.overhead(variant, n, p)) / p


def line_points(sizes: Iterable[int], ranks: Iterable[int], variants: Iterable[str] = METHODS) -> list[dict[str, Any]]:
    ranks = list(ranks)
    return [
        make_point(variant, METHODS[variant], (n,), p, precision="single", parameters={})
        for variant in variants
        for n in sizes
        for p in ranks
        if p <= (n if variant == "binary-exchange" else math.isqrt(n))
    ]


def known_records(
    maker: Maker,
    points: Iterable[dict[str, Any]],
    time_s: Callable[[dict[str, Any]], float],
    launches: int = 5,
    noise: float = 0.0,
    seed: int = 1,
) -> list[dict[str, Any]]:
    """One sample a launch: `time_s` of the point, times the noise of the launch."""
    rng = random.Random(seed)
    points = list(points)
    found = []
    for launch in range(launches):
        for point in points:
            seconds = time_s(point) * math.exp(rng.gauss(0, noise))
            rows = [[seconds]] * point["ranks"]
            found.append(maker.with_samples(point, launch, rows, {"fft": rows}))
    return found
